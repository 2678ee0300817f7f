/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spaces.h - every address space that tasks have, each once, with all the
 * processes that share it.
 */
#ifndef LINUX_SPACES_H
#define LINUX_SPACES_H

#include "linux/process.h"

struct owned_space {
	uint64_t at;             /* its mm_struct */
	struct atw_mm mm;
	bool have;               /* false: its root could not be read */
	char name[17];           /* of the first process */
	uint32_t *pid;           /* processes that have it, the first one first */
	size_t n, cap;
};

struct spaces {
	struct owned_space *v;   /* in the order of the tasks */
	size_t n, cap;
	size_t *hash, places;    /* index + 1 in v[], by mm */
	uint64_t tasks;
	/* What could not be read; `first` is the first of them. */
	uint64_t bad_tasks, bad_spaces;
	struct atw_err first;
};

/* A failure is one of finding any task at all; what else fails is counted. */
int spaces_collect(struct atw_kernel *k, struct spaces *ret, struct atw_err *err);
void spaces_deinit(struct spaces *s);

#endif
