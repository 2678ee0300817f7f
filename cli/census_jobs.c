/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census_jobs.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "host/pace.h"

static bool census_jobs_keep(struct census_jobs *x, const struct session *s)
{
	bool kept;

	pthread_mutex_lock(&x->lock);
	kept = ARRAY_ROOM(x->v, x->n, x->cap);
	if (kept)
		x->v[x->n++] = *s;
	pthread_mutex_unlock(&x->lock);
	return kept;
}

int census_jobs_session(struct census_jobs *x, struct session *ret, struct atw_err *err)
{
	struct session s;
	int r = session_open_again(x->c, x->first, x->space, x->known, &s, err);

	if (r < 0)
		return r;
	if (!census_jobs_keep(x, &s)) {
		session_close(&s);
		return atw_err_nomem(err);
	}
	*ret = s;
	return ATW_OK;
}

int census_jobs_another(void *arg, struct provider **ret, struct atw_err *err)
{
	struct census_jobs *x = arg;
	struct target_query q = x->q;
	struct session s;
	int r = census_jobs_session(x, &s, err);

	q.pace = r == ATW_OK ? s.pace : NULL;
	return r == ATW_OK ? target_provider(s.target, &q, NULL, NULL, ret, err) : r;
}

bool census_jobs_pay(const struct common *c, const struct session *first, uint64_t began)
{
	/* One more session of this machine takes 10 to 30 of these, of a dump about one. */
	uint64_t ms = target_has(first->target, TARGET_HERE) ? 50 : 10;

	return c->jobs || now() - began >= ms * (SECOND / 1000);
}

/* A pipe was read to its end, and what a plugin opens it may open once. */
static bool census_jobs_opens_again(const struct census_jobs *x)
{
	struct stat st;

	return !x->c->sources && (target_has(x->first->target, TARGET_HERE) ||
				  (target_has(x->first->target, TARGET_MEMORY) &&
				   !stat(x->first->name, &st) && S_ISREG(st.st_mode)));
}

/* A dump of which all of this is a matter of 50 ms or so. */
static bool census_jobs_is_small(const struct census_jobs *x)
{
	enum { SMALL = 8 << 20 };
	struct stat st;

	return !target_has(x->first->target, TARGET_HERE) && !stat(x->first->name, &st) &&
	       st.st_size < SMALL;
}

unsigned census_jobs_begin(struct census_jobs *x)
{
	struct atw_err unused = { 0 };
	unsigned n;

	/*
	 * A stopped process or guest, and a limited rate, leave nothing to threads. With -vv,
	 * all reads are shown.
	 */
	if (!census_jobs_opens_again(x) || x->space->freeze || x->c->rate ||
	    x->c->verbose > 1 || !threads_to_use(x->c, &n, &unused))
		return 0;
	if (n && x->first->target->kernel)
		x->known = atw_kernel_known(x->first->target->kernel);
	return n;
}

void census_jobs_share_out(struct census_jobs *x, size_t items, unsigned workers)
{
	struct atw_source *source = x->first->target->source;

	x->shared = source && items >= workers;
	if (x->shared)
		atw_source_threads(source, 0);
}

int census_jobs_find(struct census_jobs *x, struct census_collect_opts *co)
{
	struct atw_err err = { 0 };

	if (!threads_to_use(x->c, &co->jobs, &err))
		return print_error(&err);
	co->jobs = x->c->jobs || !census_jobs_is_small(x) ? census_jobs_begin(x) : 0;
	co->another = census_jobs_another;
	co->another_arg = x;
	return EXIT_COMPLETE;
}

void census_jobs_close(struct census_jobs *x)
{
	struct atw_err unused = { 0 };
	unsigned n;

	if (x->shared && threads_to_use(x->c, &n, &unused))
		atw_source_threads(x->first->target->source, n);
	for (size_t i = 0; i < x->n; i++) {
		if (x->first->pace)
			pace_add(x->first->pace, x->v[i].pace);
		session_close(&x->v[i]);
	}
	free(x->v);
	free(x->known);
}
