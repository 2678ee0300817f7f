/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns.h - items of a list that several threads work on, and results that their owner takes
 * in the order of the list.
 *
 * A thread puts what it finds on a tape. The owner plays the tapes, item by item. An item
 * with a long tape waits for its turn and is then played in parts, while it goes on: memory
 * is bounded, whatever an item has. So output does not depend on threads.
 *
 * Of a long item, a thread may leave all but a part to any that is free: several work on it
 * then, and each has a short tape.
 */
#pragma once

#include <stdatomic.h>

#include <atwalk/base.h>

struct turn {
	void *tape;              /* of turns_ops.tape bytes; at first zeroed */
	size_t most;             /* bytes on a tape that waits for its turn */
	atomic_bool now;         /* it is the item's turn */
	_Atomic size_t *room;    /* bytes that `most` may still grow by; NULL: none */
	uint64_t from;           /* where this part of the item begins: see turn_split() */
	unsigned part;           /* which it is of the item, from 0 on */
	bool splits;             /* turn_split() may be called */
};

/* On a tape in turn, at most: it is played while it is in a cache. */
enum { TURN_PART = 512 << 10 };

/* Larger tapes share what room there is: t->most grows. false: there is none left. */
bool turn_more(struct turn *t);

/* Is it time for turn_pass(), with so many bytes on the tape? */
static inline bool turn_is_full(struct turn *t, size_t bytes)
{
	return bytes >= TURN_PART && (atomic_load_explicit(&t->now, memory_order_relaxed) ||
				      (bytes >= t->most && !turn_more(t)));
}

/*
 * Called between two results: the owner plays what is on the tape when it is the item's turn,
 * and the tape is as the owner left it. ATW_E_STOPPED: nothing more is wanted.
 */
int turn_pass(struct turn *t);

/*
 * Called at most once by work(), best before it finds anything: what it finds ends at `from`,
 * which means something for work() alone. That is called for the rest as well, with t->from,
 * which is 0 in the first part. Does nothing unless t->splits.
 */
void turn_split(struct turn *t, uint64_t from);

struct turns_ops {
	size_t tape;             /* bytes of a tape */
	bool splits;             /* work() calls turn_split() */
	/*
	 * In a thread, for one item after the other: fills t->tape. What it returns, if not
	 * ATW_OK, ends everything behind this item.
	 */
	int (*work)(void *arg, void *worker, size_t item, struct turn *t, struct atw_err *err);
	/*
	 * In the owner's thread: what is on the tape, which is then empty but keeps its
	 * memory. `last`: the item has no more. A result that is not ATW_OK ends everything.
	 */
	int (*play)(void *arg, size_t item, void *tape, bool last, struct atw_err *err);
	void (*drop)(void *tape);        /* frees what a tape has; NULL: nothing */
	/* In a thread, before its first item. false: it works on none. NULL: nothing to do. */
	bool (*begin)(void *arg, void *worker);
};

/*
 * Items first..end-1, by a thread for each of worker[]. The first of them, which has no
 * begin(), must be able to work on all. ATW_E_UNSUPPORTED: no thread could be started, and
 * nothing was done. All threads have ended when it returns.
 */
int turns_run(const struct turns_ops *ops, void *arg, void *const *worker, unsigned workers,
	      size_t first, size_t end, struct atw_err *err);
