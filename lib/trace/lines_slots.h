/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines_slots.h - state of struct lines: lines, their threads, and the places in them. */
#pragma once

#include "base/table.h"
#include "trace/lines.h"

#define LINES_NONE UINT32_MAX

enum {
	LINES_SHARED_MOST = 1 << 23,     /* counts by thread and byte, of one line */
	LINES_LISTED = 16,               /* threads of a line that are searched one by one */
};

/* What a thread did to a line. Its masks are LINES_KINDS times l->words in l->mask. */
enum { LINES_READ, LINES_WRITE, LINES_OTHER, LINES_KINDS };
struct lines_thread {
	uint32_t tid, next;
	uint32_t number;                 /* in its line, from the first on */
};

/* A line, while references are added. */
struct lines_slot {
	uint64_t number;                 /* address / size */
	uint32_t pid;
	uint32_t thread, threads;        /* list, and its length */
	uint32_t part, parts;
	bool has_pid, threadless;
	bool has_physical, no_physical;  /* no_physical: of some references, or they differ */
	bool unlisted;
	struct lines_counts counts;
	uint64_t crossing, weight, weighed, physical;
};

struct lines_place {
	struct lines_part p;             /* of one thread */
	uint32_t slot, next;
	uint32_t number;                 /* of the thread in its line; LINES_NONE: unknown */
};

struct lines_order {
	uint64_t address;
	uint32_t pid, slot;
};

struct lines {
	struct lines_opts o;
	unsigned shift, words;           /* words: of a mask */
	bool rounded;
	struct lines_sum sum;
	struct table slots, places;
	struct table threads;            /* of lines with more than LINES_LISTED */
	struct lines_slot *slot;
	struct lines_thread *thread;
	struct lines_place *place;
	uint64_t *mask;
	size_t nslots, slots_cap, nthreads, threads_cap, mask_cap, nplaces, places_cap;
	struct lines_order *order;
	/* For the line at hand: */
	struct lines_part *part;         /* its members, in order */
	size_t nparts, parts_cap;
	uint64_t *shared;                /* references of each thread to each byte, and to all */
	size_t shared_cap;
	char touched[LINES_MARKS + 1];
};

static inline uint64_t *lines_mask(const struct lines *l, uint32_t thread, unsigned kind)
{
	return l->mask + ((size_t)thread * LINES_KINDS + kind) * l->words;
}
