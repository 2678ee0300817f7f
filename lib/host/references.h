/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.h - recorders of the memory references of a program.
 *
 * A backend starts the program, waits until it ends, and emits what it counted. What is
 * exact and what is sampled is never mixed: each backend is one of them, and says so in
 * the head of the recording.
 */
#pragma once

#include "trace/recording.h"

struct references_range {
	uint64_t start, end;     /* half open, start < end */
	bool in_file;            /* addresses in the program's file, as its symbols have them */
};

/* Zero is the default of each member. */
struct references_options {
	const struct references_range *range;
	size_t nranges;          /* 0: all memory of the program */
	uint64_t limit;          /* instructions that are stepped; 0: REFERENCES_STEPS */
	uint64_t period;         /* one sample per so many events; 0: REFERENCES_PERIOD */
	uint64_t memory;         /* bytes for counts; 0: REFERENCES_MEMORY */
	const char *plugin;      /* of QEMU; NULL: the one beside this program */
};

enum {
	REFERENCES_STEPS = 50000000,
	REFERENCES_PERIOD = 10007,       /* a prime: not in step with a loop */
};
#define REFERENCES_MEMORY (UINT64_C(1) << 30)

/* Where references go. Less than ATW_OK ends the recording, and is its result. */
struct references_sink {
	/* Once, before the first reference. */
	int (*head)(void *arg, const struct trace_recording *rec, struct atw_err *err);
	/* In no order; a pair of address and instruction may come several times. */
	int (*ref)(void *arg, const struct trace_ref *ref, struct atw_err *err);
	void *arg;
};

struct references_backend {
	const char *name;
	const char *gives;       /* phrase: what is counted */
	const char *needs;       /* phrase: what it has to have */
	bool sampled;
	bool needs_range;        /* options without a range are refused */
	/* ATW_OK, or the reason why it is not available here. */
	int (*probe)(const struct references_options *o, struct atw_err *err);
	/*
	 * argv: the command, NULL behind it; its name is looked up in PATH. The struct is
	 * filled in by the backend and complete at the end; *status is that of waitpid(2).
	 */
	int (*run)(char *const argv[], const struct references_options *o,
		   const struct references_sink *sink, struct trace_recording *rec, int *status,
		   struct atw_err *err);
};

/* In the order of preference. */
extern const struct references_backend *const references_backends[];
extern const size_t references_nbackends;
/* ATW_E_USAGE: there is none of this name; the error lists them. */
int references_find(const char *name, const struct references_backend **ret,
		    struct atw_err *err);
/* The first that is available here and works without a range, or else with one. */
int references_choose(const struct references_options *o,
		      const struct references_backend **ret, struct atw_err *err);
