/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * class.h - classification of an area: by the fields of its V: line, the program
 * headers of its file, and the areas of the process before it.
 */
#ifndef CENSUS_CLASS_H
#define CENSUS_CLASS_H

#include "census/unit.h"

/* State of the process that is being read. */
struct classifier {
	const struct capture_task *task;
	uint32_t has;                    /* of the task: CAPTURE_T_... */
	uint32_t process;                /* 1 + its number */
	uint64_t page;
	bool paper;
	struct unit *exe;                /* NULL: not met yet, or not known */
	bool exe_guess;

	struct unit *mapped;             /* placed last by its program headers */
	/* The area before. */
	bool any;
	uint64_t last_start, last_last, last_pos;
	struct unit *last_unit;
	enum census_class last_class;
};

/* `task` stays the caller's, as long as areas of it come. */
void classifier_begin(struct classifier *c, const struct capture_task *task, uint32_t has,
		      uint32_t process, bool paper, uint64_t page);
/*
 * Areas in order. `u`: what units_of() says. Fills all of *ret but process, v, name
 * and last; ret->last is the area's end as far as it is known.
 */
void classify(struct classifier *c, const struct capture_area *v, uint32_t has,
	      struct unit *u, struct census_area *ret);

#endif
