/* SPDX-License-Identifier: GPL-2.0-or-later */
/* small.c - per-CPU objects, and objects of memblock, the boot-time allocator. */
#include "recorder.h"

/* ---- of one CPU ---- */

/*
 * They may be as small as 4 bytes, and what is known of RAM is known of 8: of two that
 * share those the later has the accesses to both. So they are also found by their address.
 */
enum { LISTS = 1 << 12 };
static uint32_t lists[LISTS];

static uint32_t *small_link_of(uint64_t va)
{
	uint32_t *link = &lists[(va * 0x9e3779b97f4a7c15u) >> 52];

	while (*link && kshare_object(rec.s, *link)->va != va)
		link = &kshare_object(rec.s, *link)->next;
	return link;
}

static void small_set_words(uint64_t va, uint64_t size, uint32_t from, uint32_t to)
{
	for (uint64_t at = va & ~7ull; at < va + size; at += 8) {
		uint32_t *word = shadow_word(at);

		if (!word || (from && *word != from))
			continue;
		shadow_cover_at(shadow_find(at), at);
		*word = to;
	}
}

/* Objects that overlap it were freed without being seen. */
static void small_end_percpu(uint64_t va, uint64_t size)
{
	if (!rec.s->by_site && *small_link_of(va)) {
		object_percpu_free(va, KSHARE_MISSED);
		rec.s->count.overlaps++;
	}
	for (uint64_t at = va & ~7ull; at < va + size && !rec.s->by_site; at += 8) {
		const uint32_t *word = shadow_word(at);
		const struct kshare_object *o = word ? kshare_object(rec.s, *word) : NULL;

		if (o && o->type == KSHARE_T_PERCPU && o->va < va + size && va < o->va + o->size) {
			object_percpu_free(o->va, KSHARE_MISSED);
			rec.s->count.overlaps++;
		}
	}
}

void object_percpu(const struct vcpu *c, uint64_t va, uint64_t size, uint64_t ip)
{
	static uint32_t name;
	uint32_t id, *link;

	small_end_percpu(va, size);
	if (!kstore_wanted(&rec.store, "percpu", ip))
		return;
	if (!name)
		name = kstore_name(rec.s, "percpu", 6);
	id = object_new(va, size, KSHARE_T_PERCPU, c, ip, name);
	if (!id)
		return;
	small_set_words(va, size, 0, id);
	if (rec.s->by_site)
		return;
	link = small_link_of(va);
	kshare_object(rec.s, id)->next = 0;
	*link = id;
}

void object_percpu_free(uint64_t va, uint64_t ip)
{
	uint32_t *link = small_link_of(va), id = *link;
	struct kshare_object *o = kshare_object(rec.s, id);

	rec.s->count.frees += ip != KSHARE_MISSED;
	if (rec.s->by_site) {
		const uint32_t *word = shadow_word(va);

		id = word ? *word : 0;
		o = kshare_object(rec.s, id);
		if (id && o->type == KSHARE_T_PERCPU)
			small_set_words(va, o->size, id, 0);
		return;
	}
	if (!id) {
		rec.s->count.strange_frees++;
		return;
	}
	*link = o->next;
	small_set_words(va, o->size, id, 0);
	object_end(id, ip);
}

/* ---- before there are pages to give away ---- */

/* Whole pages as pages, and what is left of others by words. from 0: whatever is there. */
static void small_set_early(uint64_t va, uint64_t size, uint32_t from, uint32_t to)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t page = 1ull << k->page_shift, end = va + size, at = va;

	while (at < end) {
		bool whole = !(at & (page - 1)) && end - at >= page;
		uint32_t *word = whole ? shadow_frame((at - k->direct) >> k->page_shift, 1)
				       : shadow_fine(at, 1);

		if (word && (!from || *word == from)) {
			/* Of a page, words may be another's, and remembered words be anywhere. */
			if (whole)
				shadow_cover(*word);
			else
				shadow_cover_at(shadow_find(at), at);
			*word = to;
		}
		at = whole ? at + page : (at & ~7ull) + 8;
	}
}

void object_early(const struct vcpu *c, uint64_t va, uint64_t size, uint64_t ip)
{
	uint32_t id;

	if (!shadow_fine(va, size)) {
		rec.s->count.lost_objects++;
		return;
	}
	if (!kstore_wanted(&rec.store, "", ip))
		return;
	id = object_new(va, size, KSHARE_T_MEMBLOCK, c, ip, 0);
	if (id)
		small_set_early(va, size, 0, id);
}

static void small_free_word(uint32_t *word, uint64_t va, uint64_t size, uint64_t ip)
{
	uint32_t id = word ? *word : 0;
	const struct kshare_object *o = kshare_object(rec.s, id);

	if (!id || o->type != KSHARE_T_MEMBLOCK)
		return;
	if (rec.s->by_site || !(o->flags & (KSHARE_LIVE | KSHARE_LEFT_OUT)) || o->va < va ||
	    o->va + o->size > va + size) {
		shadow_cover(id);
		*word = 0;
		return;
	}
	/* Its number may be another's as soon as it has ended. */
	small_set_early(o->va, o->size, id, 0);
	object_end(id, ip);
}

/* What is freed in part lives on as the rest. */
void object_early_free(uint64_t va, uint64_t size, uint64_t ip)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t page = 1ull << k->page_shift;

	rec.s->count.frees++;
	if (!shadow_fine(va, size)) {
		rec.s->count.strange_frees++;
		return;
	}
	for (uint64_t at = va & ~7ull; at < va + size; at += 8) {
		if (!(at & (page - 1)) && va + size - at >= page)
			small_free_word(
				shadow_frame((at - k->direct) >> k->page_shift, 1), va,
				size, ip);
		small_free_word(shadow_fine(at, 1), va, size, ip);
	}
}

/* ---- both ---- */

bool object_end_other(uint32_t id, uint64_t va, uint64_t ip)
{
	const struct kshare_object *o = kshare_object(rec.s, id);

	if (o->type == KSHARE_T_PERCPU) {
		object_percpu_free(rec.s->by_site ? va : o->va, ip);
		return true;
	}
	if (o->type != KSHARE_T_MEMBLOCK)
		return false;
	if (rec.s->by_site) {
		small_set_early(va & ~((1ull << rec.s->kernel.page_shift) - 1),
				1ull << rec.s->kernel.page_shift, id, 0);
		small_set_early(va, 8, id, 0);
		return true;
	}
	small_set_early(o->va, o->size, id, 0);
	object_end(id, ip);
	return true;
}
