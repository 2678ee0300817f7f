/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census_jobs.h - further sessions of a live source, for threads that collect processes. */
#pragma once

#include "atwalk.h"
#include "census/census.h"

struct census_jobs {
	const struct common *c;
	const struct space_opts *space;
	struct session *first;
	struct target_query q;       /* of its provider */
	struct session *v;
	size_t n, cap;
};

/*
 * Sets what census_collect() takes of it. The first session is open; census_jobs_close() is
 * called when all providers are closed. Prints errors; returns 0 or an exit status.
 */
int census_jobs_find(struct census_jobs *x, struct census_collect_opts *co);
void census_jobs_close(struct census_jobs *x);
