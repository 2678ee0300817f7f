/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.c - producer of the stream from a provider: the machine, then for each task its
 * VMAs and their pages, then the frames of RAM.
 */
#include <inttypes.h>
#include <time.h>

#include "base/cleanup.h"
#include "census/collect.h"
#include "host/host.h"

/* ---- failures ---- */

int collect_lost(struct collect *c, const char *what, const struct atw_err *why,
		 struct atw_err *err)
{
	const struct capture_record rec = {
		.letter = 'L',
		/* Permission to read a process is denied. */
		.has = c->pid && why->status == ATW_E_PERM ? CAPTURE_L_DENIED : 0,
		.l = { c->pid, blob_of(what), blob_of(why->text), .denied = 1 },
	};

	return c->to->record(c->to->arg, &rec, err);
}

int collect_lost_range(struct collect *c, const char *what, const char *why, uint64_t start,
		       uint64_t last, struct atw_err *err)
{
	const struct capture_record rec = {
		.letter = 'L',
		.has = CAPTURE_L_START | CAPTURE_L_LAST,
		.l = { c->pid, blob_of(what), blob_of(why), start, last, 0 },
	};

	return c->to->record(c->to->arg, &rec, err);
}

/* Callback of the provider for failures. After a failure of the sink it does nothing. */
static void collect_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct collect *c = arg;
	const struct capture_record rec = {
		.letter = 'L', .has = CAPTURE_L_DENIED,
		.l = { 0, blob_of(what), blob_of(why->text), .denied = c->p->denied },
	};

	/* Processes, which have no record as tasks. */
	if (!c->failed && !c->pid && why->status == ATW_E_PERM)
		c->failed = c->to->record(c->to->arg, &rec, &c->why);
	else if (!c->failed)
		c->failed = collect_lost(c, what, why, &c->why);
}

/* Keeps the first failure of either. */
static int collect_settle(struct collect *c, int r, struct atw_err *err)
{
	if (!c->failed || r < 0)
		return r;
	if (err)
		*err = c->why;
	return c->failed;
}

/* ---- the machine ---- */

static int collect_on_machine(void *arg, const struct capture_record *rec,
			      struct atw_err *err)
{
	struct collect *c = arg;
	int r = ATW_OK;

	if (rec->letter == 'R')
		r = extents_add(&c->ram, rec->r.start, rec->r.last - rec->r.start + 1, 0,
				ATW_DATA, err);
	return r == ATW_OK ? c->to->record(c->to->arg, rec, err) : r;
}

static int collect_say_time(const struct about_to *to, const char *key,
			    struct atw_err *err)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return about_say(to, err, key, "%" PRId64 ".%06ld", (int64_t)t.tv_sec, t.tv_nsec / 1000);
}

/*
 * The PID of this process in the numbering of the tasks: in a PID namespace, only /proc
 * has our numbers, and in a guest there is no such process.
 */
static int collect_say_collector(const struct collect *c, const struct about_to *to,
				 struct atw_err *err)
{
	if (!c->p->here || (!c->p->our_pids && !host_first_pid_namespace()))
		return ATW_OK;
	return about_say(to, err, "collector", "%ld", (long)getpid());
}

/* The bits of flags and entries that are recorded. */
static int collect_say_bits(struct collect *c, const struct about_to *to,
			    struct atw_err *err)
{
	const struct provider *p = c->p;
	unsigned bits = CAPTURE_PRESENT | CAPTURE_USER | CAPTURE_EXEC |
			(p->area_rights ? 0 : CAPTURE_WRITE | CAPTURE_UNREADABLE) |
			(p->used ? CAPTURE_DIRTY | CAPTURE_ACCESSED : 0);
	int r = about_say(to, err, "bits", "%03X", bits) ?:
		about_say(to, err, "pageflags", "%" PRIX64, collect_flags(c));

	if (r == ATW_OK && p->area_rights)
		r = about_say(to, err, "areaflags", "%X", COLLECT_AREA_FLAGS);
	return r;
}

static int collect_machine(struct collect *c, struct atw_err *err)
{
	const struct about_to to = {collect_on_machine, c, NULL};
	int r = about_say(&to, err, "page", "%" PRIu64, c->page) ?:
		about_say(&to, err, "way", "%s", c->p->way);

	if (r == ATW_OK && c->p->running)
		r = collect_say_time(&to, "begun", err);
	if (r == ATW_OK && c->p->running)
		r = collect_say_collector(c, &to, err);
	if (r == ATW_OK)
		r = collect_say_bits(c, &to, err) ?: c->p->ops->machine(c->p, &to, err);
	return r == ATW_OK ? extents_build(&c->ram, err) : r;
}

static int collect_slabs(struct collect *c, struct atw_err *err)
{
	const struct about_to to = {collect_on_machine, c, NULL};
	int r = ATW_OK;

	if (c->o->slabs && c->p->ops->slabs)
		r = collect_jobs_slabs(c, err);
	return r == ATW_E_UNSUPPORTED ? c->p->ops->slabs(c->p, &to, err) : r;
}

/* Emitted last, when it is known. */
static int collect_how_it_went(struct collect *c, struct atw_err *err)
{
	const struct about_to to = {collect_on_machine, c, NULL};
	int r = ATW_OK;

	if (c->missed.vanished)
		r = about_say(&to, err, "vanished", "%" PRIu64, c->missed.vanished);
	if (r == ATW_OK && c->missed.stale)
		r = about_say(&to, err, "stale", "%" PRIu64, c->missed.stale);
	if (r == ATW_OK && c->missed.unsized)
		r = about_say(&to, err, "unsized", "%" PRIu64, c->missed.unsized);
	return r == ATW_OK && c->p->running ? collect_say_time(&to, "ended", err) : r;
}

/* ---- the whole stream ---- */

static bool collect_counts(const struct collect *c)
{
	return c->o->refs && !c->o->no_areas;
}

/* If mappings are counted, that is the first half of the work. */
void collect_progress(const struct collect *c, uint64_t done, uint64_t all)
{
	uint64_t before = collect_counts(c) ? all : 0;

	if (c->o->progress)
		c->o->progress(c->o->arg, before + done, before + all);
}

static void collect_counting(void *arg, uint64_t done, uint64_t all)
{
	const struct collect *c = arg;

	if (c->o->progress)
		c->o->progress(c->o->arg, done, 2 * all);
}

static int collect_count(struct collect *c, struct atw_err *err)
{
	int r = ATW_E_UNSUPPORTED;

	c->p->counting = collect_counting;
	c->p->counting_arg = c;
	if (c->o->sums && c->p->ops->sum_up)
		r = c->p->ops->sum_up(c->p, c->o->kinds, err);
	c->summed = r == ATW_OK;
	if (r == ATW_E_UNSUPPORTED && !c->p->counted)
		r = c->p->ops->count(c->p, err);
	c->p->counting = NULL;
	return r == ATW_E_UNSUPPORTED ? ATW_OK : r;
}

int collect_one(struct collect *c, size_t i, struct atw_err *err)
{
	return collect_settle(c, collect_task(c, i, err), err);
}

int collect_in_turn(struct collect *c, struct others *others, size_t i, struct atw_err *err)
{
	int r = others ? others_emit_before(c, others, c->p->task[i].pid, err) : ATW_OK;

	return r == ATW_OK ? collect_one(c, i, err) : r;
}

static int collect_each_task(struct collect *c, struct others *others, struct atw_err *err)
{
	int r = collect_by_jobs(c, others, err);

	if (r != ATW_E_UNSUPPORTED)
		return r;
	r = ATW_OK;
	for (size_t i = 0; i < c->p->ntasks && r == ATW_OK; i++) {
		collect_progress(c, i, c->p->ntasks);
		r = collect_in_turn(c, others, i, err);
	}
	return r;
}

static int collect_tasks(struct collect *c, struct atw_err *err)
{
	struct others *others = NULL;
	size_t only = 0;
	int r = ATW_OK;

	if (c->o->pid)
		r = c->p->ops->find(c->p, c->o->pid, &only, err);
	if (r == ATW_OK && collect_counts(c))
		r = collect_count(c, err);
	if (r == ATW_OK && !c->summed && (!c->o->pid || c->o->threads))
		r = collect_others(c, &others, err);
	if (r == ATW_OK && c->o->pid) {
		collect_progress(c, 0, 1);
		r = collect_in_turn(c, others, only, err);
	} else if (r == ATW_OK) {
		r = collect_each_task(c, others, err);
	}
	if (r == ATW_OK && others)
		r = others_emit_before(c, others, UINT64_MAX, err);
	others_drop(others);
	c->pid = 0;
	if (r == ATW_OK && c->o->pid && c->missed.vanished)
		return atw_err_set(err, ATW_E_NONE, "process %" PRIu32 " has ended", c->o->pid);
	return r;
}

static int collect_frames(struct collect *c, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = ATW_OK;

	if (!c->ram.n)
		r = atw_err_set(&why, ATW_E_MISSING, "which addresses are RAM is not known");
	c->p->unmade = 0;
	for (size_t i = 0; i < c->ram.n && r == ATW_OK; i++) {
		const struct extent *e = &c->ram.v[i];

		r = c->p->ops->frames(c->p, e->start, e->start + (e->len - 1), c->to->frames,
				      c->to->arg, &why);
	}
	if (r == ATW_OK && !c->p->unmade)
		return ATW_OK;
	if (r == ATW_OK)
		atw_err_set(&why, ATW_E_MISSING,
			    "the kernel has made no struct page so far for %" PRIu64 " frames that are free or reserved",
			    c->p->unmade);
	/* A failure of the sink is final; the sink knows its kind. */
	if (r == ATW_E_NOMEM || r == ATW_E_IO) {
		*err = why;
		return r;
	}
	return collect_lost(c, "frames", &why, err);
}

static int collect_cached(struct collect *c, struct atw_err *err)
{
	const struct about_to to = { collect_on_machine, c, NULL };
	struct atw_err why = { 0 };
	int r = c->p->ops->cached ? c->p->ops->cached(c->p, &to, &why)
				  : atw_err_set(&why, ATW_E_UNSUPPORTED,
						"what files the page cache holds is not known: /proc does not list them");

	if (r == ATW_OK || r == ATW_E_NOMEM || r == ATW_E_IO)
		return atw_err_give(err, r, &why);
	return collect_lost(c, "cached", &why, err);
}

bool collect_begin(struct collect *c)
{
	c->page = (uint64_t)1 << c->p->page_shift;
	c->p->cannot = collect_cannot;
	c->p->arg = c;
	if (!c->about)
		c->about = malloc(sizeof(*c->about));
	return c->about;
}

void collect_deinit(struct collect *c)
{
	told_files_deinit(&c->files);
	vma_cursor_close(c->vmas);
	page_cursor_close(c->pages);
	free(c->about);
	free(c->run);
}

int census_collect(struct provider *p, const struct census_collect_opts *o,
		   const struct census_sink *to, struct atw_err *err)
{
	struct collect c = { .p = p, .o = o, .to = to };
	provider_cannot_fn *was = p->cannot;
	void *its = p->arg;
	int r;

	p->cached = o->cached && o->frames;
	p->threads = o->threads;
	p->every = !o->pid;
	p->brief = true;
	r = collect_begin(&c) ? collect_machine(&c, err) : atw_err_nomem(err);
	if (r == ATW_OK && !o->no_tasks)
		r = collect_settle(&c, p->ops->tasks(p, err), err);
	if (r == ATW_OK && !o->no_tasks) {
		collect_jobs_ahead(&c);
		r = collect_tasks(&c, err);
	}
	if (r == ATW_OK && o->frames)
		r = collect_frames(&c, err);
	if (r == ATW_OK && p->cached)
		r = collect_settle(&c, collect_cached(&c, err), err);
	if (r == ATW_OK)
		r = collect_settle(&c, collect_slabs(&c, err) ?: collect_how_it_went(&c, err), err);
	collect_jobs_end(&c);
	p->cannot = was;
	p->arg = its;
	extents_deinit(&c.ram);
	collect_deinit(&c);
	return r;
}
