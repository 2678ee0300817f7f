/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_write.c - lines of atwalk-kmap(5), in each version. */
#include "base/bytes.h"
#include "base/digits.h"
#include "kmap/lib/format.h"

/* A number, with a text in front. */
static void format_write_dec(struct line *l, const char *text, uint64_t v)
{
	line_text(l, text);
	line_dec(l, v);
}

/* As the kernel's %p did: the first ones wrote "(null)", and V4's writes zeroes. */
static void format_write_address(struct line *l, uint64_t v, enum kmap_version version)
{
	if (v || version == KMAP_V4)
		line_hex(l, v, 16, 'a');
	else
		line_text(l, "(null)");
}

/* Without zeroes in front: %-p, by which uSCOPE knows "feedbeef". */
static void format_write_first(struct line *l, uint64_t v, enum kmap_version version)
{
	if (version == KMAP_V4 || version == KMAP_V1 || !v)
		format_write_address(l, v, version);
	else
		line_hex(l, v, 1, 'a');
}

static void format_write_name(struct line *l, struct atw_blob b)
{
	if (b.data)
		line_put(l, b.data, b.len);
	else
		line_text(l, "(null)");
}

static struct atw_blob format_write_if_has(uint32_t has, uint32_t bit, struct atw_blob b)
{
	return has & bit ? b : (struct atw_blob){ NULL, 0 };
}

static void format_write_object(struct line *l, const struct kmap_object *b,
				enum kmap_version v)
{
	bool comp = v == KMAP_COMPRESSED;

	if (comp && b->has & KMAP_HAS_NAME)
		format_write_name(l, b->name);
	else
		format_write_first(l, b->alloc_ip, v);
	line_text(l, ",");
	line_signed(l, b->pid);
	line_text(l, ",");
	format_write_address(l, b->va, v);
	format_write_dec(l, ",", b->size);
	format_write_dec(l, ",", b->alloc_time);
	format_write_dec(l, ",", b->free_time);
	line_text(l, ",");
	format_write_address(l, b->free_ip, v);
	line_text(l, ",");
	if (v != KMAP_V1) {
		format_write_name(l, format_write_if_has(b->has, KMAP_HAS_TYPE, b->type));
		line_text(l, ",");
	}
	format_write_name(l, b->task);
	if (v == KMAP_V1 || v == KMAP_V2)
		return;
	line_text(l, ",");
	format_write_name(l, format_write_if_has(b->has, KMAP_HAS_CACHE, b->cache));
	if (v != KMAP_V4)
		return;
	line_text(l, ",");
	format_write_name(l, format_write_if_has(b->has, KMAP_HAS_NEW_TYPE, b->new_type));
}

static void format_write_access_line(struct line *l, const struct kmap_access *a,
				     enum kmap_version v)
{
	bool from = a->has & KMAP_IS_FROM && (v == KMAP_V3 || v == KMAP_V4);
	int64_t pid = a->has & KMAP_HAS_PID ? a->pid : -1;

	line_text(l, from ? "  from:" : "  ");
	format_write_address(l, a->ip, v);
	line_text(l, ",");
	if (v == KMAP_V1) {
		line_signed(l, pid);
		line_text(l, ",");
	}
	if (from && a->has & KMAP_HAS_CALLER) {  /* V4: of our own alone, as calls */
		line_text(l, "caller:");
		format_write_address(l, a->caller, v);
		line_text(l, ",");
	}
	line_dec(l, a->writes);
	format_write_dec(l, ",", a->reads);
	if (v == KMAP_V4 && !from) {
		line_text(l, ",");
		line_signed(l, pid);
	} else if (v == KMAP_COMPRESSED) {
		format_write_dec(l, ",", a->has & KMAP_HAS_FREES ? a->frees : 0);
	}
}

static void format_write_marks(struct line *l, uint32_t of)
{
	line_text(l, "# mark");
	if (of & KMAP_BEFORE)
		line_text(l, " before");
	if (of & KMAP_WATCHED)
		line_text(l, " watched");
}

/* Calls are parted by blanks, as Memorizer's own file of them has it. */
static void format_write_call(struct line *l, const struct kmap_call *c,
			      enum kmap_version v)
{
	format_write_first(l, c->from, v);
	line_text(l, " ");
	format_write_first(l, c->to, v);
	format_write_dec(l, " ", c->count);
}

static void format_write_header(struct line *l, struct atw_blob key,
				struct atw_blob value)
{
	bool version = blob_is(key, "version");

	line_text(l, "# atwalk-kmap ");
	line_put(l, key.data, version ? 0 : key.len);
	if (value.len && !version)
		line_text(l, " ");
	line_put(l, value.data, value.len);
}

size_t kmap_write(const struct kmap_record *rec, enum kmap_version v, char *buf, size_t len)
{
	struct line l = { buf, buf + (len < KMAP_LINE ? len : KMAP_LINE), false };

	if (v == KMAP_UNKNOWN || v >= KMAP_VERSIONS)
		return 0;
	switch (rec->kind) {
	case KMAP_OBJECT:
		format_write_object(&l, &rec->u.object, v);
		break;
	case KMAP_ACCESS:
		format_write_access_line(&l, &rec->u.access, v);
		break;
	case KMAP_LINE_HEAT:
		format_write_dec(&l, "# line ", rec->u.access.line);
		format_write_dec(&l, ",", rec->u.access.writes);
		format_write_dec(&l, ",", rec->u.access.reads);
		break;
	case KMAP_USED:
		format_write_dec(&l, "# used ", rec->u.used.first);
		format_write_dec(&l, ",", rec->u.used.last);
		break;
	case KMAP_TASK:
		line_text(&l, "# task ");
		line_signed(&l, rec->u.task.pid);
		line_text(&l, " ");
		line_put(&l, rec->u.task.name.data, rec->u.task.name.len);
		break;
	case KMAP_MARK:
		format_write_marks(&l, rec->u.marks);
		break;
	case KMAP_CALL:
		if (v == KMAP_V4)        /* of our own alone: kmap_loses() */
			line_text(&l, "# call ");
		else if (v != KMAP_V3 && v != KMAP_COMPRESSED)
			return 0;
		format_write_call(&l, &rec->u.call, v);
		break;
	case KMAP_COMMENT:
		line_text(&l, "#");
		line_put(&l, rec->u.comment.data, rec->u.comment.len);
		break;
	case KMAP_HEADER:
		format_write_header(&l, rec->u.header.key, rec->u.header.value);
		break;
	case KMAP_END:
		format_write_dec(&l, "# atwalk-kmap end objects ", rec->u.end.objects);
		format_write_dec(&l, " accesses ", rec->u.end.accesses);
		format_write_dec(&l, " lost ", rec->u.end.lost);
		break;
	case KMAP_BLANK:
		break;
	}
	line_text(&l, "\n");
	return l.full ? 0 : (size_t)(l.s - buf);
}

/* ---- what does not go into it ---- */

static const char *const loss_names[KMAP_LOSES] = {
	"types", "names of caches", "new types", "pids of accesses", "frees of accesses",
	"callers", "heat of lines", "calls", "header lines", "comments",
	"names of objects", "tasks", "marks of unknown memory ('from:')",
	"times of accesses", "names of functions", "marks of a sample",
	"marks of objects",
};

const char *kmap_loss_name(unsigned bit)
{
	return bit < KMAP_LOSES ? loss_names[bit] : NULL;
}

static uint32_t format_write_object_loses(const struct kmap_object *b,
					  enum kmap_version v)
{
	uint32_t lost = 0;

	if (v == KMAP_V1 && b->has & KMAP_HAS_TYPE)
		lost |= KMAP_LOSES_TYPE;
	if ((v == KMAP_V1 || v == KMAP_V2) && b->has & KMAP_HAS_CACHE)
		lost |= KMAP_LOSES_CACHE;
	/* "NONE" is that there is none. */
	if (v != KMAP_V4 && b->has & KMAP_HAS_NEW_TYPE && !blob_is(b->new_type, "NONE"))
		lost |= KMAP_LOSES_NEW_TYPE;
	if (v != KMAP_COMPRESSED && b->has & KMAP_HAS_NAME)
		lost |= KMAP_LOSES_NAME;
	return lost;
}

static uint32_t format_write_access_loses(const struct kmap_access *a,
					  enum kmap_version v)
{
	uint32_t lost = 0;

	if (v != KMAP_V1 && v != KMAP_V4 && a->has & KMAP_HAS_PID)
		lost |= KMAP_LOSES_PID;
	if (v != KMAP_COMPRESSED && a->has & KMAP_HAS_FREES && a->frees)
		lost |= KMAP_LOSES_FREES;
	if (v != KMAP_V3 && v != KMAP_V4 && a->has & KMAP_IS_FROM)
		lost |= KMAP_LOSES_FROM;
	if (v != KMAP_V3 && a->has & KMAP_HAS_CALLER)
		lost |= KMAP_LOSES_CALLER;
	return lost;
}

/* Without some of them, what is left is taken for something else. */
static uint32_t format_write_header_loses(struct atw_blob key, struct atw_blob value)
{
	if (blob_is(key, "symbol"))
		return KMAP_LOSES_SYMBOL;
	if (blob_is(key, "mode") && blob_is(value, "sample"))
		return KMAP_LOSES_SAMPLE;
	return KMAP_LOSES_HEADER;
}

uint32_t kmap_loses(const struct kmap_record *rec, enum kmap_version v)
{
	/* Memorizer's own readers of these versions skip lines that begin with a #. */
	bool comments = v == KMAP_V3 || v == KMAP_COMPRESSED;

	switch (rec->kind) {
	case KMAP_OBJECT:
		return format_write_object_loses(&rec->u.object, v);
	case KMAP_ACCESS:
		return format_write_access_loses(&rec->u.access, v);
	case KMAP_LINE_HEAT:
		return KMAP_LOSES_HEAT;
	case KMAP_USED:
		return KMAP_LOSES_USED;
	case KMAP_TASK:
		return KMAP_LOSES_HEADER;
	case KMAP_MARK:
		return KMAP_LOSES_MARK;
	case KMAP_CALL:
		return comments ? 0 : KMAP_LOSES_CALL;
	case KMAP_COMMENT:
		return comments ? 0 : KMAP_LOSES_COMMENT;
	case KMAP_HEADER:
		return format_write_header_loses(rec->u.header.key, rec->u.header.value);
	default:
		return 0;
	}
}
