/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - parsers of lines with memory references, as profilers and emulators write them.
 *
 * Pure. Each format is a table of functions over single lines, so that a caller can stream
 * a pipe and keep nothing. A line gives one reference, or none (heads, comments, records of
 * other kinds).
 */
#pragma once

#include <atwalk/base.h>

enum trace_kind {
	TRACE_KIND_UNKNOWN,
	TRACE_KIND_READ,
	TRACE_KIND_WRITE,
	TRACE_KIND_BOTH,         /* read, modified and written by one instruction */
	TRACE_KIND_FETCH,        /* of an instruction */
};

enum trace_has {
	TRACE_HAS_ADDRESS = 1 << 0,
	TRACE_HAS_PHYSICAL = 1 << 1,
	TRACE_HAS_IP = 1 << 2,
	TRACE_HAS_SIZE = 1 << 3,
	TRACE_HAS_PID = 1 << 4,
	TRACE_HAS_TID = 1 << 5,
	TRACE_HAS_CPU = 1 << 6,
	TRACE_HAS_TIME = 1 << 7,
	TRACE_HAS_WEIGHT = 1 << 8,
	TRACE_HAS_SOURCE = 1 << 9,     /* data_src of perf_event_open(2) */
	TRACE_HAS_PAGE_SIZE = 1 << 10,
};

struct trace_ref {
	uint32_t has;            /* enum trace_has: members that the line has; others are 0 */
	enum trace_kind kind;
	uint64_t address;        /* virtual */
	uint64_t physical;
	uint64_t ip;             /* of the instruction */
	uint64_t count;          /* references that this line stands for, 1 or more */
	uint64_t time;           /* ns */
	uint64_t weight;         /* cycles, where the profiler says so */
	uint64_t source;         /* PERF_MEM_* bits */
	uint64_t page_size;      /* bytes */
	uint32_t size;           /* bytes referenced */
	uint32_t pid, tid, cpu;
	struct atw_blob task;    /* name, in the line; empty: none */
	struct atw_blob symbol;  /* of the address or the instruction, in the line */
};
