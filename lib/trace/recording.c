/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/recording.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/digits.h"

static const char recording_magic[] = "# atwalk references ";

/* In the order of enum trace_kind. */
static const char recording_kinds[] = "-rwbx";

/* ---- writing ---- */

static void recording_put_key(struct line *l, const char *key)
{
	line_text(l, "# ");
	line_text(l, key);
	line_text(l, " ");
}

/* Names may have any bytes: those that would end the line are escaped. */
static void recording_put_text(struct line *l, const char *key, const char *s)
{
	if (!*s)
		return;
	recording_put_key(l, key);
	for (; *s; s++) {
		uint8_t c = (uint8_t)*s;

		if (c >= ' ' && c != '\\' && c != 0x7f) {
			line_put(l, s, 1);
			continue;
		}
		line_text(l, "\\");
		line_put(l, (char[]){ (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
				      (char)('0' + (c & 7)) }, 3);
	}
	line_text(l, "\n");
}

static void recording_put_number(struct line *l, const char *key, uint64_t v)
{
	recording_put_key(l, key);
	line_dec(l, v);
	line_text(l, "\n");
}

static size_t recording_length(const struct line *l, const char *buf)
{
	return l->full ? 0 : (size_t)(l->s - buf);
}

size_t recording_write_head(const struct trace_recording *rec, char *buf, size_t len)
{
	struct line l = { buf, buf + len, false };

	line_text(&l, recording_magic);
	line_dec(&l, RECORDING_VERSION);
	line_text(&l, "\n");
	recording_put_text(&l, "backend", rec->backend);
	recording_put_text(&l, "counts", rec->sampled ? "sampled" : "exact");
	if (rec->sampled)
		recording_put_number(&l, "scale", rec->scale);
	if (rec->line)
		recording_put_number(&l, "line", rec->line);
	recording_put_text(&l, "program", rec->program);
	if (rec->has_load) {
		recording_put_key(&l, "load");
		line_text(&l, "0x");
		line_hex(&l, rec->load, 1, 'a');
		line_text(&l, "\n");
	}
	line_text(&l, "# columns address size kind tid ip count\n");
	return recording_length(&l, buf);
}

size_t recording_write_end(const struct trace_recording *rec, char *buf, size_t len)
{
	struct line l = { buf, buf + len, false };

	recording_put_number(&l, "lost", rec->lost);
	if (rec->children)
		recording_put_number(&l, "children", rec->children);
	recording_put_text(&l, "cut", rec->cut);
	recording_put_number(&l, "end", rec->rows);
	return recording_length(&l, buf);
}

size_t recording_write(struct trace_recording *rec, const struct trace_ref *ref, char *buf,
		       size_t len)
{
	struct line l = { buf, buf + len, false };
	size_t n;

	line_hex(&l, ref->address, 1, 'a');
	line_text(&l, " ");
	if (ref->has & TRACE_HAS_SIZE)
		line_dec(&l, ref->size);
	else
		line_text(&l, "-");
	line_text(&l, " ");
	line_put(&l, &recording_kinds[ref->kind], 1);
	line_text(&l, " ");
	if (ref->has & TRACE_HAS_TID)
		line_dec(&l, ref->tid);
	else
		line_text(&l, "-");
	line_text(&l, " ");
	if (ref->has & TRACE_HAS_IP)
		line_hex(&l, ref->ip, 1, 'a');
	else
		line_text(&l, "-");
	line_text(&l, " ");
	line_dec(&l, ref->count);
	line_text(&l, "\n");
	n = recording_length(&l, buf);
	rec->rows += n != 0;
	return n;
}

/* ---- comments ---- */

/* scan_dec() stops behind 19 digits: numbers up to 2^64-1 have one more. */
static bool recording_dec(const char **at, const char *end, uint64_t *ret)
{
	unsigned digit;

	if (!scan_dec(at, end, ret))
		return false;
	digit = *at < end ? (uint8_t)**at - (unsigned)'0' : 10;
	if (digit > 9)
		return true;
	++*at;
	return !__builtin_mul_overflow(*ret, 10, ret) &&
	       !__builtin_add_overflow(*ret, digit, ret);
}

/* The whole of s[len] in decimal, or hexadecimal behind "0x". *ret is kept if it is none. */
static bool recording_number(const char *s, size_t len, uint64_t *ret)
{
	const char *end = s + len;
	uint64_t v;
	bool ok;

	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		s += 2;
		ok = scan_hex(&s, end, &v);
	} else {
		ok = recording_dec(&s, end, &v);
	}
	if (!ok || s != end)
		return false;
	*ret = v;
	return true;
}

static bool recording_octal(const char *s, const char *end, char *ret)
{
	if (end - s < 4 || s[1] < '0' || s[1] > '3' || s[2] < '0' || s[2] > '7' ||
	    s[3] < '0' || s[3] > '7')
		return false;
	*ret = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
	return *ret != '\0';
}

/* Cut off where the room ends. */
static void recording_take_text(const char *s, size_t len, char *to, size_t room)
{
	const char *end = s + len;

	while (s < end && room > 1) {
		char c = *s;

		s += c == '\\' && recording_octal(s, end, &c) ? 4 : 1;
		if (c) {
			*to++ = c;
			room--;
		}
	}
	*to = '\0';
}

/* false: the value of a key that is known is none. */
static bool recording_take_key(struct trace_recording *rec, struct atw_blob key, const char *s,
			       size_t len)
{
	const struct { const char *key; uint64_t *to; } numbers[] = {
		{ "scale", &rec->scale }, { "load", &rec->load }, { "lost", &rec->lost },
		{ "children", &rec->children },
	};
	const struct { const char *key; char *to; size_t room; } texts[] = {
		{ "backend", rec->backend, sizeof(rec->backend) },
		{ "program", rec->program, sizeof(rec->program) },
		{ "cut", rec->cut, sizeof(rec->cut) },
	};
	uint64_t v;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (blob_is(key, texts[i].key))
			recording_take_text(s, len, texts[i].to, texts[i].room);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!blob_is(key, numbers[i].key))
			continue;
		if (!recording_number(s, len, numbers[i].to))
			return false;
		rec->has_load |= numbers[i].to == &rec->load;
	}
	if (blob_is(key, "counts")) {
		struct atw_blob how = { s, len };

		rec->sampled = blob_is(how, "sampled");
		rec->scale = !rec->sampled;
		return rec->sampled || blob_is(how, "exact");
	}
	if (blob_is(key, "line")) {
		if (!recording_number(s, len, &v) || !v || v > 1 << 20 || (v & (v - 1)))
			return false;
		rec->line = (uint32_t)v;
	}
	if (blob_is(key, "end")) {
		rec->ended = recording_number(s, len, &v) && v == rec->rows;
		return rec->ended;
	}
	return true;
}

/* Keys that decide what rows mean: behind the first row they would be too late. */
static bool recording_is_head(struct atw_blob key)
{
	return blob_is(key, "counts") || blob_is(key, "scale") || blob_is(key, "line");
}

static int recording_take_comment(struct trace_recording *rec, const char *s, size_t len,
				  struct atw_err *err)
{
	const char *end = s + len, *key, *blank;

	for (s++; s < end && *s == ' '; s++)
		;
	key = s;
	blank = memchr(s, ' ', (size_t)(end - s));
	if (!blank)
		return ATW_END;
	s = blank + 1;
	if (rec->rows && recording_is_head((struct atw_blob){ key, (size_t)(blank - key) }))
		return atw_err_set(err, ATW_E_FORMAT,
				   "'%.*s' is behind the first row of a recording: expected before it",
				   (int)(blank - key), key);
	if (recording_take_key(rec, (struct atw_blob){ key, (size_t)(blank - key) }, s,
			       (size_t)(end - s)))
		return ATW_END;
	if (blob_is((struct atw_blob){ key, (size_t)(blank - key) }, "end"))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the recording has %" PRIu64 " rows, and its last line says '%.*s'",
				   rec->rows, (int)(end - s < 20 ? end - s : 20), s);
	return atw_err_set(err, ATW_E_FORMAT, "invalid value of '%.*s' in a recording: '%.*s'",
			   (int)(blank - key), key, (int)(end - s < 40 ? end - s : 40), s);
}

/* ---- rows ---- */

/* The blank behind a field, or the end of the line. */
static bool recording_blank(const char **s, const char *end, bool last)
{
	if (last)
		return *s == end;
	if (*s == end || **s != ' ')
		return false;
	++*s;
	return true;
}

static bool recording_field(const char **s, const char *end, bool hex, bool last, bool *has,
			    uint64_t *ret)
{
	*has = !(*s < end && **s == '-');
	*ret = 0;
	if (!*has)
		++*s;
	else if (hex ? !scan_hex(s, end, ret) : !recording_dec(s, end, ret))
		return false;
	return recording_blank(s, end, last);
}

static bool recording_kind(const char **s, const char *end, enum trace_kind *ret)
{
	const char *at = *s < end && **s ? strchr(recording_kinds, **s) : NULL;

	if (!at)
		return false;
	++*s;
	*ret = (enum trace_kind)(at - recording_kinds);
	return recording_blank(s, end, false);
}

static bool recording_take_row(const char *s, const char *end, struct trace_ref *ret)
{
	struct trace_ref ref = { .has = TRACE_HAS_ADDRESS };
	bool has_address, has_size, has_tid, has_ip, has_count;
	uint64_t size, tid;

	if (!recording_field(&s, end, true, false, &has_address, &ref.address) || !has_address ||
	    !recording_field(&s, end, false, false, &has_size, &size) || size > UINT32_MAX ||
	    (has_size && !size) || !recording_kind(&s, end, &ref.kind) ||
	    !recording_field(&s, end, false, false, &has_tid, &tid) || tid > UINT32_MAX ||
	    !recording_field(&s, end, true, false, &has_ip, &ref.ip) ||
	    !recording_field(&s, end, false, true, &has_count, &ref.count) || !ref.count)
		return false;
	ref.size = (uint32_t)size;
	ref.tid = (uint32_t)tid;
	ref.has |= (has_size ? TRACE_HAS_SIZE : 0) | (has_tid ? TRACE_HAS_TID : 0) |
		   (has_ip ? TRACE_HAS_IP : 0);
	*ret = ref;
	return true;
}

/* ---- lines ---- */

bool recording_is(struct atw_blob begin)
{
	return blob_begins(begin, recording_magic);
}

static int recording_begin(struct trace_recording *rec, const char *s, size_t len,
			   struct atw_err *err)
{
	size_t n = sizeof(recording_magic) - 1;
	uint64_t version;

	if (!recording_is((struct atw_blob){ s, len }))
		return atw_err_set(err, ATW_E_FORMAT,
				   "not a recording of memory references: its first line is not '%s1'",
				   recording_magic);
	if (!recording_number(s + n, len - n, &version) || version != RECORDING_VERSION)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "cannot read version %.*s of a recording: expected %d",
				   (int)(len - n < 20 ? len - n : 20), s + n, RECORDING_VERSION);
	rec->begun = true;
	rec->scale = 1;
	return ATW_END;
}

int recording_read(struct trace_recording *rec, struct atw_blob line, struct trace_ref *ret,
		   struct atw_err *err)
{
	const char *s = line.data;
	size_t len = line.len;

	rec->lines++;
	if (len > RECORDING_HEAD)
		return atw_err_set(err, ATW_E_LIMIT,
				   "line %" PRIu64 " has %zu bytes, more than %d", rec->lines,
				   len, RECORDING_HEAD);
	while (len && (s[len - 1] == '\n' || s[len - 1] == '\r'))
		len--;
	if (!rec->begun)
		return recording_begin(rec, s, len, err);
	if (!len)
		return ATW_END;
	if (s[0] == '#') {
		int r = recording_take_comment(rec, s, len, err);

		return r < 0 ? atw_err_wrap(err, "line %" PRIu64, rec->lines) : r;
	}
	if (!recording_take_row(s, s + len, ret))
		return atw_err_set(err, ATW_E_FORMAT,
				   "line %" PRIu64 ": '%.*s' is not a row of a recording: expected address, size, kind, thread, instruction and count",
				   rec->lines, (int)(len < 60 ? len : 60), s);
	rec->rows++;
	rec->ended = false;
	return ATW_OK;
}

int recording_finish(const struct trace_recording *rec, struct atw_err *err)
{
	if (!rec->begun)
		return atw_err_set(err, ATW_E_FORMAT, "not a recording of memory references: it is empty");
	if (!rec->ended)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the recording is truncated: it ends after %" PRIu64 " rows, without its last line",
				   rec->rows);
	return ATW_OK;
}
