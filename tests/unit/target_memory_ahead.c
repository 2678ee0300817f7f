/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A listing announces the struct pages that it will read, in as few parts as the limit
 * allows.
 */
#include <stdlib.h>

#include "linux/memmap.h"
#include "target/memory_vmas.h"

#include "test.h"

static unsigned times, added;
static uint64_t first, last;

void memmap_anew(struct atw_memmap *m)
{
	(void)m;
	times++;
	added = 0;
}

void memmap_soon_run(struct atw_memmap *m, uint64_t pfn, uint64_t n)
{
	(void)m;
	first = added ? first : pfn;
	added += (unsigned)n;
	last = pfn + n - 1;
}

/* There is room for so many. */
static unsigned room;

uint32_t memmap_soon_frames(struct atw_memmap *m, const uint64_t *pa, uint32_t n)
{
	uint32_t some = n < room - added ? n : room - added;

	(void)m;
	if (some)
		last = pa[some - 1] >> 12;
	added += some;
	return some;
}

/* Words of tables that the walk has read, two tables behind the one at hand. */
static uint64_t table[3][512];

bool mmu_walk_at_hand(const struct mmu_walk *w, unsigned i, struct mmu_words *ret)
{
	(void)w;
	if (i > 2)
		return false;
	*ret = (struct mmu_words){ table[i], ATW_VA(i * UINT64_C(0x200000)), 512 };
	/* The first 100 were returned. */
	if (!i)
		*ret = (struct mmu_words){ &table[0][100], ATW_VA(100 * 0x1000), 412 };
	return true;
}

static look_run run(uint64_t pfn, uint64_t n, uint64_t class)
{
	return pfn | (n - 1) << LOOK_PFN_BITS | class << LOOK_ORDER_AT;
}

static struct memory_pages *begin(look_run *v, size_t n)
{
	static struct look_space space[2];
	struct walk_provider *w = calloc(1, sizeof(*w));
	struct memory_pages *c = calloc(1, sizeof(*c));

	if (!w || !c)
		abort();
	c->w = w;
	c->cur.q.task = 1;
	times = added = 0;
	space[1] = (struct look_space){ .first = 1, .n = n - 1 };
	w->look = (struct look){ .run = v, .n = n, .space = space, .nspaces = 2, .keep = true };
	walk_soon_begin(c);
	return c;
}

TEST(short_runs_are_said_together)
{
	look_run v[1001];
	struct memory_pages *c;

	for (unsigned i = 0; i < 1001; i++)
		v[i] = run(0x1000 + 2 * i, 1, 0);
	c = begin(v, 1001);
	for (unsigned i = 1; i < 1001; i++)
		CHECK(walk_soon(c, 0x1000 + 2 * i));
	CHECK_EQ(times, 2);
	CHECK_EQ(last, 0x1000 + 2 * 1000);
	CHECK(!walk_soon(c, 0x1000));
	free(c->w);
	free(c);
}

TEST(a_long_run_is_said_in_parts)
{
	look_run v[] = { 0, run(0x4000, 2000, 0), run(0x9000, 1, LOOK_SPECIAL), run(7, 1, 0) };
	struct memory_pages *c = begin(v, 4);

	CHECK(walk_soon(c, 0x4000));
	CHECK_EQ(last - first, 511);
	CHECK(walk_soon(c, 0x4000 + 511));
	CHECK_EQ(times, 1);
	CHECK(walk_soon(c, 0x4000 + 512));
	CHECK_EQ(times, 2);
	CHECK_EQ(first, 0x4000 + 512);
	CHECK(walk_soon(c, 0x4000 + 1990));
	CHECK_EQ(added, 11);
	CHECK_EQ(last, 7);
	CHECK(walk_soon(c, 7));
	CHECK_EQ(times, 3);
	free(c->w);
	free(c);
}

TEST(large_pages_are_said_by_two)
{
	look_run v[] = { 0, run(0x4000, 2, 9), run(0x200, 1, 0) };
	struct memory_pages *c = begin(v, 3);

	CHECK(walk_soon(c, 0x4005));
	CHECK_EQ(added, 5);
	CHECK(walk_soon(c, 0x4200 + 511));
	CHECK(!walk_soon(c, 0x4400));
	CHECK(walk_soon(c, 0x200));
	CHECK_EQ(times, 2);
	free(c->w);
	free(c);
}

/* ---- of tables at hand ---- */

/* A run of the first 100 of 1536 entries, for frame 0x1000 and up; then every other is absent. */
static struct memory_pages *begin_tables(struct page_run *r, bool running)
{
	static struct mmu_space sp;
	static look_run none;
	struct memory_pages *c = begin(&none, 1);

	sp.paging = *atw_paging_find("x86_64-4");
	c->sp = &sp;
	if (!sure_find(&sp.paging, 0, ATW_LEAF, &c->leaf))
		abort();
	c->w->running = running;
	for (uint64_t i = 0; i < 1536; i++)
		table[i / 512][i % 512] = i < 100 || !(i % 2) ? (0x1000 + i) << 12 | 7 : 0;
	for (unsigned i = 0; i < 100; i++)
		c->pa[i] = (uint64_t)(0x1000 + i) << 12;
	*r = (struct page_run){ .slot = 0x1000, .count = 100, .pa = c->pa };
	room = 4096;
	return c;
}

static void end_tables(struct memory_pages *c)
{
	free(c->w);
	free(c);
}

TEST(tables_behind_are_said_too)
{
	struct page_run r;
	struct memory_pages *c = begin_tables(&r, true);

	CHECK(walk_soon_tables(c, &r, 0));
	CHECK_EQ(times, 1);
	/* 100 and 412 words: what there is at first. */
	CHECK_EQ(last, 0x1000 + 510);
	CHECK_EQ(added, 100 + 206);
	r.va = 510 * 0x1000;
	CHECK(walk_soon_tables(c, &r, 0));
	CHECK_EQ(times, 1);
	/* Where it goes on there, twice as many. */
	r.va = 512 * 0x1000;
	CHECK(walk_soon_tables(c, &r, 0));
	CHECK_EQ(times, 2);
	/* The first table again, for there is no other here, then the second. */
	CHECK_EQ(last, 0x1000 + 1022);
	end_tables(c);
}

TEST(no_further_than_there_is_room)
{
	struct page_run r;
	struct memory_pages *c = begin_tables(&r, true);

	room = 130;
	CHECK(walk_soon_tables(c, &r, 0));
	CHECK_EQ(added, 130);
	CHECK_EQ(last, 0x1000 + 158);
	/* What there was no room for is said when it is asked for. */
	r.va = 160 * 0x1000;
	CHECK(walk_soon_tables(c, &r, 0));
	CHECK_EQ(times, 2);
	end_tables(c);
}

TEST(a_dump_is_not_read_ahead_by_tables)
{
	struct page_run r;
	struct memory_pages *c = begin_tables(&r, false);

	CHECK(!walk_soon_tables(c, &r, 0));
	CHECK_EQ(times, 0);
	end_tables(c);
}
