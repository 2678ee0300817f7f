/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bytes.h"
#include "base/sorted.h"
#include "kmap/lib/compress.h"

#include "kmap/lib/table.h"
#include "record/intern.h"

enum { KEY_IP, KEY_VA };                 /* less than any text's address */

enum size { SIZE_FIRST, SIZE_LARGEST, SIZE_SUM };

struct object {
	struct kmap_key key;             /* an address; a text's, or the kind of key */
	const char *word, *type, *cache; /* of the table of texts; word NULL: alloc_ip */
	uint64_t alloc_ip, va, size;
};

/* An access: object, ip. A call: from, to. */
struct edge {
	struct kmap_key key;
	uint64_t writes, reads, frees;   /* a call's count is in writes */
};

struct kmap_compress {
	struct kmap_table objects, accesses, calls;
	struct intern texts;
	size_t now;                      /* the object that accesses are to; + 1, 0: none */
	uint64_t lost[KMAP_LOSES];
	bool failed;
};

static int compress_nomem(struct kmap_compress *c, struct atw_err *err)
{
	c->failed = true;
	return atw_err_set(err, ATW_E_NOMEM, "not enough memory for %zu places that touch objects",
			   c->accesses.n);
}

static int compress_touch(struct kmap_compress *c, struct kmap_table *t,
			  struct kmap_key k, uint64_t writes, uint64_t reads,
			  uint64_t frees, struct atw_err *err)
{
	struct edge *e = kmap_table_elem(t, k, NULL);

	if (!e)
		return compress_nomem(c, err);
	sum_u64(&e->writes, writes);
	sum_u64(&e->reads, reads);
	sum_u64(&e->frees, frees);
	return ATW_OK;
}

/* ---- which object it is part of ---- */

static bool compress_is_any(struct atw_blob b, const char *const *words)
{
	for (; b.data && *words; words++)
		if (strlen(*words) == b.len && !memcmp(*words, b.data, b.len))
			return true;
	return false;
}

/* What stands for alloc_ip of memory that was allocated nowhere: as uSCOPE has it. */
static const char *compress_word_of(const struct kmap_object *o, enum size *size,
				    char word[KMAP_LINE])
{
	static const char *const nowhere[] = {
		"STACK", "GEN_HEAP", "INDUCED_ALLOC", "BOOTMEM", "MEMORIZER", "USER", "BUG",
		"NONE", NULL
	}, *const memblock[] = { "MEMBLOCK", "UFO_MEMBLOCK", NULL },
	*const none[] = { "UFO_NONE", NULL }, *const heap[] = { "UFO_HEAP", NULL },
	*const stack[] = { "STACK_PAGE", NULL };
	bool is_none = compress_is_any(o->type, none);

	if (o->has & KMAP_HAS_NAME) {
		snprintf(word, KMAP_LINE, "%.*s", (int)o->name.len, (const char *)o->name.data);
		return word;
	}
	if (compress_is_any(o->type, stack))
		return "THREAD_STACK";
	if (compress_is_any(o->type, memblock)) {
		*size = SIZE_SUM;
		return "MEMBLOCK";
	}
	if (is_none || compress_is_any(o->type, heap)) {
		*size = SIZE_SUM;
		if (is_none && o->va >> 40 == 0xffffea)
			return "VMEMMAP";
		if (o->va >= 0xffffffff80000000 && o->va < 0xffffffff9fffffff) {
			*size = SIZE_FIRST;
			snprintf(word, KMAP_LINE, "code_%llx", (unsigned long long)o->va);
			return word;
		}
		if (o->va >= 0xffffffffff578000 && o->va < 0xffffffffff5fffff)
			return "FIXMAP";
		return is_none ? "ANON_NONE" : "ANON_HEAP";
	}
	if (compress_is_any(o->type, nowhere)) {
		snprintf(word, KMAP_LINE, "%.*s", (int)o->type.len, (const char *)o->type.data);
		return word;
	}
	if (o->alloc_ip == KMAP_ALLOC_EARLY) {
		snprintf(word, KMAP_LINE, "prealloced-%.*s", (int)o->cache.len,
			 o->cache.data ? (const char *)o->cache.data : "");
		return word;
	}
	return NULL;
}

static const char *compress_text(struct kmap_compress *c, struct atw_blob b)
{
	const char *s = b.data ? intern_text(&c->texts, b.data, b.len) : NULL;

	c->failed |= b.data && !s;
	return s;
}

static int compress_on_object(struct kmap_compress *c, const struct kmap_object *given,
			      struct atw_err *err)
{
	static const char *const globals[] = { "GLOBAL", "UFO_GLOBAL", NULL };
	struct kmap_object o = *given;
	enum size size = SIZE_LARGEST;
	char buf[KMAP_LINE];
	const char *word, *type;
	struct object *to;
	struct kmap_key key;
	bool fresh;
	int64_t i;

	o.cache = kmap_plain_cache(o.cache);
	type = compress_text(c, o.type);
	word = compress_word_of(&o, &size, buf);
	if (word)
		word = compress_text(c, (struct atw_blob){word, strlen(word)});
	if (word)
		key = (struct kmap_key){0, (uintptr_t)word, 0};
	else if (compress_is_any(o.type, globals))
		key = (struct kmap_key){o.va, KEY_VA, 0};
	else
		key = (struct kmap_key){o.alloc_ip,
					    o.alloc_ip ? KEY_IP : (uintptr_t)type, 0};
	i = c->failed ? -1 : kmap_table_get(&c->objects, key, &fresh);
	if (i < 0)
		return compress_nomem(c, err);
	c->now = (size_t)i + 1;
	to = (struct object *)c->objects.v + i;
	if (fresh) {
		to->word = word;
		to->type = type;
		to->cache = compress_text(c, o.cache);
		to->alloc_ip = key.b == KEY_IP ? o.alloc_ip : 0;
		to->va = o.va;
	}
	if (size == SIZE_SUM)
		sum_u64(&to->size, o.size);
	else if (fresh || (size == SIZE_LARGEST && o.size > to->size))
		to->size = o.size;
	if (c->failed)
		return compress_nomem(c, err);
	if (o.free_ip && o.free_ip != KMAP_FREE_LOST && o.free_ip != KMAP_FREE_NESTED)
		return compress_touch(c, &c->accesses,
				      (struct kmap_key){c->now, o.free_ip, 0}, 0, 0, 1,
				      err);
	return ATW_OK;
}

static int compress_on_record(void *arg, const struct kmap_record *rec,
			      struct atw_err *err)
{
	struct kmap_compress *c = arg;
	const struct kmap_access *a = &rec->u.access;

	for (uint32_t left = kmap_loses(rec, KMAP_COMPRESSED); left; left &= left - 1)
		c->lost[__builtin_ctz(left)]++;
	/* What they are about is not in its place any more. */
	c->lost[__builtin_ctz(KMAP_LOSES_COMMENT)] += rec->kind == KMAP_COMMENT &&
						      !kmap_is_compressed_comment(rec);
	switch (rec->kind) {
	case KMAP_OBJECT:
		return compress_on_object(c, &rec->u.object, err);
	case KMAP_ACCESS:
		return compress_touch(c, &c->accesses,
				      (struct kmap_key){c->now, a->ip, 0}, a->writes,
				      a->reads, a->frees, err);
	case KMAP_CALL:
		return compress_touch(
			c, &c->calls,
			(struct kmap_key){rec->u.call.from, rec->u.call.to, 0},
			rec->u.call.count, 0, 0, err);
	default:
		return ATW_OK;
	}
}

int kmap_compress_open(struct kmap_compress **ret, struct atw_err *err)
{
	struct kmap_compress *c = calloc(1, sizeof(*c));

	if (!c)
		return atw_err_nomem(err);
	kmap_table_init(&c->objects, sizeof(struct object));
	kmap_table_init(&c->accesses, sizeof(struct edge));
	kmap_table_init(&c->calls, sizeof(struct edge));
	*ret = c;
	return ATW_OK;
}

struct kmap_sink kmap_compress_sink(struct kmap_compress *c)
{
	return (struct kmap_sink){compress_on_record, c};
}

const uint64_t *kmap_compress_losses(const struct kmap_compress *c)
{
	return c->lost;
}

/* ---- telling it ---- */

static int compress_by_key(const void *x, const void *y)
{
	const struct kmap_key *a = x, *b = y;

	return ORDER(a->a, b->a) ?: ORDER(a->b, b->b);
}

static int compress_comment(const struct kmap_sink *to, const char *s,
			    struct atw_err *err)
{
	const struct kmap_record rec = {.kind = KMAP_COMMENT, .u.comment = blob_of(s)};

	return to->record(to->arg, &rec, err);
}

static int compress_put_calls(const struct kmap_compress *c, const struct kmap_sink *to,
			      struct atw_err *err)
{
	const struct edge *e = c->calls.v;
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && i < c->calls.n; i++) {
		const struct kmap_record rec = {
			.kind = KMAP_CALL, .u.call = { e[i].key.a, e[i].key.b, e[i].writes },
		};

		r = to->record(to->arg, &rec, err);
	}
	return r;
}

static int compress_put_object(const struct object *o, const struct kmap_sink *to,
			       struct atw_err *err)
{
	struct kmap_record rec = {
		.kind = KMAP_OBJECT,
		.u.object =
			{
				.alloc_ip = o->alloc_ip, .va = o->va, .size = o->size,
				.type = blob_of(o->type), .cache = blob_of(o->cache),
				.name = blob_of(o->word),
				.has = (o->type ? KMAP_HAS_TYPE : 0) |
				       (o->cache ? KMAP_HAS_CACHE : 0) |
				       (o->word ? KMAP_HAS_NAME : 0),
			},
	};

	return to->record(to->arg, &rec, err);
}

static int compress_put_access(const struct edge *e, const struct kmap_sink *to,
			       struct atw_err *err)
{
	const struct kmap_record rec = {
		.kind = KMAP_ACCESS, .u.access = {
			.ip = e->key.b, .writes = e->writes, .reads = e->reads,
			.frees = e->frees, .has = KMAP_HAS_FREES,
		},
	};

	return to->record(to->arg, &rec, err);
}

int kmap_compress_end(struct kmap_compress *c, const struct kmap_sink *to, uint64_t *objects,
		      struct atw_err *err)
{
	const struct object *o = c->objects.v;
	const struct edge *e = c->accesses.v;
	size_t at_edge = 0;
	int r;

	/* In the order of objects, then of addresses. */
	if (c->accesses.n)
		qsort(c->accesses.v, c->accesses.n, sizeof(*e), compress_by_key);
	if (c->calls.n)
		qsort(c->calls.v, c->calls.n, sizeof(*e), compress_by_key);
	/* Its first line is what it is known by. */
	r = compress_comment(to,
			     " This is a compressed .cmap file: all object instances are "
			     "merged together.",
			     err);
	if (r == ATW_OK)
		r = compress_put_calls(c, to, err);
	for (size_t i = 0; r == ATW_OK && i < c->objects.n; i++) {
		r = compress_put_object(&o[i], to, err);
		for (; r == ATW_OK && at_edge < c->accesses.n && e[at_edge].key.a == i + 1; at_edge++)
			r = compress_put_access(&e[at_edge], to, err);
	}
	*objects = c->objects.n;
	return r;
}

void kmap_compress_close(struct kmap_compress *c)
{
	if (!c)
		return;
	kmap_table_deinit(&c->objects);
	kmap_table_deinit(&c->accesses);
	kmap_table_deinit(&c->calls);
	intern_deinit(&c->texts);
	free(c);
}
