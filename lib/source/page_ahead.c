/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/page_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/pool.h"

/* A key has one place, so two pages with the same place are not unpacked at once. */
struct page_ahead_slot {
	struct pool_job job;     /* first, so that it leads to its slot */
	bool wanted;             /* `key` was announced, and not read yet */
	uint64_t key;            /* written by the reader alone */
	uint64_t batch;          /* in which it was announced */
	bool good;               /* of a job that is done: it could be unpacked */
};

struct page_ahead {
	const struct page_ahead_ops *ops;
	void *arg;
	struct pool_ops todo;
	struct pool *pool;
	uint64_t batch;
	uint8_t *pages;          /* of all slots */
	size_t page_size;
	struct page_ahead_slot slot[PAGE_AHEAD_SLOTS];
};

static void page_ahead_work(void *arg, void *state, struct pool_job *job)
{
	struct page_ahead *u = arg;
	struct page_ahead_slot *s = (struct page_ahead_slot *)job;

	s->good = u->ops->page(u->arg, state, s->key, u->pages + (size_t)(s - u->slot) * u->page_size);
}

void page_ahead_want(struct page_ahead *u, const uint64_t *key, size_t n)
{
	struct pool_job *job[64];
	size_t m = 0;

	u->batch++;
	for (size_t i = 0; i < n; i++) {
		struct page_ahead_slot *s = &u->slot[hash_u64(key[i]) % PAGE_AHEAD_SLOTS];

		/* What is done and was not read gives way; what is under way does not. */
		if (s->wanted && (s->key == key[i] || s->batch == u->batch ||
				  !pool_has(&s->job)))
			continue;
		if (s->wanted)
			pool_take(u->pool, &s->job);
		s->key = key[i];
		s->wanted = true;
		s->batch = u->batch;
		job[m++] = &s->job;
		if (m == ARRAY_SIZE(job)) {
			pool_add(u->pool, job, m);
			m = 0;
		}
	}
	if (m)
		pool_add(u->pool, job, m);
}

bool page_ahead_take(struct page_ahead *u, uint64_t key, void *to)
{
	struct page_ahead_slot *s = &u->slot[hash_u64(key) % PAGE_AHEAD_SLOTS];

	if (!s->wanted || s->key != key)
		return false;
	s->wanted = false;
	if (!pool_take(u->pool, &s->job) || !s->good)
		return false;
	memcpy(to, u->pages + (size_t)(s - u->slot) * u->page_size, u->page_size);
	return true;
}

struct page_ahead *page_ahead_open(const struct page_ahead_ops *ops, void *arg,
				   size_t page_size, unsigned threads)
{
	struct page_ahead *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->ops = ops;
	u->arg = arg;
	u->page_size = page_size;
	u->pages = malloc(PAGE_AHEAD_SLOTS * page_size);
	u->todo = (struct pool_ops){ page_ahead_work, ops->state, ops->drop };
	u->pool = u->pages ? pool_open(&u->todo, u, threads) : NULL;
	if (u->pool)
		return u;
	page_ahead_close(u);
	return NULL;
}

void page_ahead_close(struct page_ahead *u)
{
	if (!u)
		return;
	pool_close(u->pool);
	free(u->pages);
	free(u);
}
