/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_parse.c - one line of atwalk-kmap(5). */
#include "base/digits.h"
#include "base/num.h"
#include "kmap/lib/format_fields.h"

/* ---- accesses ---- */

/* "ip,n,n" and, if there is one, a fourth number, as nearly all of them are written. */
static bool format_parse_usual(const char *s, const char *end, enum kmap_version v,
			       struct kmap_access *ret)
{
	uint64_t high, low, n[3] = { 0 };
	unsigned want = v == KMAP_V2 || v == KMAP_V3 ? 2 : 3, i;
	bool minus = false;

	while (s < end && blank(*s))
		s++;
	if (end - s < 18 || !scan_hex8(s, &high) || !scan_hex8(s + 8, &low))
		return false;
	s += 16;
	for (i = 0; i < want; i++) {
		if (end - s < 2 || *s++ != ',')
			return false;
		if (i == (v == KMAP_V1 ? 0 : 2) && *s == '-' && v != KMAP_COMPRESSED)
			minus = s++;
		if (!scan_dec(&s, end, &n[i]))
			return false;
	}
	if (s != end)
		return false;
	*ret = (struct kmap_access){ .ip = high << 32 | low, .writes = n[0], .reads = n[1] };
	i = v == KMAP_V1 ? 0 : 2;
	if (v == KMAP_V1) {
		ret->writes = n[1];
		ret->reads = n[2];
	}
	if (v == KMAP_COMPRESSED) {
		ret->frees = n[2];
		ret->has = KMAP_HAS_FREES;
	} else if (want == 3) {
		/* The other way has the limits. */
		if (n[i] > INT64_MAX)
			return false;
		ret->pid = minus ? -(int64_t)n[i] : (int64_t)n[i];
		ret->has = KMAP_HAS_PID;
	}
	return true;
}

static int format_parse_fields_wrong(size_t n, enum kmap_version v, int status,
				     struct atw_err *err)
{
	return atw_err_set(err, status, "an access of %zu field%s, which is not of %s like those "
			   "before", n, n == 1 ? "" : "s", kmap_version_name(v));
}

static int format_parse_plain(struct atw_blob b, enum kmap_version v,
			      struct kmap_access *a, struct atw_err *err)
{
	size_t n = 1 + commas(b), want = v == KMAP_V2 || v == KMAP_V3 ? 3 : 4;
	struct atw_blob f[4];
	int r;

	if (n != want)
		return format_parse_fields_wrong(
			n, v, n == 3 || n == 4 ? ATW_E_UNSUPPORTED : ATW_E_FORMAT, err);
	for (size_t i = 0; i < n; i++)
		take(&b, &f[i]);
	r = kmap_address("ip", f[0], &a->ip, err);
	if (r == ATW_OK && v == KMAP_V1)
		r = kmap_number("pid", f[1], &a->pid, err);
	if (r == ATW_OK)
		r = kmap_count("writes", f[v == KMAP_V1 ? 2 : 1], &a->writes, err) ?:
		    kmap_count("reads", f[v == KMAP_V1 ? 3 : 2], &a->reads, err);
	if (r == ATW_OK && v == KMAP_V4)
		r = kmap_number("pid", f[3], &a->pid, err);
	if (r == ATW_OK && v == KMAP_COMPRESSED)
		r = kmap_count("frees", f[3], &a->frees, err);
	a->has = v == KMAP_V1 || v == KMAP_V4 ? KMAP_HAS_PID :
		 v == KMAP_COMPRESSED ? KMAP_HAS_FREES : 0;
	return r;
}

/* "from:ip[,caller:ip],writes,reads" */
static int format_parse_from(struct atw_blob b, enum kmap_version v,
			     struct kmap_access *a, struct atw_err *err)
{
	struct atw_blob f;
	int r;

	if (v == KMAP_V1 || v == KMAP_V2)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "an access with 'from:', which is not "
				   "of %s like those before", kmap_version_name(v));
	a->has = KMAP_IS_FROM;
	take(&b, &f);
	r = kmap_address("from", f, &a->ip, err);
	if (r == ATW_OK && begins(&b, "caller:")) {
		a->has |= KMAP_HAS_CALLER;
		take(&b, &f);
		r = kmap_address("caller", f, &a->caller, err);
	}
	if (r == ATW_OK && commas(b) != 1)
		r = atw_err_set(err, ATW_E_FORMAT, "'%s': no writes and reads behind 'from:'",
				kmap_quote(b).s);
	if (r != ATW_OK)
		return r;
	take(&b, &f);
	r = kmap_count("writes", f, &a->writes, err);
	return r == ATW_OK ? kmap_count("reads", b, &a->reads, err) : r;
}

static int format_parse_access_line(struct atw_blob b, enum kmap_version v,
				    struct kmap_access *ret, struct atw_err *err)
{
	struct kmap_access a = { 0 };
	int r;

	b = trim(b);
	r = begins(&b, "from:") ? format_parse_from(b, v, &a, err)
				: format_parse_plain(b, v, &a, err);
	if (r == ATW_OK)
		*ret = a;
	return r;
}

/* ---- the others ---- */

/* "from to count", or with commas. */
static int format_parse_call(struct atw_blob b, struct kmap_call *ret,
			     struct atw_err *err)
{
	char by = commas(b) == 2 ? ',' : ' ';
	struct atw_blob f[3];
	struct kmap_call c;
	int r;

	b = trim(b);
	for (unsigned i = 0; i < 3; i++) {
		const char *s = b.data, *e = b.len ? memchr(s, by, b.len) : NULL;
		size_t n = e ? (size_t)(e - s) : b.len;

		if (!e != (i == 2))
			return atw_err_set(err, ATW_E_FORMAT, "'%s' is neither an object nor a call, "
					   "and an access has a blank in front", kmap_quote(b).s);
		f[i] = (struct atw_blob){ s, n };
		b = trim((struct atw_blob){ s + n + (e != NULL), b.len - n - (e != NULL) });
	}
	if ((r = kmap_address("from", f[0], &c.from, err)) || (r = kmap_address("to", f[1], &c.to, err)) ||
	    (r = kmap_count("calls", f[2], &c.count, err)))
		return r;
	*ret = c;
	return ATW_OK;
}

static struct atw_blob format_parse_word(struct atw_blob *b)
{
	const char *s = b->data, *e = b->len ? memchr(s, ' ', b->len) : NULL;
	size_t n = e ? (size_t)(e - s) : b->len;

	*b = trim((struct atw_blob){ s + n, b->len - n });
	return (struct atw_blob){ s, n };
}

static int format_parse_end_line(struct atw_blob b, struct kmap_record *ret,
				 struct atw_err *err)
{
	static const char *const keys[] = { "objects", "accesses", "lost" };
	const struct atw_blob all = b;
	uint64_t v[3];

	for (unsigned i = 0; i < 3; i++) {
		struct atw_blob key = format_parse_word(&b),
				value = format_parse_word(&b);

		if (!blob_is(key, keys[i]) || !num_dec(value.data, value.len, &v[i]))
			return atw_err_set(err, ATW_E_FORMAT, "expected 'objects N accesses N "
					   "lost N' in an end line, not '%s'", kmap_quote(all).s);
	}
	if (b.len)
		return atw_err_set(err, ATW_E_FORMAT, "unexpected '%s' in an end line",
				   kmap_quote(b).s);
	ret->kind = KMAP_END;
	ret->u.end.objects = v[0];
	ret->u.end.accesses = v[1];
	ret->u.end.lost = v[2];
	return ATW_OK;
}

/* Behind "# line ". */
static int format_parse_heat(struct atw_blob b, struct kmap_record *ret,
			     struct atw_err *err)
{
	struct kmap_access a = { .has = KMAP_HAS_LINE };
	struct atw_blob f[2];
	int r;

	if (!take(&b, &f[0]) || !take(&b, &f[1]))
		return atw_err_set(err, ATW_E_FORMAT, "expected 3 fields of the heat of a line");
	if ((r = kmap_count("line", f[0], &a.line, err)) ||
	    (r = kmap_count("writes", f[1], &a.writes, err)) ||
	    (r = kmap_count("reads", b, &a.reads, err)))
		return r;
	ret->kind = KMAP_LINE_HEAT;
	ret->u.access = a;
	return ATW_OK;
}

/* Behind "# used ". */
static int format_parse_used(struct atw_blob b, struct kmap_record *ret,
			     struct atw_err *err)
{
	struct atw_blob first;
	uint64_t from, to;
	int r;

	if (!take(&b, &first) || commas(b))
		return atw_err_set(err, ATW_E_FORMAT, "expected 2 times of accesses");
	if ((r = kmap_count("first access", first, &from, err)) ||
	    (r = kmap_count("last access", b, &to, err)))
		return r;
	if (from > to)
		return atw_err_set(err, ATW_E_FORMAT, "the first access, %" PRIu64 ", is after the last "
				   "one, %" PRIu64, from, to);
	ret->kind = KMAP_USED;
	ret->u.used.first = from;
	ret->u.used.last = to;
	return ATW_OK;
}

/* Behind "# mark "; 0: none of the words is known. */
static uint32_t format_parse_marks_of(struct atw_blob b)
{
	uint32_t marks = 0;

	while ((b = trim(b)).len) {
		struct atw_blob w = format_parse_word(&b);

		marks |= blob_is(w, "before") ? KMAP_BEFORE : blob_is(w, "watched") ? KMAP_WATCHED : 0;
	}
	return marks;
}

/* Behind "# task ". */
static int format_parse_task(struct atw_blob b, struct kmap_record *ret,
			     struct atw_err *err)
{
	const char *blank = b.len ? memchr(b.data, ' ', b.len) : NULL;
	size_t len = blank ? (size_t)(blank - (const char *)b.data) : b.len;
	int64_t pid;
	int r = kmap_number("pid", (struct atw_blob){ b.data, len }, &pid, err);

	if (r < 0)
		return r;
	len += blank != NULL;
	ret->kind = KMAP_TASK;
	ret->u.task.pid = pid;
	ret->u.task.name = (struct atw_blob){ (const char *)b.data + len, b.len - len };
	return ATW_OK;
}

static int format_parse_comment(struct atw_blob b, bool ours, struct kmap_record *ret,
				struct atw_err *err)
{
	struct atw_blob rest = b, key;

	if (ours && begins(&rest, " line "))
		return format_parse_heat(rest, ret, err);
	if (ours && begins(&rest, " used "))
		return format_parse_used(rest, ret, err);
	if (ours && begins(&rest, " task "))
		return format_parse_task(rest, ret, err);
	if (ours && begins(&rest, " mark ") &&
	    (ret->u.marks = format_parse_marks_of(rest))) {
		ret->kind = KMAP_MARK;
		return ATW_OK;
	}
	rest = b;
	if (ours && begins(&rest, " call ")) {
		ret->kind = KMAP_CALL;
		return format_parse_call(rest, &ret->u.call, err);
	}
	if (ours && begins(&rest, " atwalk-kmap ")) {
		rest = trim(rest);
		key = format_parse_word(&rest);
		if (blob_is(key, "end"))
			return format_parse_end_line(rest, ret, err);
		ret->kind = KMAP_HEADER;
		if (!rest.len && key.len && scan_digit[*(const uint8_t *)key.data] < 10) {
			rest = key;
			key = (struct atw_blob){ "version", 7 };
		}
		ret->u.header.key = key;
		ret->u.header.value = rest;
		return ATW_OK;
	}
	ret->kind = KMAP_COMMENT;
	ret->u.comment = b;
	return ATW_OK;
}

int kmap_parse(struct atw_blob line, enum kmap_version v, unsigned flags,
	       struct kmap_record *ret, struct atw_err *err)
{
	const char *s = line.data, *end = s + line.len, *zero;
	bool ours = flags & KMAP_OURS;
	int r;

	if (line.len && blank(*s) && format_parse_usual(s, end, v, &ret->u.access)) {
		ret->kind = KMAP_ACCESS;
		return ATW_OK;
	}
	if (line.len && (zero = memchr(s, 0, line.len)))
		return atw_err_set(err, ATW_E_FORMAT, "byte %zu is 0: not text",
				   (size_t)(zero - s) + 1);
	if (!trim(line).len) {
		ret->kind = KMAP_BLANK;
		return ATW_OK;
	}
	if (*s == '#')
		return format_parse_comment((struct atw_blob){s + 1, line.len - 1}, ours,
					    ret, err);
	/* The first field of an object may be a "(null)" with blanks in front. */
	if (commas(line) >= KMAP_FIRST) {
		ret->kind = KMAP_OBJECT;
		r = kmap_parse_object(line, v, flags & KMAP_DECLARED, &ret->u.object, err);
	} else if (blank(*s)) {
		ret->kind = KMAP_ACCESS;
		r = format_parse_access_line(line, v, &ret->u.access, err);
	} else {
		ret->kind = KMAP_CALL;
		r = format_parse_call(line, &ret->u.call, err);
	}
	return r;
}
