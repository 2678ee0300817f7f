/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_jobs.c - tasks that are collected by several threads, and emitted in their order.
 *
 * A thread has a provider of its own, which follows that of the caller. It records some
 * neighbouring tasks on a tape. The caller emits the tapes in the order of the tasks, with
 * what only it knows: tasks without memory between the others, and files that were
 * emitted before. What no thread has begun, or could not finish, is collected by the
 * caller itself, so failures do not depend on threads.
 */
#include "census/collect.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/cleanup.h"
#include "base/pool.h"
#include "census/tape.h"

enum {
	TASKS_MIN = 32,              /* with fewer, another provider costs more than it saves */
	PARTS_EACH = 3,              /* parts under way, a thread */
	PART_MOST = 3,               /* tasks of a part */
	SHARES = 16,                 /* of what is read before, at most */
	JOBS_MOST = 64,
};

struct jobs_part {
	struct pool_job job;         /* first, so that it leads to its part */
	unsigned share, shares;      /* of what is read before; 0 shares: it is of tasks */
	size_t first, end;           /* their indexes */
	size_t done;                 /* those before it are on the tape */
	struct collect_missed missed;
	struct tape tape;
};

struct jobs {
	struct collect *c;           /* the caller's */
	struct others *others;
	pthread_t owner;
	struct provider *follower[JOBS_MOST];
	unsigned n;
	atomic_uint taken;
};

/* State of a thread. */
struct jobs_state {
	struct collect *c;           /* NULL: not begun */
};

/* ---- in a thread ---- */

static struct provider *jobs_provider(struct jobs *j)
{
	return pthread_equal(pthread_self(), j->owner) ? j->c->p
						       : j->follower[atomic_fetch_add(&j->taken, 1)];
}

/* NULL: no memory. */
static struct collect *jobs_context(struct jobs *j, struct jobs_state *s)
{
	if (s->c)
		return s->c;
	s->c = calloc(1, sizeof(*s->c));
	if (!s->c)
		return NULL;
	s->c->p = jobs_provider(j);
	s->c->o = j->c->o;
	s->c->ram = j->c->ram;
	return s->c;
}

static void jobs_drop(void *state)
{
	struct jobs_state *s = state;

	if (s->c)
		collect_deinit(s->c);
	free(s->c);
}

/* The task at i, with what the caller does before it. */
static int jobs_record(struct collect *c, struct tape *t, size_t i)
{
	struct atw_err err = { 0 };
	int r = tape_add_mark(t, TAPE_NEXT, c->p->task[i].pid, &err);

	c->gone = 0;
	if (r == ATW_OK)
		r = collect_one(c, i, &err);
	if (r == ATW_OK && c->gone)
		r = tape_add_mark(t, TAPE_GONE, c->gone, &err);
	return r;
}

static void jobs_collect(struct collect *c, struct jobs_part *part)
{
	while (part->done < part->end) {
		const struct collect_missed before = c->missed;
		size_t start = part->tape.len;

		if (jobs_record(c, &part->tape, part->done) != ATW_OK) {
			tape_cut(&part->tape, start);
			c->missed = before;
			return;
		}
		part->done++;
	}
}

static void jobs_work(void *arg, void *state, struct pool_job *job)
{
	struct jobs_part *part = (struct jobs_part *)job;
	const struct census_sink sink = tape_sink(&part->tape);
	struct collect *c = jobs_context(arg, state);
	provider_cannot_fn *was;
	void *its;

	if (c && part->shares) {
		c->p->ops->prepare(c->p, part->share, part->shares);
		return;
	}
	part->done = part->first;
	part->missed = (struct collect_missed){ 0 };
	tape_cut(&part->tape, 0);
	if (!c)
		return;
	/* In the caller's thread, the provider is the caller's. */
	was = c->p->cannot;
	its = c->p->arg;
	c->to = &sink;
	c->failed = 0;
	c->missed = part->missed;
	if (collect_begin(c))
		jobs_collect(c, part);
	part->missed = c->missed;
	c->p->cannot = was;
	c->p->arg = its;
}

static const struct pool_ops ops = { jobs_work, sizeof(struct jobs_state), jobs_drop };

/* ---- in the caller's ---- */

static int jobs_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct collect *c = ((struct jobs *)arg)->c;

	if (rec->letter == 'U' && !collect_file_is_new(c, rec))
		return ATW_OK;
	return c->to->record(c->to->arg, rec, err);
}

static int jobs_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	const struct collect *c = ((struct jobs *)arg)->c;

	return c->to->run(c->to->arg, run, err);
}

static int jobs_on_mark(void *arg, enum tape_mark mark, uint64_t pid, struct atw_err *err)
{
	struct jobs *j = arg;

	if (mark == TAPE_GONE) {
		j->c->gone = pid;
		return ATW_OK;
	}
	return j->others ? others_emit_before(j->c, j->others, pid, err) : ATW_OK;
}

static int jobs_emit(struct jobs *j, const struct jobs_part *part, struct atw_err *err)
{
	const struct census_sink sink = { .record = jobs_on_record, .run = jobs_on_run, .arg = j };
	const struct tape_to to = { &sink, jobs_on_mark, j };
	struct collect_missed *m = &j->c->missed;

	m->unsized += part->missed.unsized;
	m->stale += part->missed.stale;
	m->vanished += part->missed.vanished;
	return tape_play(&part->tape, &to, err);
}

/* What all need is read by all. */
static void jobs_prepare(struct jobs *j, struct pool *pool, struct jobs_part *part, unsigned n)
{
	struct pool_job *job[SHARES];

	for (unsigned i = 0; i < n; i++) {
		part[i] = (struct jobs_part){ .share = i, .shares = n };
		job[i] = &part[i].job;
	}
	pool_add(pool, job, n);
	for (unsigned i = 0; i < n; i++) {
		if (!pool_take(pool, job[i]))
			j->c->p->ops->prepare(j->c->p, i, n);
		part[i].shares = 0;
	}
}

static void jobs_add(struct pool *pool, struct jobs_part *part, size_t *next, size_t ntasks)
{
	struct pool_job *job = &part->job;

	part->first = *next;
	part->end = MIN(part->first + PART_MOST, ntasks);
	*next = part->end;
	if (part->first < part->end)
		pool_add(pool, &job, 1);
}

static int jobs_all(struct jobs *j, struct pool *pool, struct jobs_part *part, size_t nparts,
		    struct atw_err *err)
{
	const size_t ntasks = j->c->p->ntasks;
	size_t next = 0, at = 0;
	int r = ATW_OK;

	for (size_t i = 0; i < nparts; i++)
		jobs_add(pool, &part[i], &next, ntasks);
	while (r == ATW_OK && part[at].first < part[at].end) {
		struct jobs_part *p = &part[at];
		size_t rest = p->first;

		collect_progress(j->c, p->first, ntasks);
		if (pool_take(pool, &p->job)) {
			r = jobs_emit(j, p, err);
			rest = p->done;
		}
		/* What is on no tape. */
		for (; rest < p->end && r == ATW_OK; rest++)
			r = collect_in_turn(j->c, j->others, rest, err);
		if (r == ATW_OK)
			jobs_add(pool, p, &next, ntasks);
		at = (at + 1) % nparts;
	}
	return r;
}

/* ---- providers of threads ---- */

static void jobs_open_followers(struct jobs *j)
{
	const struct census_collect_opts *o = j->c->o;
	const unsigned most = MIN(o->jobs, (unsigned)JOBS_MOST);

	for (; j->n < most; j->n++) {
		struct provider **p = &j->follower[j->n];

		if (o->another(o->another_arg, p, NULL) != ATW_OK)
			return;
		if (j->c->p->ops->follow(*p, j->c->p, NULL) != ATW_OK) {
			provider_close(*p);
			return;
		}
	}
}

int collect_by_jobs(struct collect *c, struct others *others, struct atw_err *err)
{
	struct jobs j = { .c = c, .others = others, .owner = pthread_self() };
	struct jobs_part *part = NULL;
	struct pool *pool = NULL;
	size_t nparts = 0;
	int r = ATW_E_UNSUPPORTED;

	/* Tasks alone, and sums, are too little work for another provider. */
	if (!c->o->jobs || !c->o->another || c->summed || c->o->no_areas || !c->p->ops->follow ||
	    c->p->ntasks < TASKS_MIN)
		return r;
	jobs_open_followers(&j);
	nparts = MAX((size_t)(j.n + 1) * PARTS_EACH, (size_t)SHARES);
	part = calloc(nparts, sizeof(*part));
	pool = j.n && part ? pool_open(&ops, &j, j.n) : NULL;
	if (pool) {
		jobs_prepare(&j, pool, part, MIN((j.n + 1) * 4, (unsigned)SHARES));
		r = jobs_all(&j, pool, part, (size_t)(j.n + 1) * PARTS_EACH, err);
	}
	pool_close(pool);
	for (size_t i = 0; part && i < nparts; i++)
		tape_deinit(&part[i].tape);
	free(part);
	for (unsigned i = 0; i < j.n; i++)
		provider_close(j.follower[i]);
	return r;
}
