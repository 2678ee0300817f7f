/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds.c - lifecycle of objects by kind: slab objects, with the names of their caches;
 * pages; vmalloc areas; stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { CACHES = 1 << 10 };

static struct { uint64_t cache; uint32_t name; } caches[CACHES];

/* ---- of the slab allocator ---- */

/* The name of a cache; cached, since it is needed often. */
static uint32_t kinds_name_of(uint64_t cache)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t name;
	const char *text;
	size_t len = 0;
	unsigned i = (unsigned)(cache >> 6) % CACHES;

	for (unsigned n = 0; caches[i].cache && caches[i].cache != cache; n++) {
		if (n == CACHES / 2)
			return 0;
		i = (i + 1) % CACHES;
	}
	if (caches[i].cache)
		return caches[i].name;
	if (!guest_u64(cache + k->cache_name, &name))
		return 0;
	while (len < 64 && (text = guest(name + len, 1)) && *text)
		len++;
	text = guest(name, len + 1);
	if (!len || !text)
		return 0;
	caches[i].cache = cache;
	caches[i].name = kstore_name(rec.s, text, len);
	return caches[i].name;
}

/* The cache that the page of an object belongs to; 0: none, or not known. */
static uint64_t kinds_cache_address(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t page = k->vmemmap + ((va - k->direct) >> k->page_shift) * k->page_size;
	uint64_t head, cache;

	if (!k->vmemmap || !guest_u64(page + k->compound_head, &head))
		return 0;
	if (head & 1)
		page = head - 1;
	return guest_u64(page + k->slab_cache, &cache) && (int64_t)cache < 0 ? cache : 0;
}

static uint32_t kinds_cache_of(uint64_t va)
{
	uint64_t cache = kinds_cache_address(va);

	return cache ? kinds_name_of(cache) : 0;
}

/* It may have been allocated before caches could be found. */
void object_name(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	if (!o->name && (o->type == KSHARE_T_KMALLOC || o->type == KSHARE_T_CACHE ||
			 o->type == KSHARE_T_BULK))
		o->name = kinds_cache_of(o->va);
}

void object_name_all(void)
{
	uint32_t n = atomic_load(&rec.s->nobjects);

	for (uint32_t i = 1; i < n; i++)
		if (kshare_object(rec.s, i)->flags & KSHARE_LIVE)
			object_name(i);
}

uint32_t object_new(uint64_t va, uint64_t size, enum kshare_type type, const struct vcpu *c,
		    uint64_t ip, uint32_t name)
{
	struct kstore_birth b = {
		.va = va, .size = size, .ip = ip, .type = type, .name = name,
		.pid = current_pid(c) < 0 ? 0 : c->pid, .left_out = !kstore_sampled(&rec.store),
	};

	uint32_t id;

	task_name(c, b.comm);
	id = kstore_new(&rec.store, &b);
	if (!rec.s->by_site)
		shadow_reset(id);
	return id;
}

void object_end(uint32_t id, uint64_t ip)
{
	if (!rec.s->by_site) {   /* else it has the name of others that live */
		object_name(id);
		shadow_reset(id);
	}
	kstore_end(&rec.store, id, ip);
}

/* The pages that it is in are of other objects. */
static void kinds_cover_pages(uint64_t va, uint64_t size)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t pfn = (va - k->direct) >> k->page_shift;
	uint64_t last = (va + (size ? size - 1 : 0) - k->direct) >> k->page_shift;

	for (; pfn <= last; pfn++) {
		const uint32_t *frame = shadow_frame(pfn, 1);

		if (frame)
			shadow_cover(*frame);
	}
}

void object_slab(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size,
		 uint64_t ip)
{
	uint32_t *word = shadow_fine(va, size ? size : 1), name, id;

	if (!word) {
		rec.s->count.lost_objects++;
		return;
	}
	if (kstore_is_repeated(&rec.store, *word, &(struct kstore_birth){ .va = va, .size = size,
							      .ip = ip, .type = type }))
		return;
	name = kinds_cache_of(va);
	/* An object that was here was freed without being seen. */
	for (uint64_t i = 0; i < (size + 7) / 8; i++)
		if (word[i]) {
			object_slab_free(va + i * 8, KSHARE_MISSED);
			rec.s->count.overlaps++;
		}
	if (!kstore_wanted(&rec.store, kshare_name(rec.s, name), ip))
		return;
	id = object_new(va, size, type, c, ip, name);
	if (id)
		kinds_cover_pages(va, size);
	for (uint64_t i = 0; id && i < (size + 7) / 8; i++)
		word[i] = id;
}

/*
 * Addresses of frees in pages without a known allocation: what is freed there once more
 * was allocated meanwhile, in bulk.
 */
enum { OLDER_MOST = 1 << 20 };
static struct { uint64_t *va, n, room; } older;

static uint64_t kinds_older_place(const uint64_t *table, uint64_t room, uint64_t va)
{
	uint64_t i = (va >> 3) * 0x9e3779b97f4a7c15u >> 20 & (room - 1);

	while (table[i] && table[i] != va)
		i = (i + 1) & (room - 1);
	return i;
}

/* Is this the first free at this address? false if that is not known. */
static bool kinds_older_first(uint64_t va)
{
	uint64_t room = older.room ? older.room * 2 : 1024, *more;

	if (older.n >= older.room / 2 && room <= OLDER_MOST) {
		more = calloc(room, sizeof(*more));
		for (uint64_t i = 0; more && i < older.room; i++)
			if (older.va[i])
				more[kinds_older_place(more, room, older.va[i])] =
					older.va[i];
		if (more) {
			free(older.va);
			older.va = more;
			older.room = room;
		}
	}
	if (older.n >= older.room / 2)
		return false;
	room = kinds_older_place(older.va, older.room, va);
	if (older.va[room])
		return false;
	older.va[room] = va;
	older.n++;
	return true;
}

/* Is the allocation of the page that it is in unknown? */
static bool kinds_is_page_older(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	const uint32_t *frame = shadow_frame((va - k->direct) >> k->page_shift, 1);

	return frame && !*frame && !rec.s->only_some;
}

/*
 * An object that was allocated before its allocation could be recorded is known by its
 * free: the allocating code and the time are not.
 */
static void kinds_object_older(uint64_t va, uint64_t ip)
{
	uint64_t cache = kinds_cache_address(va);
	uint32_t name = cache ? kinds_name_of(cache) : 0, size, id;
	const char *text = kshare_name(rec.s, name);
	struct kstore_birth b = { .va = va, .name = name, .pid = -1, .type = KSHARE_T_CACHE };

	if (!name || rec.s->by_site || !is_followed() ||
	    !guest_u32(cache + rec.s->kernel.cache_size, &size) ||
	    !kstore_wanted(&rec.store, text, 0))
		return;
	b.size = size;
	b.left_out = !kstore_sampled(&rec.store);
	if (!strncmp(text, "kmalloc-", 8))
		b.type = KSHARE_T_KMALLOC;
	id = kstore_new(&rec.store, &b);
	if (!id)
		return;
	kshare_object(rec.s, id)->alloc_time = 0;
	kshare_object(rec.s, id)->flags |= KSHARE_BEFORE;
	object_end(id, ip);
}

void object_slab_free(uint64_t va, uint64_t ip)
{
	uint32_t *word = shadow_fine(va, 1), id = word ? *word : 0;
	struct kshare_object *o;
	bool is_older = kinds_is_page_older(va) && kinds_older_first(va);

	rec.s->count.frees += ip != KSHARE_MISSED;
	if (!id) {
		rec.s->count.strange_frees++;
		if (is_older)
			kinds_object_older(va, ip);
		return;
	}
	o = kshare_object(rec.s, id);
	if (object_end_other(id, va, ip))
		return;
	if (!rec.s->by_site)
		va = o->va;
	word = shadow_fine(va, o->size ? o->size : 1);
	for (uint64_t i = 0; word && i < (o->size + 7) / 8; i++)
		if (word[i] == id)
			word[i] = 0;
	object_end(id, ip);
}

/* ---- pages ---- */

void object_pages(const struct vcpu *c, uint64_t pfn, unsigned order)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t n = 1ull << order;
	uint32_t *frame = shadow_frame(pfn, n), id;
	const uint32_t *word;

	if (!frame) {
		rec.s->count.lost_objects++;
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		if (frame[i]) {
			object_pages_free(pfn + i, 0);
			rec.s->count.overlaps++;
		}
	if (!kstore_wanted(&rec.store, "", 0))
		return;
	id = object_new(k->direct + (pfn << k->page_shift), n << k->page_shift, KSHARE_T_PAGES,
			c, 0, 0);
	for (uint64_t i = 0; i < n && id; i++)
		frame[i] = id;
	/* Of objects whose pages were freed without being seen. */
	word = id ? shadow_fine(k->direct + (pfn << k->page_shift), n << k->page_shift) : NULL;
	for (uint64_t i = 0; word && i < n << (k->page_shift - 3); i++)
		if (word[i]) {
			shadow_cover(id);
			break;
		}
}

/*
 * A block may be freed in pieces, after it was split. It is over with the first of them;
 * the rest belongs to no object.
 */
void object_pages_free(uint64_t pfn, unsigned order)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t n = 1ull << order, words = (uint64_t)8 << (k->page_shift - 6);
	uint32_t *frame = shadow_frame(pfn, n), *word;

	if (!frame) {
		rec.s->count.strange_frees++;
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint32_t id = frame[i];
		const struct kshare_object *o = id ? kshare_object(rec.s, id) : NULL;
		uint64_t first, pages;
		uint32_t *all;

		if (!id || object_end_other(id, k->direct + ((pfn + i) << k->page_shift), 0))
			continue;
		first = rec.s->by_site ? pfn + i : (o->va - k->direct) >> k->page_shift;
		pages = rec.s->by_site ? 1 : o->size >> k->page_shift;
		all = shadow_frame(first, pages);
		for (uint64_t p = 0; p < pages; p++)
			if (all[p] == id)
				all[p] = 0;
		object_end(id, 0);
	}
	/* Slab objects in these pages end without a free of their own. */
	word = shadow_fine(k->direct + (pfn << k->page_shift), n << k->page_shift);
	for (uint64_t i = 0; word && i < n * words; i++)
		if (word[i])
			object_slab_free(k->direct + (pfn << k->page_shift) + i * 8, KSHARE_MISSED);
}

/* ---- what is mapped elsewhere ---- */

/* End all objects that overlap the range. */
static void kinds_end_mapped(uint64_t va, uint64_t size, uint64_t ip)
{
	uint64_t page = 1ull << rec.s->kernel.page_shift;

	for (uint64_t at = va; at < va + size; at += page) {
		uint32_t id = shadow_mapped(at);
		const struct kshare_object *o = kshare_object(rec.s, id);

		if (!id)
			continue;
		if (rec.s->by_site) {
			shadow_set_mapped(at, page, 0);
			continue;
		}
		shadow_set_mapped(o->va, o->size, 0);
		object_end(id, ip);
	}
}

static uint64_t kinds_span_of(uint64_t va)
{
	uint32_t id = shadow_mapped(va);

	return id ? kshare_object(rec.s, id)->size : 0;
}

void object_mapped(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size,
		   uint64_t ip)
{
	uint32_t id;

	kinds_end_mapped(va, size, KSHARE_MISSED);
	if (!kstore_wanted(&rec.store, "", ip))
		return;
	id = object_new(va, size, type, c, ip, 0);
	if (id)
		shadow_set_mapped(va, size, id);
}

void object_mapped_free(uint64_t va, uint64_t ip)
{
	uint64_t size = kinds_span_of(va);

	rec.s->count.frees++;
	if (size)
		kinds_end_mapped(va, size, ip);
	else
		rec.s->count.strange_frees++;
}

/* ---- stacks ---- */

void object_stack(const struct vcpu *c, uint64_t va)
{
	uint32_t id = shadow_mapped(va);
	struct kshare_object *o = kshare_object(rec.s, id);

	/* The first task's is of the image; those in RAM are pages. */
	if (shadow_fine(va, 1) || va - rec.image < rec.image_len)
		return;
	if (id && o->type == KSHARE_T_STACK && (rec.s->by_site || o->pid == c->pid))
		return;
	/* A vmalloc area turns out to be a stack: its task is the one that runs on it. */
	if (id && o->type == KSHARE_T_VMALLOC && o->va == va && !rec.s->by_site) {
		if (!(o->flags & KSHARE_LEFT_OUT)) {
			rec.s->count.allocs[KSHARE_T_VMALLOC]--;
			rec.s->count.allocs[KSHARE_T_STACK]++;
		}
		o->type = KSHARE_T_STACK;
		o->pid = c->pid;
		task_name(c, o->comm);
		return;
	}
	/* What was here is over, but nothing new begins. */
	if (!is_followed()) {
		if (id && o->type == KSHARE_T_STACK)
			kinds_end_mapped(va, o->size, KSHARE_MISSED);
		return;
	}
	object_mapped(c, KSHARE_T_STACK, va, id && o->va == va ? o->size : rec.s->kernel.stack_size,
		      0);
}
