/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_source.h - what a profiler says about the source of data: union perf_mem_data_src,
 * include/uapi/linux/perf_event.h. Pure.
 */
#pragma once

#include <atwalk/base.h>

/* Where the data came from. */
enum trace_level {
	TRACE_LEVEL_UNKNOWN,
	TRACE_LEVEL_L1, TRACE_LEVEL_LFB, TRACE_LEVEL_L2, TRACE_LEVEL_L3, TRACE_LEVEL_L4,
	TRACE_LEVEL_CACHE,       /* any of them */
	TRACE_LEVEL_REMOTE_CACHE,
	TRACE_LEVEL_RAM, TRACE_LEVEL_REMOTE_RAM, TRACE_LEVEL_PMEM, TRACE_LEVEL_CXL,
	TRACE_LEVEL_IO, TRACE_LEVEL_UNCACHED,
	TRACE_LEVEL_L1_MISS, TRACE_LEVEL_L2_MISS, TRACE_LEVEL_L3_MISS, /* from below it */
	TRACE_LEVELS
};
extern const char *const trace_level_names[TRACE_LEVELS];

enum trace_tlb {
	TRACE_TLB_UNKNOWN,
	TRACE_TLB_HIT,
	TRACE_TLB_MISS,          /* page tables were walked */
	TRACE_TLBS
};
extern const char *const trace_tlb_names[TRACE_TLBS];

enum trace_level trace_source_level(uint64_t source);
enum trace_tlb trace_source_tlb(uint64_t source);
/* No cache of this CPU had it. */
bool trace_level_missed(enum trace_level level);
