/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages that threads unpack ahead of their reader. */
#include <unistd.h>

#include "source/page_ahead.h"
#include "test.h"

enum { PAGE = 64, THREADS = 3 };

struct state {
	uint64_t pages;
};

struct source {
	unsigned unpacked;       /* by all threads */
	unsigned dropped;
};

static struct source source;

/* Every seventh page cannot be unpacked, and some take long. */
static bool unpack_page(void *arg, void *state, uint64_t key, void *page)
{
	struct source *s = arg;
	struct state *own = state;

	own->pages++;
	__atomic_add_fetch(&s->unpacked, 1, __ATOMIC_RELAXED);
	if (key % 5 == 0)
		usleep(100);
	memset(page, (int)(key & 0xff), PAGE);
	memcpy(page, &key, sizeof(key));
	return key % 7 != 0;
}

static void drop_state(void *state)
{
	(void)state;
	__atomic_add_fetch(&source.dropped, 1, __ATOMIC_RELAXED);
}

static const struct page_ahead_ops ops = { unpack_page, sizeof(struct state), drop_state };

/* Is it the page, if it is there? */
static bool right(uint64_t key, const uint8_t page[PAGE])
{
	uint64_t first;

	memcpy(&first, page, sizeof(first));
	return first == key && page[PAGE - 1] == (key & 0xff);
}

/* How many were unpacked by threads that nothing else keeps waiting. */
static void await(unsigned n)
{
	while (__atomic_load_n(&source.unpacked, __ATOMIC_RELAXED) < n)
		usleep(100);
}

TEST(pages_one_by_one)
{
	struct page_ahead *u;
	uint8_t page[PAGE];

	source = (struct source){ 0 };
	u = page_ahead_open(&ops, &source, PAGE, THREADS);
	CHECK(u);
	CHECK(!page_ahead_take(u, 1000, page));
	for (uint64_t key = 1000; key < 1100; key++) {
		unsigned before = source.unpacked;

		page_ahead_want(u, &key, 1);
		await(before + 1);
		CHECK_EQ(page_ahead_take(u, key, page), key % 7 != 0);
		CHECK(key % 7 == 0 || right(key, page));
		/* It is handed out once. */
		CHECK(!page_ahead_take(u, key, page));
	}
	page_ahead_close(u);
	CHECK_EQ(source.dropped, THREADS + 1);
	CHECK_EQ(source.unpacked, 100);
}

/* More pages than there is room for, in another order than they are read. */
TEST(many_pages)
{
	enum { N = 20000, AT_ONCE = 2000 };
	struct page_ahead *u = page_ahead_open(&ops, &source, PAGE, THREADS);
	uint64_t key[AT_ONCE];
	uint8_t page[PAGE];

	CHECK(u);
	for (uint64_t from = 0; from < N; from += AT_ONCE) {
		for (uint64_t i = 0; i < AT_ONCE; i++)
			key[i] = from + i * 7919 % AT_ONCE;
		page_ahead_want(u, key, AT_ONCE);
		page_ahead_want(u, key, AT_ONCE);
		for (uint64_t i = from; i < from + AT_ONCE; i++)
			if (page_ahead_take(u, i, page))
				CHECK(right(i, page) && i % 7 != 0);
	}
	/* These are wanted and never read. */
	page_ahead_want(u, key, AT_ONCE);
	page_ahead_close(u);
}

TEST(no_threads)
{
	struct page_ahead *u = page_ahead_open(&ops, &source, PAGE, 0);
	uint64_t key = 5;
	uint8_t page[PAGE];

	CHECK(u);
	page_ahead_want(u, &key, 1);
	CHECK(!page_ahead_take(u, key, page));
	page_ahead_close(u);
	page_ahead_close(NULL);
}
