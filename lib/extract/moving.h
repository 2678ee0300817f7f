/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moving.h - consistent read of a running machine for an extract.
 *
 * Processes start, end and change while they are read. Those that exist in the first and
 * the last snapshot are read until the recorded bytes are complete, and the lists of
 * tasks are written as if there were no others.
 */
#ifndef EXTRACT_MOVING_H
#define EXTRACT_MOVING_H

#include "extract/own.h"

struct moving {
	struct atw_source *record, *replay;
	uint64_t bad_tasks;      /* unreadable ones; `first` is the first failure */
	struct atw_err first;
};

int moving_read(struct atw_kernel *k, struct moving *ret, struct atw_err *err);
void moving_deinit(struct moving *m);

#endif
