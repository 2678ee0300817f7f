/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_line.h - words and fields of a line of perf script. Pure. */
#pragma once

#include "trace/words.h"

enum trace_field {
	TRACE_FIELD_HEAD = 1 << 0,       /* comm, misc: before the others */
	TRACE_FIELD_ADDR = 1 << 1,
	TRACE_FIELD_DATA_SRC = 1 << 2,
	TRACE_FIELD_WEIGHT = 1 << 3,
	TRACE_FIELD_INS_LAT = 1 << 4,
	TRACE_FIELD_RETIRE_LAT = 1 << 5,
	TRACE_FIELD_IP = 1 << 6,
	TRACE_FIELD_SYM = 1 << 7,        /* of what is printed behind the instruction */
	TRACE_FIELD_PHYS_ADDR = 1 << 8,
	TRACE_FIELD_DATA_PAGE_SIZE = 1 << 9,
	TRACE_FIELD_CODE_PAGE_SIZE = 1 << 10,
	TRACE_FIELD_PERIOD = 1 << 11,
	TRACE_FIELD_EVENT = 1 << 12,
	TRACE_FIELD_TIME = 1 << 13,
	TRACE_FIELD_TID = 1 << 14,
	TRACE_FIELD_PID = 1 << 15,
	TRACE_FIELD_CPU = 1 << 16,
};

enum {
	PERF_WORDS = 96,         /* at most so many of a line are looked at */
	PERF_NUMBERS = 6,        /* in a row, before a symbol */
	PERF_SHORT = 7,          /* digits of a number that can also be another word */
	PERF_WEIGHT = 5,         /* digits: no address is lower than mmap_min_addr, 10000 */
};

struct perf_line {
	struct atw_blob word[PERF_WORDS];
	unsigned n;
	const char *end;
	struct atw_blob event;   /* without its colon; empty: none */
};

static inline char perf_last(struct atw_blob w)
{
	return w.len ? ((const char *)w.data)[w.len - 1] : '\0';
}

/*
 * Parse what follows the event, from the word `first` on: address, data source, weights,
 * instruction, symbol, physical address, page sizes.
 */
int perf_tail(const struct trace_parser *p, const struct perf_line *l, unsigned first,
	      struct trace_ref *ret, struct atw_err *err);
