/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cached pages come back unchanged, and the least recently used one is evicted. */
#include "test.h"

#include "source/page_cache.h"

TEST(a_page_comes_back)
{
	struct page_cache c;
	void *p;

	CHECK(page_cache_init(&c, 4096, 1 << 20));
	CHECK(!page_cache_find(&c, 5));
	p = page_cache_claim(&c, 5);
	memset(p, 0x55, 4096);
	CHECK(!page_cache_find(&c, 5));
	page_cache_commit(&c, 5);
	CHECK(page_cache_find(&c, 5) == p);
	CHECK_EQ(((const uint8_t *)p)[4095], 0x55);
	page_cache_deinit(&c);
	page_cache_deinit(&c);
}

TEST(what_was_not_committed_is_gone)
{
	struct page_cache c;

	/* Room for two pages only: every key meets every other. */
	CHECK(page_cache_init(&c, 4096, 1));
	page_cache_claim(&c, 1);
	page_cache_commit(&c, 1);
	page_cache_claim(&c, 2);
	page_cache_commit(&c, 2);
	CHECK(page_cache_find(&c, 1));
	page_cache_claim(&c, 3);                /* takes 2's place, and fails */
	CHECK(!page_cache_find(&c, 2));
	CHECK(!page_cache_find(&c, 3));
	CHECK(page_cache_find(&c, 1));
	page_cache_deinit(&c);
}

TEST(the_one_used_longer_ago_goes)
{
	struct page_cache c;

	CHECK(page_cache_init(&c, 64, 128));
	for (uint64_t k = 1; k < 100; k++) {
		page_cache_claim(&c, 1000);
		page_cache_commit(&c, 1000);
		CHECK(page_cache_find(&c, 1000));
		memset(page_cache_claim(&c, k), (int)k, 64);
		page_cache_commit(&c, k);
		CHECK(page_cache_find(&c, 1000));
		CHECK_EQ(*(const uint8_t *)page_cache_find(&c, k), k);
		CHECK(page_cache_find(&c, 1000));
	}
	page_cache_deinit(&c);
}

TEST(all_are_forgotten)
{
	struct page_cache c;

	CHECK(page_cache_init(&c, 64, 4096));
	for (uint64_t k = 0; k < 100; k++) {
		page_cache_claim(&c, k);
		page_cache_commit(&c, k);
	}
	page_cache_forget(&c);
	for (uint64_t k = 0; k < 100; k++)
		CHECK(!page_cache_find(&c, k));
	page_cache_deinit(&c);
}

TEST(many_keys_keep_their_bytes)
{
	struct page_cache c;
	unsigned found = 0;

	CHECK(page_cache_init(&c, 64, 64 * 256));
	for (uint64_t k = 0; k < 1000; k++) {
		memset(page_cache_claim(&c, k << 9), (int)(k & 0xff), 64);
		page_cache_commit(&c, k << 9);
	}
	for (uint64_t k = 0; k < 1000; k++) {
		const uint8_t *p = page_cache_find(&c, k << 9);

		if (p) {
			CHECK_EQ(p[0], k & 0xff);
			CHECK_EQ(p[63], k & 0xff);
			found++;
		}
	}
	/* None was asked for again. */
	CHECK_EQ(found <= 32, 1);
	CHECK_EQ(found >= 20, 1);
	page_cache_deinit(&c);
}

static bool ask(struct page_cache *c, uint64_t key)
{
	const uint8_t *p = page_cache_find(c, key);

	if (p && (p[0] != (key & 0xff) || p[63] != (key & 0xff)))
		abort();
	if (p)
		return true;
	memset(page_cache_claim(c, key), (int)(key & 0xff), 64);
	page_cache_commit(c, key);
	return false;
}

/* How many of the keys below `n` are there. */
static unsigned there(struct page_cache *c, uint64_t n)
{
	unsigned found = 0;

	for (uint64_t k = 0; k < n; k++)
		found += page_cache_find(c, k) != NULL;
	return found;
}

/* Pages that are needed again and again have room in the end, and not one page more. */
TEST(grows_for_pages_that_are_needed_again)
{
	struct page_cache c;
	unsigned found = 0;

	CHECK(page_cache_init(&c, 64, 64 * 256));
	for (unsigned round = 0; round < 20; round++)
		for (uint64_t k = 0; k < 100; k++)
			ask(&c, k);
	for (uint64_t k = 0; k < 100; k++)
		found += ask(&c, k);
	CHECK_EQ(found >= 90, 1);
	for (unsigned round = 0; round < 20; round++)
		for (uint64_t k = 0; k < 10000; k++)
			ask(&c, k);
	CHECK_EQ(there(&c, 10000) <= 256, 1);
	page_cache_deinit(&c);
}

/* What was there before memory changed does not count. */
TEST(forgets_what_went)
{
	struct page_cache c;

	CHECK(page_cache_init(&c, 64, 64 * 256));
	for (unsigned round = 0; round < 20; round++) {
		for (uint64_t k = 0; k < 100; k++)
			ask(&c, k);
		page_cache_forget(&c);
	}
	for (uint64_t k = 0; k < 100; k++)
		ask(&c, k);
	CHECK_EQ(there(&c, 100) <= 32, 1);
	page_cache_deinit(&c);
}

/* Reads again while it is read. */
static ssize_t read_again(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	return pa.u ? page_cache_read(s->impl, read_again, s, ATW_PA(0), buf, len, err) : 7;
}

TEST(two_readers_at_once_are_refused)
{
	struct page_cache c;
	struct atw_source s = { .impl = &c };
	struct atw_err err = { 0 };

	CHECK(page_cache_init(&c, 4096, 1 << 20));
	CHECK_EQ(page_cache_read(&c, read_again, &s, ATW_PA(1), NULL, 0, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, "two threads"));
	CHECK_EQ(page_cache_read(&c, read_again, &s, ATW_PA(0), NULL, 0, NULL), 7);
	page_cache_deinit(&c);
}
