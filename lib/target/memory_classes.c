/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_classes.c - flags, mapcount and order of all frames that are mapped as small
 * pages, read once a look, in order of the frames.
 *
 * Processes map frames in any order, and many map the same. In their own order the
 * struct pages are read together. Few combinations of facts occur: two bytes for each
 * frame hold the number of its combination.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "linux/kpf.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"

enum {
	BLOCK = 64,              /* frames of a word of the bitmap */
	AT_ONCE = 2048,          /* frames: less than there is room for */
	BLOCKS_AT_ONCE = 256,    /* likewise, if few frames of each are mapped */
	SLOTS_SOON = 32,
	CLASSES = 4096, PROBES = 16,
};

/* Frames that are mapped as small pages, a bit each. */
static uint64_t *memory_classes_mapped(const struct look *l, uint64_t frames)
{
	uint64_t *bits = calloc(frames / BLOCK + 1, sizeof(*bits));

	for (size_t i = 0; bits && i < l->n; i++) {
		uint64_t pfn = look_pfn(l->run[i]), n = look_times(l->run[i]);

		if (look_class(l->run[i]) || pfn >= frames)
			continue;
		for (n = n < frames - pfn ? n : frames - pfn; n; n--, pfn++)
			bits[pfn / BLOCK] |= (uint64_t)1 << pfn % BLOCK;
	}
	return bits;
}

/* Its number; 0: there are too many. */
static uint16_t memory_classes_number(struct frame_classes *f, const struct lnx_page *page)
{
	uint64_t key = hash_two(page->flags, page->count << 8 | page->order);

	for (unsigned i = 0; i < PROBES; i++) {
		unsigned at = (unsigned)(key + i) % CLASSES;
		struct frame_class *c = &f->class[at];

		if (!at)
			continue;
		if (!c->used)
			*c = (struct frame_class){ page->flags, page->count, page->order, true };
		if (c->flags == page->flags && c->count == page->count &&
		    c->order == page->order)
			return (uint16_t)at;
	}
	return 0;
}

/* Frames of a run. What is in no class is looked up when it is asked for. */
static void memory_classes_read_run(struct walk_provider *w, uint64_t pfn, uint64_t n)
{
	struct frame_classes *f = &w->classes;
	struct page_like like;
	struct lnx_page page;

	for (uint64_t done = 0, same; done < n; done += same) {
		uint16_t class;

		same = 1;
		if (atw_memmap_page(w->memmap, pfn + done, &page, NULL) != ATW_OK ||
		    !page.count || page.refcount <= 0 || !page.have_order ||
		    page.flags & (frame_types() | kpf(KPF_ZERO_PAGE)))
			continue;
		if (memmap_like(w->memmap, &page, &like))
			same += memmap_same(w->memmap, &like, pfn + done + 1, n - done - 1);
		class = memory_classes_number(f, &page);
		for (uint64_t i = 0; i < same; i++)
			f->of[pfn + done + i] = class;
	}
}

typedef void memory_classes_fn(struct walk_provider *w, uint64_t pfn, uint64_t n);

static void memory_classes_soon(struct walk_provider *w, uint64_t pfn, uint64_t n)
{
	memmap_soon_run(w->memmap, pfn, n);
}

/* Calls fn for runs of the frames in words from `at` up to `end`. */
static void memory_classes_each_run(struct walk_provider *w, const uint64_t *bits, uint64_t at,
				    uint64_t end, memory_classes_fn *fn)
{
	for (; at < end; at++) {
		uint64_t left = bits[at];

		while (left) {
			unsigned first = (unsigned)__builtin_ctzll(left);
			uint64_t rest = ~(left >> first);
			unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : BLOCK;

			fn(w, at * BLOCK + first, n);
			left = first + n < BLOCK ? left >> (first + n) << (first + n) : 0;
		}
	}
}

static void memory_classes_read(struct walk_provider *w, const uint64_t *bits, uint64_t words)
{
	for (uint64_t at = 0, end; at < words; at = end) {
		uint64_t frames = 0, blocks = 0;

		for (end = at; end < words && frames < AT_ONCE && blocks < BLOCKS_AT_ONCE; end++) {
			frames += (uint64_t)__builtin_popcountll(bits[end]);
			blocks += bits[end] != 0;
		}
		if (!frames)
			continue;
		memmap_anew(w->memmap);
		memory_classes_each_run(w, bits, at, end, memory_classes_soon);
		memory_classes_each_run(w, bits, at, end, memory_classes_read_run);
	}
}

void memory_classes_drop(struct walk_provider *w)
{
	free(w->classes.of);
	free(w->classes.class);
	w->classes = (struct frame_classes){ 0 };
}

/* Where all processes are listed, nearly all that is read here will be asked for. */
static void memory_classes_make(struct walk_provider *w)
{
	struct frame_classes *f = &w->classes;
	const uint64_t frames = w->p.counts.dense;
	_auto_free uint64_t *bits = NULL;

	f->tried = true;
	if (!w->running || !w->p.every || !w->p.counted || !w->look.keep || !frames)
		return;
	bits = memory_classes_mapped(&w->look, frames);
	f->of = calloc(frames, sizeof(*f->of));
	f->class = calloc(CLASSES, sizeof(*f->class));
	/* Then each frame is looked up. */
	if (!bits || !f->of || !f->class)
		return;
	f->frames = frames;
	memory_classes_read(w, bits, frames / BLOCK + 1);
}

static uint16_t memory_classes_of(const struct frame_classes *f, uint64_t pfn)
{
	return pfn < f->frames ? f->of[pfn] : 0;
}

bool memory_classes_look_ahead(struct memory_pages *c, const struct page_run *r, uint32_t i)
{
	const struct frame_classes *f = &c->w->classes;
	uint32_t end = i;

	if (!f->of || !c->cur.q.brief)
		return false;
	if (c->ahead > i)
		return true;
	while (end < r->count && !memory_classes_of(f, r->pa[end] >> c->w->p.page_shift))
		end++;
	memmap_anew(c->w->memmap);
	memmap_soon_frames(c->w->memmap, r->pa + i, end - i);
	c->ahead = end;
	return true;
}

bool memory_classes_facts(struct memory_pages *c, const struct page_run *r, uint32_t i,
			  struct frame_facts *ret)
{
	struct walk_provider *w = c->w;
	const struct frame_classes *f = &w->classes;
	const unsigned shift = w->p.page_shift;
	const struct frame_class *class;
	uint64_t end = i + 1;
	uint16_t nr;

	if (!f->tried)
		memory_classes_make(w);
	nr = r->slot >> shift == 1 ? memory_classes_of(f, r->pa[i] >> shift) : 0;
	if (!nr)
		return false;
	class = &f->class[nr];
	if (c->alike <= i && i < c->alike_end)
		end = c->alike_end;
	else
		for (; end < r->count; end++) {
			if (end + SLOTS_SOON < r->count &&
			    r->pa[end + SLOTS_SOON] >> shift < f->frames)
				__builtin_prefetch(&f->of[r->pa[end + SLOTS_SOON] >> shift]);
			if (memory_classes_of(f, r->pa[end] >> shift) != nr)
				break;
		}
	c->alike = i;
	c->alike_end = end;
	ret->have = FACT_FLAGS | FACT_COUNT | FACT_ORDER;
	ret->page.pfn = r->pa[i] >> shift;
	ret->page.flags = class->flags;
	ret->page.count = class->count;
	ret->page.order = class->order;
	ret->page.have_order = true;
	ret->alike = (uint32_t)(end - i - 1);
	return true;
}
