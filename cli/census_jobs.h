/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census_jobs.h - further sessions of a source, for threads that read its processes. */
#pragma once

#include <pthread.h>

#include "atwalk.h"
#include "census/census.h"

struct census_jobs {
	const struct common *c;
	const struct space_opts *space;
	struct session *first;
	struct target_query q;       /* of its provider */
	struct session *v;
	size_t n, cap;
	pthread_mutex_t lock;        /* of these */
	struct remembered *known;    /* of the kernel */
	bool shared;                 /* census_jobs_share_out() took threads from the first one */
};

#define CENSUS_JOBS(...) ((struct census_jobs){ .lock = PTHREAD_MUTEX_INITIALIZER, __VA_ARGS__ })

/*
 * Threads that may have a session beside the first one; 0: none. `c->jobs` is valid, as
 * session_open() checks. What the first one found of its kernel, they need not find again.
 */
unsigned census_jobs_begin(struct census_jobs *x);
/*
 * Before `workers` threads share out so many items: if each has some, there is no CPU left to
 * unpack pages ahead of the first session, until they are closed.
 */
void census_jobs_share_out(struct census_jobs *x, size_t items, unsigned workers);
/*
 * Is a listing that began then, by now(), long enough for threads to pay? With --jobs N
 * it is.
 */
bool census_jobs_pay(const struct common *c, const struct session *first, uint64_t began);
/*
 * One more session, which is closed with the others; with a provider of it. By any thread.
 */
int census_jobs_session(struct census_jobs *x, struct session *ret, struct atw_err *err);
int census_jobs_another(void *x, struct provider **ret, struct atw_err *err);

/*
 * Sets what census_collect() takes of it. The first session is open; census_jobs_close() is
 * called when all providers are closed. Prints errors; returns 0 or an exit status.
 */
int census_jobs_find(struct census_jobs *x, struct census_collect_opts *co);
void census_jobs_close(struct census_jobs *x);
