/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moving.h - a running machine, read for an extract.
 *
 * Processes start, end and change while they are read. Those that lived from the
 * first look to the last are read until what was read of them is complete, and the
 * lists of tasks are written as if there were no others.
 */
#ifndef EXTRACT_MOVING_H
#define EXTRACT_MOVING_H

#include "extract/own.h"

struct moving {
	struct atw_source *record, *replay;
	uint64_t bad_tasks;      /* that could not be read; `first` is the first */
	struct atw_err first;
};

int moving_read(struct atw_kernel *k, struct moving *ret, struct atw_err *err);
void moving_deinit(struct moving *m);

#endif
