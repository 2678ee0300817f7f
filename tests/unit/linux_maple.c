/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VMAs are read from maple trees of every kind of node, and damaged nodes are refused. */
#include "linux/process.h"

#include "linux/areas.h"
#include "kernel_memory.h"
#include "test.h"

enum { MM = 0x100, VMAS = 0x1000, NODES = 0x8000, LEAF = 1, RANGE = 2, ARANGE = 3 };

static const struct maple_layout usual = {
	.size = 256, .number = { 1, 2, 3 },
	.shape = { { 8, 128, 16 }, { 8, 128, 16 }, { 8, 80, 10 } },
};

static void set64(unsigned char *node, unsigned off, uint64_t v)
{
	memcpy(node + off, &v, 8);
}

TEST(slots_of_a_node)
{
	unsigned char node[256] = { 0 };
	struct maple_slot s, none = { 0 };

	set64(node, 8, 0xfff);
	set64(node, 16, 0x2fff);
	set64(node, 24, UINT64_MAX);
	set64(node, 136, 0x1234000);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, UINT64_MAX, 0, &none, &s), ATW_OK);
	CHECK(s.first == 0 && s.last == 0xfff && !s.entry);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, UINT64_MAX, 1, &s, &s), ATW_OK);
	CHECK(s.first == 0x1000 && s.last == 0x2fff && s.entry == 0x1234000);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, UINT64_MAX, 2, &s, &s), ATW_OK);
	CHECK(s.first == 0x3000 && s.last == UINT64_MAX);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, UINT64_MAX, 3, &s, &s), ATW_END);
}

TEST(a_pivot_of_zero_is_the_last)
{
	unsigned char node[256] = { 0 };
	struct maple_slot s, none = { 0 };

	set64(node, 8, 0xfff);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0x7fff, 0, &none, &s), ATW_OK);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0x7fff, 1, &s, &s), ATW_OK);
	CHECK(s.first == 0x1000 && s.last == 0x7fff);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0x7fff, 2, &s, &s), ATW_END);
}

TEST(a_full_node)
{
	unsigned char node[256] = { 0 };
	struct maple_slot s = { 0 };

	for (unsigned i = 0; i < 9; i++)
		set64(node, 8 + 8 * i, 0x1000 * (i + 1) - 1);
	for (unsigned i = 0; i < 10; i++)
		CHECK_EQ(maple_slot(&usual, MAPLE_ARANGE, node, 0, 0xffff, i, &s, &s), ATW_OK);
	CHECK(s.first == 0x9000 && s.last == 0xffff);
	CHECK_EQ(maple_slot(&usual, MAPLE_ARANGE, node, 0, 0xffff, 10, &s, &s), ATW_END);
}

TEST(pivots_that_cannot_be)
{
	unsigned char node[256] = { 0 };
	struct maple_slot s = { 0 };

	set64(node, 8, 0x3000);
	set64(node, 16, 0x2000);                 /* goes down */
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0xffff, 0, &s, &s), ATW_OK);
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0xffff, 1, &s, &s), ATW_E_DAMAGED);
	set64(node, 16, 0x10000);                /* outside */
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0, 0xffff, 1, &s, &s), ATW_E_DAMAGED);
	set64(node, 8, 0x100);                   /* below the node's first */
	CHECK_EQ(maple_slot(&usual, MAPLE_LEAF, node, 0x1000, 0xffff, 0, &s, &s), ATW_E_DAMAGED);
}

TEST(layouts_that_are_none)
{
	struct maple_layout l = usual;

	CHECK(maple_layout_good(&l));
	l.size = 128;
	CHECK(!maple_layout_good(&l));
	l = usual;
	l.shape[MAPLE_ARANGE].slots = 0;
	CHECK(!maple_layout_good(&l));
	l = usual;
	l.shape[MAPLE_RANGE].slot = 136;
	CHECK(!maple_layout_good(&l));
}

TEST(entries)
{
	CHECK(maple_is_root(0xffff88810000001e));
	CHECK(!maple_is_root(0xffff888100000018));       /* below the root it would be one */
	CHECK(!maple_is_root(0x406));                    /* XA_ZERO_ENTRY */
	CHECK(!maple_is_pointer(0x406) && !maple_is_pointer(0) && !maple_is_pointer(0x2001));
	CHECK(maple_is_pointer(0xffff888100000018));
	CHECK_EQ(maple_node(0xffff88810000041e), 0xffff888100000400);
	CHECK_EQ(maple_type_of(&usual, 0xffff88810000041e), MAPLE_ARANGE);
	CHECK_EQ(maple_type_of(&usual, 0xffff88810000040c), MAPLE_LEAF);
	CHECK_EQ(maple_type_of(&usual, 0xffff888100000424), MAPLE_TYPES);
}

/* ---- trees ---- */

static uint64_t vma(unsigned i) { return VMAS + i * V_SIZE; }
static uint64_t node(unsigned i) { return NODES + i * 256u; }
static uint64_t enode(unsigned i, unsigned type) { return KBASE + node(i) + (type << 3) + 4; }

static void area(struct kmemory *k, unsigned i, uint64_t start, uint64_t end)
{
	kput64(k, vma(i) + V_START, start);
	kput64(k, vma(i) + V_END, end);
	kput64(k, vma(i) + V_FLAGS, 0x73);
}

/* Slot i of a leaf; of an inner node by at 80. */
static void slot(struct kmemory *k, unsigned n, unsigned slots, unsigned i,
		 uint64_t pivot, uint64_t entry)
{
	kput64(k, node(n) + 8 + 8 * i, pivot);
	kput64(k, node(n) + slots + 8 * i, entry);
}

/*
 * Node 0 has leaves 1 and 2: areas 0 (1000-3000), 1 (3000-4000) in the one,
 * 2 (10000-11000) in the other, which also has a mark.
 */
static struct kmemory *tree(void)
{
	struct kmemory *k = kmemory_new();

	karea_layout(k, true);
	area(k, 0, 0x1000, 0x3000);
	area(k, 1, 0x3000, 0x4000);
	area(k, 2, 0x10000, 0x11000);
	kput64(k, MM + MM_ROOT, enode(0, ARANGE) | 2);
	kput64(k, node(0), KBASE + MM + 1);
	slot(k, 0, 80, 0, 0x7fff, enode(1, LEAF));
	slot(k, 0, 80, 1, UINT64_MAX, enode(2, LEAF));
	kput64(k, node(1), KBASE + node(0) + 0x18);
	slot(k, 1, 128, 0, 0xfff, 0);
	slot(k, 1, 128, 1, 0x2fff, KBASE + vma(0));
	slot(k, 1, 128, 2, 0x3fff, KBASE + vma(1));
	slot(k, 1, 128, 3, 0x7fff, 0);
	kput64(k, node(2), KBASE + node(0) + 0x20);
	slot(k, 2, 128, 0, 0xffff, 0);
	slot(k, 2, 128, 1, 0x10fff, KBASE + vma(2));
	slot(k, 2, 128, 2, 0x1ffff, 0x406);
	return k;
}

struct seen {
	char text[512];          /* "1000-3000 " */
	unsigned n, errors;
	struct atw_err err;      /* the first */
};

static void all_from(struct kmemory *k, uint64_t from, struct seen *s)
{
	static struct atw_area a;
	struct atw_err err = { 0 };
	struct atw_areas *areas;
	int r;

	memset(s, 0, sizeof(*s));
	r = areas_open_at(kmembers(k), KBASE + MM, 12, 6012, &areas, &s->err);
	if (r < 0) {
		s->errors = 1;
		return;
	}
	areas_begin_at(areas, from);
	while ((r = atw_areas_next(areas, &a, &err)) != ATW_END && s->n + s->errors < 4000) {
		size_t len = strlen(s->text);

		if (r < 0) {
			if (!s->errors++)
				s->err = err;
			if (r == ATW_E_LIMIT)
				break;
			continue;
		}
		s->n++;
		if (len < 480)
			snprintf(s->text + len, sizeof(s->text) - len, "%" PRIx64 "-%" PRIx64 "%s ",
				 a.start.u, a.end.u, a.flags == 0x73 ? "" : " of others");
	}
	atw_areas_close(areas);
}

static void all(struct kmemory *k, struct seen *s)
{
	all_from(k, 0, s);
}

TEST(two_levels)
{
	struct kmemory *k = tree();
	struct seen s;

	all(k, &s);
	CHECK_STR(s.text, "1000-3000 3000-4000 10000-11000 ");
	CHECK_EQ(s.errors, 0);
	kmemory_free(k);
}

TEST(a_leaf_as_root_and_no_tree)
{
	struct kmemory *k = tree();
	struct seen s;

	kput64(k, MM + MM_ROOT, enode(1, LEAF) | 2);
	slot(k, 1, 128, 3, UINT64_MAX, 0);
	all(k, &s);
	CHECK_STR(s.text, "1000-3000 3000-4000 ");
	kput64(k, MM + MM_ROOT, 0);
	all(k, &s);
	CHECK_EQ(s.n + s.errors, 0);
	kput64(k, MM + MM_ROOT, 0x406);
	all(k, &s);
	CHECK_EQ(s.n + s.errors, 0);
	kput64(k, MM + MM_ROOT, KBASE + vma(0));
	all(k, &s);
	CHECK_EQ(s.err.status, ATW_E_DAMAGED);
	kmemory_free(k);
}

TEST(a_lost_leaf_costs_only_itself)
{
	struct kmemory *k = tree();
	struct seen s;

	k->hole_at = node(1);
	k->hole_len = 256;
	all(k, &s);
	CHECK_STR(s.text, "10000-11000 ");
	CHECK_EQ(s.errors, 1);
	CHECK_EQ(s.err.status, ATW_E_MISSING);
	k->hole_at = vma(0);
	k->hole_len = V_SIZE;
	all(k, &s);
	CHECK_STR(s.text, "3000-4000 10000-11000 ");
	kmemory_free(k);
}

TEST(a_node_knows_its_parent)
{
	struct kmemory *k = tree();
	struct seen s;

	kput64(k, node(1), KBASE + node(2));
	all(k, &s);
	CHECK_STR(s.text, "10000-11000 ");
	CHECK(strstr(s.err.text, "its parent is"));
	kmemory_free(k);
}

TEST(nodes_that_lead_to_themselves)
{
	struct kmemory *k = tree();
	struct seen s;

	kput64(k, node(0), KBASE + node(0));
	for (unsigned i = 0; i < 9; i++)
		slot(k, 0, 80, i, 0x1000 * (i + 1) - 1, enode(0, ARANGE));
	all(k, &s);
	CHECK_EQ(s.n, 0);
	CHECK(s.errors);
	/* Full width at every level. */
	for (unsigned i = 0; i < 9; i++)
		slot(k, 0, 80, i, i ? 0 : UINT64_MAX, enode(0, ARANGE));
	all(k, &s);
	CHECK_EQ(s.errors, 1);
	CHECK(strstr(s.err.text, "too deep"));
	kmemory_free(k);
}

TEST(types_and_inner_slots)
{
	struct kmemory *k = tree();
	struct seen s;

	slot(k, 0, 80, 0, 0x7fff, enode(1, 9));
	all(k, &s);
	CHECK(strstr(s.err.text, "no known type"));
	CHECK_STR(s.text, "10000-11000 ");
	slot(k, 0, 80, 0, 0x7fff, 0);
	all(k, &s);
	CHECK_EQ(s.errors, 1);
	kmemory_free(k);
}

TEST(areas_that_contradict_their_tree)
{
	struct kmemory *k = tree();
	struct seen s;

	area(k, 0, 0x1000, 0x2000);              /* shorter */
	all(k, &s);
	CHECK(strstr(s.err.text, "its tree has it"));
	area(k, 0, 0x3000, 0x1000);
	all(k, &s);
	CHECK(strstr(s.err.text, "goes from"));
	area(k, 0, 0x1800, 0x3000);
	all(k, &s);
	CHECK_EQ(s.err.status, ATW_E_DAMAGED);
	area(k, 0, 0x1000, 0x3000);
	slot(k, 1, 128, 2, 0x3fff, KBASE + vma(0));      /* once more */
	all(k, &s);
	CHECK(strstr(s.err.text, "has not ended"));
	CHECK_STR(s.text, "1000-3000 10000-11000 ");
	kmemory_free(k);
}

TEST(types_that_are_missing)
{
	struct kmemory *k = tree();
	struct seen s;

	k->n.member[N_arange64_slot] = NEED_NONE;
	all(k, &s);
	CHECK_EQ(s.err.status, ATW_E_UNSUPPORTED);
	k->n.member[N_mm_ma_root] = NEED_NONE;
	all(k, &s);
	CHECK_EQ(s.err.status, ATW_E_UNSUPPORTED);
	CHECK(strstr(s.err.text, "neither a tree nor a list"));
	kmemory_free(k);
}

/* ---- the list of older kernels ---- */

static struct kmemory *list(void)
{
	struct kmemory *k = kmemory_new();

	karea_layout(k, false);
	area(k, 0, 0x1000, 0x3000);
	area(k, 1, 0x3000, 0x4000);
	area(k, 2, 0x10000, 0x11000);
	kpoint(k, MM + MM_MMAP, vma(0));
	kpoint(k, vma(0) + V_NEXT, vma(1));
	kpoint(k, vma(1) + V_NEXT, vma(2));
	return k;
}

TEST(a_list)
{
	struct kmemory *k = list();
	struct seen s;

	all(k, &s);
	CHECK_STR(s.text, "1000-3000 3000-4000 10000-11000 ");
	CHECK_EQ(s.errors, 0);
	kpoint(k, vma(2) + V_NEXT, vma(0));      /* round and round */
	all(k, &s);
	CHECK_EQ(s.n, 3);
	CHECK_EQ(s.errors, 1);
	kpoint(k, vma(1) + V_NEXT, KSIZE);
	all(k, &s);
	CHECK_EQ(s.n, 2);
	CHECK_EQ(s.err.status, ATW_E_MISSING);
	kput64(k, MM + MM_MMAP, 0);
	all(k, &s);
	CHECK_EQ(s.n + s.errors, 0);
	kmemory_free(k);
}

/* Areas that end there are passed. */
static void check_beginnings(struct kmemory *k)
{
	static const struct { uint64_t from; const char *text; } want[] = {
		{ 0, "1000-3000 3000-4000 10000-11000 " },
		{ 0x2fff, "1000-3000 3000-4000 10000-11000 " },
		{ 0x3000, "3000-4000 10000-11000 " },
		{ 0x3fff, "3000-4000 10000-11000 " },
		{ 0x4000, "10000-11000 " },
		{ 0x10fff, "10000-11000 " },
		{ 0x11000, "" },
	};
	struct seen s;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		all_from(k, want[i].from, &s);
		CHECK_STR(s.text, want[i].text);
		CHECK_EQ(s.errors, 0);
	}
}

TEST(begins_where_it_is_wanted)
{
	struct kmemory *k = tree();

	check_beginnings(k);
	kmemory_free(k);
	k = list();
	check_beginnings(k);
	kmemory_free(k);
}

/* What is passed must be in order as well: else a list could go round for ever. */
TEST(a_list_that_is_damaged_before_it_is_wanted)
{
	struct kmemory *k = list();
	struct seen s;

	kpoint(k, vma(1) + V_NEXT, vma(0));
	all_from(k, 0x4000, &s);
	CHECK_EQ(s.n, 0);
	CHECK_EQ(s.errors, 1);
	CHECK(strstr(s.err.text, "where the one before it has not ended"));
	kmemory_free(k);
	k = list();
	kput64(k, vma(0) + V_END, 0x3800000);
	all_from(k, 0x4000, &s);
	CHECK_EQ(s.n, 1);
	CHECK(s.errors);
	kmemory_free(k);
}

/* ---- of a running process ---- */

enum { MM_SEQ = 48 };

/* Memory changes at the n-th read. */
static struct {
	uint64_t at, calls;
	void (*run)(struct kmemory *k);
} event;

static ssize_t live_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	struct kmemory *k = (struct kmemory *)s;

	event.calls += pa.u < KSIZE;
	if (event.run && pa.u < KSIZE && !event.at--) {
		event.run(k);
		event.run = NULL;
	}
	return kmemory_read(s, pa, buf, len, err);
}

/* A batch is one call, but memory can change between its parts. */
static void live_read_many(struct atw_source *s, struct atw_piece *piece, size_t n,
			   struct atw_err *err)
{
	uint64_t calls = event.calls;

	for (size_t i = 0; i < n; i++)
		piece[i].got = live_read(s, piece[i].pa, piece[i].buf, piece[i].len, err);
	event.calls = calls + (n && piece[0].pa.u < KSIZE);
}

static const struct atw_source_ops live_ops = {
	.name = "live kmemory", .help = "runs",
	.read = live_read, .extent = kmemory_extent, .fact = kmemory_fact, .live = true,
	.read_many = live_read_many,
};

static struct kmemory *live_tree(bool seq)
{
	struct kmemory *k = tree();

	k->s.ops = &live_ops;
	event.run = NULL;
	event.calls = 0;
	if (seq)
		kset(k, N_mm_lock_seq, MM_SEQ, 4);
	return k;
}

/*
 * munmap() of the second area; its struct is reused for an area of another process at the
 * same address. And mmap() after the third area.
 */
static void change(struct kmemory *k)
{
	slot(k, 1, 128, 2, 0x7fff, 0);
	slot(k, 1, 128, 3, 0, 0);
	kput64(k, vma(1) + V_FLAGS, 0x70);
	area(k, 3, 0x12000, 0x13000);
	slot(k, 2, 128, 2, 0x11fff, 0);
	slot(k, 2, 128, 3, 0x12fff, KBASE + vma(3));
	slot(k, 2, 128, 4, UINT64_MAX, 0);
	kput(k, MM + MM_SEQ, 2, 4);
}

TEST(areas_of_several_leaves_are_read_together)
{
	struct kmemory *k = live_tree(true);
	struct seen s;

	all(k, &s);
	CHECK_STR(s.text, "1000-3000 3000-4000 10000-11000 ");
	CHECK_EQ(s.errors, 0);
	/*
	 * The sequence count, the root and its node; both leaves, all areas, both leaves
	 * again; the names; the sequence count.
	 */
	CHECK_EQ(event.calls, 8);
	kmemory_free(k);
}

static void each_moment(bool seq)
{
	uint64_t calls = 100;

	for (uint64_t at = 0; at < calls; at++) {
		struct kmemory *k = live_tree(seq);
		struct seen s;

		event.at = at;
		event.run = change;
		all(k, &s);
		CHECK_EQ(s.errors, 0);
		/* Areas that were returned before the change stay. */
		if (strcmp(s.text, "1000-3000 3000-4000 10000-11000 ") != 0 &&
		    strcmp(s.text, "1000-3000 10000-11000 12000-13000 ") != 0)
			CHECK_STR(s.text, "1000-3000 3000-4000 10000-11000 12000-13000 ");
		if (event.run)
			calls = at;
		kmemory_free(k);
	}
	CHECK(calls > 8 && calls < 100);
}

TEST(areas_that_change_while_they_are_read_ahead)
{
	each_moment(true);
}

/* Without mm_lock_seq. */
TEST(areas_that_change_without_a_stamp)
{
	each_moment(false);
}
