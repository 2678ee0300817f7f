/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census_jobs.h"

#include <stdlib.h>

#include "base/buf.h"
#include "host/pace.h"

static int census_jobs_another(void *arg, struct provider **ret, struct atw_err *err)
{
	struct census_jobs *x = arg;
	struct session *s;
	int r;

	if (!ARRAY_ROOM(x->v, x->n, x->cap))
		return atw_err_nomem(err);
	s = &x->v[x->n];
	r = session_open_again(x->c, x->first, x->space, s, err);
	if (r < 0)
		return r;
	x->n++;
	x->q.pace = s->pace;
	return target_provider(s->target, &x->q, NULL, NULL, ret, err);
}

int census_jobs_find(struct census_jobs *x, struct census_collect_opts *co)
{
	struct atw_err err = { 0 };

	if (!threads_to_use(x->c, &co->jobs, &err))
		return print_error(&err);
	/* A stopped process or guest, and a limited rate, leave nothing to threads. */
	if (!target_has(x->first->target, TARGET_RUNNING | TARGET_MEMORY) || x->space->freeze ||
	    x->c->rate)
		co->jobs = 0;
	co->another = census_jobs_another;
	co->another_arg = x;
	return EXIT_COMPLETE;
}

void census_jobs_close(struct census_jobs *x)
{
	for (size_t i = 0; i < x->n; i++) {
		if (x->first->pace)
			pace_add(x->first->pace, x->v[i].pace);
		session_close(&x->v[i]);
	}
	free(x->v);
}
