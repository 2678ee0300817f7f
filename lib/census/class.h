/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * class.h - classification of a VMA by the fields of its V: line, the program headers of
 * its file, and the preceding VMAs of the process.
 */
#pragma once

#include "census/unit.h"

/* State of the current process. */
struct classifier {
	const struct capture_task *task;
	uint32_t has;                    /* of the task: CAPTURE_T_... */
	uint32_t process;                /* 1 + its number */
	uint64_t page;
	bool paper;
	struct unit *exe;                /* NULL: not found yet, or not known */
	bool exe_guess;

	struct unit *mapped;             /* the last one placed by its program headers */
	/* The previous VMA. */
	bool any;
	uint64_t last_start, last_last, last_pos;
	struct unit *last_unit;
	enum census_class last_class;
};

/* `task` is borrowed while VMAs of it are classified. */
void classifier_begin(struct classifier *c, const struct capture_task *task, uint32_t has,
		      uint32_t process, bool paper, uint64_t page);
/*
 * VMAs in ascending order. `u`: from units_of(). Fills all of *ret except process, v,
 * name and last; ret->last is the known end so far.
 */
void classify(struct classifier *c, const struct capture_area *v, uint32_t has,
	      struct unit *u, struct census_area *ret);
