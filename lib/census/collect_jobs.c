/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_jobs.c - tasks that are collected by several threads, and emitted in their order.
 *
 * A thread has a provider of its own, which follows that of the caller. It records some
 * neighbouring tasks on a tape. The caller emits the tapes in the order of the tasks, with
 * what only it knows: tasks without memory between the others, and files that were
 * emitted before. What no thread has begun, or could not finish, is collected by the
 * caller itself, so failures do not depend on threads.
 *
 * While the caller counts mappings, the threads have nothing to collect yet: providers are
 * opened meanwhile, and slab caches are listed.
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

enum jobs_kind { JOBS_TASKS, JOBS_SHARE, JOBS_OPEN, JOBS_SLABS };

struct jobs_part {
	struct pool_job job;         /* first, so that it leads to its part */
	enum jobs_kind kind;
	unsigned share, shares;      /* of what is read before */
	size_t first, end;           /* indexes of tasks */
	size_t done;                 /* those before it are on the tape */
	struct collect_missed missed;
	struct tape tape;
};

struct jobs {
	struct collect *c;           /* the caller's */
	struct others *others;
	pthread_t owner;
	struct pool *pool;
	struct jobs_part open, slabs;
	bool slabs_listed;           /* on their tape */
	struct provider *follower[JOBS_MOST];
	unsigned n;
	atomic_uint taken;           /* by threads, which may be more */
};

/* State of a thread. */
struct jobs_state {
	struct collect *c;           /* NULL: not begun */
};

/* ---- in a thread ---- */

/* NULL: there are fewer than threads. */
static struct provider *jobs_provider(struct jobs *j)
{
	unsigned i;

	if (pthread_equal(pthread_self(), j->owner))
		return j->c->p;
	i = atomic_fetch_add(&j->taken, 1);
	return i < j->n ? j->follower[i] : NULL;
}

/* NULL: no memory, or no provider. */
static struct collect *jobs_context(struct jobs *j, struct jobs_state *s)
{
	struct provider *p = s->c ? NULL : jobs_provider(j);

	if (s->c || !p)
		return s->c;
	s->c = calloc(1, sizeof(*s->c));
	if (!s->c)
		return NULL;
	s->c->p = p;
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

static void jobs_open_followers(struct jobs *j)
{
	const struct census_collect_opts *o = j->c->o;
	const unsigned most = MIN(o->jobs, (unsigned)JOBS_MOST);

	while (j->n < most && o->another(o->another_arg, &j->follower[j->n], NULL) == ATW_OK)
		j->n++;
}

static void jobs_list_slabs(struct jobs *j)
{
	const struct census_sink sink = tape_sink(&j->slabs.tape);
	const struct about_to to = { sink.record, sink.arg, NULL };

	j->slabs_listed = j->c->p->ops->slabs(j->c->p, &to, NULL) == ATW_OK;
}

static void jobs_collect_tasks(struct collect *c, struct jobs_part *part)
{
	const struct census_sink sink = tape_sink(&part->tape);
	provider_cannot_fn *was;
	void *its;

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

static void jobs_work(void *arg, void *state, struct pool_job *job)
{
	struct jobs_part *part = (struct jobs_part *)job;
	struct collect *c;

	if (part->kind == JOBS_OPEN) {
		jobs_open_followers(arg);
		return;
	}
	if (part->kind == JOBS_SLABS) {
		jobs_list_slabs(arg);
		return;
	}
	c = jobs_context(arg, state);
	if (part->kind == JOBS_TASKS)
		jobs_collect_tasks(c, part);
	else if (c)
		c->p->ops->prepare(c->p, part->share, part->shares);
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
static void jobs_prepare(struct jobs *j, struct jobs_part *part, unsigned n)
{
	struct pool_job *job[SHARES];

	for (unsigned i = 0; i < n; i++) {
		part[i] = (struct jobs_part){ .kind = JOBS_SHARE, .share = i, .shares = n };
		job[i] = &part[i].job;
	}
	pool_add(j->pool, job, n);
	for (unsigned i = 0; i < n; i++) {
		if (!pool_take(j->pool, job[i]))
			j->c->p->ops->prepare(j->c->p, i, n);
		part[i].kind = JOBS_TASKS;
	}
}

static void jobs_add(struct jobs *j, struct jobs_part *part, size_t *next, size_t ntasks)
{
	struct pool_job *job = &part->job;

	part->first = *next;
	part->end = MIN(part->first + PART_MOST, ntasks);
	*next = part->end;
	if (part->first < part->end)
		pool_add(j->pool, &job, 1);
}

static int jobs_all(struct jobs *j, struct jobs_part *part, size_t nparts, struct atw_err *err)
{
	const size_t ntasks = j->c->p->ntasks;
	size_t next = 0, at = 0;
	int r = ATW_OK;

	for (size_t i = 0; i < nparts; i++)
		jobs_add(j, &part[i], &next, ntasks);
	while (r == ATW_OK && part[at].first < part[at].end) {
		struct jobs_part *p = &part[at];
		size_t rest = p->first;

		collect_progress(j->c, p->first, ntasks);
		if (pool_take(j->pool, &p->job)) {
			r = jobs_emit(j, p, err);
			rest = p->done;
		}
		/* What is on no tape. */
		for (; rest < p->end && r == ATW_OK; rest++)
			r = collect_in_turn(j->c, j->others, rest, err);
		if (r == ATW_OK)
			jobs_add(j, p, &next, ntasks);
		at = (at + 1) % nparts;
	}
	return r;
}

/* ---- for the collector ---- */

static bool jobs_can(const struct collect *c)
{
	const struct census_collect_opts *o = c->o;

	/* Tasks alone are too little work for another provider. */
	return o->jobs && o->another && !o->pid && !o->no_areas && c->p->ops->follow &&
	       c->p->ntasks >= TASKS_MIN;
}

static void jobs_begin(struct collect *c)
{
	struct jobs *j;
	struct pool_job *job;

	if (c->jobs || !jobs_can(c))
		return;
	j = calloc(1, sizeof(*j));
	if (!j)
		return;
	c->jobs = j;
	j->c = c;
	j->owner = pthread_self();
	j->open.kind = JOBS_OPEN;
	j->slabs.kind = JOBS_SLABS;
	j->pool = pool_open(&ops, j, MIN(c->o->jobs, (unsigned)JOBS_MOST));
	job = &j->open.job;
	if (j->pool)
		pool_add(j->pool, &job, 1);
}

void collect_jobs_ahead(struct collect *c)
{
	struct pool_job *job;

	/* Sums are too little work as well. */
	if (c->o->sums && c->p->ops->sum_up)
		return;
	jobs_begin(c);
	if (!c->jobs || !c->jobs->pool || !c->o->slabs || !c->p->ops->slabs || !c->p->running)
		return;
	job = &c->jobs->slabs.job;
	pool_add(c->jobs->pool, &job, 1);
}

int collect_jobs_slabs(struct collect *c, struct atw_err *err)
{
	struct jobs *j = c->jobs;
	const struct tape_to to = { c->to, NULL, NULL };

	if (!j || !j->pool || !pool_take(j->pool, &j->slabs.job) || !j->slabs_listed)
		return ATW_E_UNSUPPORTED;
	return tape_play(&j->slabs.tape, &to, err);
}

/* Those that cannot follow, and all behind them, are of no use. */
static void jobs_follow(struct jobs *j)
{
	unsigned good = 0;

	if (!pool_take(j->pool, &j->open.job))
		jobs_open_followers(j);
	while (good < j->n && j->c->p->ops->follow(j->follower[good], j->c->p, NULL) == ATW_OK)
		good++;
	for (unsigned i = good; i < j->n; i++)
		provider_close(j->follower[i]);
	j->n = good;
}

int collect_by_jobs(struct collect *c, struct others *others, struct atw_err *err)
{
	struct jobs_part *part = NULL;
	size_t nparts = 0;
	struct jobs *j;
	int r = ATW_E_UNSUPPORTED;

	if (c->summed)
		return r;
	jobs_begin(c);
	j = c->jobs;
	if (!j || !j->pool)
		return r;
	j->others = others;
	jobs_follow(j);
	nparts = MAX((size_t)(j->n + 1) * PARTS_EACH, (size_t)SHARES);
	part = j->n ? calloc(nparts, sizeof(*part)) : NULL;
	if (part) {
		jobs_prepare(j, part, MIN((j->n + 1) * 4, (unsigned)SHARES));
		r = jobs_all(j, part, (size_t)(j->n + 1) * PARTS_EACH, err);
		for (size_t i = 0; i < nparts; i++)
			pool_take(j->pool, &part[i].job);
	}
	for (size_t i = 0; part && i < nparts; i++)
		tape_deinit(&part[i].tape);
	free(part);
	return r;
}

void collect_jobs_end(struct collect *c)
{
	struct jobs *j = c->jobs;

	if (!j)
		return;
	pool_close(j->pool);
	for (unsigned i = 0; i < j->n; i++)
		provider_close(j->follower[i]);
	tape_deinit(&j->slabs.tape);
	free(j);
	c->jobs = NULL;
}
