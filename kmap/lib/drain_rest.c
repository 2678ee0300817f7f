/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_rest.c - what still lives at the end of a recording, written by several threads.
 *
 * The text does not depend on how many there are: all names of functions come first, and
 * each item says its names of threads again.
 */
#include "kmap/lib/drain_own.h"

enum { ITEM = 256, WORKERS = 16 };       /* objects; threads at most */

struct drain_rest {
	struct kmap_drain *d;
	uint32_t n;              /* one more than the last object */
	uint64_t most;           /* accesses that there can be */
};

/* ---- in a thread ---- */

static int rest_work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	const struct drain_rest *rest = arg;
	struct kmap_drain *d = worker;
	uint32_t id = 1 + (uint32_t)item * ITEM, end = rest->n - id < ITEM ? rest->n : id + ITEM;
	int r = ATW_OK;

	d->turn = t;
	d->used = 0;
	d->sum = (struct kmap_drained){ 0 };
	drain_forget_tasks(d);
	for (; id < end && r == ATW_OK; id++)
		if (drain_is_left(d, id))
			r = drain_write_object(d, id, err);
	return r < 0 ? r : drain_put_out(d, err);
}

/* ---- in the recording's ---- */

static int rest_play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	const struct drain_rest *rest = arg;
	struct drain_tape *t = tape;
	int r;

	(void)item;
	drain_add_sums(&rest->d->sum, &t->sum);
	r = drain_put_text(rest->d, t->text, t->len, last, err);
	t->len = 0;
	t->sum = (struct kmap_drained){ 0 };
	/* Each edge is one object's. */
	return r == ATW_OK && rest->d->sum.accesses > rest->most ? drain_too_many(err) : r;
}

static void rest_drop(void *tape)
{
	free(((struct drain_tape *)tape)->text);
}

/* NULL: no memory. Without functions: they have been named. */
static struct kmap_drain *rest_worker(const struct kmap_drain *d)
{
	struct kmap_drain_opts o = d->o;
	struct kmap_drain *ret = NULL;

	o.level = 0;
	return kmap_drain_open(d->s, &o, &ret, NULL) == ATW_OK ? ret : NULL;
}

/* Without threads: the same text. */
static int rest_alone(struct drain_rest *rest, struct kmap_drain *worker, size_t items,
		      struct atw_err *err)
{
	struct drain_tape tape = { 0 };
	struct turn t = { .tape = &tape, .most = SIZE_MAX };
	int r = ATW_OK;

	for (size_t i = 0; i < items && r == ATW_OK; i++)
		r = rest_work(rest, worker, i, &t, err) ?: rest_play(rest, i, &tape, true, err);
	rest_drop(&tape);
	return r;
}

static int rest_name_all(struct drain_rest *rest, struct atw_err *err)
{
	int r = drain_name_sites(rest->d, err);

	for (uint32_t id = 1; id < rest->n && r == ATW_OK; id++)
		if (drain_is_left(rest->d, id))
			r = drain_name_object(rest->d, kshare_object(rest->d->s, id), err);
	return r;
}

int drain_rest_by_jobs(struct kmap_drain *d, uint32_t n, uint64_t most, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct drain_tape), .work = rest_work, .play = rest_play,
		.drop = rest_drop,
	};
	struct drain_rest rest = { d, n, most };
	struct kmap_drain *worker[WORKERS] = { NULL };
	size_t items = (n + ITEM - 2) / ITEM;
	unsigned workers = 0;
	int r = rest_name_all(&rest, err);

	if (!d->sum.objects)
		d->headers = (off_t)(d->sum.bytes + d->used);
	while (r == ATW_OK && workers < d->o.jobs && workers < WORKERS && workers < items &&
	       (worker[workers] = rest_worker(d)))
		workers++;
	if (r == ATW_OK && items && !workers)
		r = atw_err_nomem(err);
	if (r == ATW_OK && items) {
		r = workers > 1 ? turns_run(&ops, &rest, (void *const *)worker, workers, 0, items, err)
				: ATW_E_UNSUPPORTED;
		if (r == ATW_E_UNSUPPORTED)
			r = rest_alone(&rest, worker[0], items, err);
	}
	while (workers)
		kmap_drain_close(worker[--workers]);
	drain_forget_tasks(d);
	return r;
}
