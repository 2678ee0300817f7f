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

/* ---- items in parts ---- */

enum { SPLIT_ITEMS = 60, SPLIT_PARTS = 40 };

struct splits {
	size_t item, number;             /* what comes next: of this item, from 0 on */
	size_t parts[SPLIT_ITEMS];       /* tapes that were played */
	size_t ends;                     /* items that had no more */
	atomic_size_t out_of_order;      /* parts that began before one in front of them */
	atomic_bool began[SPLIT_PARTS + 1];
	bool fails;
};

/* Items of few parts and of many. */
static size_t splits_of(size_t item)
{
	return item % 5 ? 1 + item % 7 : SPLIT_PARTS;
}

/* Parts of 3 numbers; of odd items the rest is left late. */
static int splits_work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	struct splits *s = arg;
	struct numbers *k = t->tape;
	const bool more = t->part + 1 < splits_of(item);

	if (t->from != 3 * (uint64_t)t->part || !t->splits)
		abort();
	if (!item && t->part) {
		s->out_of_order += !atomic_load(&s->began[t->part - 1]);
		atomic_store(&s->began[t->part], true);
	} else if (!item) {
		atomic_store(&s->began[0], true);
	}
	if (more && item % 2 == 0)
		turn_split(t, t->from + 3);
	if (!k->v)
		k->v = malloc(3 * sizeof(*k->v));
	if (!k->v)
		return atw_err_nomem(err);
	for (unsigned i = 0; i < 3; i++)
		k->v[k->n++] = t->from + i;
	if (item % 3 == 1 && turn_pass(t) != ATW_OK)
		return ATW_E_STOPPED;
	if (more && item % 2)
		turn_split(t, t->from + 3);
	if (more)
		turn_split(t, UINT64_MAX);       /* a second time: nothing */
	++*(unsigned *)worker;
	if (s->fails && item == 30 && t->part == 20)
		return atw_err_set(err, ATW_E_DAMAGED, "part %u is odd", t->part);
	return ATW_OK;
}

static int splits_play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	struct splits *s = arg;
	struct numbers *k = tape;

	(void)err;
	if (item != s->item)
		abort();
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i] != s->number++)
			abort();
	k->n = 0;
	s->parts[item]++;
	if (last) {
		s->ends++;
		s->item++;
		s->number = 0;
	}
	return ATW_OK;
}

static int splits_run(struct splits *s, unsigned workers, unsigned *ret_parts, struct atw_err *err)
{
	static const struct turns_ops ops = {
		.tape = sizeof(struct numbers), .splits = true, .work = splits_work,
		.play = splits_play, .drop = drop,
	};
	unsigned done[WORKERS] = { 0 };
	void *worker[WORKERS];
	int r;

	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = &done[i];
	r = turns_run(&ops, s, worker, workers, 0, SPLIT_ITEMS, err);
	*ret_parts = 0;
	for (unsigned i = 0; i < WORKERS; i++)
		*ret_parts += done[i];
	return r;
}

TEST(parts_of_items_come_in_order)
{
	for (unsigned n = 1; n <= WORKERS; n++) {
		struct splits s = { .item = 0 };
		unsigned parts, all = 0;

		CHECK_EQ(splits_run(&s, n, &parts, NULL), ATW_OK);
		CHECK_EQ(s.ends, SPLIT_ITEMS);
		CHECK_EQ(s.out_of_order, 0);
		for (size_t i = 0; i < SPLIT_ITEMS; i++) {
			/* Of some, each part was passed on before its end. */
			CHECK_EQ(s.parts[i], splits_of(i) * (i % 3 == 1 ? 2 : 1));
			all += (unsigned)splits_of(i);
		}
		CHECK_EQ(parts, all);
	}
}

TEST(a_part_that_fails_ends_it_behind_its_results)
{
	struct splits s = { .fails = true };
	struct atw_err err = { 0 };
	unsigned parts;

	CHECK_EQ(splits_run(&s, 3, &parts, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "part 20 is odd");
	CHECK_EQ(s.item, 30);
	CHECK_EQ(s.parts[30], 21);
}

/* The first item has one part for each thread, and each waits for all others. */
static int together_work(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err)
{
	atomic_uint *here = arg;

	(void)worker;
	(void)err;
	if (item)
		return ATW_OK;
	if (t->part + 1 < WORKERS)
		turn_split(t, 0);
	atomic_fetch_add(here, 1);
	while (atomic_load(here) < WORKERS)
		sched_yield();
	return ATW_OK;
}

static int together_play(void *arg, size_t item, void *tape, bool last, struct atw_err *err)
{
	(void)arg;
	(void)item;
	(void)tape;
	(void)last;
	(void)err;
	return ATW_OK;
}

TEST(all_threads_work_on_one_item)
{
	static const struct turns_ops ops = {
		.tape = sizeof(size_t), .splits = true, .work = together_work,
		.play = together_play,
	};
	atomic_uint here = 0;
	unsigned worker[WORKERS];
	void *all[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++)
		all[i] = &worker[i];
	CHECK_EQ(turns_run(&ops, &here, all, WORKERS, 0, 2, NULL), ATW_OK);
	CHECK_EQ(here, WORKERS);
}
