/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLBs are decoded from CPUID leaves of real CPUs. */
#include "host/tlb.h"

#include "test.h"

struct leaf {
	uint32_t leaf, sub, r[4];
};
struct cpu {
	const struct leaf *leaf;
	size_t n;
};

static void cpuid(void *arg, uint32_t leaf, uint32_t sub, uint32_t ret[4])
{
	const struct cpu *c = arg;

	memset(ret, 0, 16);
	for (size_t i = 0; i < c->n; i++)
		if (c->leaf[i].leaf == leaf && c->leaf[i].sub == sub)
			memcpy(ret, c->leaf[i].r, 16);
}

#define CPU(...) \
	const struct leaf leaves[] = { __VA_ARGS__ }; \
	struct cpu c = { leaves, sizeof(leaves) / sizeof(leaves[0]) }; \
	struct tlb_size t = { 7, 7, false }

/* Instructions first, then level 1, then one that all sizes share, level 2. */
TEST(leaf_18)
{
	CPU({ 0, 0, { 0x20, 0, 0, 0 } },
	    { 0x18, 0, { 5, 0, 0, 0 } },
	    { 0x18, 1, { 0, 8 << 16 | 1, 8, 1 << 5 | 2 } },
	    { 0x18, 2, { 0, 4 << 16 | 1, 16, 1 << 5 | 1 } },
	    { 0x18, 3, { 0, 4 << 16 | 6, 8, 1 << 5 | 1 } },
	    { 0x18, 4, { 0, 12 << 16 | 3, 128, 2 << 5 | 3 } },
	    { 0x18, 5, { 0, 4 << 16 | 8, 4, 2 << 5 | 3 } });

	CHECK(tlb_of_cpuid(cpuid, &c, &t));
	CHECK_EQ(t.small, 1536);
	CHECK_EQ(t.large, 1536);
	CHECK(t.shared);
}

/* Sizes apart: loads of level 1 for 4K, and two of level 2 that add up for 2M. */
TEST(sizes_apart)
{
	CPU({ 0, 0, { 0x20, 0, 0, 0 } },
	    { 0x18, 0, { 2, 4 << 16 | 1, 16, 1 << 5 | 4 } },
	    { 0x18, 1, { 0, 4 << 16 | 2, 8, 2 << 5 | 1 } },
	    { 0x18, 2, { 0, 1 << 16 | 2, 16, 2 << 5 | 1 } });

	CHECK(tlb_of_cpuid(cpuid, &c, &t));
	CHECK_EQ(t.small, 64);
	CHECK_EQ(t.large, 48);
	CHECK(!t.shared);
}

TEST(amd)
{
	/* 3072 entries for 4K, 2048 for 2M, both 8-way. */
	CPU({ 0, 0, { 0x10, 0, 0, 0 } }, { 0x80000000, 0, { 0x80000021, 0, 0, 0 } },
	    { 0x80000006, 0, { 0x60000000 | 2048 << 16, 0x60000000 | 3072 << 16, 0, 0 } });

	CHECK(tlb_of_cpuid(cpuid, &c, &t));
	CHECK_EQ(t.small, 3072);
	CHECK_EQ(t.large, 2048);
	CHECK(!t.shared);
}

TEST(descriptors)
{
	CPU({ 0, 0, { 0xd, 0, 0, 0 } }, { 2, 0, { 0x76036301, 0x00f0b5ff, 0, 0x00c30000 } });

	CHECK(tlb_of_cpuid(cpuid, &c, &t));
	CHECK_EQ(t.small, 1536);
	CHECK(t.shared);
}

/* What a hypervisor hides is not made up; nothing is written then. */
TEST(nothing_told)
{
	CPU({ 0, 0, { 0x24, 0, 0, 0 } }, { 2, 0, { 0x00feff01, 0xf0, 0, 0 } },
	    { 0x80000000, 0, { 0x80000008, 0, 0, 0 } },
	    { 0x80000006, 0, { 0, 0, 0x08007040, 0 } });

	CHECK(!tlb_of_cpuid(cpuid, &c, &t));
	CHECK_EQ(t.small, 7);
}

/* Sub-leaves without end, and none that are more than they are. */
TEST(damaged)
{
	CPU({ 0, 0, { 0x18, 0, 0, 0 } },
	    { 0x18, 0, { UINT32_MAX, 0xffff0003, UINT32_MAX, 0xffffffff } });

	CHECK(!tlb_of_cpuid(cpuid, &c, &t));
}
