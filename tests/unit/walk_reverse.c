/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every virtual address that maps a page is found from the physical one, repeats
 * included.
 */
#include "walk/walk.h"

#include "memory.h"
#include "test.h"

struct found {
	struct mmu_mapping m[64];
	size_t n, stop_at;
};

static int collect(void *arg, const struct mmu_mapping *m)
{
	struct found *f = arg;

	if (f->n < 64)
		f->m[f->n] = *m;
	return ++f->n == f->stop_at ? 7 : 0;
}

static struct mmu_space space(struct memory *m)
{
	return (struct mmu_space){
		.mem = &m->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true },
	};
}

TEST(large_and_small_pages_of_one_frame)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct mmu_reverse *r;
	struct found f = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x2008, 0x83);              /* 1 GiB at 0 */
	mem_put64(m, 0x3000, 0x4003);
	mem_put64(m, 0x3008, 0x200083);          /* 2 MiB at 2 MiB */
	mem_put64(m, 0x4028, 0x234001);          /* 0x5000: one page in it */
	mem_put64(m, 0x4030, 0x235001);
	CHECK_EQ(mmu_reverse_build(&sp, &r, NULL), ATW_OK);
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(0x234800), 0x1000, collect, &f), 0);
	CHECK_EQ(f.n, 3);
	/* By physical start of the run: 1 GiB, 2 MiB, then the small pages. */
	CHECK_EQ(f.m[0].va.u, 0x40234800);
	CHECK_EQ(f.m[0].pa.u, 0x234800);
	CHECK_EQ(f.m[0].len, 0x1000);
	CHECK_EQ(f.m[0].level, 2);
	CHECK_EQ(f.m[1].va.u, 0x234800);
	CHECK_EQ(f.m[1].level, 1);
	CHECK_EQ(f.m[2].va.u, 0x5800);
	CHECK_EQ(f.m[2].len, 0x1000);
	CHECK_EQ(f.m[2].level, 0);
	CHECK_EQ(f.m[2].rights, ATW_KR | ATW_KX);
	CHECK_EQ(mmu_reverse_lost(r), 0);

	memset(&f, 0, sizeof(f));
	f.stop_at = 2;
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(0x234800), 1, collect, &f), 7);
	CHECK_EQ(f.n, 2);
	memset(&f, 0, sizeof(f));
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(0x40000000), 0x1000, collect, &f), 0);
	CHECK_EQ(f.n, 0);
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(UINT64_MAX), 1, collect, &f), 0);
	CHECK_EQ(f.n, 0);
	mmu_reverse_destroy(r);
	mem_free(m);
}

/* A shadow of 2^39 bytes over one page is one answer with a repeat count. */
TEST(a_uniform_shadow_is_one_mapping)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct mmu_reverse *r;
	struct found f = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	for (unsigned i = 0; i < 512; i++) {
		mem_put64(m, 0x2000 + 8 * i, 0x3003);
		mem_put64(m, 0x3000 + 8 * i, 0x4003);
		mem_put64(m, 0x4000 + 8 * i, 0x9001);
	}
	CHECK_EQ(mmu_reverse_build(&sp, &r, NULL), ATW_OK);
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(0x9000), 0x1000, collect, &f), 0);
	CHECK_EQ(f.n, 1);
	CHECK_EQ(f.m[0].va.u, 0);
	CHECK_EQ(f.m[0].times, (uint64_t)1 << 27);
	CHECK_EQ(f.m[0].stride, 0x1000);
	mmu_reverse_destroy(r);
	mem_free(m);
}

/* A repeated table that is not uniform: each mapping once per repeat. */
TEST(repeats_of_repeats_are_all_reported)
{
	struct memory *m = mem_new();
	struct mmu_space sp = space(m);
	struct mmu_reverse *r;
	struct found f = { 0 };

	mem_put64(m, 0x1000, 0x2003);
	mem_put64(m, 0x2000, 0x3003);
	mem_put64(m, 0x2008, 0x3003);
	for (unsigned i = 0; i < 3; i++)
		mem_put64(m, 0x3000 + 8 * i, 0x4003);
	mem_put64(m, 0x4010, 0x9001);
	mem_put64(m, 0x4020, 0xa001);
	CHECK_EQ(mmu_reverse_build(&sp, &r, NULL), ATW_OK);
	CHECK_EQ(mmu_reverse_find(r, ATW_PA(0x9000), 0x1000, collect, &f), 0);
	CHECK_EQ(f.n, 6);
	for (unsigned gib = 0, i = 0; gib < 2; gib++)
		for (unsigned pmd = 0; pmd < 3; pmd++, i++) {
			uint64_t want = gib * 0x40000000ull + pmd * 0x200000ull + 0x2000;
			bool found = false;

			for (size_t j = 0; j < f.n; j++)
				found |= f.m[j].va.u == want;
			CHECK(found);
		}
	mmu_reverse_destroy(r);
	mem_free(m);
}
