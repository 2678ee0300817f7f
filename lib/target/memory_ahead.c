/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_ahead.c - prefetch of the struct pages that the listing of a space will need. They
 * are known from the sweep of its tables that counted mappings, or from tables that the
 * walk has read already: hundreds are read together, however short the runs of a listing
 * are.
 */
#include "base/cleanup.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"

enum {
	SOON_MOST = 512,         /* struct pages at once, as many as are taken */
	/* Runs that a listing may leave out between two pages: it, and those that are alike. */
	SOON_PASSED = 64 + SOON_MOST,
	/* From tables at hand: a listing that goes on will need more than one that has begun. */
	TABLES_FIRST = 512, TABLES_MOST = 2048,
	WORDS_AT_ONCE = 512,
};

void walk_soon_begin(struct memory_pages *c)
{
	const struct walk_provider *w = c->w;
	size_t task = c->cur.q.task;
	const struct look_space *s = w->look.keep && task < w->look.nspaces
					     ? &w->look.space[task] : NULL;

	c->soon = (struct walk_soon){ 0 };
	c->tables = (struct walk_tables){ 0 };
	if (s)
		c->soon = (struct walk_soon){ .at = s->first, .end = s->first + s->n };
}

/* The run of this frame, which is at hand or a little behind, and its place in it. */
static bool memory_ahead_soon_find(struct memory_pages *c, uint64_t pfn, uint64_t *ret)
{
	const struct walk_provider *w = c->w;
	size_t end = c->soon.end - c->soon.at < SOON_PASSED ? c->soon.end
							     : c->soon.at + SOON_PASSED;

	for (size_t i = c->soon.at; i < end; i++) {
		look_run run = w->look.run[i];
		uint64_t off = pfn - look_pfn(run);

		if (off >> look_order(run) >= look_times(run))
			continue;
		c->soon.at = i;
		*ret = off >> look_order(run);
		return true;
	}
	return false;
}

/* Mappings of a run from `off` on, `room` struct pages at most; how many these are. */
static unsigned memory_ahead_soon_add(struct walk_provider *w, look_run run, uint64_t off,
				      unsigned room)
{
	uint64_t pfn = look_pfn(run) + (off << look_order(run)), left = look_times(run) - off;
	unsigned n = 0;

	if (!look_order(run)) {
		n = left < room ? (unsigned)left : room;
		memmap_soon_run(w->memmap, pfn, n);
		return n;
	}
	/* What kind of folio a large page is, its second struct page says. */
	for (; n < left && 2 * (n + 1) <= room; n++, pfn += (uint64_t)1 << look_order(run))
		memmap_soon_run(w->memmap, pfn, 2);
	return n;
}

bool walk_soon(struct memory_pages *c, uint64_t pfn)
{
	struct walk_provider *w = c->w;
	struct walk_soon *s = &c->soon;
	unsigned n = 0;
	uint64_t off;

	if (!memory_ahead_soon_find(c, pfn, &off)) {
		s->added = 0;
		return false;
	}
	if (s->at + 1 < s->added || (s->at + 1 == s->added && off < s->off))
		return true;
	memory_pages_anew(c);
	for (s->added = s->at; s->added < s->end && n + 2 <= SOON_MOST; s->added++, off = 0) {
		look_run run = w->look.run[s->added];
		unsigned took;

		s->off = look_times(run);
		if (look_class(run) == LOOK_SPECIAL)
			continue;
		counts_soon(&w->p.counts, look_pfn(run));
		took = memory_ahead_soon_add(w, run, off, SOON_MOST - n);
		s->off = off + took;
		n += look_order(run) ? 2 * took : took;
	}
	return true;
}

/* ---- of tables that the walk has read ---- */

/* The leaves among a few words. Returns the number of words handled: fewer without room. */
static uint32_t memory_ahead_soon_few(struct memory_pages *c, const char *words, uint32_t n)
{
	const unsigned ws = c->sp->paging.word_size;
	uint64_t pa[WORDS_AT_ONCE];
	uint32_t at[WORDS_AT_ONCE + 1], leaves = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t word = load_word(words, ws, i);

		if (!sure_is(&c->leaf, word))
			continue;
		at[leaves] = i;
		pa[leaves++] = sure_address(&c->leaf, word);
	}
	at[leaves] = n;
	return at[memmap_soon_frames(c->w->memmap, pa, leaves)];
}

static uint32_t memory_ahead_soon_words(struct memory_pages *c, const char *words, uint32_t n)
{
	const unsigned ws = c->sp->paging.word_size;
	uint32_t done = 0, few, took;

	do {
		few = MIN(n - done, (uint32_t)WORDS_AT_ONCE);
		took = memory_ahead_soon_few(c, words + (size_t)done * ws, few);
		done += took;
	} while (took == few && done < n);
	return done;
}

bool walk_soon_tables(struct memory_pages *c, const struct page_run *r, uint32_t i)
{
	struct walk_tables *t = &c->tables;
	const uint64_t va = r->va + i * r->slot;
	struct mmu_words more = { .n = r->count - i };
	uint32_t room, took;

	if (!c->w->running)
		return false;
	if (t->first <= va && va < t->end)
		return true;
	t->most = !t->most || va != t->end ? TABLES_FIRST
					    : MIN(2 * t->most, (uint32_t)TABLES_MOST);
	t->first = va;
	memmap_anew(c->w->memmap);
	took = memmap_soon_frames(c->w->memmap, r->pa + i, MIN(more.n, t->most));
	t->end = va + took * r->slot;
	room = t->most - took;
	for (unsigned k = 0; room && took == more.n && mmu_walk_at_hand(c->walk, k, &more); k++) {
		more.n = MIN(more.n, room);
		took = memory_ahead_soon_words(c, more.words, more.n);
		t->end = more.va.u + took * r->slot;
		room -= took;
	}
	return true;
}
