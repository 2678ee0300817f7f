/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.c - the lines of atwalk-kmap(5), one after another. */
#include "kmap/lib/format.h"

#include "base/num.h"
#include "kmap/lib/format_fields.h"

const char *kmap_version_name(enum kmap_version v)
{
	static const char *const names[KMAP_VERSIONS] = {
		"no version", "version 1", "version 2", "version 3", "version 4",
		"the compressed form",
	};

	return v < KMAP_VERSIONS ? names[v] : names[KMAP_UNKNOWN];
}

static struct atw_blob format_behind(struct atw_blob b, size_t n)
{
	return (struct atw_blob){ (const char *)b.data + n, b.len - n };
}

/* The next line of *b, without its newline; false: none that is whole. */
static bool format_next_line(struct atw_blob *b, struct atw_blob *ret)
{
	const char *s = b->data, *nl = b->len ? memchr(s, '\n', b->len) : NULL;

	if (!nl)
		return false;
	*ret = (struct atw_blob){ s, (size_t)(nl - s) };
	*b = format_behind(*b, ret->len + 1);
	return true;
}

static const char OURS[] = "# atwalk-kmap ", COMPRESSED[] = "# This is a compressed .cmap";

/* Its addresses may be hidden or wrong, its numbers are not. */
static bool format_looks_like_object(struct atw_blob line)
{
	const char *s = line.data, *end = s + line.len;

	for (unsigned i = 0; i < 7; i++) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		bool minus = i == 1 && s < end && *s == '-';
		uint64_t v;

		if (!comma)
			return false;
		s += minus;
		if ((i == 1 || (i > 2 && i < 6)) && !num_dec(s, (size_t)(comma - s), &v))
			return false;
		s = comma + 1;
	}
	return true;
}

int kmap_probe(struct atw_blob head)
{
	struct atw_blob text = head, line;
	struct kmap_record rec;
	int sure = 0;

	if (blob_begins(head, OURS) || blob_begins(head, COMPRESSED))
		return 100;
	while (format_next_line(&text, &line)) {
		if (!trim(line).len || *(const char *)line.data == '#')
			continue;
		if (format_looks_like_object(line))
			return 80;
		/* Calls may come first, and as many as there are. */
		if (kmap_parse(line, KMAP_V3, 0, &rec, NULL) != ATW_OK || rec.kind != KMAP_CALL)
			return 0;
		sure = 30;
	}
	return sure;
}

bool kmap_is_compressed_comment(const struct kmap_record *rec)
{
	return rec->kind == KMAP_COMMENT && blob_begins(rec->u.comment, COMPRESSED + 1);
}

void kmap_init(struct kmap_reader *k)
{
	memset(k, 0, sizeof(*k));
}

/* ---- which version ---- */

/*
 * Sets *ret to the last version that all lines can be of. A line with a comma in its
 * task's name looks like one of the next version, so the lines after it are checked,
 * too. false: more data is needed.
 */
static bool format_find_version(struct atw_blob text, bool last, enum kmap_version *ret)
{
	bool whole = text.len >= KMAP_LOOK || last;
	unsigned can = ~0u;
	struct atw_blob line;

	text.len = text.len < KMAP_LOOK ? text.len : KMAP_LOOK;
	while (can & (can - 1) && format_next_line(&text, &line)) {
		unsigned of;

		if (!line.len || *(const char *)line.data == '#')
			continue;
		/* Only accesses distinguish V3 from compressed. */
		of = kmap_versions_of(line) & ~(1u << KMAP_COMPRESSED);
		if (!of)
			continue;
		/* From here on it is another file. */
		if (!(can & of))
			break;
		can &= of;
	}
	if (can & (can - 1) && !whole)
		return false;
	/* No line of it was whole. */
	*ret = can == ~0u ? KMAP_UNKNOWN : (enum kmap_version)(31 - __builtin_clz(can));
	return true;
}

static bool format_is_object(struct atw_blob line)
{
	return line.len && *(const char *)line.data != '#' && kmap_versions_of(line);
}

/* Detect from the first plain access of a V3 file whether it is compressed. */
static void format_settle(struct kmap_reader *k, struct atw_blob line)
{
	const char *s = line.data, *end = s + line.len;
	size_t commas = 0;

	if (!line.len || !blank(*s))
		return;
	for (; s < end; s++) {
		commas += *s == ',';
		if (*s == ':')
			return;
	}
	if (commas == 3)
		k->version = KMAP_COMPRESSED;
	k->sure |= commas == 2 || commas == 3;
}

/* ---- lines in their order ---- */

static int format_header(struct kmap_reader *k, const struct kmap_record *rec,
			 struct atw_err *err)
{
	const struct atw_blob *key = &rec->u.header.key, *value = &rec->u.header.value;
	bool version = key->len == 7 && !memcmp(key->data, "version", 7);
	uint64_t v;

	if (k->line == 1 && !version)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "invalid version '%.*s'",
				   (int)(key->len < 20 ? key->len : 20), (const char *)key->data);
	if (!version)
		return ATW_OK;
	if (k->line > 1)
		return atw_err_set(err, ATW_E_DAMAGED, "another file begins here");
	if (!num_dec(value->data, value->len, &v) || v != 1) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "atwalk-kmap version '%.*s', but this "
			    "program reads 1", (int)(value->len < 20 ? value->len : 20),
			    (const char *)value->data);
		atw_err_hint(err, "use a newer atwalk");
		return ATW_E_UNSUPPORTED;
	}
	return ATW_OK;
}

static int format_placed(struct kmap_reader *k, const struct kmap_record *rec,
			 struct atw_err *err)
{
	switch (rec->kind) {
	case KMAP_OBJECT:
		k->in_object = true;
		k->passing = false;
		k->objects++;
		return ATW_OK;
	case KMAP_ACCESS:
	case KMAP_LINE_HEAT:
		if (!k->in_object)
			return atw_err_set(err, ATW_E_DAMAGED, "heat of a line without an object before it");
		k->accesses += rec->kind == KMAP_ACCESS;
		return ATW_OK;
	case KMAP_USED:
		if (!k->in_object)
			return atw_err_set(err, ATW_E_DAMAGED, "times of accesses without an object before them");
		return ATW_OK;
	case KMAP_MARK:
		if (!k->in_object)
			return atw_err_set(err, ATW_E_DAMAGED, "a mark without an object before it");
		return ATW_OK;
	case KMAP_CALL:
		k->calls++;
		return ATW_OK;
	case KMAP_HEADER:
		return format_header(k, rec, err);
	case KMAP_END:
		k->ended = true;
		k->said_objects = rec->u.end.objects;
		k->said_accesses = rec->u.end.accesses;
		k->lost = rec->u.end.lost;
		return ATW_OK;
	default:
		return ATW_OK;
	}
}

static int format_one(struct kmap_reader *k, struct atw_blob line,
		      struct kmap_record *ret, struct atw_err *err)
{
	bool may_be_object = line.len && *(const char *)line.data != '#';
	int r;

	if (!k->in_object && trim(line).len && blank(*(const char *)line.data) &&
	    !format_is_object(line))
		return atw_err_set(err, ATW_E_DAMAGED, "an access without an object before it");
	if (k->version == KMAP_V3 && !k->sure)
		format_settle(k, line);
	r = kmap_parse(line, k->version,
		       (k->ours ? KMAP_OURS : 0) | (k->declared ? KMAP_DECLARED : 0), ret, err);
	if (r == ATW_OK && k->ended && ret->kind != KMAP_BLANK)
		return atw_err_set(err, ATW_E_DAMAGED, "unexpected data after the end line");
	if (r == ATW_OK)
		return format_placed(k, ret, err);
	/* The bad line may have been an object's: drop the accesses that follow it. */
	if (may_be_object &&
	    (!blank(*(const char *)line.data) || format_is_object(line))) {
		k->in_object = true;
		k->passing = true;
	}
	return r;
}

/* The rest of a line that was too long; false: all of the buffer is. */
static bool format_skipped(struct kmap_reader *k, struct atw_blob buf, size_t *pos)
{
	struct atw_blob text = format_behind(buf, *pos);
	const char *nl = memchr(text.data, '\n', text.len);

	if (!nl) {
		*pos = buf.len;
		return false;
	}
	*pos += (size_t)(nl - (const char *)text.data) + 1;
	k->skip = false;
	return true;
}

/* The next whole line; ATW_END: there is none yet. */
static int format_take_line(struct kmap_reader *k, struct atw_blob buf, bool last,
			    size_t *pos, struct atw_blob *ret, struct atw_err *err)
{
	struct atw_blob text;
	const char *nl;

	if (*pos >= buf.len || (k->skip && !format_skipped(k, buf, pos)) ||
	    *pos >= buf.len)
		return ATW_END;
	text = format_behind(buf, *pos);
	nl = memchr(text.data, '\n', text.len < KMAP_LINE ? text.len : KMAP_LINE);
	if (!nl && text.len < KMAP_LINE && !last)
		return ATW_END;
	if (!nl && text.len >= KMAP_LINE) {
		k->line++;
		*pos += KMAP_LINE;
		k->skip = k->started = true;
		/* It may have been any line. */
		k->in_object = k->passing = true;
		return atw_err_set(err, ATW_E_FORMAT, "longer than %d bytes", KMAP_LINE);
	}
	if (nl)
		text.len = (size_t)(nl - (const char *)text.data);
	*ret = text;
	if (!k->started && blob_begins(text, OURS)) {
		k->ours = k->declared = true;
		k->version = KMAP_V4;
	} else if (!k->started && blob_begins(text, COMPRESSED)) {
		k->version = KMAP_COMPRESSED;
		k->declared = true;
	} else if (!k->version && format_is_object(text)) {
		if (!format_find_version(format_behind(buf, *pos), last, &k->version))
			return ATW_END;
		/* Its own line is not whole. */
		if (!k->version)
			k->version = KMAP_V4;
	}
	k->started = true;
	k->line++;
	*pos += text.len + (nl != NULL);
	/* Its last number may lack digits. */
	if (!nl)
		return atw_err_set(err, ATW_E_DAMAGED, "cut off in the middle");
	return ATW_OK;
}

int kmap_next(struct kmap_reader *k, struct atw_blob buf, bool last, size_t *pos,
	      struct kmap_record *ret, struct atw_err *err)
{
	struct atw_blob line = { NULL, 0 };
	int r;

	do {
		r = format_take_line(k, buf, last, pos, &line, err) ?:
		    format_one(k, line, ret, err);
		if (r == ATW_END)
			return r;
		if (r != ATW_OK) {
			k->faults++;
			atw_err_wrap(err, "line %" PRIu64, k->line);
			return r;
		}
	} while (ret->kind == KMAP_BLANK ||
		 (k->passing && (ret->kind == KMAP_ACCESS || ret->kind == KMAP_LINE_HEAT ||
				 ret->kind == KMAP_USED || ret->kind == KMAP_MARK)));
	return ATW_OK;
}

int kmap_finish(const struct kmap_reader *k, struct atw_err *err)
{
	if (!k->started)
		return atw_err_set(err, ATW_E_FORMAT, "it is empty");
	if (k->ours && !k->ended)
		return atw_err_set(err, ATW_E_DAMAGED, "no end line: cut off after line %" PRIu64,
				   k->line);
	if (k->ended && !k->faults && (k->said_objects != k->objects || k->said_accesses != k->accesses))
		return atw_err_set(err, ATW_E_DAMAGED, "the end line counts %" PRIu64
				   " lines of objects and %" PRIu64 " of accesses, but there are "
				   "%" PRIu64 " and %" PRIu64, k->said_objects, k->said_accesses, k->objects,
				   k->accesses);
	return ATW_OK;
}
