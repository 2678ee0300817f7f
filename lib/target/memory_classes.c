/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_classes.c - flags, mapcount and order of all frames that are mapped as small
 * pages, read once a look, in order of the frames.
 *
 * Processes map frames in any order, and many map the same. In their own order the
 * struct pages are read together. Few combinations of facts occur: a word for each frame
 * holds the number of its combination and its number of mappings. Frames with equal words
 * have the same facts.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/huge.h"
#include "linux/kpf.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"

enum {
	AT_ONCE = 2048,          /* frames: less than there is room for */
	BLOCK = 64, BLOCKS_AT_ONCE = 256,        /* likewise, if few frames of each are mapped */
	CLASSES = 4096, PROBES = 16,
	REFS_AT = 16, REFS_MOST = UINT16_MAX,    /* mappings in a word */
};

/* Mapped frames that are read together, and numbers that are given to their classes. */
struct class_reader {
	struct walk_provider *w;
	unsigned first, numbers;
	uint64_t pfn[AT_ONCE];
	uint16_t note[AT_ONCE];  /* of struct soles */
};

/* Its number; 0: there are too many. */
static uint16_t memory_classes_number(struct class_reader *k, const struct lnx_page *page)
{
	uint64_t key = hash_two(page->flags, page->count << 8 | page->order);

	for (unsigned i = 0; i < PROBES; i++) {
		unsigned at = k->first + (unsigned)(key + i) % k->numbers;
		struct frame_class *c = &k->w->classes.class[at];

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

static uint64_t memory_classes_refs(struct walk_provider *w, uint64_t pfn, uint16_t note)
{
	uint64_t large = counts_may_be_large(&w->p.counts, pfn) ? counts_get(&w->p.counts, pfn) : 0;

	return large + (note < SOLES_COUNT ? 1 : note - SOLES_COUNT);
}

/* Neighbouring frames. What is in no class is looked up when it is asked for. */
static void memory_classes_read_row(struct class_reader *k, size_t first, size_t n)
{
	struct walk_provider *w = k->w;
	const uint16_t *note = k->note + first;
	struct page_like like;
	struct lnx_page page;

	for (uint64_t done = 0, same; done < n; done += same) {
		uint64_t pfn = k->pfn[first] + done;
		uint16_t class;

		same = 1;
		if (atw_memmap_page(w->memmap, pfn, &page, NULL) != ATW_OK ||
		    !page.count || page.refcount <= 0 || !page.have_order ||
		    page.flags & (frame_types() | kpf(KPF_ZERO_PAGE)))
			continue;
		if (memmap_like(w->memmap, &page, &like))
			same += memmap_same(w->memmap, &like, pfn + 1, n - done - 1);
		class = memory_classes_number(k, &page);
		for (uint64_t i = done; class && i < done + same; i++) {
			uint64_t refs = memory_classes_refs(w, pfn + (i - done), note[i]);

			*memory_classes_word(w, pfn + (i - done)) =
				refs <= REFS_MOST ? (uint32_t)refs << REFS_AT | class : 0;
		}
	}
}

/* How many of these frames, in ascending order, follow the first. */
static size_t memory_classes_row(const uint64_t *pfn, size_t n)
{
	size_t i = 1;

	while (i < n && pfn[i] == pfn[i - 1] + 1)
		i++;
	return i;
}

/* How many of them there is room for, together. */
static size_t memory_classes_fit(const uint64_t *pfn, size_t n)
{
	size_t i = 0;

	for (unsigned blocks = 0; i < n; i++) {
		blocks += !i || pfn[i] / BLOCK != pfn[i - 1] / BLOCK;
		if (blocks > BLOCKS_AT_ONCE)
			break;
	}
	return i;
}

static void memory_classes_read(struct class_reader *k, size_t first, size_t n)
{
	const size_t end = first + n;

	memmap_anew(k->w->memmap);
	for (size_t i = first, row; i < end; i += row) {
		row = memory_classes_row(k->pfn + i, end - i);
		memmap_soon_run(k->w->memmap, k->pfn[i], row);
	}
	for (size_t i = first, row; i < end; i += row) {
		row = memory_classes_row(k->pfn + i, end - i);
		memory_classes_read_row(k, i, row);
	}
}

void memory_classes_read_part(struct walk_provider *w, unsigned part, unsigned parts)
{
	const uint64_t frames = w->classes.of ? w->look.soles.frames : 0;
	uint64_t at = frames / SOLES_BLOCK * part / parts * SOLES_BLOCK;
	const uint64_t end = frames / SOLES_BLOCK * (part + 1) / parts * SOLES_BLOCK;
	_auto_free struct class_reader *k = frames ? malloc(sizeof(*k)) : NULL;
	size_t n;

	if (!k)
		return;
	k->w = w;
	k->numbers = CLASSES / parts;
	k->first = k->numbers * part;
	while (at < end && (n = soles_next(&w->look.soles, NULL, &at, end, k->pfn, k->note, AT_ONCE)))
		for (size_t i = 0, fit; i < n; i += fit) {
			fit = memory_classes_fit(k->pfn + i, n - i);
			memory_classes_read(k, i, fit);
		}
}

void memory_classes_drop(struct walk_provider *w)
{
	huge_free(w->classes.of, w->classes.words * sizeof(*w->classes.of));
	free(w->classes.class);
	w->classes = (struct frame_classes){ 0 };
}

/* Where all processes are listed, nearly all that is read here will be asked for. */
bool memory_classes_begin(struct walk_provider *w)
{
	struct frame_classes *f = &w->classes;
	const struct soles *s = &w->look.soles;

	if (f->tried)
		return false;
	f->tried = true;
	if (!w->running || !w->p.every || !w->p.counted || !s->frames)
		return false;
	f->class = calloc(CLASSES, sizeof(*f->class));
	f->words = (size_t)s->nmet << SOLES_BLOCK_BITS;
	/* Without memory, each frame is looked up. */
	f->of = f->class && f->words ? huge_alloc(f->words * sizeof(*f->of), true) : NULL;
	return f->of;
}

static uint32_t memory_classes_of(const struct walk_provider *w, uint64_t pfn)
{
	const uint32_t *word = memory_classes_word(w, pfn);

	return word ? *word : 0;
}

bool memory_classes_look_ahead(struct memory_pages *c, const struct page_run *r, uint32_t i)
{
	uint32_t end = i;

	if (!c->w->classes.of || !c->w->p.brief)
		return false;
	if (c->ahead > i)
		return true;
	while (end < r->count && !memory_classes_of(c->w, r->pa[end] >> c->w->p.page_shift))
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
	uint32_t word;

	if (memory_classes_begin(w))
		memory_classes_read_part(w, 0, 1);
	word = r->slot >> shift == 1 ? memory_classes_of(c->w, r->pa[i] >> shift) : 0;
	if (!word)
		return false;
	class = &f->class[word & UINT16_MAX];
	if (c->alike <= i && i < c->alike_end)
		end = c->alike_end;
	else
		for (; end < r->count; end++) {
			if (memory_classes_of(c->w, r->pa[end] >> shift) != word)
				break;
		}
	c->alike = i;
	c->alike_end = end;
	ret->have = FACT_FLAGS | FACT_COUNT | FACT_ORDER | FACT_MAPPED;
	ret->mapped = word >> REFS_AT;
	ret->page.pfn = r->pa[i] >> shift;
	ret->page.flags = class->flags;
	ret->page.count = class->count;
	ret->page.order = class->order;
	ret->page.have_order = true;
	ret->alike = (uint32_t)(end - i - 1);
	return true;
}
