// SPDX-License-Identifier: GPL-2.0-or-later
/* data_source.c - bits of union perf_mem_data_src. */
#include "trace/data_source.h"

const char *const trace_level_names[TRACE_LEVELS] = {
	NULL, "L1", "LFB", "L2", "L3", "L4", "any-cache", "remote-cache", "RAM", "remote-RAM",
	"PMEM", "CXL", "IO", "uncached", "L1-miss", "L2-miss", "L3-miss",
};
const char *const trace_tlb_names[TRACE_TLBS] = { NULL, "hit", "miss" };

/* PERF_MEM_LVL_*, PERF_MEM_TLB_*, PERF_MEM_LVLNUM_* */
enum {
	SOURCE_LVL_SHIFT = 5, SOURCE_TLB_SHIFT = 26, SOURCE_NUM_SHIFT = 33,
	SOURCE_REMOTE_SHIFT = 37,
	SOURCE_LVL_MISS = 0x04,
	SOURCE_LVL_L1 = 0x08, SOURCE_LVL_LFB = 0x10, SOURCE_LVL_L2 = 0x20, SOURCE_LVL_L3 = 0x40,
	SOURCE_LVL_RAM = 0x80, SOURCE_LVL_REM_RAM = 0x300, SOURCE_LVL_REM_CACHE = 0xc00,
	SOURCE_LVL_IO = 0x1000, SOURCE_LVL_UNC = 0x2000,
	SOURCE_TLB_HIT = 0x2, SOURCE_TLB_MISS = 0x4,
};

/* By its number, which newer kernels add to the bits. */
static enum trace_level data_source_numbered(unsigned number, bool remote)
{
	static const uint8_t of[16] = {
		[1] = TRACE_LEVEL_L1, [2] = TRACE_LEVEL_L2, [3] = TRACE_LEVEL_L3,
		[4] = TRACE_LEVEL_L4, [5] = TRACE_LEVEL_L2, [6] = TRACE_LEVEL_CACHE,
		[8] = TRACE_LEVEL_UNCACHED, [9] = TRACE_LEVEL_CXL, [10] = TRACE_LEVEL_IO,
		[11] = TRACE_LEVEL_CACHE, [12] = TRACE_LEVEL_LFB, [13] = TRACE_LEVEL_RAM,
		[14] = TRACE_LEVEL_PMEM,
	};
	enum trace_level level = of[number];

	if (!remote || level == TRACE_LEVEL_UNKNOWN)
		return level;
	return level == TRACE_LEVEL_RAM	  ? TRACE_LEVEL_REMOTE_RAM
	       : level < TRACE_LEVEL_RAM ? TRACE_LEVEL_REMOTE_CACHE
					  : level;
}

enum trace_level trace_source_level(uint64_t source)
{
	unsigned lvl = source >> SOURCE_LVL_SHIFT & 0x3fff;
	unsigned number = source >> SOURCE_NUM_SHIFT & 15;

	/* A bit of a level below the caches says more than that a cache missed. */
	if (lvl & SOURCE_LVL_REM_RAM)
		return TRACE_LEVEL_REMOTE_RAM;
	if (lvl & SOURCE_LVL_REM_CACHE)
		return TRACE_LEVEL_REMOTE_CACHE;
	if (lvl & SOURCE_LVL_RAM)
		return TRACE_LEVEL_RAM;
	if (lvl & SOURCE_LVL_MISS) {
		if (lvl & SOURCE_LVL_L3)
			return TRACE_LEVEL_L3_MISS;
		if (lvl & SOURCE_LVL_L2)
			return TRACE_LEVEL_L2_MISS;
		if (lvl & (SOURCE_LVL_L1 | SOURCE_LVL_LFB))
			return TRACE_LEVEL_L1_MISS;
	} else {
		if (lvl & SOURCE_LVL_L1)
			return TRACE_LEVEL_L1;
		if (lvl & SOURCE_LVL_LFB)
			return TRACE_LEVEL_LFB;
		if (lvl & SOURCE_LVL_L2)
			return TRACE_LEVEL_L2;
		if (lvl & SOURCE_LVL_L3)
			return TRACE_LEVEL_L3;
	}
	if (lvl & SOURCE_LVL_IO)
		return TRACE_LEVEL_IO;
	if (lvl & SOURCE_LVL_UNC)
		return TRACE_LEVEL_UNCACHED;
	return data_source_numbered(number, source >> SOURCE_REMOTE_SHIFT & 1);
}

enum trace_tlb trace_source_tlb(uint64_t source)
{
	unsigned tlb = source >> SOURCE_TLB_SHIFT & 0x7f;

	/*
	 * Which walker was used does not say that it was: drivers of Arm SPE set its bit
	 * beside a hit.
	 */
	if (tlb & SOURCE_TLB_MISS)
		return TRACE_TLB_MISS;
	return tlb & SOURCE_TLB_HIT ? TRACE_TLB_HIT : TRACE_TLB_UNKNOWN;
}

bool trace_level_missed(enum trace_level level)
{
	return level == TRACE_LEVEL_REMOTE_CACHE || level == TRACE_LEVEL_RAM ||
	       level == TRACE_LEVEL_REMOTE_RAM || level == TRACE_LEVEL_PMEM ||
	       level == TRACE_LEVEL_CXL || level == TRACE_LEVEL_L3_MISS;
}
