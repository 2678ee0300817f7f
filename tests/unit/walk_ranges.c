/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of random tables of every mode, against the entries that they merge: a row for
 * each entry is that entry, and no range has another's address, size, permissions or
 * flags, or could have been merged with the one before it.
 */
#include "walk/walk.h"

#include "memory.h"
#include "paging/entry.h"
#include "random.h"
#include "test.h"

enum { TABLES = 16, BUDGET = 60, ENTRIES = 60 * 8192 };

static struct mmu_range entry[ENTRIES];
static size_t nentries;
static uint64_t merged, same_page, singles;

/* A leaf of the level 0 of the mode that maps `pa`, or a word that leads to a table. */
static uint64_t word_to(const struct atw_paging *pg, enum atw_kind kind, unsigned level,
			uint64_t pa)
{
	const struct atw_rule *r = pg->rules;
	uint64_t w = 0;

	while (r->kind != kind || !(r->levels & ATW_L(level))) {
		if (!r->mask && r->levels == ATW_L_ALL)
			return 0;
		r++;
	}
	for (unsigned i = 0; i < 4 && pg->addr[i].hi; i++) {
		const struct atw_bits *b = &pg->addr[i];

		if (!b->mask)
			w |= pa >> b->to << b->lo & BITS(b->hi, b->lo);
	}
	/* The pages of Arm's short descriptors are what is left: anything but 0. */
	return (w & ~r->mask) | (r->value ? r->value : 2);
}

/*
 * Runs of leaves: consecutive pages, the same page, and others, of few kinds. No two
 * neighbours lead to the same table, so nothing is folded.
 */
static void fill_table(struct memory *m, const struct atw_paging *pg, uint64_t table,
		       uint64_t bytes)
{
	uint64_t n = bytes / pg->word_size, page = (uint64_t)1 << pg->page_shift;
	uint64_t at = table * bytes;

	for (uint64_t i = 0; i < n;) {
		uint64_t run = 1 + random_any() % (random_any() % 4 ? 3 : 40);
		uint64_t pa = random_any() % 64 * page, step = random_any() % 3 ? page : 0;
		uint64_t flip = random_any() % 3 ? 0 : random_any() & random_any() & random_any();

		for (; run && i < n; i++, run--, pa += step) {
			unsigned level = random_any() % pg->nlevels;
			uint64_t w = word_to(pg, ATW_LEAF, 0, pa) ^ flip;

			if (table < TABLES / 2 || random_any() % 200 == 0)
				w = word_to(pg, ATW_TABLE, level ? level : 1,
					    (table + 5 * i + 1) % TABLES * bytes);
			mem_put(m, at + i * pg->word_size, &w, pg->word_size);
		}
	}
}

static void fill(struct memory *m, const struct atw_paging *pg)
{
	uint64_t bytes = MEM_PAGE;

	for (unsigned l = 0; l < pg->nlevels; l++)
		if (atw_table_bytes(pg, l) > bytes)
			bytes = atw_table_bytes(pg, l);
	for (uint64_t i = 0; i < TABLES; i++)
		fill_table(m, pg, i, bytes);
}

static int list_entries(const struct mmu_space *sp)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX), .flags = MMU_WALK_EACH, .budget = BUDGET,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, NULL);

	nentries = 0;
	while (r == ATW_OK && nentries < ENTRIES && (r = mmu_walk_next(w, &s, NULL)) == ATW_OK) {
		struct mmu_range *g = &entry[nentries++];
		uint64_t word = s->depth ? s->path[s->depth - 1].word : 0;

		*g = (struct mmu_range){
			.va = s->va, .size = s->size, .pa = s->pa, .kind = s->kind,
			.loss = s->loss, .level = s->level, .rights = s->rights,
			.entries = s->count,
		};
		if (s->kind != ATW_LEAF || s->loss)
			continue;
		g->word = word;
		g->page = (uint64_t)1 << atw_entry_span(&sp->paging, s->level, word);
		g->flags = atw_entry_flags(&sp->paging, s->level, ATW_LEAF, word);
		g->properties = (uint8_t)atw_entry_properties(&sp->paging, s->level, ATW_LEAF,
							      word);
	}
	mmu_walk_close(w);
	return r;
}

static void check_entry(const struct mmu_range *g, const struct mmu_range *e, unsigned split)
{
	uint64_t off = e->va.u - g->va.u;

	CHECK_EQ(g->kind, e->kind);
	CHECK_EQ(g->loss, e->loss);
	if (e->kind != ATW_LEAF || e->loss)
		return;
	CHECK_EQ(g->rights & ~e->rights, 0);
	CHECK_EQ(g->flags & ~e->flags, 0);
	CHECK_EQ(g->properties & ~e->properties, 0);
	if (split & (MMU_SPLIT_RIGHTS | MMU_SPLIT_EACH))
		CHECK_EQ(g->rights, e->rights);
	if (split & (MMU_SPLIT_LEVEL | MMU_SPLIT_EACH))
		CHECK_EQ(g->page, e->page);
	if (split & (MMU_SPLIT_FLAGS | MMU_SPLIT_EACH))
		CHECK_EQ(g->flags, e->flags);
	if (split & (MMU_SPLIT_PHYSICAL | MMU_SPLIT_EACH) || !g->scattered)
		CHECK_EQ(g->pa.u + (g->same_pa ? 0 : off), e->pa.u);
	if (!off) {
		CHECK_EQ(g->pa.u, e->pa.u);
		CHECK_EQ(g->word, e->word);
	}
}

/* Two neighbours of one entry each that should have been one range. */
static bool should_merge(const struct mmu_range *a, const struct mmu_range *b)
{
	return a->kind == ATW_LEAF && b->kind == ATW_LEAF && !a->loss && !b->loss &&
	       a->entries == 1 && b->entries == 1 && a->va.u + a->size == b->va.u &&
	       a->rights == b->rights && a->level == b->level && a->page == b->page &&
	       a->flags == b->flags && (a->pa.u == b->pa.u || a->pa.u + a->size == b->pa.u);
}

static void check_ranges(const struct mmu_space *sp, unsigned split, int end)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX), .budget = BUDGET };
	struct mmu_range g, before = { .kind = ATW_BAD };
	struct mmu_ranges *rs;
	size_t at = 0;
	int r;

	CHECK_EQ(mmu_ranges_open(sp, &o, split, &rs, NULL), ATW_OK);
	while ((r = mmu_ranges_next(rs, &g, NULL)) == ATW_OK && !g.repeat_of) {
		size_t first = at;

		for (; at < nentries && entry[at].va.u - g.va.u <= g.size - 1; at++)
			check_entry(&g, &entry[at], split);
		CHECK(at > first);
		if (g.kind == ATW_LEAF && !g.loss)
			CHECK_EQ(at - first, g.entries);
		if (split & MMU_SPLIT_EACH)
			CHECK_EQ(at - first, g.loss ? at - first : 1);
		else
			CHECK(!should_merge(&before, &g));
		before = g;
		merged += g.entries > 1;
		same_page += g.same_pa;
		singles += g.entries == 1;
	}
	mmu_ranges_close(rs);
	if (r != ATW_OK) {
		CHECK_EQ(r, end);
		CHECK_EQ(at, nentries);
	}
}

static void ranges_of(const struct atw_paging *pg)
{
	static const unsigned splits[] = {
		MMU_SPLIT_RIGHTS | MMU_SPLIT_LEVEL | MMU_SPLIT_PHYSICAL,
		MMU_SPLIT_RIGHTS | MMU_SPLIT_LEVEL | MMU_SPLIT_PHYSICAL | MMU_SPLIT_FLAGS,
		MMU_SPLIT_LEVEL | MMU_SPLIT_RIGHTS | MMU_SPLIT_FLAGS, MMU_SPLIT_EACH,
		MMU_SPLIT_EACH | MMU_SPLIT_PHYSICAL,
	};
	struct memory *m = mem_new();
	struct mmu_space sp = { .mem = &m->s, .paging = *pg, .low = { ATW_PA(0), true } };
	int end;

	fill(m, pg);
	end = list_entries(&sp);
	CHECK(nentries && nentries < ENTRIES);
	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
		check_ranges(&sp, splits[i], end);
	mem_free(m);
}

TEST(ranges_are_the_entries_that_they_merge)
{
	static const char *const ext[] = { NULL, "lpa2", "thead", "svrsw60t59b", "cbit=51" };
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned k = 0; k < sizeof(ext) / sizeof(ext[0]); k++) {
			struct atw_paging copy = *pg;

			if (ext[k] && atw_paging_extend(&copy, ext[k], NULL) < 0)
				continue;
			for (int turn = 0; turn < 2 && !test_failures; turn++)
				ranges_of(&copy);
			if (test_failures) {
				fprintf(stderr, "%s %s\n", copy.name, ext[k] ? ext[k] : "");
				return;
			}
		}
	printf("note - %" PRIu64 " ranges of several entries, %" PRIu64
	       " of one page, %" PRIu64 " of one entry\n", merged, same_page, singles);
	CHECK(merged > 10000);
	CHECK(same_page > 1000);
	CHECK(singles > 100000);
}

/* Addresses of many entries at once are those of each. */
TEST(addresses_of_a_piece)
{
	const struct atw_paging *pg;
	static atw_pa pa[8192];

	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		struct memory *m = mem_new();
		struct mmu_space sp = { .mem = &m->s, .paging = *pg, .low = { ATW_PA(0), true } };
		const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX), .budget = BUDGET };
		const struct mmu_seen *s;
		struct mmu_walk *w;

		fill(m, pg);
		CHECK_EQ(mmu_walk_open(&sp, &o, &w, NULL), ATW_OK);
		while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
			uint32_t from = (uint32_t)(random_any() % s->count);

			if (s->kind != ATW_LEAF || s->loss)
				continue;
			mmu_seen_pas(&sp, s, from, s->count - from, pa);
			for (uint32_t k = from; k < s->count; k++)
				CHECK_EQ(pa[k - from].u, mmu_seen_pa(&sp, s, k).u);
		}
		mmu_walk_close(w);
		mem_free(m);
	}
}
