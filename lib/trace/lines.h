/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - memory references added up by cache line: counts, the bytes that each thread
 * touched, and how the line is shared.
 *
 *	lines_open(&opts, &l, err);
 *	for each reference: lines_add(l, &ref, err);
 *	lines_sort(l, err);
 *	for (i = 0; lines_get(l, i, &line); i++)
 *		...
 *
 * Pure. Memory is bounded by the options; what did not fit is counted in struct lines_sum.
 */
#pragma once

#include "trace/trace.h"

enum {
	LINES_USUAL = 64,                /* bytes of a line */
	LINES_LEAST = 16, LINES_MOST = 4096,
	LINES_MARK = 8,                  /* bytes that one mark of `touched` is about */
	LINES_MARKS = LINES_MOST / LINES_MARK,
	LINES_REFERENCE = 1 << 16,       /* bytes: a larger reference is none */
};

/*
 * HOT_COLD is a line without harmful sharing in which one word of 8 bytes has nine tenths
 * of all references, and three others or more have some.
 */
enum lines_verdict {
	LINES_UNDECIDED,                 /* threads, kinds or bytes of references are not known */
	LINES_PRIVATE,                   /* of one thread */
	LINES_READ_SHARED,               /* several threads read, none writes */
	/*
	 * Threads reference the same bytes, which are written: these references are a tenth
	 * or more of those by other threads than the busiest one. The rule in full, which
	 * users rely on, is in atwalk-lines(1), Verdicts.
	 */
	LINES_TRUE_SHARED,
	LINES_FALSE_SHARED,              /* there are writes, and fewer of these, or none */
	LINES_HOT_COLD,
	LINES_VERDICTS,
};
extern const char *const lines_verdicts[LINES_VERDICTS];

struct lines_opts {
	uint32_t line;                   /* bytes, a power of two; 0: LINES_USUAL */
	size_t most_lines, most_parts;   /* 0: 1 << 20, and twice as many */
	size_t most_masks;               /* bytes for the masks of threads; 0: 256 MiB */
};

struct lines_counts {
	uint64_t refs;
	uint64_t reads, writes;          /* both for what is read and written at once */
	uint64_t fetches;                /* of instructions; they are no reads here */
	uint64_t unknown;                /* neither is known */
};

struct lines_line {
	uint64_t address;
	uint32_t pid;                    /* if `has_pid`: addresses are those of a process */
	bool has_pid;
	bool has_threads, has_physical;
	struct lines_counts counts;
	uint64_t crossing;               /* references that go on in the next line */
	uint64_t weight, weighed;        /* sum, and references that have one */
	uint64_t physical;               /* of the line; all references agree */
	uint32_t threads;                /* different ones */
	enum lines_verdict verdict;
	/*
	 * For LINES_MARK bytes each '.', 'r', 'w', 'b' for both or '?'; NUL at the end.
	 * Valid until the next lines_get(). NULL: which bytes is not known.
	 */
	const char *touched;
	size_t parts;                    /* for lines_part() */
};

/* References of one instruction to the same bytes of a line. */
struct lines_part {
	uint32_t offset, size;           /* in the line */
	uint64_t ip;                     /* if `has_ip` */
	bool has_ip, has_threads;
	uint32_t threads;
	struct lines_counts counts;
};

/* In references, each of a line of input counted as often as it stands for. */
struct lines_sum {
	uint64_t refs;                   /* all that were added */
	uint64_t crossing;               /* of these, counted in several lines */
	uint64_t addressless;            /* not counted: they have no address */
	uint64_t implausible;            /* not counted: more than LINES_REFERENCE bytes */
	uint64_t left_out;               /* not counted in a line beyond most_lines */
	uint64_t unlisted;               /* counted, but in no part: most_parts */
	uint64_t threadless;             /* counted, and their thread is not known */
	uint64_t unmasked;               /* the same, for lack of memory: most_masks */
	size_t lines;
	bool overflow;                   /* refs, or a weight, is above UINT64_MAX: cut to that */
};

struct lines;

int lines_open(const struct lines_opts *o, struct lines **ret, struct atw_err *err);
/*
 * The addresses of references are rounded: which bytes two threads share is not known.
 */
void lines_set_rounded(struct lines *l);
/* ATW_E_NOMEM or ATW_OK. */
int lines_add(struct lines *l, const struct trace_ref *r, struct atw_err *err);
/* By process and address. After more references were added, again. */
int lines_sort(struct lines *l, struct atw_err *err);
uint32_t lines_size(const struct lines *l);
const struct lines_sum *lines_sum(const struct lines *l);
/* After lines_sort(). false: there are no more. */
bool lines_get(struct lines *l, size_t i, struct lines_line *ret);
/* Of the line that lines_get() returned last, in order of their offsets. */
bool lines_part(struct lines *l, size_t i, struct lines_part *ret);
/* The index of the first line of a process at or above an address. */
size_t lines_find(const struct lines *l, uint32_t pid, uint64_t address);
void lines_close(struct lines *l);
