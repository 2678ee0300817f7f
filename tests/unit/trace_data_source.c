/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that perf prints beside the bits of a data source are what the bits mean. */
#include "trace/data_source.h"
#include "test.h"

static const char *level(uint64_t source)
{
	const char *name = trace_level_names[trace_source_level(source)];

	return name ? name : "n/a";
}

static const char *tlb(uint64_t source)
{
	const char *name = trace_tlb_names[trace_source_tlb(source)];

	return name ? name : "n/a";
}

TEST(numbers_that_perf_printed)
{
	/* |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit */
	CHECK_STR(level(0x10268100142), "L1");
	CHECK_STR(tlb(0x10268100142), "hit");
	/* |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L2 miss */
	CHECK_STR(level(0x10650100842), "L3");
	CHECK_STR(tlb(0x10650100842), "miss");
	/* |OP LOAD|LVL LFB/MAB or LFB/MAB hit */
	CHECK_STR(level(0x11868100242), "LFB");
	/* |OP LOAD|LVL L2 or L2 hit */
	CHECK_STR(level(0x10468100442), "L2");
	/* L1 miss|SNP N/A|TLB Walker hit */
	CHECK_STR(level(0x88000182), "L1-miss");
	CHECK_STR(tlb(0x88000182), "hit");
	/* |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A */
	CHECK_STR(level(0x1e05080021), "n/a");
	CHECK_STR(tlb(0x1e05080021), "n/a");
}

TEST(levels_by_number)
{
	CHECK_STR(level(UINT64_C(13) << 33), "RAM");
	CHECK_STR(level(UINT64_C(13) << 33 | UINT64_C(1) << 37), "remote-RAM");
	CHECK_STR(level(UINT64_C(3) << 33 | UINT64_C(1) << 37), "remote-cache");
	CHECK_STR(level(UINT64_C(14) << 33), "PMEM");
	CHECK_STR(level(UINT64_C(9) << 33), "CXL");
	CHECK_STR(level(UINT64_C(15) << 33), "n/a");
	CHECK_STR(level(0), "n/a");
}

TEST(misses)
{
	/* A level below the caches, also where a cache is said to have missed. */
	CHECK_STR(level((0x80 | 0x04 | 0x40) << 5), "RAM");
	CHECK_STR(level((0x40 | 0x04) << 5), "L3-miss");
	for (unsigned l = 0; l < TRACE_LEVELS; l++)
		CHECK_EQ(trace_level_missed(l),
			 l == TRACE_LEVEL_RAM || l == TRACE_LEVEL_REMOTE_RAM ||
				 l == TRACE_LEVEL_REMOTE_CACHE || l == TRACE_LEVEL_PMEM ||
				 l == TRACE_LEVEL_CXL || l == TRACE_LEVEL_L3_MISS);
}
