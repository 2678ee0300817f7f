/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.h - processes with their names and sums, in input order. */
#ifndef REPORT_PROCESSES_H
#define REPORT_PROCESSES_H

#include "base/buf.h"
#include "report/sums.h"

struct process_sums {
	uint64_t pid;
	size_t name;                     /* in `names` */
	bool paper;                      /* in the LPMA format, which has no swap */
	bool bare;                       /* a task without memory of its own, so far */
	struct sums resident, virtual;
};

struct processes {
	struct process_sums *v;
	size_t n, cap;
	struct buf names;
};

void processes_deinit(struct processes *p);
int processes_add(struct processes *p, struct atw_blob name, uint64_t pid, bool paper,
		  struct atw_err *err);
/* Adds AREA_END, PAGES and PROCESS_END to the last process. */
void processes_feed(struct processes *p, const struct census_event *ev);
static inline const char *processes_name(const struct processes *p, size_t i)
{
	return p->names.data + p->v[i].name;
}

#endif
