/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of threads are taken in order, of long items part after part, in bounded memory. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/turns.h"
#include "test.h"

enum { ITEMS = 200, LONG = 3, LONGEST = 150, FAILING = 170, WORKERS = 7 };

/* Numbers, of which a tape has as many as turn.most is bytes. */
struct numbers {
	size_t *v;
	size_t n, cap;
};

struct bench {
	size_t passes;           /* parts that were passed on */
	size_t most;             /* numbers on a tape */
	size_t item, seen;       /* what comes next */
	size_t ends;             /* items played; the last one refuses */
	bool fails, refuses;     /* an item; the owner */
	atomic_uint began;
	unsigned idle;           /* of the workers: have nothing to work with */
};

static size_t count_of(size_t item, size_t most)
{
	return item == LONG ? 3 * most : item == LONGEST ? 10 * most + 1 : item % 7;
}

static int work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	struct bench *b = arg;
	const size_t most = t->most / sizeof(size_t);

	for (size_t i = 0; i < count_of(item, most); i++) {
		struct numbers *k = t->tape;

		if (k->n == most && turn_pass(t) != ATW_OK)
			return ATW_E_STOPPED;
		k = t->tape;
		if (!k->v)
			k->v = malloc(most * sizeof(*k->v));
		if (!k->v)
			return atw_err_nomem(err);
		k->v[k->n++] = item * 1000 + i % 1000;
	}
	++*(unsigned *)worker;
	if (b->fails && item == FAILING)
		return atw_err_set(err, ATW_E_DAMAGED, "item %zu is odd", item);
	return ATW_OK;
}

static int play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	struct numbers *k = tape;
	struct bench *b = arg;

	if (item != b->item)
		abort();
	b->passes += !last;
	b->most = MAX(b->most, k->n);
	for (size_t i = 0; i < k->n; i++, b->seen++)
		if (k->v[i] != item * 1000 + b->seen % 1000)
			abort();
	k->n = 0;
	if (b->refuses && item == LONGEST && !last)
		return atw_err_set(err, ATW_E_IO, "full");
	if (last) {
		b->ends++;
		b->item++;
		b->seen = 0;
	}
	return ATW_OK;
}

static void drop(void *tape)
{
	free(((struct numbers *)tape)->v);
}

static bool begin(void *arg, void *worker)
{
	struct bench *b = arg;

	return atomic_fetch_add(&b->began, 1) >= b->idle;
}

static int run(struct bench *b, unsigned workers, size_t first, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct numbers), .work = work, .play = play, .drop = drop,
		.begin = begin,
	};
	unsigned done[WORKERS] = { 0 }, all = 0;
	void *worker[WORKERS];
	int r;

	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = &done[i];
	b->item = first;
	r = turns_run(&ops, b, worker, workers, first, ITEMS, err);
	for (unsigned i = 0; i < WORKERS; i++)
		all += done[i];
	if (r == ATW_OK && all != ITEMS - first)
		abort();
	return r;
}

TEST(results_come_in_order)
{
	for (unsigned n = 1; n <= WORKERS; n++) {
		struct bench b = { .seen = 0 };

		CHECK_EQ(run(&b, n, 0, NULL), ATW_OK);
		CHECK_EQ(b.ends, ITEMS);
		/* Both long items were played in parts, none longer than a tape. */
		CHECK_EQ(b.passes, 2 + 10);
		CHECK_EQ(atomic_load(&b.began), n - 1);
	}
}

TEST(the_rest_of_a_list)
{
	struct bench b = { .seen = 0 };

	CHECK_EQ(run(&b, 3, 190, NULL), ATW_OK);
	CHECK_EQ(b.ends, 10);
	CHECK_EQ(run(&b, 3, ITEMS, NULL), ATW_OK);
	CHECK_EQ(b.ends, 10);
}

TEST(one_thread_is_enough)
{
	struct bench b = { .idle = 4 };

	CHECK_EQ(run(&b, 5, 0, NULL), ATW_OK);
	CHECK_EQ(b.ends, ITEMS);
}

TEST(a_failure_ends_it_behind_its_results)
{
	struct bench b = { .fails = true };
	struct atw_err err = { 0 };

	CHECK_EQ(run(&b, 4, 0, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "item 170 is odd");
	CHECK_EQ(b.ends, FAILING + 1);
}

TEST(the_owner_stops_threads_that_wait)
{
	struct bench b = { .refuses = true };
	struct atw_err err = { 0 };

	CHECK_EQ(run(&b, 4, 0, &err), ATW_E_IO);
	CHECK_STR(err.text, "full");
	CHECK_EQ(b.ends, LONGEST);
}

/* ---- what waits for its turn, and what need not ---- */

enum { STEP = TURN_PART / 4, WAITING = 2 * TURN_PART, PARTS = 3 };

struct early {
	atomic_bool waits;               /* the second item has WAITING bytes on its tape */
	size_t tape[16];                 /* bytes of each that was played */
	size_t n, last;                  /* of the first item: number of them */
};

static int early_add(struct turn *t, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += STEP) {
		if (turn_is_full(t, *(size_t *)t->tape) && turn_pass(t) != ATW_OK)
			return ATW_E_STOPPED;
		*(size_t *)t->tape += STEP;
	}
	return ATW_OK;
}

static int early_work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	struct early *e = arg;

	(void)worker;
	(void)err;
	if (!item) {
		while (!atomic_load(&e->waits))
			sched_yield();
		return early_add(t, PARTS * TURN_PART);
	}
	if (early_add(t, WAITING) != ATW_OK)
		return ATW_E_STOPPED;
	atomic_store(&e->waits, true);
	while (!atomic_load(&t->now))
		sched_yield();
	return early_add(t, PARTS * TURN_PART);
}

static int early_play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	struct early *e = arg;

	(void)err;
	e->tape[e->n++] = *(size_t *)tape;
	*(size_t *)tape = 0;
	if (!item && last)
		e->last = e->n;
	return ATW_OK;
}

TEST(a_tape_in_turn_is_played_early)
{
	static const struct turns_ops ops = {
		.tape = sizeof(size_t), .work = early_work, .play = early_play,
	};
	struct early e = { .n = 0 };
	unsigned worker[2];

	CHECK_EQ(turns_run(&ops, &e, (void *[]){ &worker[0], &worker[1] }, 2, 0, 2, NULL), ATW_OK);
	CHECK_EQ(e.last, PARTS);
	CHECK_EQ(e.n, 2 * PARTS + 1);
	for (size_t i = 0; i < e.n; i++)
		CHECK_EQ(e.tape[i], i == PARTS ? WAITING : TURN_PART);
}

/* ---- how much waits ---- */

struct held {
	atomic_size_t bytes;             /* of the second item, when its tape was full */
};

static int held_work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	struct held *h = arg;
	size_t n = 0;

	(void)worker;
	(void)err;
	while (!item && !atomic_load(&h->bytes))
		sched_yield();
	while (item == 1 && !turn_is_full(t, n))
		n += STEP;
	if (item == 1)
		atomic_store(&h->bytes, n);
	return ATW_OK;
}

static int held_play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	(void)arg;
	(void)item;
	(void)tape;
	(void)err;
	return last ? ATW_OK : ATW_E_IO;
}

/* One long item may have what the others leave, and all together have 64 MiB. */
TEST(a_long_tape_takes_the_room_of_short_ones)
{
	static const struct turns_ops ops = {
		.tape = sizeof(size_t), .work = held_work, .play = held_play,
	};
	struct held h = { 0 };
	unsigned worker[2];

	CHECK_EQ(turns_run(&ops, &h, (void *[]){ &worker[0], &worker[1] }, 2, 0, 20, NULL), ATW_OK);
	CHECK_EQ(h.bytes, (4 + 32) << 20);
}
