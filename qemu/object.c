/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object.c - objects come and go.
 *
 * One that is over leaves the shadow at once and waits in the queue until the program
 * has written it down; then its place is free again. Nothing is dropped without a count.
 */
#include <string.h>

#include "recorder.h"

enum { CACHES = 1 << 10, SPILL_AT_ONCE = 1024 };
/* As Memorizer writes it where another object came over one that was not freed. */
#define KSHARE_MISSED 0xDEADBEEFu

static uint32_t free_list, fresh, hand;
static struct { uint64_t cache; uint32_t name; } caches[CACHES];
static uint32_t sampled;

int object_init(void)
{
	fresh = atomic_load(&rec.s->nobjects);
	hand = fresh;
	return 0;
}

static uint32_t take(void)
{
	struct kshare_counts *c = &rec.s->count;
	uint32_t id = free_list;

	if (id) {
		free_list = kshare_object(rec.s, id)->next;
	} else if (fresh < rec.s->at.max_objects) {
		id = fresh++;
		atomic_store_explicit(&rec.s->nobjects, fresh, memory_order_release);
	} else {
		return 0;
	}
	if (++c->objects_used > c->objects_peak)
		c->objects_peak = c->objects_used;
	return id;
}

static void give_back(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	edge_free(o->table, o->bits);
	o->table = 0;
	o->flags = 0;
	o->type = 0;
	o->next = free_list;
	free_list = id;
	rec.s->count.objects_used--;
}

void object_reclaim(void)
{
	uint32_t id;

	while ((id = kshare_take(&rec.s->back)))
		give_back(id);
}

static bool hand_over(uint32_t id)
{
	while (!kshare_put(&rec.s->done, id)) {
		object_reclaim();
		rec.s->count.waits++;
		if (!wait_for_program())
			return false;
	}
	return true;
}

static uint32_t place(void)
{
	uint32_t id;

	/* What came back is used before what was never in use. */
	object_reclaim();
	id = take();
	/* As long as some are on their way, one comes back. */
	while (!id && atomic_load(&rec.s->done.head) != atomic_load(&rec.s->back.tail)) {
		rec.s->count.waits++;
		if (!wait_for_program())
			return 0;
		object_reclaim();
		id = take();
	}
	return id;
}

/* ---- which ones are wanted ---- */

static void object_name(uint32_t id);


static bool is_wanted(const char *name)
{
	const struct kshare *s = rec.s;

	if (s->only_cache[0][0]) {
		unsigned i = 0;

		while (i < KSHARE_FILTERS && strcmp(s->only_cache[i], name))
			i++;
		if (i == KSHARE_FILTERS)
			return false;
	}
	return s->sample <= 1 || ++sampled % s->sample == 0;
}

/* ---- one for each place that allocates ---- */

enum { PLACES = 1 << 14 };
static struct place {
	uint64_t ip, size;
	uint32_t name, id;
	enum kshare_type type;
} places[PLACES];
static unsigned nplaces;

/* The one of its place and size, if those are what is wanted; id 0: it is new. NULL: too many. */
static struct place *of_place(enum kshare_type type, uint64_t ip, uint32_t name, uint64_t size)
{
	uint64_t key = ip ^ size << 20 ^ (uint64_t)name << 8 ^ (uint64_t)type << 56;
	unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15u >> 50);

	while (places[i].id && (places[i].ip != ip || places[i].name != name ||
				places[i].type != type || places[i].size != size))
		i = (i + 1) % PLACES;
	if (places[i].id)
		return &places[i];
	if (nplaces == PLACES / 2)
		return NULL;
	nplaces++;
	places[i] = (struct place){ ip, size, name, 0, type };
	return &places[i];
}

static uint32_t make(uint64_t va, uint64_t size, enum kshare_type type, const struct vcpu *c,
		     uint64_t ip, uint32_t name)
{
	struct kshare_object *o;
	uint32_t id = place();

	if (!id)
		return 0;
	o = kshare_object(rec.s, id);
	*o = (struct kshare_object){
		.va = va, .size = size, .type = (uint8_t)type, .flags = KSHARE_LIVE,
		.pid = who_runs(c) < 0 ? 0 : c->pid, .alloc_ip = ip, .alloc_time = ++rec.s->clock, .name = name,
	};
	task_name(c, o->comm);
	rec.gen[id]++;
	return id;
}

/* 0: no room; it has been counted. */
static uint32_t object_new(uint64_t va, uint64_t size, enum kshare_type type,
			   const struct vcpu *c, uint64_t ip, uint32_t name)
{
	struct place *p = rec.s->by_site ? of_place(type, ip, name, size) : NULL;
	uint32_t id = p ? p->id : 0;

	if (!id && (p || !rec.s->by_site))
		id = make(va, size, type, c, ip, name);
	if (p)
		p->id = id;
	rec.s->count.allocs[type] += id != 0;
	if (id)
		rec.s->count.objects++;
	else
		rec.s->count.lost_objects++;
	return id;
}

/* It is over: to be written down, and then to be had again. */
static void object_end(uint32_t id, uint64_t ip)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	if (rec.s->by_site)      /* it stands for others that live */
		return;
	object_name(id);
	o->free_time = ++rec.s->clock;
	o->free_ip = ip;
	o->flags &= (uint8_t)~KSHARE_LIVE;
	rec.gen[id]++;
	hand_over(id);
}

/* ---- writing down what there is ---- */

bool object_part(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id), *p;
	uint32_t part;

	if (!o->edges)
		return true;
	part = place();
	if (!part)
		return false;
	p = kshare_object(rec.s, part);
	*p = *o;
	p->flags |= KSHARE_PART;
	o->table = o->edges = o->bits = 0;
	rec.gen[id]++;
	rec.s->count.parts++;
	return hand_over(part);
}

bool object_spill(void)
{
	uint32_t n = fresh, done = 0, looked = 0;
	uint64_t before = rec.s->count.edges_used;

	while (looked++ < n && done < SPILL_AT_ONCE) {
		struct kshare_object *o;

		hand = hand + 1 < n ? hand + 1 : 1;
		o = kshare_object(rec.s, hand);
		if (!(o->flags & (KSHARE_LIVE | KSHARE_GENERAL)) || o->flags & KSHARE_PART ||
		    !o->edges)
			continue;
		if (!object_part(hand))
			return false;
		done++;
	}
	/* What was handed over before comes back as well. */
	for (unsigned i = 0; i < 20000 && rec.s->count.edges_used >= before; i++) {
		object_reclaim();
		if (rec.s->count.edges_used < before)
			break;
		rec.s->count.waits++;
		if (!wait_for_program())
			return false;
	}
	return rec.s->count.edges_used < before;
}

/* ---- of the slab allocator ---- */

static uint32_t name_add(const char *name, size_t len)
{
	struct kshare *s = rec.s;
	uint32_t at = atomic_load_explicit(&s->names_used, memory_order_relaxed);

	if (len + 1 > s->at.max_names - at)
		return 0;
	memcpy(kshare_name(s, at), name, len);
	kshare_name(s, at)[len] = '\0';
	atomic_store_explicit(&s->names_used, at + (uint32_t)len + 1, memory_order_release);
	return at;
}

/* The name of a cache, which is asked for again and again. */
static uint32_t name_of(uint64_t cache)
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
	caches[i].name = name_add(text, len);
	return caches[i].name;
}

/* The cache that the page of an object is of; 0: none, or not to be told. */
static uint32_t cache_of(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t page = k->vmemmap + ((va - k->direct) >> k->page_shift) * k->page_size;
	uint64_t head, cache;

	if (!k->vmemmap || !guest_u64(page + k->compound_head, &head))
		return 0;
	if (head & 1)
		page = head - 1;
	return guest_u64(page + k->slab_cache, &cache) && (int64_t)cache < 0 ? name_of(cache) : 0;
}

/* Some were there before it could be told whose they are. */
static void object_name(uint32_t id)
{
	struct kshare_object *o = kshare_object(rec.s, id);

	if (!o->name && (o->type == KSHARE_T_KMALLOC || o->type == KSHARE_T_CACHE))
		o->name = cache_of(o->va);
}

void object_name_all(void)
{
	for (uint32_t i = 1; i < fresh; i++)
		if (kshare_object(rec.s, i)->flags & KSHARE_LIVE)
			object_name(i);
}

void object_slab(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size,
		 uint64_t ip)
{
	uint32_t *word = shadow_fine(va, size ? size : 1), name, id;

	if (!word) {
		rec.s->count.lost_objects++;
		return;
	}
	name = cache_of(va);
	/* What was here was freed, and nobody saw it. */
	for (uint64_t i = 0; i < (size + 7) / 8; i++)
		if (word[i]) {
			object_slab_free(va + i * 8, KSHARE_MISSED);
			rec.s->count.overlaps++;
		}
	if (!is_wanted(kshare_name(rec.s, name)))
		return;
	id = object_new(va, size, type, c, ip, name);
	for (uint64_t i = 0; id && i < (size + 7) / 8; i++)
		word[i] = id;
}

void object_slab_free(uint64_t va, uint64_t ip)
{
	uint32_t *word = shadow_fine(va, 1), id = word ? *word : 0;
	struct kshare_object *o;

	rec.s->count.frees += ip != KSHARE_MISSED;
	if (!id) {
		rec.s->count.strange_frees++;
		return;
	}
	o = kshare_object(rec.s, id);
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

	if (!frame) {
		rec.s->count.lost_objects++;
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		if (frame[i]) {
			object_pages_free(pfn + i, 0);
			rec.s->count.overlaps++;
		}
	if (!is_wanted(""))
		return;
	id = object_new(k->direct + (pfn << k->page_shift), n << k->page_shift, KSHARE_T_PAGES,
			c, 0, 0);
	for (uint64_t i = 0; i < n && id; i++)
		frame[i] = id;
}

/*
 * A block may be freed in pieces, after it was split. It is over with the first of them;
 * the rest is nobody's.
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

		if (!id)
			continue;
		first = rec.s->by_site ? pfn + i : (o->va - k->direct) >> k->page_shift;
		pages = rec.s->by_site ? 1 : o->size >> k->page_shift;
		all = shadow_frame(first, pages);
		for (uint64_t p = 0; p < pages; p++)
			if (all[p] == id)
				all[p] = 0;
		object_end(id, 0);
	}
	/* What the slab allocator had given away of them is gone without a word. */
	word = shadow_fine(k->direct + (pfn << k->page_shift), n << k->page_shift);
	for (uint64_t i = 0; word && i < n * words; i++)
		if (word[i])
			object_slab_free(k->direct + (pfn << k->page_shift) + i * 8, KSHARE_MISSED);
}

/* ---- what is mapped elsewhere ---- */

/* Whatever has a part in it is over. */
static void end_mapped(uint64_t va, uint64_t size, uint64_t ip)
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

static uint64_t span_of(uint64_t va)
{
	uint32_t id = shadow_mapped(va);

	return id ? kshare_object(rec.s, id)->size : 0;
}

void object_mapped(const struct vcpu *c, enum kshare_type type, uint64_t va, uint64_t size)
{
	uint32_t id;

	end_mapped(va, size, KSHARE_MISSED);
	if (!is_wanted(""))
		return;
	id = object_new(va, size, type, c, 0, 0);
	if (id)
		shadow_set_mapped(va, size, id);
}

void object_mapped_free(uint64_t va)
{
	uint64_t size = span_of(va);

	rec.s->count.frees++;
	if (size)
		end_mapped(va, size, 0);
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
	/* What vmalloc() gave turns out to be a stack: its task is who runs on it. */
	if (id && o->type == KSHARE_T_VMALLOC && o->va == va && !rec.s->by_site) {
		rec.s->count.allocs[KSHARE_T_VMALLOC]--;
		rec.s->count.allocs[KSHARE_T_STACK]++;
		o->type = KSHARE_T_STACK;
		o->pid = c->pid;
		task_name(c, o->comm);
		return;
	}
	/* What was here is over, but nothing new begins. */
	if (!is_followed()) {
		if (id && o->type == KSHARE_T_STACK)
			end_mapped(va, o->size, KSHARE_MISSED);
		return;
	}
	object_mapped(c, KSHARE_T_STACK, va, id && o->va == va ? o->size : rec.s->kernel.stack_size);
}
