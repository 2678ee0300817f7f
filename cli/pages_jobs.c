/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_jobs.c - processes of `atwalk pages` that several threads list, each by a session, a
 * provider and a struct pages of its own, and the command shows in their order.
 */
#include "base/thread.h"
#include "census_jobs.h"
#include "pages.h"
#include "row_tape.h"

enum { PAGES_WORKERS = 64 };

enum pages_event { PAGES_ERROR = 1, PAGES_CANNOT, PAGES_SWAP };

struct pages_worker {
	struct pages p;          /* p.thread leads back */
	struct row_tape_thread rows;
};

struct pages_jobs {
	struct pages *p;         /* the command's */
	struct census_jobs sessions;
	struct pages_worker *worker[PAGES_WORKERS];      /* [0]: with the command's provider */
	unsigned n;
	struct row_tape_output out;
};

/* An error of a part of the source: struct atw_err, then what it is about, or a number. */
struct pages_fault {
	struct atw_err err;
	char what[128];
	unsigned type;
};

/* ---- in a thread ---- */

void pages_jobs_heading(struct pages_worker *w, char *text)
{
	row_tape_heading(&w->rows, text);
}

static void pages_jobs_fault(struct pages_worker *w, enum pages_event event,
			     const struct pages_fault *f)
{
	row_tape_event(&w->rows, event, f, sizeof(*f));
}

void pages_jobs_error(struct pages_worker *w, const struct atw_err *err)
{
	const struct pages_fault f = { .err = *err };

	pages_jobs_fault(w, PAGES_ERROR, &f);
}

void pages_jobs_cannot(struct pages_worker *w, const char *what, const struct atw_err *err)
{
	struct pages_fault f = { .err = *err };

	snprintf(f.what, sizeof(f.what), "%s", what);
	pages_jobs_fault(w, PAGES_CANNOT, &f);
}

void pages_jobs_no_swap(struct pages_worker *w, unsigned type, const struct atw_err *err)
{
	const struct pages_fault f = { .err = *err, .type = type };

	pages_jobs_fault(w, PAGES_SWAP, &f);
}

static int pages_jobs_work(void *arg, void *worker, size_t i, struct turn *t, struct atw_err *err)
{
	enum { PARTS_MOST = 256 };       /* damaged areas may claim any size */
	struct pages_worker *w = worker;
	struct pages_part part = { .from = t->from, .until = UINT64_MAX };
	int r;

	row_tape_begin(&w->rows, t);
	if (t->splits && t->part < PARTS_MOST &&
	    w->p.prov->ops->part(w->p.prov, i, part.from, &part.until) == ATW_OK)
		turn_split(t, part.until);
	r = pages_list_part(&w->p, i, part, err);
	w->p.ended += r == ATW_END;
	return row_tape_end(&w->rows, r == ATW_END ? ATW_OK : r, err);
}

/* ---- in the command's ---- */

static void pages_jobs_on_event(void *arg, unsigned kind, const void *data)
{
	struct pages *p = ((struct pages_jobs *)arg)->p;
	const struct pages_fault *f = data;

	switch (kind) {
	case PAGES_ERROR:
		print_error(&f->err);
		break;
	case PAGES_CANNOT:
		pages_cannot(p, f->what, &f->err);
		break;
	case PAGES_SWAP:
		pages_no_swap(p, f->type, &f->err);
		break;
	}
}

static int pages_jobs_play(void *arg, size_t i, void *tape, bool last, struct atw_err *err)
{
	struct pages_jobs *j = arg;

	return row_tape_play(tape, &j->out, pages_jobs_on_event, j, err);
}

/* ---- all of it ---- */

/* false: no memory. */
static bool pages_jobs_add(struct pages_jobs *j)
{
	struct pages_worker *w = thread_memory(sizeof(*w));

	if (!w)
		return false;
	pages_copy(&w->p, j->p);
	w->p.thread = w;
	j->worker[j->n++] = w;
	if (row_tape_open(&w->rows, &j->out, w->p.c, w->p.src, NULL) < 0)
		return false;
	w->p.out = w->rows.out;
	return true;
}

static void pages_jobs_use(struct pages_worker *w, struct provider *prov)
{
	w->p.prov = prov;
	prov->cannot = pages_cannot;
	prov->arg = &w->p;
}

/* In the thread of any but the first: a session more takes as long as many processes. */
static bool pages_jobs_begin(void *arg, void *worker)
{
	struct pages_jobs *j = arg;
	struct provider *lead = j->p->prov, *p = NULL;

	if (census_jobs_another(&j->sessions, &p, NULL) != ATW_OK)
		return false;
	if (provider_follow(p, lead, NULL) != ATW_OK) {
		provider_close(p);
		return false;
	}
	pages_jobs_use(worker, p);
	return true;
}

static void pages_jobs_close(struct pages_jobs *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		struct pages_worker *w = j->worker[i];

		pages_join(j->p, &w->p);
		vma_cursor_close(w->p.vmas);
		page_cursor_close(w->p.pages);
		row_tape_close(&w->rows);
		if (w->p.prov != j->p->prov)
			provider_close(w->p.prov);
		free(w);
	}
	j->p->prov->cannot = pages_cannot;
	j->p->prov->arg = j->p;
}

int pages_by_jobs(struct pages *p, const struct space_opts *space, size_t first, size_t end,
		  struct atw_err *err)
{
	const struct turns_ops ops = {
		.tape = sizeof(struct row_tape), .work = pages_jobs_work, .play = pages_jobs_play,
		.drop = row_tape_drop, .begin = pages_jobs_begin, .splits = pages_have_parts(p),
	};
	struct pages_jobs j = {
		.p = p, .out = { .out = p->out, .schema = &p->schema },
		.sessions = CENSUS_JOBS(.c = p->c, .space = space, .first = p->src,
						.q = p->asked),
	};
	/* The pages that --all lists of large ones are counted, all together. */
	unsigned threads = p->prov->ops->follow && !p->each && p->out
				   ? census_jobs_begin(&j.sessions) : 0;
	bool ready = threads > 0;
	int r = ATW_E_UNSUPPORTED;

	while (ready && j.n <= MIN(threads, PAGES_WORKERS - 1u))
		ready = pages_jobs_add(&j);
	if (ready && provider_lead(p->prov)) {
		pages_jobs_use(j.worker[0], p->prov);
		/* A single process has parts. */
		census_jobs_share_out(&j.sessions, end - first > 1 ? end - first : j.n, j.n);
		r = turns_run(&ops, &j, (void *const *)j.worker, j.n, first, end, err);
	}
	pages_jobs_close(&j);
	census_jobs_close(&j.sessions);
	return r;
}
