/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slab caches have the sums of their nodes; damage is an error and never a number. */
#include "linux/machine.h"

#include "base/buf.h"
#include "kernel_memory.h"
#include "test.h"

/* Two caches on two nodes. Members of a cache: its name, its link, and so on. */
enum {
	HEAD = 0x100, NODE_IDS = 0x120, CACHE = 0x200, CACHE_SIZE = 0x100, NAMES = 0x600,
	C_NAME = 0, C_LIST = 8, C_OBJECT_SIZE = 24, C_OO = 28, C_NODE = 32,
	NODES = 0x800, NODE_SIZE = 0x40,
	N_SLABS = 0, N_OBJECTS = 8, N_NPARTIAL = 16, N_PARTIAL = 24,
	SLABS = 0xc00, SLAB_SIZE = 0x20, S_LIST = 0, S_COUNTERS = 16,
};

static uint64_t cache(unsigned i) { return CACHE + i * CACHE_SIZE; }
static uint64_t node(unsigned i) { return NODES + i * NODE_SIZE; }
static uint64_t slab(unsigned i) { return SLABS + i * SLAB_SIZE; }

/* A slab of `objects`, `used` of them, alone in the list of a node. */
static void partial(struct kmemory *k, unsigned n, unsigned s, uint64_t used, uint64_t objects)
{
	kput64(k, node(n) + N_NPARTIAL, 1);
	kpoint(k, node(n) + N_PARTIAL, slab(s) + S_LIST);
	kpoint(k, slab(s) + S_LIST, node(n) + N_PARTIAL);
	/* Frozen, and a word that has more behind it. */
	kput64(k, slab(s) + S_COUNTERS, used | objects << 16 | UINT64_C(0x1234580000000));
}

static void one(struct kmemory *k, unsigned i, const char *name, uint32_t size, uint32_t oo)
{
	ktext(k, NAMES + i * 64u, name);
	kpoint(k, cache(i) + C_NAME, NAMES + i * 64u);
	kput(k, cache(i) + C_OBJECT_SIZE, size, 4);
	kput(k, cache(i) + C_OO, oo, 4);
	for (unsigned n = 2 * i; n < 2 * i + 2; n++) {
		kpoint(k, cache(i) + C_NODE + n % 2 * 8, node(n));
		kpoint(k, node(n) + N_PARTIAL, node(n) + N_PARTIAL);
	}
}

static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	kset(k, N_cache_name, C_NAME, 8);
	kset(k, N_cache_list, C_LIST, 0);
	kset(k, N_cache_size, C_OBJECT_SIZE, 4);
	kset(k, N_cache_oo, C_OO, 4);
	kset(k, N_cache_node, C_NODE, 0);
	kset(k, N_cache_node_slabs, N_SLABS, 8);
	kset(k, N_cache_node_objects, N_OBJECTS, 8);
	kset(k, N_cache_node_npartial, N_NPARTIAL, 8);
	kset(k, N_cache_node_partial, N_PARTIAL, 0);
	kset(k, N_slab_list, S_LIST, 0);
	kset(k, N_slab_counters, S_COUNTERS, 8);
	k->n.symbol[Y_slab_caches] = KBASE + HEAD;
	k->n.symbol[Y_nr_node_ids] = KBASE + NODE_IDS;
	kput(k, NODE_IDS, 2, 4);
	kpoint(k, HEAD, cache(0) + C_LIST);
	kpoint(k, cache(0) + C_LIST, cache(1) + C_LIST);
	kpoint(k, cache(1) + C_LIST, HEAD);
	/* Slabs of four pages with 32 objects, of which 12 and 3 are free; of one with 21. */
	one(k, 0, "filp", 512, 2 << 16 | 32);
	kput64(k, node(0) + N_SLABS, 10);
	kput64(k, node(0) + N_OBJECTS, 320);
	partial(k, 0, 0, 20, 32);
	kput64(k, node(1) + N_SLABS, 2);
	kput64(k, node(1) + N_OBJECTS, 64);
	partial(k, 1, 1, 29, 32);
	one(k, 1, "kmalloc-192", 192, 21);
	kput64(k, node(2) + N_SLABS, 3);
	kput64(k, node(2) + N_OBJECTS, 63);
	return k;
}

static int add_line(void *arg, const struct slab_cache *c, struct atw_err *err)
{
	(void)err;
	buf_printf(arg, "%s %" PRIu64 ": %" PRIu64 " objects, ", c->name, c->slab.size,
		   c->slab.objects);
	if (c->slab.has_active)
		buf_printf(arg, "%" PRIu64 " active, ", c->slab.active);
	buf_printf(arg, "%" PRIu64 " slabs, %" PRIu64 " pages\n", c->slab.slabs, c->slab.pages);
	return ATW_OK;
}

/* What comes out of it, and the error behind it. */
static const char *caches(struct kmemory *k)
{
	static struct buf b;
	struct atw_err err = { 0 };
	struct atw_kernel *kernel = calloc(1, sizeof(*kernel));
	int r;

	buf_deinit(&b);
	b = (struct buf){ 0 };
	kernel->mem = &k->s;
	kernel->kmem = k->m;
	kernel->sought_kmem.done = true;
	kernel->needs = k->n;
	kernel->needs_done = kernel->symbols_done = true;
	r = slab_caches(kernel, add_line, &b, &err);
	if (r != ATW_OK)
		buf_printf(&b, "%s\n", err.text);
	free(kernel);
	return b.data;
}

#define FILP "filp 512: 384 objects, 369 active, 12 slabs, 48 pages\n"
#define FILP_OF_ONE "filp 512: 320 objects, 308 active, 10 slabs, 40 pages\n"
#define KMALLOC "kmalloc-192 192: 63 objects, 63 active, 3 slabs, 3 pages\n"

TEST(sums_of_all_nodes)
{
	struct kmemory *k = machine();

	CHECK_STR(caches(k), FILP KMALLOC);
	/* A node without memory has no such struct. */
	kput64(k, cache(1) + C_NODE + 8, 0);
	CHECK_STR(caches(k), FILP KMALLOC);
	/* One node, where the kernel does not have how many there are, or too many. */
	k->n.symbol[Y_nr_node_ids] = 0;
	CHECK_STR(caches(k), FILP_OF_ONE KMALLOC);
	k->n.symbol[Y_nr_node_ids] = KBASE + NODE_IDS;
	kput(k, NODE_IDS, 1025, 4);
	CHECK_STR(caches(k), FILP_OF_ONE KMALLOC);
	kmemory_free(k);
}

/* Since 7.x a struct for each node has the pointer. */
TEST(pointers_in_structs)
{
	struct kmemory *k = machine();

	k->n.size[S_cache_per_node] = 24;
	kset(k, N_cache_per_node_node, 16, 8);
	k->n.member[N_cache_node] = C_NODE - 16;
	kpoint(k, cache(0) + C_NODE + 24, node(1));
	kput64(k, cache(0) + C_NODE + 8, 0);
	kput64(k, cache(1) + C_NODE + 8, 0);
	CHECK_STR(caches(k), FILP KMALLOC);
	kmemory_free(k);
}

/* What is free is counted slab by slab, or is not known. */
TEST(objects_in_use_are_not_known)
{
	static const char unknown[] = "filp 512: 384 objects, 12 slabs, 48 pages\n" KMALLOC;
	struct kmemory *k = machine();

	/* More in use than there are. */
	partial(k, 0, 0, 33, 32);
	CHECK_STR(caches(k), unknown);
	/* A list that is shorter, and one that is longer than the node counts. */
	partial(k, 0, 0, 20, 32);
	kput64(k, node(0) + N_NPARTIAL, 2);
	CHECK_STR(caches(k), unknown);
	kput64(k, node(0) + N_NPARTIAL, 0);
	CHECK_STR(caches(k), unknown);
	kput64(k, node(0) + N_NPARTIAL, (1 << 20) + 1);
	CHECK_STR(caches(k), unknown);
	/* A link to nowhere. */
	kput64(k, node(0) + N_NPARTIAL, 1);
	kput64(k, slab(0) + S_LIST, 0x10);
	CHECK_STR(caches(k), unknown);
	partial(k, 0, 0, 20, 32);
	CHECK_STR(caches(k), FILP KMALLOC);
	k->n.member[N_slab_counters] = UINT32_MAX;
	CHECK_STR(caches(k), "filp 512: 384 objects, 12 slabs, 48 pages\n"
			     "kmalloc-192 192: 63 objects, 3 slabs, 3 pages\n");
	kmemory_free(k);
}

#define IMPOSSIBLE "slab cache at 0xffff888000000300: has counts that cannot be\n"

TEST(damage_is_reported)
{
	struct kmemory *k = machine();

	kput(k, cache(1) + C_OO, (uint64_t)31 << 16, 4);
	CHECK_STR(caches(k), FILP IMPOSSIBLE);
	kput(k, cache(1) + C_OO, 21, 4);
	kput64(k, node(2) + N_SLABS, UINT64_C(1) << 40);
	CHECK_STR(caches(k), FILP IMPOSSIBLE);
	/* More free than there are. */
	kput64(k, node(2) + N_SLABS, 3);
	partial(k, 2, 2, 0, 64);
	CHECK_STR(caches(k), FILP IMPOSSIBLE);
	/* A circle that the head is not in. */
	partial(k, 2, 2, 21, 21);
	kpoint(k, cache(1) + C_LIST, cache(1) + C_LIST);
	CHECK(strstr(caches(k), "the list of slab caches has no end\n"));
	CHECK(strstr(caches(k), FILP KMALLOC KMALLOC));
	k->n.symbol[Y_slab_caches] = 0;
	CHECK_STR(caches(k), "cannot find slab caches: symbols or types are missing\n");
	k->n.symbol[Y_slab_caches] = KBASE + HEAD;
	k->n.member[N_cache_oo] = UINT32_MAX;
	CHECK_STR(caches(k), "cannot find slab caches: symbols or types are missing\n");
	kmemory_free(k);
}
