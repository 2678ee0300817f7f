/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_jobs.c - tasks that are collected by several threads, and emitted in their order.
 *
 * A thread has a provider of its own, which follows that of the caller; the first one has
 * the caller's. It records a task on a tape. The caller emits the tapes in the order of the
 * tasks, with what only it knows: tasks without memory between the others, and files that
 * were emitted before. What is only written is formatted by the threads.
 *
 * While the caller counts mappings, the threads have nothing to collect yet: providers are
 * opened meanwhile, and slab caches are listed.
 */
#include "census/collect.h"

#include "base/cleanup.h"
#include "base/pool.h"
#include "census/tape.h"

enum {
	TASKS_MIN = 32,              /* with fewer, another provider costs more than it saves */
	SHARES = 16,                 /* of what is read before, at most */
	JOBS_MOST = 64,
};

enum jobs_kind { JOBS_OPEN, JOBS_SLABS };

/* What is done while mappings are counted. */
struct jobs_ahead {
	struct pool_job job;         /* first, so that it leads to this */
	enum jobs_kind kind;
};

struct jobs {
	struct collect *c;           /* the caller's */
	struct others *others;
	struct pool *pool;
	struct jobs_ahead open, slabs;
	struct tape slab_tape;
	bool slabs_listed;           /* on their tape */
	struct provider *follower[JOBS_MOST];
	unsigned n;
	struct collect *worker[JOBS_MOST + 1];   /* [0]: with the caller's provider */
	unsigned workers;
	unsigned shares;             /* of what is read before */
};

/* ---- in a thread ---- */

/* The task at i, with what the caller does before it. */
static int jobs_record(void *arg, void *worker, size_t i, struct turn *t, struct atw_err *err)
{
	const struct jobs *j = arg;
	const struct census_sink sink = tape_sink(t, j->c->to->lines);
	struct collect *c = worker;
	int r = tape_add_mark(t, TAPE_NEXT, c->p->task[i].pid, err);

	c->to = &sink;
	c->failed = 0;
	c->gone = 0;
	if (r == ATW_OK)
		r = collect_one(c, i, err);
	if (r == ATW_OK && c->gone)
		r = tape_add_mark(t, TAPE_GONE, c->gone, err);
	return r;
}

/* What all need is read by all. */
static int jobs_prepare(void *arg, void *worker, size_t part, struct turn *t,
			struct atw_err *err)
{
	const struct jobs *j = arg;
	struct provider *p = ((struct collect *)worker)->p;

	p->ops->prepare(p, (unsigned)part, j->shares);
	return ATW_OK;
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
	struct turn t = { .tape = &j->slab_tape, .most = SIZE_MAX };
	const struct census_sink sink = tape_sink(&t, false);
	const struct about_to to = { sink.record, sink.arg, NULL };

	j->slabs_listed = j->c->p->ops->slabs(j->c->p, &to, NULL) == ATW_OK;
}

static void jobs_work(void *arg, void *state, struct pool_job *job)
{
	if (((struct jobs_ahead *)job)->kind == JOBS_OPEN)
		jobs_open_followers(arg);
	else
		jobs_list_slabs(arg);
}

static const struct pool_ops ops = { .work = jobs_work };

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

static int jobs_on_lines(void *arg, const char *text, size_t len,
			 const struct capture_end *count, struct atw_err *err)
{
	const struct collect *c = ((struct jobs *)arg)->c;

	return c->to->lines(c->to->arg, text, len, count, err);
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

static int jobs_emit(void *arg, size_t i, void *tape, bool last, struct atw_err *err)
{
	const struct census_sink sink = {
		.record = jobs_on_record, .run = jobs_on_run, .arg = arg, .lines = jobs_on_lines,
	};
	const struct tape_to to = { &sink, jobs_on_mark, arg };
	const struct jobs *j = arg;
	int r;

	if (last)
		collect_progress(j->c, i, j->c->p->ntasks);
	r = tape_play(tape, &to, err);
	tape_clear(tape);
	return r;
}

static int jobs_prepared(void *arg, size_t part, void *tape, bool last, struct atw_err *err)
{
	return ATW_OK;
}

static void jobs_drop_tape(void *tape)
{
	tape_deinit(tape);
}

/* false: no memory. */
static bool jobs_add(struct jobs *j, struct provider *p)
{
	struct collect *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	c->p = p;
	c->o = j->c->o;
	c->ram = j->c->ram;
	if (!collect_begin(c)) {
		free(c);
		return false;
	}
	j->worker[j->workers++] = c;
	return true;
}

/* What was missed by any is missed; the provider is the caller's again. */
static void jobs_drop_workers(struct jobs *j)
{
	struct collect_missed *m = &j->c->missed;

	for (unsigned i = 0; i < j->workers; i++) {
		struct collect *c = j->worker[i];

		m->unsized += c->missed.unsized;
		m->stale += c->missed.stale;
		m->vanished += c->missed.vanished;
		collect_deinit(c);
		free(c);
	}
	j->workers = 0;
	collect_begin(j->c);
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
	if (!c->jobs || !c->jobs->pool || !c->o->slabs || !c->p->ops->slabs || !c->p->here)
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
	return tape_play(&j->slab_tape, &to, err);
}

/* Those that cannot follow, and all behind them, are of no use. */
static void jobs_follow(struct jobs *j)
{
	unsigned good = 0;

	if (!pool_take(j->pool, &j->open.job))
		jobs_open_followers(j);
	provider_lead(j->c->p);
	while (good < j->n && provider_follow(j->follower[good], j->c->p, NULL) == ATW_OK)
		good++;
	for (unsigned i = good; i < j->n; i++)
		provider_close(j->follower[i]);
	j->n = good;
}

int collect_by_jobs(struct collect *c, struct others *others, struct atw_err *err)
{
	static const struct turns_ops before = {
		.tape = sizeof(struct tape), .work = jobs_prepare, .play = jobs_prepared,
	};
	static const struct turns_ops tasks = {
		.tape = sizeof(struct tape), .work = jobs_record, .play = jobs_emit,
		.drop = jobs_drop_tape,
	};
	int r = ATW_E_UNSUPPORTED;
	struct jobs *j;
	bool ready;

	if (c->summed)
		return r;
	jobs_begin(c);
	j = c->jobs;
	if (!j || !j->pool)
		return r;
	j->others = others;
	jobs_follow(j);
	ready = j->n && jobs_add(j, c->p);
	for (unsigned i = 0; i < j->n && ready; i++)
		ready = jobs_add(j, j->follower[i]);
	if (ready) {
		void *const *worker = (void *const *)j->worker;

		j->shares = c->p->ops->prepare ? MIN(j->workers * 4, (unsigned)SHARES) : 0;
		r = turns_run(&before, j, worker, j->workers, 0, j->shares, err);
		if (r == ATW_OK)
			r = turns_run(&tasks, j, worker, j->workers, 0, c->p->ntasks, err);
	}
	jobs_drop_workers(j);
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
	tape_deinit(&j->slab_tape);
	free(j);
	c->jobs = NULL;
}
