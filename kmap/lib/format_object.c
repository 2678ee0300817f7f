/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_object.c - lines of objects, and which version they are of. */
#include "kmap/lib/format_fields.h"

/* "(null)": not known. */
static struct atw_blob format_object_name(struct atw_blob b)
{
	return blob_is(b, KMAP_NULL) ? (struct atw_blob){ NULL, 0 } : b;
}

static bool format_object_known(struct atw_blob b)
{
	return b.data;
}

/* "KMEM_CACHE_ND": the form that distinguishes a type from a task's name. */
static bool format_object_like_type(struct atw_blob b)
{
	const char *s = b.data;

	if (blob_is(b, KMAP_NULL))
		return true;
	for (size_t i = 0; i < b.len; i++)
		if (!((s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9' && i) ||
		      (s[i] == '_' && i)))
			return false;
	return b.len > 2;
}

/* One of Memorizer's for sure; no cache is called so. */
static bool format_object_is_type(struct atw_blob b)
{
	static const char *const types[] = {
		"STACK", "STACK_FRAME", "STACK_ARGS", "STACK_PAGE", "GEN_HEAP", "UFO_HEAP",
		"GLOBAL", "KMALLOC", "KMALLOC_ND", "KMEM_CACHE", "KMEM_CACHE_ND",
		"KMEM_CACHE_BULK", "VMALLOC", "ALLOC_PAGES", "ALLOC_PAGES_EXACT",
		"ALLOC_PAGES_GETFREEPAGES", "ALLOC_PAGES_FOLIO", "INDUCED_ALLOC", "BOOTMEM",
		"MEMBLOCK", "UFO_MEMBLOCK", "MEMORIZER", "USER", "BUG", "UFO_GLOBAL",
		"UFO_NONE", "NONE",
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (blob_is(b, types[i]))
			return true;
	return false;
}

/* What is behind the first seven fields, cut as each version has it. */
struct rest {
	size_t fields;
	struct atw_blob type;            /* the first */
	struct atw_blob tail;            /* behind it */
	struct atw_blob last, middle;    /* of the tail, cut at its last comma */
	struct atw_blob cache, task;     /* likewise of the middle */
};

static struct rest format_object_cut(struct atw_blob b)
{
	struct rest r = { .fields = 1 + commas(b), .tail = b };

	take(&r.tail, &r.type);
	r.middle = r.tail;
	take_last(&r.middle, &r.last);
	r.task = r.middle;
	take_last(&r.task, &r.cache);
	return r;
}

static unsigned format_object_versions_of(const struct rest *r)
{
	bool four = r->fields > 3 && format_object_is_type(r->last);
	unsigned can = 0;

	if (r->fields == 1 || !format_object_like_type(r->type))
		return 1u << KMAP_V1;
	if (r->tail.len <= KMAP_COMM && !four)
		can |= 1u << KMAP_V2;
	if (r->fields > 2 && !four && (r->fields == 3 || r->middle.len <= KMAP_COMM))
		can |= 1u << KMAP_V3 | 1u << KMAP_COMPRESSED;
	if (r->fields > 3 && (r->fields == 4 || r->task.len <= KMAP_COMM) &&
	    (format_object_like_type(r->last) || !r->last.len || blob_is(r->last, "-")))
		can |= 1u << KMAP_V4;
	/* A task's name may be longer than any kernel's: then fields alone decide. */
	if (!can)
		can = r->fields == 2 ? 1u << KMAP_V2 :
		      r->fields == 3 ? 1u << KMAP_V3 | 1u << KMAP_COMPRESSED : 1u << KMAP_V4;
	return can;
}

unsigned kmap_versions_of(struct atw_blob line)
{
	struct atw_blob field;
	struct rest r;

	for (unsigned i = 0; i < KMAP_FIRST; i++)
		if (!take(&line, &field))
			return 0;
	r = format_object_cut(line);
	return format_object_versions_of(&r);
}

/* What is no such line in a file of that version is one of another. */
static int format_object_check_version(const struct rest *r, enum kmap_version v,
				       bool declared, struct atw_err *err)
{
	static const uint8_t least[KMAP_VERSIONS] = {
		[KMAP_V1] = 1, [KMAP_V2] = 2, [KMAP_V3] = 3, [KMAP_V4] = 4,
		[KMAP_COMPRESSED] = 3,
	};
	unsigned can = format_object_versions_of(r);

	/* A comma in the name of V4's task, and of V3's, look alike. */
	if (r->fields < least[v] || (!declared && !(can >> v & 1) &&
				     !(v == KMAP_V4 && format_object_like_type(r->type))))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "an object of %zu fields, which is "
				   "not of %s like those before", KMAP_FIRST + r->fields,
				   kmap_version_name(v));
	return ATW_OK;
}

int kmap_parse_object(struct atw_blob b, enum kmap_version v, bool declared,
		      struct kmap_object *ret, struct atw_err *err)
{
	struct kmap_object o = { 0 };
	struct atw_blob f[KMAP_FIRST];
	struct rest rest;
	int r;

	for (unsigned i = 0; i < KMAP_FIRST; i++)
		if (!take(&b, &f[i]))
			return atw_err_set(err, ATW_E_FORMAT, "%u fields: an object has 8 or more",
					   i + 1);
	rest = format_object_cut(b);
	r = format_object_check_version(&rest, v, declared, err);
	if (r != ATW_OK)
		return r;
	r = kmap_address("alloc_ip", f[0], &o.alloc_ip, v == KMAP_COMPRESSED ? NULL : err);
	/* Without the blanks that may be in front, a # would begin a comment. */
	if (r != ATW_OK && v == KMAP_COMPRESSED && trim(f[0]).len &&
	    *(const char *)trim(f[0]).data != '#') {
		o.name = trim(f[0]);
		o.alloc_ip = 0;
		o.has |= KMAP_HAS_NAME;
		r = ATW_OK;
	} else if (r != ATW_OK) {
		return kmap_address("alloc_ip", f[0], &o.alloc_ip, err);
	}
	if ((r = kmap_number("pid", f[1], &o.pid, err)) ||
	    (r = kmap_address("va", f[2], &o.va, err)) ||
	    (r = kmap_count("size", f[3], &o.size, err)) ||
	    (r = kmap_count("alloc_time", f[4], &o.alloc_time, err)) ||
	    (r = kmap_count("free_time", f[5], &o.free_time, err)) ||
	    (r = kmap_address("free_ip", f[6], &o.free_ip, err)))
		return r;
	if (v == KMAP_V1) {
		o.task = format_object_name(b);
		*ret = o;
		return ATW_OK;
	}
	o.type = format_object_name(rest.type);
	if (v == KMAP_V2) {
		o.task = format_object_name(rest.tail);
	} else if (v == KMAP_V4) {
		o.new_type = format_object_name(rest.last);
		o.cache = format_object_name(rest.cache);
		o.task = format_object_name(rest.task);
	} else {
		o.cache = format_object_name(rest.last);
		o.task = format_object_name(rest.middle);
	}
	o.has |= (format_object_known(o.type) ? KMAP_HAS_TYPE : 0) |
		 (format_object_known(o.cache) ? KMAP_HAS_CACHE : 0) |
		 (format_object_known(o.new_type) ? KMAP_HAS_NEW_TYPE : 0);
	*ret = o;
	return ATW_OK;
}

struct atw_blob kmap_plain_cache(struct atw_blob cache)
{
	const char *s = cache.data, *paren = cache.len ? memchr(s, '(', cache.len) : NULL;

	/* "(null)" is none. */
	if (paren && paren > s)
		cache.len = (size_t)(paren - s);
	return cache;
}
