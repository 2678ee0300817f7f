/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small pages get the reason why they are not huge pages. */
#include "target/large.h"

#include "test.h"

enum { K = 1024, M = 1024 * K, BLOCK = 2 * M };
static const uint64_t AT = 0x7f0000000000;

static const struct large_may free_to = {
	.system = THP_ALWAYS, .process = THP_ALWAYS, .have_advice = true,
};

static struct large_scan begin(uint64_t from, uint64_t size, struct large_may may)
{
	struct large_scan s;

	may.offset = from;
	large_begin(&s, AT + from, AT + from + size, &may, BLOCK);
	return s;
}

static void add(struct large_scan *s, uint64_t from, uint64_t size, enum page_state st,
		uint64_t slot, unsigned rights)
{
	const struct page_run r = {
		.va = AT + from, .size = size, .slot = slot, .state = (uint8_t)st,
		.have = RUN_RIGHTS, .rights = (uint8_t)rights,
	};

	large_add(s, AT + from, AT + from + size - 1, &r);
}

static void here(struct large_scan *s, uint64_t from, uint64_t size)
{
	add(s, from, size, PAGE_PRESENT, 4 * K, ATW_UR | ATW_UW);
}

/* The one reason; LARGE_WHYS: there are several, or they do not add up. */
static unsigned only(const struct large_scan *s, uint64_t bytes)
{
	unsigned found = LARGE_WHYS;

	for (unsigned i = 0; i < LARGE_WHYS; i++)
		if (s->sum.small[i])
			found = found == LARGE_WHYS && s->sum.small[i] == bytes ? i : LARGE_WHYS + 1;
	return found;
}

static unsigned full_block(struct large_may may)
{
	struct large_scan s = begin(0, BLOCK, may);

	here(&s, 0, BLOCK);
	large_end(&s);
	if (s.sum.blocks != 1 || s.sum.full != 1 || s.sum.large)
		return LARGE_WHYS;
	return only(&s, BLOCK);
}

TEST(too_small_an_area)
{
	struct large_scan s = begin(M, M, free_to);

	here(&s, M, M);
	large_end(&s);
	CHECK_EQ(only(&s, M), LARGE_SMALL);
	CHECK_EQ(s.sum.blocks, 0);
}

TEST(an_area_around_no_block)
{
	struct large_scan s = begin(M, 2 * M, free_to);

	here(&s, M, 2 * M);
	large_end(&s);
	CHECK_EQ(only(&s, 2 * M), LARGE_UNALIGNED);
	CHECK_EQ(s.sum.blocks, 0);
}

TEST(the_ends_of_an_area)
{
	struct large_scan s = begin(M, 6 * M, free_to);

	here(&s, M, 6 * M);              /* one run over all of it */
	large_end(&s);
	CHECK_EQ(s.sum.small[LARGE_UNALIGNED], 2 * M);
	CHECK_EQ(s.sum.small[LARGE_POSSIBLE], 4 * M);
	CHECK_EQ(s.sum.blocks, 2);
	CHECK_EQ(s.sum.full, 2);
	CHECK_EQ(large_smaller(&s.sum), 6 * M);
	CHECK_EQ(large_main(&s.sum), LARGE_POSSIBLE);
}

TEST(large_pages_are_large)
{
	struct large_scan s = begin(0, 8 * M, free_to);

	add(&s, 0, 4 * M, PAGE_PRESENT, BLOCK, ATW_UR);
	here(&s, 4 * M, 64 * K);
	add(&s, 4 * M + 64 * K, 64 * K, PAGE_PRESENT, 64 * K, ATW_UR | ATW_UW);
	large_end(&s);
	CHECK_EQ(s.sum.large, 4 * M);
	CHECK_EQ(s.sum.full, 0);
	/* Contiguous ones count as what they are; what follows came as no run. */
	CHECK_EQ(only(&s, 128 * K), LARGE_SPARSE);
	CHECK_EQ(s.sum.holes[LARGE_SPARSE], BLOCK - 128 * K);
	CHECK_EQ(s.sum.blocks, 4);
}

TEST(what_may_be_large_is_neither)
{
	struct large_scan s = begin(0, 4 * M, free_to);
	const struct page_run r = {
		.va = AT, .size = BLOCK, .slot = 4 * K, .state = PAGE_PRESENT,
		.have = RUN_RIGHTS | RUN_SIZE_HIDDEN, .rights = ATW_UR,
	};
	struct large_sum all = { 0 };

	large_add(&s, AT, AT + BLOCK - 1, &r);
	here(&s, BLOCK, 64 * K);
	large_end(&s);
	large_sum_add(&all, &s.sum);
	CHECK_EQ(all.unsized, BLOCK);
	CHECK_EQ(all.large, 0);
	CHECK_EQ(all.full, 0);
	CHECK_EQ(large_smaller(&all), 64 * K);
	CHECK_EQ(large_mapped(&all), BLOCK + 64 * K);
}

TEST(holes)
{
	struct large_scan s = begin(0, 6 * M, free_to);

	here(&s, 0, M);
	add(&s, M, 4 * M, PAGE_ABSENT, 4 * M, 0);
	here(&s, 5 * M, M);
	large_end(&s);
	CHECK_EQ(only(&s, 2 * M), LARGE_SPARSE);
	CHECK_EQ(s.sum.holes[LARGE_SPARSE], 2 * M);
	CHECK_EQ(s.sum.full, 0);
}

TEST(terabytes_of_nothing_cost_nothing)
{
	const uint64_t T = (uint64_t)1 << 40;
	struct large_scan s = begin(0, 100 * T, free_to);

	add(&s, 0, 50 * T, PAGE_ABSENT, 50 * T, 0);
	here(&s, 50 * T, BLOCK);
	add(&s, 50 * T + BLOCK, 50 * T - BLOCK, PAGE_ABSENT, T, 0);
	large_end(&s);
	CHECK_EQ(only(&s, BLOCK), LARGE_POSSIBLE);
	CHECK_EQ(s.sum.holes[LARGE_POSSIBLE], 0);
	CHECK_EQ(s.sum.blocks, 100 * T / BLOCK);
}

TEST(rights_and_swap_within_a_block)
{
	struct large_scan s = begin(0, 8 * M, free_to);

	here(&s, 0, M);                  /* several rights */
	add(&s, M, M, PAGE_PRESENT, 4 * K, ATW_UR);
	here(&s, 2 * M, M);              /* some that may not be touched */
	add(&s, 3 * M, M, PAGE_PROTNONE, 4 * K, 0);
	here(&s, 4 * M, M);
	add(&s, 5 * M, M, PAGE_SWAP, 4 * K, 0);
	here(&s, 6 * M, M);              /* unknown */
	add(&s, 7 * M, M, PAGE_LOST, M, 0);
	large_end(&s);
	CHECK_EQ(s.sum.small[LARGE_RIGHTS], 3 * M);
	CHECK_EQ(s.sum.small[LARGE_SWAPPED], M);
	CHECK_EQ(s.sum.small[LARGE_NONE], M);
	CHECK_EQ(s.sum.full, 1);
	CHECK_EQ(s.sum.in_full[LARGE_RIGHTS], BLOCK);
	/* Other rights in another block are no mixture. */
	s = begin(0, 4 * M, free_to);
	here(&s, 0, 2 * M);
	add(&s, 2 * M, 2 * M, PAGE_PRESENT, 4 * K, ATW_UR);
	large_end(&s);
	CHECK_EQ(only(&s, 4 * M), LARGE_POSSIBLE);
}

TEST(what_is_allowed)
{
	struct large_may may = free_to;

	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
	may.system = THP_ADVISED;
	CHECK_EQ(full_block(may), LARGE_DISABLED);
	may.advised = true;
	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
	may.system = THP_NEVER;
	CHECK_EQ(full_block(may), LARGE_DISABLED);
	may.system = THP_UNKNOWN;
	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
	may.process = THP_ADVISED;
	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
	may.advised = false;
	CHECK_EQ(full_block(may), LARGE_DISABLED);
	may = free_to;
	may.process = THP_NEVER;
	CHECK_EQ(full_block(may), LARGE_DISABLED);
	may.refused = true;
	CHECK_EQ(full_block(may), LARGE_NOHUGEPAGE);
	may = free_to;
	may.kind = LARGE_OF_FILE;
	CHECK_EQ(full_block(may), LARGE_FILE);
	may.unknown = true;
	CHECK_EQ(full_block(may), LARGE_NONE);
	may.unknown = false;
	may.kind = LARGE_SHMEM;
	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
	may.kind = LARGE_ANON;
	may.special = true;
	CHECK_EQ(full_block(may), LARGE_FILE);
	/* Advice decides, and is not known. */
	may = (struct large_may){ .system = THP_ADVISED };
	CHECK_EQ(full_block(may), LARGE_NONE);
	may.system = THP_ALWAYS;
	CHECK_EQ(full_block(may), LARGE_POSSIBLE);
}

/* Off is off wherever it lies, and what says so is kept. */
TEST(shared_memory_that_is_off_is_disabled_though_not_aligned)
{
	struct large_may may = free_to;
	struct large_scan s;

	may.kind = LARGE_SHMEM;
	may.offset = 4 * K;
	may.system = THP_NEVER;
	may.by = THP_BY_SHMEM;
	large_begin(&s, AT, AT + 4 * M, &may, BLOCK);
	here(&s, 0, 4 * M);
	large_end(&s);
	CHECK_EQ(only(&s, 4 * M), LARGE_DISABLED);
	CHECK_EQ(s.sum.off, LARGE_OFF_NEVER_BY(THP_BY_SHMEM));
	may.system = THP_ADVISED;
	large_begin(&s, AT, AT + 4 * M, &may, BLOCK);
	here(&s, 0, 4 * M);
	large_end(&s);
	CHECK_EQ(only(&s, 4 * M), LARGE_DISABLED);
	CHECK_EQ(s.sum.off, LARGE_OFF_UNADVISED_BY(THP_BY_SHMEM));
	/* Files of a file system are no matter of that setting. */
	may.kind = LARGE_OF_FILE;
	large_begin(&s, AT, AT + 4 * M, &may, BLOCK);
	here(&s, 0, 4 * M);
	large_end(&s);
	CHECK_EQ(only(&s, 4 * M), LARGE_FILE);
	CHECK_EQ(s.sum.off, 0);
}

/* An entry a page, whatever its size; and one for each block that has small ones. */
TEST(entries_of_a_tlb)
{
	struct large_scan s = begin(M, 8 * M, free_to);
	struct large_sum all = { 0 };

	here(&s, M, M);                                          /* an edge: 256 */
	add(&s, 2 * M, 2 * M, PAGE_PRESENT, BLOCK, ATW_UR);      /* 1 */
	here(&s, 4 * M, 8 * K);                                  /* 2, and one block */
	add(&s, 4 * M + 64 * K, 64 * K, PAGE_PRESENT, 64 * K, ATW_UR | ATW_UW);
	here(&s, 6 * M, 2 * M);                                  /* 512, and one block */
	add(&s, 8 * M, 4 * K, PAGE_SWAP, 4 * K, 0);
	large_end(&s);
	CHECK_EQ(s.sum.entries, 256 + 1 + 2 + 1 + 512);
	CHECK_EQ(s.sum.entries_large, 256 + 1 + 1 + 1);
	large_sum_add(&all, &s.sum);
	large_sum_outside(&all, 8 * K, 4 * K, BLOCK);
	large_sum_outside(&all, 1024 * M, 1024 * M, BLOCK);
	CHECK_EQ(all.entries, 256 + 1 + 2 + 1 + 512 + 3);
	CHECK_EQ(all.entries_large, 256 + 1 + 1 + 1 + 3);
	CHECK_EQ(all.large, 1026 * (uint64_t)M);
	CHECK_EQ(all.small[LARGE_NONE], 8 * K);
}

TEST(shared_memory_must_be_aligned_in_its_file)
{
	struct large_may may = free_to;
	struct large_scan s;

	may.kind = LARGE_SHMEM;
	may.offset = 4 * K;
	large_begin(&s, AT, AT + 4 * M, &may, BLOCK);
	here(&s, 0, 4 * M);
	large_end(&s);
	CHECK_EQ(only(&s, 4 * M), LARGE_FILE);
}

TEST(the_top_of_the_address_space)
{
	struct large_scan s;

	large_begin(&s, UINT64_MAX - M + 1, UINT64_MAX & ~(uint64_t)0xfff, &free_to, BLOCK);
	large_end(&s);
	CHECK_EQ(s.sum.blocks, 0);
	CHECK_EQ(s.edge, LARGE_SMALL);
}

TEST(flags_of_an_area)
{
	static const char line[] = "rd wr mr mw me ac sd hg ";

	CHECK_EQ(large_vmflags(line, sizeof(line) - 1), 0x20000073);
	CHECK_EQ(large_vmflags("rd nh", 5), 0x40000001);
	CHECK_EQ(large_vmflags("xrd hgx", 7), 0);
	CHECK_EQ(large_vmflags("", 0), 0);
}

TEST(mounted_file_systems)
{
	static const char text[] =
		"24 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
		"30 24 0:25 / /dev/shm rw - tmpfs tmpfs rw,size=1k,huge=within_size\n"
		"31 24 0:26 / /a\\040-\\040b rw shared:1 master:2 - tmpfs none rw,huge=advise,mode=755\n"
		"32 24 0:27 / /run rw - tmpfs tmpfs rw\n"
		"short\n";
	const struct atw_blob b = { text, sizeof(text) - 1 };
	enum thp_when w;

	CHECK(large_mounted(b, 0, 25, &w));
	CHECK_EQ(w, THP_ALWAYS);
	CHECK(large_mounted(b, 0, 26, &w));
	CHECK_EQ(w, THP_ADVISED);
	CHECK(large_mounted(b, 0, 27, &w));
	CHECK_EQ(w, THP_NEVER);
	CHECK(!large_mounted(b, 254, 0, &w));
	CHECK(!large_mounted(b, 0, 2, &w));
	CHECK(!large_mounted((struct atw_blob){ text, 60 }, 0, 25, &w));
}
