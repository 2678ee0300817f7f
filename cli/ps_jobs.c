/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ps_jobs.c - address spaces that several threads walk, each by a session of its own; the
 * command shows the tasks in their order.
 */
#include "base/turns.h"
#include "census_jobs.h"
#include "ps.h"

enum { PS_WORKERS = 64 };

struct ps_jobs {
	struct ps *p;            /* the command's */
	struct census_jobs sessions;
	struct ps_walker worker[PS_WORKERS];     /* [0]: the command's own */
	unsigned n;
};

/* ---- in a thread ---- */

static bool ps_jobs_begin(void *arg, void *worker)
{
	struct ps_jobs *j = arg;
	struct session s;

	if (census_jobs_session(&j->sessions, &s, NULL) != ATW_OK)
		return false;
	((struct ps_walker *)worker)->target = s.target;
	return true;
}

static int ps_jobs_work(void *arg, void *worker, size_t i, struct turn *t, struct atw_err *err)
{
	const struct ps_jobs *j = arg;
	const struct ps_item *item = &j->p->item[i];

	if (item->walks)
		ps_walk(worker, &item->t.task, t->tape);
	return ATW_OK;
}

/* ---- in the command's ---- */

static int ps_jobs_play(void *arg, size_t i, void *tape, bool last, struct atw_err *err)
{
	const struct ps_jobs *j = arg;
	const struct ps_item *item = &j->p->item[i];

	return ps_put_item(j->p, item, item->walks ? tape : NULL, err);
}

/* Of tasks that share an address space the first walks it. false: no memory. */
static bool ps_jobs_share_out(struct ps *p, size_t first)
{
	struct table met = { 0 };
	bool good = true;

	for (size_t i = first; i < p->nitems && good; i++) {
		struct ps_item *item = &p->item[i];
		uint64_t mm = item->fault ? 0 : item->t.task.mm;

		item->walks = mm && !table_find(&p->usages, mm) && !table_find(&met, mm);
		good = !item->walks || table_put(&met, mm, 1);
	}
	table_deinit(&met);
	return good;
}

int ps_by_jobs(struct ps *p, size_t first, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct ps_walked), .work = ps_jobs_work, .play = ps_jobs_play,
		.begin = ps_jobs_begin,
	};
	struct ps_jobs j = {
		.p = p,
		.sessions = CENSUS_JOBS(.c = p->c, .space = &p->o->space, .first = &p->src),
	};
	void *worker[PS_WORKERS];
	unsigned threads = census_jobs_begin(&j.sessions);
	int r = ATW_E_UNSUPPORTED;

	if (!threads || !ps_jobs_share_out(p, first)) {
		census_jobs_close(&j.sessions);
		return r;
	}
	for (; j.n <= MIN(threads, PS_WORKERS - 1u); j.n++)
		worker[j.n] = &j.worker[j.n];
	j.worker[0] = p->walker;
	census_jobs_share_out(&j.sessions, p->nitems - first, j.n);
	r = turns_run(&ops, &j, worker, j.n, first, p->nitems, err);
	p->walker = j.worker[0];
	for (unsigned i = 1; i < j.n; i++)
		atw_memmap_close(j.worker[i].memmap);
	census_jobs_close(&j.sessions);
	return r;
}
