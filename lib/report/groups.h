/* SPDX-License-Identifier: GPL-2.0-or-later */
/* groups.h - groups of pages for sums: by process, user, cgroup or unit. */
#pragma once

#include "base/table.h"
#include "census/model.h"
#include "target/smaps.h"

enum group_by { BY_PROCESS, BY_USER, BY_CGROUP, BY_UNIT, BY_WAYS };

struct page_group {
	uint64_t key;
	char *name;
	uint64_t pid;            /* BY_PROCESS */
	const struct census_unit *unit;  /* BY_UNIT; NULL: anonymous */
	uint64_t processes;      /* processes with memory in it */
	uint32_t last;           /* 1 + number of the last counted process */
	struct smaps sum;
	bool uncounted;          /* too many shared pages: `uss` is not complete */
	bool paper;              /* swap and page sizes are not recorded */
	bool incomplete;         /* some of its memory is not recorded */
	bool joined;             /* to another, by groups_join() */
	bool known;              /* BY_USER: its uid is `key`; else not recorded */
};

struct groups {
	struct page_group *v;
	size_t n, cap;
	struct table table;      /* 1 + index, by key and name */
};

void groups_deinit(struct groups *g);
/* The group with that key and name; a new one is zeroed. NULL: no memory. */
struct page_group *groups_get(struct groups *g, uint64_t key, const char *name);

/* By name, NULL: processes. ATW_E_USAGE lists the names. */
int group_by_find(const char *word, enum group_by *ret, struct atw_err *err);
/*
 * The group of a VMA's pages. BY_UNIT, an anonymous VMA belongs to a group of its class:
 * "[heap]".
 */
struct page_group *groups_of(struct groups *g, enum group_by by,
			     const struct census_area *a);
/* The group of a process, which may have no known areas; not BY_UNIT. */
struct page_group *groups_of_process(struct groups *g, enum group_by by,
				     const struct census_process *p);
/*
 * At the end: copies of one file are merged into one group, and the names of deleted
 * files are marked. false: no memory.
 */
bool groups_join(struct groups *g);
