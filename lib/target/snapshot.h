/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.h - a process's VMAs and pages, read at once through a provider. */
#pragma once

#include "linux/linux.h"
#include "target/changes.h"
#include "target/provider.h"

struct snapshot {
	uint32_t pid;
	char name[17];
	uint64_t start; /* clock ticks since boot; 0: not known */
	struct changes_side side;
	struct changes_run *run; /* those of `side` */
	size_t areas_cap, runs_cap;
};

/*
 * ATW_END: the process has ended. What cannot be read is reported to p->cannot, and is
 * unknown in the snapshot.
 */
int snapshot_read(struct provider *p, size_t task, bool areas_only, struct snapshot *ret,
		  struct atw_err *err);
/*
 * The kernel's own mappings, PID 0, with its regions as areas. What cannot be read is
 * unknown.
 */
int snapshot_read_kernel(struct atw_kernel *k, struct snapshot *ret, struct atw_err *err);
/* Zeroed is fine. */
void snapshot_deinit(struct snapshot *s);
/* Bytes of all areas. */
uint64_t snapshot_size(const struct snapshot *s);
