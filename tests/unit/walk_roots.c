/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page-table isolation: two roots in a mode that needs one. The lower half is walked from
 * the first, the upper half from the second.
 */
#include "walk/rmap.h"

#include "memory.h"
#include "test.h"

#define UPPER 0xffff800000000000u

/* Root 1000 maps frame 100 at 0, root 2000 frame 200 at UPPER; both the other too. */
static struct memory *machine(void)
{
	struct memory *m = mem_new();

	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t root = i << 12, below = 0x10000 * i;

		mem_put64(m, root, (below + 0x0000) | 7);
		mem_put64(m, root + 256 * 8, (below + 0x3000) | 3);
		for (uint64_t half = 0; half < 2; half++) {
			uint64_t pud = below + 0x3000 * half;

			mem_put64(m, pud, (pud + 0x1000) | 7);
			mem_put64(m, pud + 0x1000, (pud + 0x2000) | 7);
			mem_put64(m, pud + 0x2000, (i << 20) | half << 16 | 7);
		}
	}
	return m;
}

static struct mmu_space space(struct memory *m, bool two)
{
	return (struct mmu_space){
		.mem = &m->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true }, .high = { ATW_PA(0x2000), two },
	};
}

static uint64_t pa_of(const struct mmu_space *sp, uint64_t va)
{
	struct mmu_seen s;
	struct mmu_place p;
	struct mmu_lookup *l;

	if (mmu_translate(sp, ATW_VA(va), &s, NULL) < 0 || s.kind != ATW_LEAF ||
	    mmu_lookup_open(sp, &l, NULL) < 0)
		return 0;
	if (mmu_lookup(l, ATW_VA(va), &p, NULL) < 0 || p.pa.u != s.pa.u)
		s.pa.u = 1;
	mmu_lookup_close(l);
	return s.pa.u;
}

TEST(translate_and_lookup)
{
	struct memory *m = machine();
	struct mmu_space one = space(m, false), two = space(m, true);

	CHECK_EQ(pa_of(&one, 0), 0x100000);
	CHECK_EQ(pa_of(&one, UPPER), 0x110000);
	CHECK_EQ(pa_of(&two, 0), 0x100000);
	CHECK_EQ(pa_of(&two, UPPER), 0x210000);
	mem_free(m);
}

/* The pieces of a range, "va:pa " each. */
static const char *pieces(const struct mmu_space *sp, uint64_t first, uint64_t last)
{
	static char text[256];
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	size_t n = 0;

	text[0] = '\0';
	if (mmu_walk_open(sp, &o, &w, NULL) < 0)
		return "not opened";
	while (mmu_walk_next(w, &s, NULL) == ATW_OK && n < 200)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%" PRIx64 ":%" PRIx64 " ",
				      s->va.u, s->pa.u);
	mmu_walk_close(w);
	return text;
}

TEST(the_iterator)
{
	struct memory *m = machine();
	struct mmu_space one = space(m, false), two = space(m, true);

	CHECK_STR(pieces(&one, 0, UINT64_MAX), "0:100000 ffff800000000000:110000 ");
	CHECK_STR(pieces(&two, 0, UINT64_MAX), "0:100000 ffff800000000000:210000 ");
	CHECK_STR(pieces(&two, UPPER, UINT64_MAX), "ffff800000000000:210000 ");
	CHECK_STR(pieces(&two, 0, 0xfff), "0:100000 ");
	two.low.have = false;                    /* the kernel's half alone */
	CHECK_STR(pieces(&two, 0, UINT64_MAX), "ffff800000000000:210000 ");
	mem_free(m);
}

TEST(the_reverse_map)
{
	struct memory *m = machine();
	struct mmu_space two = space(m, true);
	struct rmap_range range[] = {
		{.first = 0x110000, .last = 0x110fff}, /* only the other root has it */
		{.first = 0x210000, .last = 0x210fff},
	};
	struct rmap_ranges want = { .v = range, .n = 2 };
	struct rmap f = { .want = &want };

	rmap_sort(&want);
	CHECK_EQ(rmap_walk(&f, &two, 0, UINT64_MAX, 0, NULL), ATW_OK);
	CHECK_EQ(f.n, 1);
	CHECK_EQ(f.hit->va, UPPER);
	free(f.hit);
	rmap_ranges_deinit(&want);
	mem_free(m);
}

TEST(halves_that_are_split_need_both)
{
	struct memory *m = machine();
	struct mmu_space sp = space(m, false);
	struct mmu_seen s;

	sp.paging = *atw_paging_find("arm64-4k-48");
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0xffff000000000000), &s, NULL), ATW_E_MISSING);
	mem_free(m);
}
