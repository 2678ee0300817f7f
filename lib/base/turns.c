/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/turns.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/thread.h"

enum {
	SLOTS_EACH = 4,              /* items under way or done, a thread */
	TAPES_MOST = 64 << 20,       /* bytes, all of them: one half shared out, one as needed */
	TAPE_MOST = 4 << 20,         /* of the first half, at most */
	TAPE_STEP = 1 << 20,         /* of the other */
};

/* In front of a tape. What was added to it stays: its memory does, too. */
struct turns_tape {
	_Alignas(max_align_t) size_t most;
};

enum slot_state { SLOT_LEFT, SLOT_BUSY, SLOT_DONE };

/*
 * A part of an item, from the moment that a thread takes it, or leaves it to others, until it
 * has been played. Those that are left have no tape.
 */
struct turns_slot {
	struct turn turn;            /* first, so that it leads to its slot */
	struct turns *of;
	struct turns_slot *next;     /* in order of the list; or of those that are free */
	size_t item;
	enum slot_state state;
	bool split;                  /* the next one goes on with the item */
	int r;                       /* SLOT_DONE */
	struct atw_err err;
};

struct turns {
	const struct turns_ops *ops;
	void *arg;
	pthread_mutex_t lock;        /* of the states of slots, and of all that follows */
	pthread_cond_t moved;        /* for threads: the turn, a free slot, or the end */
	pthread_cond_t ready;        /* for the owner */
	size_t next, end;            /* items that no thread has taken */
	struct turns_slot *first, *last;         /* first: in turn; NULL: none was taken yet */
	struct turns_slot *free;
	size_t undecided;            /* parts under way of which there may be a rest */
	bool stop;
	void *passed;                /* what its thread has passed on; or NULL */
	void *spare;                 /* a tape; NULL while it is `passed` */
	struct turns_slot *slot;     /* for parts that are left as well */
	size_t slots;                /* of parts with a tape */
	_Atomic size_t room;         /* bytes that tapes may still get */
	/* Tapes of no slot. The one that was played last is taken first: it is in the cache. */
	void **tape;
	size_t tapes;
	struct turns_thread *thread;
	unsigned threads;
};

struct turns_thread {
	struct turns *t;
	void *worker;
	bool begins;
	pthread_t id;
};

static struct turns_tape *turns_tape_of(void *tape)
{
	return (struct turns_tape *)tape - 1;
}

static void turns_set_tape(struct turn *turn, void *tape)
{
	turn->tape = tape;
	turn->most = turns_tape_of(tape)->most;
}

/* ---- in a thread ---- */

bool turn_more(struct turn *turn)
{
	size_t room = turn->room ? atomic_load(turn->room) : 0;

	do
		if (room < TAPE_STEP)
			return false;
	while (!atomic_compare_exchange_weak(turn->room, &room, room - TAPE_STEP));
	turns_tape_of(turn->tape)->most += TAPE_STEP;
	turn->most += TAPE_STEP;
	return true;
}

int turn_pass(struct turn *turn)
{
	struct turns_slot *s = (struct turns_slot *)turn;
	struct turns *t = s->of;
	bool stop;

	pthread_mutex_lock(&t->lock);
	while (!t->stop && (s != t->first || t->passed))
		pthread_cond_wait(&t->moved, &t->lock);
	stop = t->stop;
	if (!stop) {
		t->passed = turn->tape;
		turns_set_tape(turn, t->spare);
		t->spare = NULL;
		pthread_cond_signal(&t->ready);
	}
	pthread_mutex_unlock(&t->lock);
	return stop ? ATW_E_STOPPED : ATW_OK;
}

/* With the lock held: a part behind `prev`; NULL: behind all others. */
static struct turns_slot *turns_add(struct turns *t, struct turns_slot *prev, size_t item,
				    uint64_t from)
{
	struct turns_slot *s = t->free;

	prev = prev ? prev : t->last;
	t->free = s->next;
	s->next = prev ? prev->next : NULL;
	*(prev ? &prev->next : &t->first) = s;
	if (!s->next)
		t->last = s;
	s->item = item;
	s->state = SLOT_LEFT;
	s->split = false;
	s->turn.from = from;
	return s;
}

/* With the lock held: it is known whether there is a rest. */
static void turns_decide(struct turns *t, struct turns_slot *s)
{
	if (!s->turn.splits)
		return;
	s->turn.splits = false;
	t->undecided--;
	pthread_cond_broadcast(&t->moved);
}

void turn_split(struct turn *turn, uint64_t from)
{
	struct turns_slot *s = (struct turns_slot *)turn;
	struct turns *t = s->of;

	pthread_mutex_lock(&t->lock);
	if (turn->splits) {
		s->split = true;
		turns_add(t, s, s->item, from)->turn.part = turn->part + 1;
	}
	turns_decide(t, s);
	pthread_mutex_unlock(&t->lock);
}

/* With the lock held: the first part that is left, or the next item; NULL: neither. */
static struct turns_slot *turns_left(struct turns *t)
{
	struct turns_slot *s = t->first;

	while (s && s->state != SLOT_LEFT)
		s = s->next;
	if (!s && t->next < t->end) {
		s = turns_add(t, NULL, t->next++, 0);
		s->turn.part = 0;
	}
	return s;
}

/* With the lock held. NULL: there is nothing left to do. */
static struct turns_slot *turns_take(struct turns *t)
{
	struct turns_slot *s = NULL;

	/* The tape of what is in turn is free again before what is next needs one. */
	while (!t->stop && !(t->tapes && (s = turns_left(t)))) {
		if (t->tapes && !t->undecided)
			return NULL;
		pthread_cond_wait(&t->moved, &t->lock);
	}
	if (t->stop)
		return NULL;
	s->state = SLOT_BUSY;
	s->turn.splits = t->ops->splits;
	t->undecided += t->ops->splits;
	turns_set_tape(&s->turn, t->tape[--t->tapes]);
	s->turn.now = s == t->first;
	return s;
}

static void *turns_thread_run(void *arg)
{
	const struct turns_thread *th = arg;
	struct turns *t = th->t;
	struct turns_slot *s;

	if (th->begins && !t->ops->begin(t->arg, th->worker))
		return NULL;
	pthread_mutex_lock(&t->lock);
	while ((s = turns_take(t))) {
		pthread_mutex_unlock(&t->lock);
		s->err.status = ATW_OK;
		s->r = t->ops->work(t->arg, th->worker, s->item, &s->turn, &s->err);
		pthread_mutex_lock(&t->lock);
		turns_decide(t, s);
		s->state = SLOT_DONE;
		if (s == t->first)
			pthread_cond_signal(&t->ready);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- in the owner's ---- */

/* With the lock held: what is passed on of what is in turn, until that is done. */
static int turns_play_passed(struct turns *t, struct atw_err *err)
{
	int r = ATW_OK;

	while (r == ATW_OK && (t->passed || !t->first || t->first->state != SLOT_DONE)) {
		void *tape = t->passed;

		if (!tape) {
			pthread_cond_wait(&t->ready, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		r = t->ops->play(t->arg, t->first->item, tape, false, err);
		pthread_mutex_lock(&t->lock);
		t->passed = NULL;
		t->spare = tape;
		pthread_cond_broadcast(&t->moved);
	}
	return r;
}

/* With the lock held: what was in turn has been played. */
static void turns_go_on(struct turns *t)
{
	struct turns_slot *s = t->first;

	t->first = s->next;
	if (t->first)
		t->first->turn.now = true;
	else
		t->last = NULL;
	t->tape[t->tapes++] = s->turn.tape;
	s->turn.tape = NULL;
	s->next = t->free;
	t->free = s;
	pthread_cond_broadcast(&t->moved);
}

static int turns_play(struct turns *t, struct atw_err *err)
{
	int r = ATW_OK;

	pthread_mutex_lock(&t->lock);
	while (r == ATW_OK && (t->first || t->next < t->end)) {
		struct turns_slot *s;

		r = turns_play_passed(t, err);
		if (r != ATW_OK)
			break;
		s = t->first;
		pthread_mutex_unlock(&t->lock);
		r = t->ops->play(t->arg, s->item, s->turn.tape, !s->split, err);
		if (r == ATW_OK)
			r = atw_err_give(err, s->r, &s->err);
		pthread_mutex_lock(&t->lock);
		turns_go_on(t);
	}
	t->stop = true;
	pthread_cond_broadcast(&t->moved);
	pthread_mutex_unlock(&t->lock);
	return r;
}

/* ---- all of it ---- */

static void *turns_make_tape(const struct turns *t)
{
	struct turns_tape *tape = calloc(1, sizeof(*tape) + t->ops->tape);

	if (!tape)
		return NULL;
	tape->most = MIN((size_t)TAPE_MOST, TAPES_MOST / 2 / t->slots);
	return tape + 1;
}

/* Behind each part with a tape there may be one that is left, and one may be in turn. */
static size_t turns_parts(const struct turns *t)
{
	return 2 * t->slots + 1;
}

static bool turns_make(struct turns *t, void *const *worker, unsigned workers)
{
	t->slots = (size_t)workers * SLOTS_EACH;
	if (!t->ops->splits)
		t->slots = MIN(t->slots, t->end - t->next);
	t->slot = calloc(turns_parts(t), sizeof(*t->slot));
	t->tape = calloc(t->slots, sizeof(*t->tape));
	t->thread = calloc(workers, sizeof(*t->thread));
	t->spare = turns_make_tape(t);
	t->room = TAPES_MOST / 2;
	if (!t->slot || !t->tape || !t->thread || !t->spare)
		return false;
	for (size_t i = 0; i < turns_parts(t); i++) {
		t->slot[i].of = t;
		t->slot[i].turn.room = &t->room;
		t->slot[i].next = t->free;
		t->free = &t->slot[i];
	}
	for (size_t i = 0; i < t->slots; i++) {
		t->tape[i] = turns_make_tape(t);
		if (!t->tape[i])
			return false;
		t->tapes++;
	}
	for (unsigned i = 0; i < workers; i++)
		t->thread[i] = (struct turns_thread){
			.t = t, .worker = worker[i], .begins = i && t->ops->begin,
		};
	return true;
}

static void turns_drop_tape(const struct turns *t, void *tape)
{
	if (!tape)
		return;
	if (t->ops->drop)
		t->ops->drop(tape);
	free(turns_tape_of(tape));
}

static void turns_end(struct turns *t)
{
	for (unsigned i = 0; i < t->threads; i++)
		pthread_join(t->thread[i].id, NULL);
	for (size_t i = 0; t->slot && i < turns_parts(t); i++)
		turns_drop_tape(t, t->slot[i].turn.tape);
	while (t->tapes)
		turns_drop_tape(t, t->tape[--t->tapes]);
	turns_drop_tape(t, t->spare);
	turns_drop_tape(t, t->passed);
	free(t->tape);
	free(t->slot);
	free(t->thread);
	pthread_cond_destroy(&t->moved);
	pthread_cond_destroy(&t->ready);
	pthread_mutex_destroy(&t->lock);
}

int turns_run(const struct turns_ops *ops, void *arg, void *const *worker, unsigned workers,
	      size_t first, size_t end, struct atw_err *err)
{
	struct turns t = { .ops = ops, .arg = arg, .next = first, .end = end };
	int r = ATW_E_UNSUPPORTED;

	if (first >= end)
		return ATW_OK;
	if (!workers)
		return ATW_E_UNSUPPORTED;
	pthread_mutex_init(&t.lock, NULL);
	pthread_cond_init(&t.moved, NULL);
	pthread_cond_init(&t.ready, NULL);
	/* Without the first one, nothing is sure to be done. */
	if (turns_make(&t, worker, workers))
		while (t.threads < workers && thread_start(&t.thread[t.threads].id, turns_thread_run,
							   &t.thread[t.threads]))
			t.threads++;
	if (t.threads)
		r = turns_play(&t, err);
	turns_end(&t);
	return r;
}
