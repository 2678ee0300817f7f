/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spaces.h - every address space, each once, with all the processes that share it.
 */
#pragma once

#include "base/table.h"
#include "linux/process.h"

struct owned_space {
	uint64_t at;             /* its mm_struct */
	struct atw_mm mm;
	bool have;               /* false: its root could not be read */
	char name[17];           /* of the first process */
	uint32_t *pid;           /* processes that share it, in order */
	size_t n, cap;
};

struct spaces {
	struct owned_space *v;   /* in the order of the tasks */
	size_t n, cap;
	struct table by_mm;      /* 1 + index in v[] */
	uint64_t tasks;
	/* Numbers of failures; `first` is the first one. */
	uint64_t bad_tasks, bad_spaces;
	struct atw_err first;
};

/* Fails only if no task at all can be found; other failures are counted. */
int spaces_collect(struct atw_kernel *k, struct spaces *ret, struct atw_err *err);
void spaces_deinit(struct spaces *s);
