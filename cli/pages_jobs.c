/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages_jobs.c - processes of `atwalk pages` that several threads list, each by a session, a
 * provider and a struct pages of its own, and the command shows in their order.
 */
#include <stdatomic.h>

#include "census_jobs.h"
#include "pages.h"
#include "output/part.h"
#include "row_tape.h"

enum { PAGES_WORKERS = 64 };

enum pages_event {
	PAGES_HEADING, PAGES_ERROR, PAGES_CANNOT, PAGES_SWAP,
	PAGES_BYTES, PAGES_SUMS,         /* of rows that the thread formatted */
};

struct pages_worker {
	struct pages p;          /* p.thread leads back */
	struct turn *turn;
	struct atw_tap tap;      /* of p.out */
	struct output_part *part;        /* formats rows here; or NULL */
	char *heading;           /* above the next row; or NULL */
};

struct pages_jobs {
	struct pages *p;         /* the command's */
	struct census_jobs sessions;
	struct pages_worker *worker[PAGES_WORKERS];      /* [0]: with the command's provider */
	unsigned n;
	atomic_bool parts;       /* rows may be formatted by threads: output_parts() */
};

/* An error of a part of the source: struct atw_err, then what it is about, or a number. */
struct pages_fault {
	struct atw_err err;
	char what[128];
	unsigned type;
};

/* ---- in a thread ---- */

static int pages_jobs_on_schema(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	return ATW_OK;
}

static int pages_jobs_on_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct pages_worker *w = arg;
	int r = ATW_OK;

	if (w->heading && w->part)
		r = output_part_heading(w->part, w->heading, err);
	else if (w->heading)
		r = row_tape_event(w->turn, PAGES_HEADING, w->heading, strlen(w->heading) + 1, err);
	free(take_ptr(w->heading));
	if (r != ATW_OK)
		return r;
	return w->part ? output_part_row(w->part, row, err)
		       : row_tape_row(w->turn, &w->p.schema, row, err);
}

static int pages_jobs_on_bytes(void *arg, const void *data, size_t len, struct atw_err *err)
{
	return row_tape_event(((struct pages_worker *)arg)->turn, PAGES_BYTES, data, len, err);
}

void pages_jobs_heading(struct pages_worker *w, char *text)
{
	free(w->heading);
	w->heading = text;
}

/* Without memory for it, the rows behind it fail as well. */
static void pages_jobs_fault(struct pages_worker *w, enum pages_event event,
			     const struct pages_fault *f)
{
	row_tape_event(w->turn, event, f, sizeof(*f), NULL);
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
	const struct pages_jobs *j = arg;
	struct pages_worker *w = worker;
	struct output_part_sums sums;
	int r = ATW_OK;

	w->turn = t;
	if (!w->part && atomic_load(&j->parts))
		r = output_part_open(j->p->out, pages_jobs_on_bytes, w, &w->part, err);
	if (r == ATW_OK)
		r = pages_list_task(&w->p, i, err);
	if (r == ATW_END)
		r = ATW_OK;
	/* Of one that fails, what was found is an answer, too. */
	if (w->part && r != ATW_E_STOPPED) {
		int sent = output_part_flush(w->part, &sums, r == ATW_OK ? err : NULL) ?:
			   row_tape_event(t, PAGES_SUMS, &sums, sizeof(sums), r == ATW_OK ? err : NULL);

		r = r == ATW_OK ? sent : r;
	}
	return r;
}

/* ---- in the command's ---- */

static int pages_jobs_put(void *arg, const struct atw_row *row, struct atw_err *err)
{
	return atw_output_row(((struct pages_jobs *)arg)->p->out, row, err);
}

static int pages_jobs_on_event(void *arg, unsigned kind, const void *data, size_t len,
			       struct atw_err *err)
{
	struct pages *p = ((struct pages_jobs *)arg)->p;
	const struct pages_fault *f = data;

	switch (kind) {
	case PAGES_HEADING:
		return pages_put_heading(p, data, err);
	case PAGES_ERROR:
		print_error(&f->err);
		break;
	case PAGES_CANNOT:
		pages_cannot(p, f->what, &f->err);
		break;
	case PAGES_BYTES:
		return output_take(p->out, data, len, err);
	case PAGES_SUMS:
		output_take_sums(p->out, data);
		break;
	case PAGES_SWAP:
		pages_no_swap(p, f->type, &f->err);
		break;
	}
	return ATW_OK;
}

static int pages_jobs_play(void *arg, size_t i, void *tape, bool last, struct atw_err *err)
{
	const struct row_tape_to to = { pages_jobs_put, pages_jobs_on_event, arg };
	struct pages_jobs *j = arg;
	int r = row_tape_play(tape, &j->p->schema, &to, err);

	if (r == ATW_OK && output_parts(j->p->out))
		atomic_store(&j->parts, true);
	return r;
}

/* ---- all of it ---- */

/*
 * Rows of a thread pass the filter there. What it is about may be columns of plugins, which
 * only the command's output has; so all of them pass.
 */
static int pages_jobs_open_output(struct pages_worker *w, struct atw_err *err)
{
	struct atw_output_opts given, oo = { .tap = &w->tap };

	w->tap = (struct atw_tap){ pages_jobs_on_schema, pages_jobs_on_row, w };
	output_opts(w->p.c, w->p.src, &given);
	oo.filter = given.nannotators ? NULL : given.filter;
	return atw_output_open(&oo, &w->p.schema, &w->p.out, err);
}

/* false: no memory. */
static bool pages_jobs_add(struct pages_jobs *j)
{
	struct pages_worker *w = calloc(1, sizeof(*w));

	if (!w)
		return false;
	pages_copy(&w->p, j->p);
	w->p.thread = w;
	if (pages_jobs_open_output(w, NULL) < 0) {
		free(w);
		return false;
	}
	j->worker[j->n++] = w;
	return true;
}

static void pages_jobs_use(struct pages_worker *w, struct provider *prov)
{
	w->p.prov = prov;
	prov->cannot = pages_cannot;
	prov->arg = &w->p;
	prov->every = true;
}

/* In the thread of any but the first: a session more takes as long as many processes. */
static bool pages_jobs_begin(void *arg, void *worker)
{
	struct pages_jobs *j = arg;
	struct provider *lead = j->p->prov, *p = NULL;

	if (census_jobs_another(&j->sessions, &p, NULL) != ATW_OK)
		return false;
	if (lead->ops->follow(p, lead, NULL) != ATW_OK) {
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
		atw_output_close(w->p.out);
		output_part_close(w->part);
		free(w->heading);
		if (w->p.prov != j->p->prov)
			provider_close(w->p.prov);
		free(w);
	}
	j->p->prov->cannot = pages_cannot;
	j->p->prov->arg = j->p;
}

int pages_by_jobs(struct pages *p, const struct space_opts *space, size_t first,
		  struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct row_tape), .work = pages_jobs_work, .play = pages_jobs_play,
		.drop = row_tape_drop, .begin = pages_jobs_begin,
	};
	struct pages_jobs j = {
		.p = p, .sessions = CENSUS_JOBS(.c = p->c, .space = space, .first = p->src,
						.q = p->asked),
	};
	unsigned threads = p->prov->ops->follow ? census_jobs_threads(&j.sessions) : 0;
	int r = ATW_E_UNSUPPORTED;

	/* The pages that --all lists of large ones are counted, all together. */
	if (!threads || p->each || !p->out)
		return r;
	while (j.n <= MIN(threads, PAGES_WORKERS - 1u) && pages_jobs_add(&j))
		;
	if (j.n > 1) {
		p->prov->ops->lead(p->prov);
		pages_jobs_use(j.worker[0], p->prov);
		r = turns_run(&ops, &j, (void *const *)j.worker, j.n, first, p->prov->ntasks, err);
	}
	pages_jobs_close(&j);
	census_jobs_close(&j.sessions);
	return r;
}
