/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * looks.h - several captures of one machine, in order of time ("looks" of the contract):
 * the time of each, and the processes that occur in more than one.
 */
#pragma once

#include "base/table.h"
#include "census/model.h"

/* Each stream, up to CENSUS_ON_END, is a look. */
struct looks {
	size_t n;                        /* number so far; the last is number n - 1 */
	bool open;                       /* the last one is not complete */
	uint64_t *at;                    /* ms since 1970; UINT64_MAX: not known */
	size_t cap;
	/* Of the first look that has it: captures of two kernels cannot be compared. */
	char release[72];
};

void looks_deinit(struct looks *l);
/*
 * To be called for every event; HEADER and END are required. ATW_E_USAGE: a look is not
 * later than the previous one, or is of another kernel.
 */
int looks_feed(struct looks *l, const struct census_event *ev, struct atw_err *err);
/* Time from look `a` to look `b`; false: not known, or 0. */
bool looks_between(const struct looks *l, size_t a, size_t b, uint64_t *ret_ms);

/* "1732132226.25" in units of so many digits behind the point; further ones are dropped. */
bool looks_fraction(struct atw_blob text, unsigned digits, uint64_t *ret);
/* The same in thousandths. */
bool looks_thousandths(struct atw_blob text, uint64_t *ret);
bool looks_number(struct atw_blob text, uint64_t *ret);

/* ---- processes ---- */

/* PIDs are reused, so the start time is part of the key. */
struct look_process {
	uint64_t pid, start;
	bool has_start;
	char name[64];                   /* the last name; truncated with dots at its
					  * end */
};

struct look_processes {
	struct look_process *v;
	size_t n, cap;
	struct table table;              /* 1 + index, by pid and start */
};

void look_processes_deinit(struct look_processes *p);
/* Its index, which is the same in all looks. */
int look_processes_find(struct look_processes *p, uint64_t pid, bool has_start,
			uint64_t start, struct atw_blob name, size_t *ret,
			struct atw_err *err);
