/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames are assigned to NUMA nodes as the kernel describes its nodes. */
#include "linux/memmap.h"

#include "test.h"

static struct node_span span[] = { { 0x100, 0x1000, 0 }, { 0x2000, 0x3000, 2 }, { 0x3000, 0x4000, 1 } };

TEST(spans_of_nodes)
{
	struct nodes n = { .v = span, .n = 3 };
	uint64_t same;
	uint32_t id = 99;

	CHECK(nodes_run(&n, 0x100, 16, &id, &same));
	CHECK_EQ(id, 0);
	CHECK_EQ(same, 16);
	CHECK(nodes_run(&n, 0x2ff0, 1000, &id, &same));
	CHECK_EQ(id, 2);
	CHECK_EQ(same, 16);
	CHECK(nodes_run(&n, 0x3000, UINT64_MAX, &id, &same));
	CHECK_EQ(id, 1);
	CHECK_EQ(same, 0x1000);
	/* Between the ranges and behind them: as far as no node is recorded. */
	CHECK(!nodes_run(&n, 0x1000, UINT64_MAX, &id, &same));
	CHECK_EQ(same, 0x1000);
	CHECK(!nodes_run(&n, 0, 4, &id, &same));
	CHECK_EQ(same, 4);
	CHECK(!nodes_run(&n, 0x5000, 77, &id, &same));
	CHECK_EQ(same, 77);
	CHECK_EQ(id, 1);
}

TEST(nodes_that_lie_in_each_other)
{
	struct nodes n = { .v = span, .n = 3, .overlap = true }, none = { 0 };
	uint64_t same;
	uint32_t id;

	CHECK(!nodes_run(&n, 0x100, 16, &id, &same));
	CHECK_EQ(same, 16);
	CHECK(!nodes_run(&none, 0x100, 16, &id, &same));
	CHECK_EQ(same, 16);
}
