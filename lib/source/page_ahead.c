/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/page_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum page_ahead_slot_state { FREE, QUEUED, BUSY, DONE, FAILED };

/* A key has one place, so two pages with the same place are not unpacked at once. */
struct page_ahead_slot {
	uint64_t key;            /* written by the reader alone */
	enum page_ahead_slot_state state;
};

struct page_ahead_thread {
	struct page_ahead *u;
	pthread_t id;
	void *state;
};

struct page_ahead {
	const struct page_ahead_ops *ops;
	void *arg;
	uint8_t *pages;          /* of all slots */
	size_t page_size;
	pthread_mutex_t lock;    /* of all that follows but the keys */
	pthread_cond_t queued, done;
	struct page_ahead_slot slot[PAGE_AHEAD_SLOTS];
	/* Slots to unpack, oldest first; those that are no longer QUEUED are skipped. */
	uint16_t queue[PAGE_AHEAD_SLOTS];
	size_t head, len;
	unsigned idle;           /* threads that wait for work */
	bool closing;
	struct page_ahead_thread *thread;
	size_t n;                /* of them that run */
	void *own;               /* the reader's state */
};

/* With the lock held. false: nothing is queued. */
static bool page_ahead_next(struct page_ahead *u, size_t *ret)
{
	while (u->len) {
		*ret = u->queue[u->head];
		u->head = (u->head + 1) % PAGE_AHEAD_SLOTS;
		u->len--;
		if (u->slot[*ret].state == QUEUED) {
			u->slot[*ret].state = BUSY;
			return true;
		}
	}
	return false;
}

/* With the lock held, which is released meanwhile. */
static void page_ahead_one(struct page_ahead *u, void *state, size_t i)
{
	uint64_t key = u->slot[i].key;
	bool good;

	pthread_mutex_unlock(&u->lock);
	good = u->ops->page(u->arg, state, key, u->pages + i * u->page_size);
	pthread_mutex_lock(&u->lock);
	u->slot[i].state = good ? DONE : FAILED;
	pthread_cond_signal(&u->done);
}

static void *page_ahead_work(void *arg)
{
	const struct page_ahead_thread *t = arg;
	struct page_ahead *u = t->u;
	size_t i;

	pthread_mutex_lock(&u->lock);
	while (!u->closing) {
		if (page_ahead_next(u, &i)) {
			page_ahead_one(u, t->state, i);
			continue;
		}
		u->idle++;
		pthread_cond_wait(&u->queued, &u->lock);
		u->idle--;
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

/* ---- the reader's ---- */

static size_t page_ahead_place(uint64_t key)
{
	return hash_u64(key) % PAGE_AHEAD_SLOTS;
}

void page_ahead_want(struct page_ahead *u, const uint64_t *key, size_t n)
{
	bool any = false;

	pthread_mutex_lock(&u->lock);
	for (size_t i = 0; i < n && u->len < PAGE_AHEAD_SLOTS; i++) {
		struct page_ahead_slot *s = &u->slot[page_ahead_place(key[i])];

		if (s->state == QUEUED || s->state == BUSY || (s->state == DONE && s->key == key[i]))
			continue;
		*s = (struct page_ahead_slot){ key[i], QUEUED };
		u->queue[(u->head + u->len++) % PAGE_AHEAD_SLOTS] = (uint16_t)(s - u->slot);
		any = true;
	}
	if (any && u->idle)
		pthread_cond_broadcast(&u->queued);
	pthread_mutex_unlock(&u->lock);
}

bool page_ahead_take(struct page_ahead *u, uint64_t key, void *to)
{
	size_t place = page_ahead_place(key), other;
	struct page_ahead_slot *s = &u->slot[place];
	bool there;

	if (s->key != key)
		return false;
	pthread_mutex_lock(&u->lock);
	while (s->state == BUSY) {
		if (page_ahead_next(u, &other))
			page_ahead_one(u, u->own, other);
		else
			pthread_cond_wait(&u->done, &u->lock);
	}
	there = s->state == DONE;
	/* Its place in the queue, if it has one, is skipped. */
	s->state = FREE;
	pthread_mutex_unlock(&u->lock);
	/* No thread writes to a slot that is free. */
	if (there)
		memcpy(to, u->pages + place * u->page_size, u->page_size);
	return there;
}

/* ---- opening ---- */

static bool page_ahead_start(struct page_ahead_thread *t)
{
	sigset_t all, were;
	bool started;

	t->state = calloc(1, t->u->ops->state);
	/* Signals are for the thread that reads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &were);
	started = t->state && !pthread_create(&t->id, NULL, page_ahead_work, t);
	pthread_sigmask(SIG_SETMASK, &were, NULL);
	if (!started)
		free(t->state);
	return started;
}

struct page_ahead *page_ahead_open(const struct page_ahead_ops *ops, void *arg, size_t page_size,
			   unsigned threads)
{
	struct page_ahead *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->ops = ops;
	u->arg = arg;
	u->page_size = page_size;
	for (size_t i = 0; i < PAGE_AHEAD_SLOTS; i++)
		u->slot[i].key = UINT64_MAX;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->queued, NULL);
	pthread_cond_init(&u->done, NULL);
	u->pages = malloc(PAGE_AHEAD_SLOTS * page_size);
	u->own = calloc(1, ops->state);
	u->thread = calloc(threads, sizeof(*u->thread));
	if (!u->pages || !u->own || !u->thread) {
		page_ahead_close(u);
		return NULL;
	}
	for (; u->n < threads; u->n++) {
		u->thread[u->n].u = u;
		if (!page_ahead_start(&u->thread[u->n]))
			break;
	}
	return u;
}

static void page_ahead_drop(const struct page_ahead *u, void *state)
{
	if (state)
		u->ops->drop(state);
	free(state);
}

void page_ahead_close(struct page_ahead *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->closing = true;
	pthread_cond_broadcast(&u->queued);
	pthread_mutex_unlock(&u->lock);
	for (size_t i = 0; i < u->n; i++) {
		pthread_join(u->thread[i].id, NULL);
		page_ahead_drop(u, u->thread[i].state);
	}
	page_ahead_drop(u, u->own);
	pthread_cond_destroy(&u->queued);
	pthread_cond_destroy(&u->done);
	pthread_mutex_destroy(&u->lock);
	free(u->thread);
	free(u->pages);
	free(u);
}
