/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who maps a page: what is merged and folded must be what every entry by
 * itself says, on tables that recur in all ways.
 */
#include "kernel/finder.h"

#include "memory.h"
#include "test.h"

static const struct atw_soft_abi soft = { .family = ATW_X86, .generation = 0, .known = false };

struct asked {
	struct wanted want[8];
	struct wanted_list list;
	struct finder finder;
};

static struct atw_space space(struct memory *m)
{
	return (struct atw_space){
		.mem = &m->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true },
	};
}

static void ask(struct asked *a, uint64_t first, uint64_t len)
{
	a->want[a->list.n++] = (struct wanted){ .first = first, .last = first + len - 1, .at = first };
	a->list.v = a->want;
	wanted_sort(&a->list);
	a->finder.want = &a->list;
	a->finder.soft = &soft;
}

static int find(struct asked *a, const struct atw_space *sp, bool all)
{
	int r;

	a->finder.all = all;
	a->finder.n = 0;
	r = finder_walk(&a->finder, sp, 0, UINT64_MAX, 0, NULL);
	finder_merge(&a->finder);
	return r;
}

static void end(struct asked *a, struct memory *m)
{
	free(a->finder.hit);
	mem_free(m);
}

TEST(pages_of_every_size_and_the_tables_to_them)
{
	struct memory *m = mem_new();
	struct atw_space sp = space(m);
	struct asked a = { 0 };
	const struct hit *h;

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x2008, 0x83);              /* 1 GiB at 0 */
	mem_put64(m, 0x3000, 0x4003);
	mem_put64(m, 0x3008, 0x200083);          /* 2 MiB at 2 MiB */
	mem_put64(m, 0x4028, 0x234001);          /* 0x5000: one page in it */
	ask(&a, 0x234800, 16);
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 3);
	h = a.finder.hit;
	CHECK_EQ(h[0].va, 0x5800);
	CHECK_EQ(h[0].bytes, 16);
	CHECK_EQ(h[0].entry_at, 0x4028);
	CHECK_EQ(h[0].index, 5);
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
	end(&a, m);
}

TEST(neighbours_are_one_hit_also_across_tables)
{
	struct memory *m = mem_new();
	struct atw_space sp = space(m);
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
	struct atw_space sp = space(m);
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
	ask(&a, 0x4000, 0x1000);                 /* who points to the lowest table */
	CHECK_EQ(find(&a, &sp, false), ATW_OK);
	CHECK_EQ(a.finder.n, 1);
	CHECK_EQ(a.finder.hit->times, 1 << 18);
	CHECK_EQ(a.finder.hit->stride, 0x200000);
	end(&a, m);
}

TEST(words_that_keep_the_page)
{
	struct memory *m = mem_new();
	struct atw_space sp = space(m);
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
	struct atw_space sp = space(m);
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

struct one {
	uint64_t va, pa, table;
};

static int by_va(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct one));
}

/* Every address of every hit, in an order that does not matter. */
static struct one *expand(const struct finder *f, size_t *ret)
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
					f->hit[i].va + t * f->hit[i].stride + k * 0x1000ull,
					f->hit[i].pa + k * 0x1000ull,
					f->hit[i].kind == ATW_TABLE,
				};
	qsort(v, n, sizeof(*v), by_va);
	*ret = n;
	return v;
}

static bool agrees(unsigned round)
{
	struct memory *m = mem_new();
	struct atw_space sp = space(m);
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
