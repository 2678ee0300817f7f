/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reverse map merges and folds entries into what every entry by itself says, on
 * tables that recur in all ways.
 */
#include "walk/rmap.h"

#include "linux/soft.h"
#include "memory.h"
#include "test.h"

static const struct atw_soft_abi soft = { .family = ATW_X86, .generation = 0, .known = false };

struct asked {
	struct rmap_range want[8];
	struct rmap_ranges list;
	struct rmap finder;
};

static struct mmu_space space(struct memory *m)
{
	return (struct mmu_space){
		.mem = &m->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true },
	};
}

static void ask(struct asked *a, uint64_t first, uint64_t len)
{
	a->want[a->list.n++] =
		(struct rmap_range){.first = first, .last = first + len - 1, .at = first};
	a->list.v = a->want;
	rmap_sort(&a->list);
	a->finder.want = &a->list;
	a->finder.kept = soft_kept;
	a->finder.kept_arg = &soft;
}

static int find(struct asked *a, const struct mmu_space *sp, bool all)
{
	int r;

	a->finder.all = all;
	a->finder.n = 0;
	r = rmap_walk(&a->finder, sp, 0, UINT64_MAX, 0, NULL);
	rmap_merge(&a->finder);
	return r;
}

static void end(struct asked *a, struct memory *m)
{
	free(a->finder.hit);
	rmap_ranges_deinit(&a->list);
	mem_free(m);
}

struct one {
	uint64_t va, pa, table;
};

static int by_va(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct one));
}

/* Every address of every hit, in an order that does not matter. */
static struct one *expand(const struct rmap *f, size_t *ret)
{
	size_t n = 0;
	struct one *v;

	for (size_t i = 0; i < f->n; i++)
		n += f->hit[i].times * f->hit[i].count;
	v = calloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t i = 0; i < f->n; i++)
		for (uint64_t t = 0; t < f->hit[i].times; t++)
			for (uint32_t k = 0; k < f->hit[i].count; k++)
				v[n++] = (struct one){
					f->hit[i].va + t * f->hit[i].stride +
						k * 0x1000ull,
					f->hit[i].pa + k * 0x1000ull,
					f->hit[i].kind == ATW_TABLE,
				};
	qsort(v, n, sizeof(*v), by_va);
	*ret = n;
	return v;
}

static bool each_has(const struct one *v, size_t n, uint64_t va)
{
	while (n && v[n - 1].va != va)
		n--;
	return n;
}

TEST(pages_of_every_size_and_the_tables_to_them)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };
	const struct rmap_entry *h;

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x2008, 0x83);              /* 1 GiB at 0 */
	mem_put64(m, 0x3000, 0x4003);
	mem_put64(m, 0x3008, 0x200083);          /* 2 MiB at 2 MiB */
	mem_put64(m, 0x4028, 0x234001);          /* 0x5000: one page in it */
	mem_put64(m, 0x4030, 0x235001);
	ask(&a, 0x234800, 16);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 3);
	h = a.finder.hit;
	CHECK_EQ(h[0].va, 0x5800);
	CHECK_EQ(h[0].bytes, 16);
	CHECK_EQ(h[0].entry_at, 0x4028);
	CHECK_EQ(h[0].index, 5);
	CHECK_EQ(h[0].rights, ATW_KR | ATW_KX);
	CHECK_EQ(h[1].va, 0x234800);
	CHECK_EQ(h[1].level, 1);
	CHECK_EQ(h[1].span, 21);
	CHECK_EQ(h[2].va, 0x40234800);
	CHECK_EQ(h[2].level, 2);
	a.list.n = 0;
	ask(&a, 0x4000, 0x1000);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	h = a.finder.hit;
	CHECK_EQ(a.finder.n, 2);                 /* the entry, and 1 GiB at 0 */
	CHECK_EQ(h[0].kind, ATW_TABLE);
	CHECK_EQ(h[0].entry_at, 0x3000);
	CHECK_EQ(h[0].level, 1);
	a.list.n = 0;
	ask(&a, 0x234800, 0x1000); /* parts of two pages that are neighbours */
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	h = a.finder.hit;
	CHECK_EQ(a.finder.n, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(h[i].pa, 0x234800);
		CHECK_EQ(h[i].bytes, 0x1000);
	}
	a.list.n = 0;
	ask(&a, 0x40000000, 0x1000);
	ask(&a, UINT64_MAX, 1);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 0);
	CHECK_EQ(a.finder.lost, 0);
	end(&a, m);
}

TEST(neighbours_are_one_hit_also_across_tables)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x3000, 0x4003);
	mem_put64(m, 0x3008, 0x5003);
	for (unsigned i = 0; i < 512; i++) {
		mem_put64(m, 0x4000 + 8 * i, (0x10000000 + i * 0x1000ull) | 3);
		mem_put64(m, 0x5000 + 8 * i, (0x10200000 + i * 0x1000ull) | 3);
	}
	ask(&a, 0x10001800, 0x300000);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->va, 0x1800);
	CHECK_EQ(a.finder.hit->bytes, 0x300000);
	CHECK_EQ(a.finder.hit->count, 0x301);
	CHECK_EQ(find(&a, &sp, true), ATW_OK);
	CHECK_EQ(a.finder.n, 0x301);
	end(&a, m);
}

TEST(a_shadow_of_one_page_is_one_hit)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	for (unsigned i = 0; i < 512; i++) {
		mem_put64(m, 0x2000 + 8 * i, 0x3003);
		mem_put64(m, 0x3000 + 8 * i, 0x4003);
		mem_put64(m, 0x4000 + 8 * i, 0x70001);
	}
	ask(&a, 0x70000, 0x1000);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->times, 1 << 27);
	CHECK_EQ(a.finder.hit->stride, 0x1000);
	a.list.n = 0;
	ask(&a, 0x4000, 0x1000);                 /* entries for the lowest table */
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->times, 1 << 18);
	CHECK_EQ(a.finder.hit->stride, 0x200000);
	end(&a, m);
}

TEST(repeats_of_repeats_are_all_found)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };
	struct one *each;
	size_t n;

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x2008, 0x3003);
	for (unsigned i = 0; i < 3; i++)
		mem_put64(m, 0x3000 + 8 * i, 0x4003);
	mem_put64(m, 0x4010, 0x9001);
	mem_put64(m, 0x4020, 0xa001);
	ask(&a, 0x9000, 0x1000);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	each = expand(&a.finder, &n);
	CHECK_EQ(n, 6);
	for (unsigned i = 0; i < 6; i++)
		CHECK(each_has(each, n,
			       i / 3 * 0x40000000ull + i % 3 * 0x200000ull + 0x2000));
	free(each);
	end(&a, m);
}

TEST(words_that_keep_the_page)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { .list = { 0 } };

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x3000, 0x4003);
	/* PROT_NONE: _PAGE_GLOBAL without _PAGE_PRESENT, the address inverted (L1TF). */
	mem_put64(m, 0x4010, (~UINT64_C(0x234000) & 0xffffffffff000) | 0x8000000000000120);
	ask(&a, 0x234000, 0x1000);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->va, 0x2000);
	CHECK_EQ(a.finder.hit->what, ATW_SOFT_PROTNONE);
	CHECK_EQ(a.finder.hit->kind, ATW_ABSENT);
	end(&a, m);
}

TEST(one_byte_of_a_large_page)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x40000083);
	ask(&a, 0x40234000, 0x1000);
	a.want[0].byte = true;
	a.want[0].at = 0x40234567;
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->va, 0x234567);
	CHECK_EQ(a.finder.hit->pa, 0x40234567);
	CHECK_EQ(a.finder.hit->bytes, 1 << 30);
	CHECK_EQ(a.finder.hit->end, 1 << 30);
	end(&a, m);
}

/* ---- against every entry by itself ---- */

static uint32_t seed;

static uint32_t next_random(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 10;
}

/*
 * Few tables, each used many times, and runs of equal entries: what makes
 * folds inside of folds. Of the upper two levels few entries, for every page
 * there is comes out of it one by one.
 */
static void make_tables(struct memory *m)
{
	for (unsigned t = 0; t < 6; t++) {
		uint64_t at = 0x2000 + t * 0x1000;
		unsigned level = t < 1 ? 2 : t < 3 ? 1 : 0, n = level == 2 ? 5 : level ? 24 : 512;
		uint64_t word = 0;

		for (unsigned i = 0; i < n; i++) {
			if (!i || next_random() % 3 == 0)
				word = level == 2 ? 0x3003 + next_random() % 2 * 0x1000 :
				       level      ? 0x5003 + next_random() % 3 * 0x1000 :
						    (0x100000 + next_random() % 6 * 0x1000) | 3;
			else if (!level && next_random() % 2)
				word += 0x1000;
			if (next_random() % 9 == 0)
				word = 0;
			mem_put64(m, at + 8 * i, word);
		}
	}
	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x1008, 0x2003);
	mem_put64(m, 0x1010, 0x2003);
	mem_put64(m, 0x1018, next_random() % 2 ? 0x2003 : 0);
}

static bool agrees(unsigned round)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct asked a = { 0 };
	struct one *folded, *each;
	size_t nfolded, neach, rows;
	bool same;

	seed = round;
	make_tables(m);
	ask(&a, 0x101000, round % 3 ? 0x1000 : 0x3000);
	if (round % 4 == 0)
		ask(&a, 0x2000 + round % 7 * 0x1000, 0x1000);
	same = find(&a, &sp, false) == ATW_OK;
	folded = expand(&a.finder, &nfolded);
	rows = a.finder.n;
	same &= find(&a, &sp, true) == ATW_OK;
	each = expand(&a.finder, &neach);
	same &= nfolded == neach && rows <= neach &&
		!memcmp(folded, each, neach * sizeof(*each));
	if (!same)
		fprintf(stderr, "round %u: %zu rows for %zu addresses, one by one %zu\n", round,
			rows, nfolded, neach);
	free(folded);
	free(each);
	end(&a, m);
	return same;
}

TEST(folded_is_what_every_entry_says)
{
	for (unsigned round = 1; round <= 300; round++)
		CHECK(agrees(round));
}

/* ---- every mode's addresses ---- */

struct met {
	uint64_t va[1 << 13], pa[1 << 13];
	size_t n;
};

/* A table of one level, as if it were the root: any word may be in it. */
static void random_table(struct memory *m, const struct atw_paging *pg)
{
	size_t words = (size_t)1 << pg->level[pg->nlevels - 1].bits;

	for (size_t i = 0; i < words; i++) {
		uint64_t word = (uint64_t)next_random() << 42 ^ (uint64_t)next_random() << 21 ^
				next_random();

		if (next_random() % 2)           /* low bits that often mean a leaf */
			word = (word & ~UINT64_C(0xfff)) | (next_random() % 2 ? 0xe7 : 0x703);
		mem_put(m, 0x100000 + i * pg->word_size, &word, pg->word_size);
	}
}

static void walk_leaves(const struct mmu_space *sp, struct met *ret)
{
	const struct mmu_walk_opts o = { .last = ATW_VA(UINT64_MAX) };
	const struct mmu_seen *s;
	struct mmu_walk *w;

	ret->n = 0;
	if (mmu_walk_open(sp, &o, &w, NULL) < 0)
		return;
	while (mmu_walk_next(w, &s, NULL) == ATW_OK)
		for (uint32_t i = 0; s->kind == ATW_LEAF && !s->loss && i < s->count; i++) {
			ret->va[ret->n] = s->va.u + s->size / s->count * i;
			ret->pa[ret->n++] = mmu_seen_pa(sp, s, i).u;
		}
	mmu_walk_close(w);
}

static bool mode_agrees(const struct atw_paging *pg, unsigned level, struct met *want)
{
	struct memory *m = mem_new();
	struct asked a = { 0 };
	struct mmu_space sp = { .mem = &m->s, .paging = *pg, .low = { ATW_PA(0x100000), true } };
	size_t n = 0;
	bool same;

	sp.paging.nlevels = (uint8_t)(level + 1);
	random_table(m, &sp.paging);
	walk_leaves(&sp, want);
	ask(&a, 0, 0);                           /* everything: last is ~0 */
	same = find(&a, &sp, true) == ATW_OK;
	for (size_t i = 0; i < a.finder.n; i++) {
		const struct rmap_entry *h = &a.finder.hit[i];

		if (h->kind != ATW_LEAF)
			continue;
		same &= n < want->n && want->va[n] == h->va && want->pa[n] == h->pa;
		n++;
	}
	same &= n == want->n;
	if (!same)
		fprintf(stderr, "%s, level %u: %zu leaves, %zu found\n", pg->name, level, want->n, n);
	end(&a, m);
	return same;
}

TEST(addresses_of_every_mode)
{
	static struct met met;
	const struct atw_paging *pg;
	size_t leaves = 0;

	seed = 7;
	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned level = 0; level < pg->nlevels; level++) {
			CHECK(mode_agrees(pg, level, &met));
			leaves += met.n;
		}
	CHECK(leaves > 10000);
}

TEST(a_table_that_is_freed_does_not_hold)
{
	const uint64_t at = 0x1008, table = 0x5067;
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct atw_source_ops live = *m->s.ops;
	struct rmap_entry h = {
		.kind = ATW_TABLE, .level = 3, .word = table, .entry_at = at,
	};

	mem_put64(m, at, 0);
	/* A dump does not change: its entries are not read again. */
	CHECK_EQ(rmap_look(&sp, &h), RMAP_HOLDS);
	live.live = true;
	m->s.ops = &live;
	CHECK_EQ(rmap_look(&sp, &h), RMAP_GONE);
	mem_put64(m, at, table);
	CHECK_EQ(rmap_look(&sp, &h), RMAP_HOLDS);
	/* The accessed bit is of no relevance, another table is. */
	mem_put64(m, at, table & ~UINT64_C(0x20));
	CHECK_EQ(rmap_look(&sp, &h), RMAP_HOLDS);
	mem_put64(m, at, 0x6067);
	CHECK_EQ(rmap_look(&sp, &h), RMAP_MOVED);
	CHECK_EQ(h.pa, 0x6000);
	CHECK_EQ(rmap_look(&sp, &h), RMAP_HOLDS);
	mem_put64(m, at, 0x7067);
	h.times = 2;
	CHECK_EQ(rmap_look(&sp, &h), RMAP_UNREAD);
	CHECK_EQ(h.pa, 0x6000);
	h.entry_at = 0x700000;
	CHECK_EQ(rmap_look(&sp, &h), RMAP_UNREAD);
	/* Pages of a process are no tables. */
	h.kind = ATW_LEAF;
	CHECK_EQ(rmap_look(&sp, &h), RMAP_HOLDS);
	mem_free(m);
}
