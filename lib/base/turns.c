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

enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_DONE };

/* An item, from the moment that a thread takes it until it has been played. */
struct turns_slot {
	struct turn turn;            /* first, so that it leads to its slot */
	struct turns *of;
	size_t item;
	enum slot_state state;
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
	size_t now;                  /* the item in turn */
	bool stop;
	void *passed;                /* what its thread has passed on; or NULL */
	void *spare;                 /* a tape; NULL while it is `passed` */
	struct turns_slot *slot;
	size_t slots;
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

static struct turns_slot *turns_slot_of(struct turns *t, size_t item)
{
	return &t->slot[item % t->slots];
}

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
	while (!t->stop && (s->item != t->now || t->passed))
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

/* With the lock held. NULL: there is nothing left to do. */
static struct turns_slot *turns_take(struct turns *t)
{
	struct turns_slot *s;

	/* Slots are those of the items from `now` on. */
	while (!t->stop && t->next < t->end && t->next - t->now >= t->slots)
		pthread_cond_wait(&t->moved, &t->lock);
	if (t->stop || t->next >= t->end)
		return NULL;
	s = turns_slot_of(t, t->next);
	s->item = t->next++;
	s->state = SLOT_BUSY;
	turns_set_tape(&s->turn, t->tape[--t->tapes]);
	s->turn.now = s->item == t->now;
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
		s->state = SLOT_DONE;
		if (s->item == t->now)
			pthread_cond_signal(&t->ready);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- in the owner's ---- */

/* With the lock held: what the thread of the item passes on until it is done. */
static int turns_play_passed(struct turns *t, const struct turns_slot *s, struct atw_err *err)
{
	int r = ATW_OK;

	while (r == ATW_OK && (t->passed || s->item != t->now || s->state != SLOT_DONE)) {
		void *tape = t->passed;

		if (!tape) {
			pthread_cond_wait(&t->ready, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		r = t->ops->play(t->arg, t->now, tape, false, err);
		pthread_mutex_lock(&t->lock);
		t->passed = NULL;
		t->spare = tape;
		pthread_cond_broadcast(&t->moved);
	}
	return r;
}

static int turns_play(struct turns *t, struct atw_err *err)
{
	int r = ATW_OK;

	pthread_mutex_lock(&t->lock);
	while (r == ATW_OK && t->now < t->end) {
		struct turns_slot *s = turns_slot_of(t, t->now);

		r = turns_play_passed(t, s, err);
		if (r != ATW_OK)
			break;
		pthread_mutex_unlock(&t->lock);
		r = t->ops->play(t->arg, s->item, s->turn.tape, true, err);
		if (r == ATW_OK)
			r = atw_err_give(err, s->r, &s->err);
		pthread_mutex_lock(&t->lock);
		s->state = SLOT_FREE;
		t->tape[t->tapes++] = s->turn.tape;
		s->turn.tape = NULL;
		t->now++;
		if (t->now < t->next)
			turns_slot_of(t, t->now)->turn.now = true;
		pthread_cond_broadcast(&t->moved);
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

static bool turns_make(struct turns *t, void *const *worker, unsigned workers)
{
	t->slots = MIN((size_t)workers * SLOTS_EACH, t->end - t->next);
	t->slot = calloc(t->slots, sizeof(*t->slot));
	t->tape = calloc(t->slots, sizeof(*t->tape));
	t->thread = calloc(workers, sizeof(*t->thread));
	t->spare = turns_make_tape(t);
	t->room = TAPES_MOST / 2;
	if (!t->slot || !t->tape || !t->thread || !t->spare)
		return false;
	for (size_t i = 0; i < t->slots; i++) {
		t->slot[i].of = t;
		t->slot[i].turn.room = &t->room;
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
	for (size_t i = 0; t->slot && i < t->slots; i++)
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
	struct turns t = { .ops = ops, .arg = arg, .next = first, .end = end, .now = first };
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
