/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_jobs.c - address spaces that several threads search, each by a session and a struct
 * find of its own; the command shows their rows in the order of address spaces.
 */
#include "base/thread.h"
#include "census_jobs.h"
#include "find.h"
#include "row_tape.h"

enum { FIND_WORKERS = 64 };

enum find_event { FIND_LIMIT = 1, FIND_NAMELESS, FIND_DAMAGE };

struct find_worker {
	struct find f;           /* f.thread leads back; its session is of find_jobs.sessions */
	struct row_tape_thread rows;
	bool damaged;            /* it said so */
};

struct find_jobs {
	struct find *f;          /* the command's */
	struct census_jobs sessions;
	struct find_worker *worker[FIND_WORKERS];        /* [0]: with the command's session */
	unsigned n;
	struct row_tape_output out;
};

/* ---- in a thread ---- */

static void find_jobs_tell(struct find_worker *w, enum find_event event,
			   const struct atw_err *why)
{
	row_tape_event(&w->rows, event, why, sizeof(*why));
}

void find_jobs_limit(struct find_worker *w, const struct atw_err *why)
{
	find_jobs_tell(w, FIND_LIMIT, why);
}

void find_jobs_nameless(struct find_worker *w, const struct atw_err *why)
{
	find_jobs_tell(w, FIND_NAMELESS, why);
}

static int find_jobs_work(void *arg, void *worker, size_t i, struct turn *t, struct atw_err *err)
{
	struct find_worker *w = worker;
	int r;

	row_tape_begin(&w->rows, t);
	r = find_in_space(&w->f, i, err);
	if (w->f.finder.damaged && !w->damaged)
		find_jobs_tell(w, FIND_DAMAGE, &w->f.finder.damage);
	w->damaged = w->f.finder.damaged;
	return row_tape_end(&w->rows, r, err);
}

/* The same spaces, read by another source. */
static bool find_jobs_copy_spaces(struct find *to, const struct find *from, struct atw_source *mem)
{
	const struct spaces *s = &from->spaces;

	to->spaces.v = malloc((s->n + 1) * sizeof(*s->v));
	if (!to->spaces.v)
		return false;
	memcpy(to->spaces.v, s->v, s->n * sizeof(*s->v));
	to->spaces.n = s->n;
	for (size_t i = 0; i < s->n; i++)
		to->spaces.v[i].mm.space.mem = mem;
	return true;
}

/* The session is another one of the same source. */
static bool find_jobs_use(struct find_worker *w, const struct find *from, const struct session *src)
{
	struct find *f = &w->f;

	f->src = *src;
	f->src.subject = from->src.subject;
	f->src.subject.space.mem = atw_kernel_space(src->target->kernel)->mem;
	listing_init(&f->list, "find", &f->src, 0);
	f->finder.kept_arg = target_soft(src->target);
	if (from->memmap && atw_memmap_open(src->target->kernel, &f->memmap, NULL) < 0)
		return false;
	return find_jobs_copy_spaces(f, from, f->src.subject.space.mem);
}

static bool find_jobs_begin(void *arg, void *worker)
{
	struct find_jobs *j = arg;
	struct session src;

	return census_jobs_session(&j->sessions, &src, NULL) == ATW_OK &&
	       find_jobs_use(worker, j->f, &src);
}

/* ---- in the command's ---- */

static void find_jobs_on_event(void *arg, unsigned kind, const void *data)
{
	struct find *f = ((struct find_jobs *)arg)->f;
	const struct atw_err *why = data;

	switch (kind) {
	case FIND_LIMIT:
		find_limit(f, why);
		break;
	case FIND_NAMELESS:
		/* The first one of all; how many there are is added up later. */
		if (!f->nameless_why.text[0])
			f->nameless_why = *why;
		break;
	case FIND_DAMAGE:
		if (!f->finder.damage.text[0])
			f->finder.damage = *why;
		break;
	}
}

static int find_jobs_play(void *arg, size_t i, void *tape, bool last, struct atw_err *err)
{
	struct find_jobs *j = arg;

	return row_tape_play(tape, &j->out, find_jobs_on_event, j, err);
}

/* ---- all of it ---- */

/* false: no memory. */
static bool find_jobs_add(struct find_jobs *j)
{
	struct find_worker *w = thread_memory(sizeof(*w));
	const struct find *from = j->f;

	if (!w)
		return false;
	j->worker[j->n++] = w;
	w->f.thread = w;
	w->f.c = from->c;
	w->f.finder = (struct rmap){
		.want = from->finder.want, .all = from->finder.all, .kept = from->finder.kept,
	};
	w->f.user_half = from->user_half;
	memcpy(w->f.top, from->top, sizeof(w->f.top));
	memcpy(w->f.user_top, from->user_top, sizeof(w->f.user_top));
	if (row_tape_open(&w->rows, &j->out, from->c, &from->src, NULL) < 0)
		return false;
	w->f.out = w->rows.out;
	return true;
}

static void find_jobs_join(struct find *to, const struct find *from)
{
	to->mappings += from->mappings;
	to->entries += from->entries;
	to->roots += from->roots;
	to->shared_by += from->shared_by;
	to->nameless += from->nameless;
	to->finder.lost += from->finder.lost;
	to->finder.excluded += from->finder.excluded;
	to->finder.damaged += from->finder.damaged;
	to->finder.unstable += from->finder.unstable;
}

static void find_jobs_close(struct find_jobs *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		struct find *f = &j->worker[i]->f;

		find_jobs_join(j->f, f);
		row_tape_close(&j->worker[i]->rows);
		atw_memmap_close(f->memmap);
		listing_deinit(&f->list);
		free(f->spaces.v);
		free(f->finder.hit);
		buf_deinit(&f->pids);
		free(j->worker[i]);
	}
	census_jobs_close(&j->sessions);
}

int find_by_jobs(struct find *f, size_t first, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct row_tape), .work = find_jobs_work, .play = find_jobs_play,
		.drop = row_tape_drop, .begin = find_jobs_begin,
	};
	struct find_jobs j = {
		.f = f, .out = { .out = f->out, .schema = &f->schema },
		.sessions = CENSUS_JOBS(.c = f->c, .space = f->space, .first = &f->src),
	};
	/* Processes of guests are kept beside the rows. */
	unsigned threads = f->space && !f->guests ? census_jobs_begin(&j.sessions) : 0;
	bool ready = threads > 0;
	int r = ATW_E_UNSUPPORTED;

	while (ready && j.n <= MIN(threads, FIND_WORKERS - 1u))
		ready = find_jobs_add(&j);
	if (ready && find_jobs_use(j.worker[0], f, &f->src)) {
		census_jobs_share_out(&j.sessions, f->spaces.n - first, j.n);
		r = turns_run(&ops, &j, (void *const *)j.worker, j.n, first, f->spaces.n, err);
	}
	find_jobs_close(&j);
	return r;
}
