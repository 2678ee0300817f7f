/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - sums of references that are equal in address, size, kind, thread and
 * instruction. Pure.
 */
#pragma once

#include "base/table.h"
#include "trace/trace.h"

struct trace_count {
	uint64_t address, ip, count;
	uint32_t size, tid;
	uint16_t has;            /* TRACE_HAS_ADDRESS, _IP, _SIZE, _TID */
	uint8_t kind;            /* enum trace_kind */
};

/* Zeroed: empty. */
struct trace_counts {
	struct trace_count *v;   /* in the order in which they were first added */
	size_t n, room;
	struct table at;
};

void trace_counts_deinit(struct trace_counts *c);
/* Adds ref->count. false: no memory. */
bool trace_counts_add(struct trace_counts *c, const struct trace_ref *ref);
/* The sum of those that are equal to ref but for the count; 0: none. */
uint64_t trace_counts_of(const struct trace_counts *c, const struct trace_ref *ref);
/* i < c->n */
struct trace_ref trace_counts_get(const struct trace_counts *c, size_t i);
