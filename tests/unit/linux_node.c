/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames are assigned to NUMA nodes and zones as the kernel describes these. */
#include "linux/memmap.h"

#include "kernel_memory.h"
#include "linux/machine.h"
#include "test.h"

static struct node_span span[] = {
	{ 0x100, 0x1000, 0, 0 }, { 0x2000, 0x3000, 2, 0 }, { 0x3000, 0x4000, 1, 0 },
};

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

/* Two nodes at NODE and behind it, with room for four zones each. */
enum {
	NODE_DATA = 0x100, NODE = 0x1000, NODE_SIZE = 0x800, ZONES = 0x100, ZONE = 0x80,
	NAMES = 0x4000,
};

static void put_zone(struct kmemory *k, unsigned node, unsigned i, uint64_t start, uint64_t pages,
		     uint64_t name)
{
	uint64_t at = NODE + node * NODE_SIZE + ZONES + i * ZONE;

	kput64(k, at, start);
	kput64(k, at + 8, pages);
	kpoint(k, at + 16, NAMES + name);
}

TEST(zones_of_all_nodes)
{
	struct kmemory *k = kmemory_new();
	struct atw_kernel kernel = { .mem = &k->s };
	struct zone_spans z;

	kset(k, N_node_start, 0, 8);
	kset(k, N_node_spanned, 8, 8);
	kset(k, N_node_id, 16, 4);
	kset(k, N_node_nzones, 20, 4);
	kset(k, N_node_zones, ZONES, 0);
	kset(k, N_zone_start, 0, 8);
	kset(k, N_zone_spanned, 8, 8);
	kset(k, N_zone_name, 16, 8);
	k->n.size[S_zone] = ZONE;
	k->n.symbol[Y_node_data] = KBASE + NODE_DATA;
	for (unsigned i = 0; i < 2; i++) {
		kpoint(k, NODE_DATA + i * 8, NODE + i * NODE_SIZE);
		kput64(k, NODE + i * NODE_SIZE + 8, 0x1000);
		kput(k, NODE + i * NODE_SIZE + 16, i, 4);
		kput(k, NODE + i * NODE_SIZE + 20, i ? 1 : 3, 4);
	}
	kput64(k, NODE + NODE_SIZE, 0x1000);
	ktext(k, NAMES, "DMA32");
	ktext(k, NAMES + 8, "Normal");
	put_zone(k, 0, 0, 1, 0xfff, 0);
	put_zone(k, 0, 1, 0, 0, 8);              /* empty */
	put_zone(k, 0, 2, 0x800, 0x100, 8);
	put_zone(k, 0, 3, 0, 0x1000, 8);         /* behind the last one */
	put_zone(k, 1, 0, 0x1000, 0x1000, 8);
	kernel.own = kernel.space = k->space;
	kernel.have_own = kernel.sought_kmem.done = true;
	kernel.kmem = k->m;
	kernel.needs = k->n;
	kernel.needs_done = kernel.symbols_done = true;
	kernel_zones(&kernel, &z);
	CHECK_EQ(z.n, 3);
	CHECK_STR(z.v[0].name, "DMA32");
	CHECK_EQ(z.v[0].first, 1);
	CHECK_EQ(z.v[0].end, 0x1000);
	CHECK_STR(z.v[1].name, "Normal");
	CHECK_EQ(z.v[1].first, 0x800);
	CHECK_EQ(z.v[1].node, 0);
	CHECK_EQ(z.v[2].end, 0x2000);
	CHECK_EQ(z.v[2].node, 1);
	zone_spans_deinit(&z);
	/* Without the size of a zone, only the first could be found. */
	kernel.needs.size[S_zone] = 0;
	kernel_zones(&kernel, &z);
	CHECK_EQ(z.n, 0);
	kmemory_free(k);
}
