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
