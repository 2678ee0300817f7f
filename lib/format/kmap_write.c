/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_write.c - lines of atwalk-kmap(5), in each version. */
#include <string.h>

#include "base/digits.h"
#include "format/kmap.h"

/* What does not fit any more leaves `full` set, and is asked about once. */
struct out {
	char *s, *end;
	bool full;
};

enum { NUMBER = 20 };

static void put(struct out *o, const void *data, size_t len)
{
	if (o->full || len > (size_t)(o->end - o->s)) {
		o->full = true;
		return;
	}
	if (len)
		memcpy(o->s, data, len);
	o->s += len;
}

static void text(struct out *o, const char *s)
{
	put(o, s, strlen(s));
}

static void dec(struct out *o, uint64_t v)
{
	char tmp[NUMBER], *s = tmp + sizeof(tmp);

	do {
		*--s = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(o, s, (size_t)(tmp + sizeof(tmp) - s));
}

static void sdec(struct out *o, int64_t v)
{
	if (v < 0)
		text(o, "-");
	dec(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void hex16(char *p, uint64_t v)
{
	put_hex8(put_hex8(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

/* As the kernel's %p did: the first ones wrote "(null)", and V4's writes zeroes. */
static void address(struct out *o, uint64_t v, enum kmap_version version)
{
	char tmp[16];

	if (!v && version != KMAP_V4) {
		text(o, "(null)");
		return;
	}
	hex16(tmp, v);
	put(o, tmp, sizeof(tmp));
}

/* Without zeroes in front: %-p, by which uSCOPE knows "feedbeef". */
static void first(struct out *o, uint64_t v, enum kmap_version version)
{
	char tmp[16];
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	if (version == KMAP_V4 || version == KMAP_V1 || !v) {
		address(o, v, version);
		return;
	}
	hex16(tmp, v);
	put(o, tmp + 16 - n, n);
}

static void name(struct out *o, struct atw_blob b)
{
	if (b.data)
		put(o, b.data, b.len);
	else
		text(o, "(null)");
}

static struct atw_blob if_has(uint32_t has, uint32_t bit, struct atw_blob b)
{
	return has & bit ? b : (struct atw_blob){ NULL, 0 };
}

static void object(struct out *o, const struct kmap_object *b, enum kmap_version v)
{
	bool comp = v == KMAP_COMPRESSED;

	if (comp && b->has & KMAP_HAS_NAME)
		name(o, b->name);
	else
		first(o, b->alloc_ip, v);
	text(o, ",");
	sdec(o, b->pid);
	text(o, ",");
	address(o, b->va, v);
	text(o, ",");
	dec(o, b->size);
	text(o, ",");
	dec(o, b->alloc_time);
	text(o, ",");
	dec(o, b->free_time);
	text(o, ",");
	address(o, b->free_ip, v);
	text(o, ",");
	if (v != KMAP_V1) {
		name(o, if_has(b->has, KMAP_HAS_TYPE, b->type));
		text(o, ",");
	}
	name(o, b->task);
	if (v == KMAP_V1 || v == KMAP_V2)
		return;
	text(o, ",");
	name(o, if_has(b->has, KMAP_HAS_CACHE, b->cache));
	if (v != KMAP_V4)
		return;
	text(o, ",");
	name(o, if_has(b->has, KMAP_HAS_NEW_TYPE, b->new_type));
}

static void access_line(struct out *o, const struct kmap_access *a, enum kmap_version v)
{
	bool from = a->has & KMAP_IS_FROM && (v == KMAP_V3 || v == KMAP_V4);
	int64_t pid = a->has & KMAP_HAS_PID ? a->pid : -1;

	text(o, from ? "  from:" : "  ");
	address(o, a->ip, v);
	text(o, ",");
	if (v == KMAP_V1) {
		sdec(o, pid);
		text(o, ",");
	}
	if (from && a->has & KMAP_HAS_CALLER) {
		text(o, "caller:");
		address(o, a->caller, v);
		text(o, ",");
	}
	dec(o, a->writes);
	text(o, ",");
	dec(o, a->reads);
	if (v == KMAP_V4 && !from) {
		text(o, ",");
		sdec(o, pid);
	} else if (v == KMAP_COMPRESSED) {
		text(o, ",");
		dec(o, a->has & KMAP_HAS_FREES ? a->frees : 0);
	}
}

static void heat(struct out *o, const struct kmap_access *a)
{
	text(o, "# line ");
	dec(o, a->line);
	text(o, ",");
	dec(o, a->writes);
	text(o, ",");
	dec(o, a->reads);
}

static void used(struct out *o, uint64_t first_time, uint64_t last_time)
{
	text(o, "# used ");
	dec(o, first_time);
	text(o, ",");
	dec(o, last_time);
}

/* Calls are parted by blanks, as Memorizer's own file of them has it. */
static void call(struct out *o, const struct kmap_call *c, enum kmap_version v)
{
	first(o, c->from, v);
	text(o, " ");
	first(o, c->to, v);
	text(o, " ");
	dec(o, c->count);
}

static void header(struct out *o, struct atw_blob key, struct atw_blob value)
{
	bool version = key.len == 7 && !memcmp(key.data, "version", 7);

	text(o, "# atwalk-kmap ");
	put(o, key.data, version ? 0 : key.len);
	if (value.len && !version)
		text(o, " ");
	put(o, value.data, value.len);
}

size_t kmap_write(const struct kmap_record *rec, enum kmap_version v, char *buf, size_t len)
{
	struct out o = { buf, buf + (len < KMAP_LINE ? len : KMAP_LINE), false };

	if (v == KMAP_UNKNOWN || v >= KMAP_VERSIONS)
		return 0;
	switch (rec->kind) {
	case KMAP_OBJECT:
		object(&o, &rec->u.object, v);
		break;
	case KMAP_ACCESS:
		access_line(&o, &rec->u.access, v);
		break;
	case KMAP_LINE_HEAT:
		heat(&o, &rec->u.access);
		break;
	case KMAP_USED:
		used(&o, rec->u.used.first, rec->u.used.last);
		break;
	case KMAP_CALL:
		if (v != KMAP_V3 && v != KMAP_COMPRESSED)
			return 0;
		call(&o, &rec->u.call, v);
		break;
	case KMAP_COMMENT:
		text(&o, "#");
		put(&o, rec->u.comment.data, rec->u.comment.len);
		break;
	case KMAP_HEADER:
		header(&o, rec->u.header.key, rec->u.header.value);
		break;
	case KMAP_END:
		text(&o, "# atwalk-kmap end objects ");
		dec(&o, rec->u.end.objects);
		text(&o, " accesses ");
		dec(&o, rec->u.end.accesses);
		text(&o, " lost ");
		dec(&o, rec->u.end.lost);
		break;
	case KMAP_BLANK:
		break;
	}
	text(&o, "\n");
	return o.full ? 0 : (size_t)(o.s - buf);
}

/* ---- what does not go into it ---- */

static const char *const loss_names[KMAP_LOSES] = {
	"types", "names of caches", "new types", "pids of accesses", "frees of accesses",
	"callers", "heat of lines", "calls", "header lines", "comments",
	"names of objects", "tasks", "marks of unknown memory ('from:')",
	"times of accesses",
};

const char *kmap_loss_name(unsigned bit)
{
	return bit < KMAP_LOSES ? loss_names[bit] : NULL;
}

static uint32_t object_loses(const struct kmap_object *b, enum kmap_version v)
{
	uint32_t lost = 0;

	if (v == KMAP_V1 && b->has & KMAP_HAS_TYPE)
		lost |= KMAP_LOSES_TYPE;
	if ((v == KMAP_V1 || v == KMAP_V2) && b->has & KMAP_HAS_CACHE)
		lost |= KMAP_LOSES_CACHE;
	/* "NONE" is that there is none. */
	if (v != KMAP_V4 && b->has & KMAP_HAS_NEW_TYPE &&
	    !(b->new_type.len == 4 && !memcmp(b->new_type.data, "NONE", 4)))
		lost |= KMAP_LOSES_NEW_TYPE;
	if (v != KMAP_COMPRESSED && b->has & KMAP_HAS_NAME)
		lost |= KMAP_LOSES_NAME;
	return lost;
}

static uint32_t access_loses(const struct kmap_access *a, enum kmap_version v)
{
	uint32_t lost = 0;

	if (v != KMAP_V1 && v != KMAP_V4 && a->has & KMAP_HAS_PID)
		lost |= KMAP_LOSES_PID;
	if (v != KMAP_COMPRESSED && a->has & KMAP_HAS_FREES && a->frees)
		lost |= KMAP_LOSES_FREES;
	if (v != KMAP_V3 && v != KMAP_V4 && a->has & KMAP_IS_FROM)
		lost |= KMAP_LOSES_FROM | (a->has & KMAP_HAS_CALLER ? KMAP_LOSES_CALLER : 0);
	return lost;
}

uint32_t kmap_loses(const struct kmap_record *rec, enum kmap_version v)
{
	/* Whoever reads these skips what begins with a #. */
	bool comments = v == KMAP_V3 || v == KMAP_COMPRESSED;

	switch (rec->kind) {
	case KMAP_OBJECT:
		return object_loses(&rec->u.object, v);
	case KMAP_ACCESS:
		return access_loses(&rec->u.access, v);
	case KMAP_LINE_HEAT:
		return KMAP_LOSES_HEAT;
	case KMAP_USED:
		return KMAP_LOSES_USED;
	case KMAP_CALL:
		return comments ? 0 : KMAP_LOSES_CALL;
	case KMAP_COMMENT:
		return comments ? 0 : KMAP_LOSES_COMMENT;
	case KMAP_HEADER:
		return KMAP_LOSES_HEADER;
	default:
		return 0;
	}
}
