/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel memory is read by virtual address, across pages, with the reason where it is missing.
 */
#include "linux/kmem.h"

#include "memory.h"
#include "test.h"

/*
 * Tables at 0x1000 to 0x4000 map, from BASE on, the pages at 0x10000, 0x20000,
 * 0x21000; the next entry is absent, the one after points to a page that was
 * excluded.
 */
#define BASE UINT64_C(0xffff888000000000)

struct machine {
	struct memory *mem;
	struct kmem *m;
	struct atw_err err;
};

static struct machine machine(void)
{
	struct memory *mem = mem_new();
	struct mmu_space sp = {
		.mem = &mem->s, .paging = *atw_paging_find("x86_64-4"),
		.low = { ATW_PA(0x1000), true },
	};
	struct machine k = { .mem = mem };

	mem_put64(mem, 0x1000 + (BASE >> 39 & 511) * 8, 0x2003);
	mem_put64(mem, 0x2000, 0x3003);
	mem_put64(mem, 0x3000, 0x4003);
	mem_put64(mem, 0x4000, 0x10003);
	mem_put64(mem, 0x4008, 0x20003);
	mem_put64(mem, 0x4010, 0x21003);
	mem_put64(mem, 0x4020, 0x30003);
	mem_put(mem, 0x10ff8, "01234567", 8);
	mem_put(mem, 0x20000, "89abcdef", 8);
	mem_put(mem, 0x20ffe, "xy", 2);
	mem_put(mem, 0x21000, "z", 2);
	mem_kind(mem, 0x30000, 1, ATW_EXCLUDED);
	if (kmem_open(&sp, &k.m, NULL) < 0)
		abort();
	return k;
}

static void end(struct machine *k)
{
	kmem_close(k->m);
	mem_free(k->mem);
}

TEST(reads_across_pages)
{
	struct machine k = machine();
	char buf[17] = "";
	uint64_t v = 0;
	atw_pa pa = ATW_PA(0);

	CHECK_EQ(kmem_read(k.m, BASE + 0xff8, buf, 16, &k.err), ATW_OK);
	CHECK_STR(buf, "0123456789abcdef");
	CHECK_EQ(kmem_u64(k.m, BASE + 0xffc, &v, &k.err), ATW_OK);
	CHECK_EQ(v, 0x6261393837363534);                /* "456789ab" */
	CHECK_EQ(kmem_physical(k.m, BASE + 0x1008, &pa, &k.err), ATW_OK);
	CHECK_EQ(pa.u, 0x20008);
	end(&k);
}

TEST(words_of_any_place)
{
	struct machine k = machine();
	struct kmem_word w[] = {
		{ .va = BASE + 0x1000, .len = 8 }, { .va = BASE + 0xffc, .len = 4 },
		{ .va = BASE + 0x3000, .len = 8 },               /* not mapped */
		{ .va = BASE + 0x4000, .len = 8 },               /* excluded */
		{ .va = BASE + 0xffc, .len = 8 },                /* not aligned */
		{ .va = BASE + 0x1ffe, .len = 1 },
	};

	kmem_words(k.m, w, sizeof(w) / sizeof(w[0]));
	CHECK(w[0].read && w[1].read && !w[2].read && !w[3].read && !w[4].read && w[5].read);
	CHECK_EQ(w[0].value, 0x6665646362613938);                /* "89abcdef" */
	CHECK_EQ(w[1].value, 0x37363534);
	CHECK_EQ(w[5].value, 'x');
	end(&k);
}

TEST(a_text_ends_where_it_ends)
{
	struct machine k = machine();
	char buf[8];

	CHECK_EQ(kmem_text(k.m, BASE + 0x1ffe, buf, sizeof(buf), &k.err), ATW_OK);
	CHECK_STR(buf, "xyz");
	CHECK_EQ(kmem_text(k.m, BASE + 0xff8, buf, 4, &k.err), ATW_OK);
	CHECK_STR(buf, "012");
	/* Nothing lies behind the page, and nothing need. */
	mem_put(k.mem, 0x21ffd, "ab", 3);
	CHECK_EQ(kmem_text(k.m, BASE + 0x2ffd, buf, sizeof(buf), &k.err), ATW_OK);
	CHECK_STR(buf, "ab");
	end(&k);
}

TEST(says_why_not)
{
	struct machine k = machine();
	char buf[8];

	CHECK_EQ(kmem_read(k.m, BASE + 0x3000, buf, 8, &k.err), ATW_E_MISSING);
	CHECK_STR(k.err.text, "kernel address 0xffff888000003000 is not mapped");
	CHECK_EQ(kmem_read(k.m, BASE + 0x4000, buf, 8, &k.err), ATW_E_MISSING);
	CHECK_STR(k.err.text, "kernel address 0xffff888000004000: its page at 0x30000 was excluded from the dump");
	CHECK_EQ(kmem_read(k.m, BASE + 0x200000, buf, 8, &k.err), ATW_E_MISSING);
	CHECK_EQ(kmem_read(k.m, 0x1234567812345678, buf, 8, &k.err), ATW_E_DAMAGED);
	/* Half of it is there. */
	CHECK_EQ(kmem_upto(k.m, BASE + 0x2ffc, buf, 8, &k.err), 4);
	CHECK_EQ(kmem_read(k.m, BASE + 0x2ffc, buf, 8, &k.err), ATW_E_MISSING);
	end(&k);
}

TEST(blobs_are_whole_or_not_at_all)
{
	struct machine k = machine();
	struct atw_blob b = { 0 };

	CHECK_EQ(kmem_blob(k.m, BASE, 0x3000, &b, &k.err), ATW_OK);
	CHECK_EQ(b.len, 0x3000);
	CHECK(!memcmp((const char *)b.data + 0xff8, "0123456789abcdef", 16));
	CHECK_EQ(kmem_blob(k.m, BASE, 0x3001, &b, &k.err), ATW_E_MISSING);
	CHECK_EQ(kmem_blob_upto(k.m, BASE + 0x1000, 0x100000, &b, &k.err), ATW_OK);
	CHECK_EQ(b.len, 0x2000);
	CHECK_EQ(kmem_blob_upto(k.m, BASE + 0x3000, 16, &b, &k.err), ATW_E_MISSING);
	end(&k);
}

/* Thousands, short ones and long ones: each stays what it is, at the start of a line. */
TEST(blobs_stay)
{
	enum { BLOBS = 3000 };
	static const size_t len[] = { 1, 64, 100, 4096, 0x3000, 17 };
	struct machine k = machine();
	struct atw_blob *b = calloc(BLOBS, sizeof(*b));

	CHECK(b != NULL);
	for (size_t i = 0; b && i < BLOBS; i++)
		CHECK_EQ(kmem_blob(k.m, BASE, len[i % (sizeof(len) / sizeof(*len))], &b[i], &k.err), ATW_OK);
	for (size_t i = 0; b && i < BLOBS; i++) {
		CHECK_EQ(b[i].len, len[i % (sizeof(len) / sizeof(*len))]);
		CHECK_EQ((uintptr_t)b[i].data % 64, 0);
		CHECK(b[i].len < 0x3000 ||
		      !memcmp((const char *)b[i].data + 0xff8, "0123456789abcdef", 16));
	}
	free(b);
	end(&k);
}

struct touched { uint64_t pa[8]; size_t len[8]; unsigned n; };

static void on_touch(void *arg, atw_pa pa, size_t len)
{
	struct touched *t = arg;

	if (t->n < 8) {
		t->pa[t->n] = pa.u;
		t->len[t->n++] = len;
	}
}

TEST(tells_what_was_touched)
{
	struct machine k = machine();
	struct touched t = { 0 };
	char buf[16];

	kmem_on_touch(k.m, on_touch, &t);
	CHECK_EQ(kmem_read(k.m, BASE + 0xff8, buf, 16, &k.err), ATW_OK);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.pa[0], 0x10ff8);
	CHECK_EQ(t.len[0], 8);
	CHECK_EQ(t.pa[1], 0x20000);
	CHECK_EQ(t.len[1], 8);
	end(&k);
}

/* A running kernel answers out of one read what lies together. */
TEST(held_members)
{
	struct atw_source_ops live = mem_ops;
	struct machine k = machine();
	uint64_t v = 0, reads;
	uint32_t u = 0;
	char buf[8];

	live.live = true;
	k.mem->s.ops = &live;
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	kmem_hold(k.m, BASE + 0xff0, 16);
	reads = k.mem->reads;
	mem_put64(k.mem, 0x10ff8, 5);
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	CHECK_EQ(v, UINT64_C(0x3736353433323130));
	CHECK_EQ(kmem_u32(k.m, BASE + 0xffc, &u, NULL), ATW_OK);
	CHECK_EQ(u, 0x37363534);
	CHECK_EQ(kmem_read(k.m, BASE + 0xff8, buf, 8, NULL), ATW_OK);
	CHECK(!memcmp(buf, "01234567", 8));
	CHECK_EQ(k.mem->reads, reads);
	kmem_release(k.m);
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	CHECK_EQ(v, 5);
	CHECK(k.mem->reads > reads);
	/* Nothing is held of what is not there, nor across what lies apart. */
	kmem_hold(k.m, BASE + 0x4000, 8);
	CHECK(kmem_u64(k.m, BASE + 0x4000, &v, NULL) < 0);
	kmem_hold(k.m, BASE + 0xff8, 16);
	mem_put64(k.mem, 0x10ff8, 6);
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	CHECK_EQ(v, 6);
	end(&k);
}

/* Three structs of 0x30 bytes at BASE + 0x400, + 0x500, + 0x600; the link is at 0x8. */
static size_t three(struct atw_source *s, const struct atw_chain *c)
{
	size_t n = 0;

	for (uint64_t va = c->va; va <= BASE + 0x600 && n < c->max; va += 0x100) {
		c->at[n] = va;
		atw_read(s, ATW_PA(va - BASE + 0x10000), (char *)c->buf + n++ * c->len, c->len, NULL);
	}
	return n;
}

/* Readers see copies of one moment, of what the structs point to as well, until it ends. */
TEST(structs_of_a_list)
{
	struct machine k = machine();
	struct atw_source_ops ops = *k.mem->s.ops;
	const struct kmem_list_shape shape = {
		.len = 0x30, .next = 0x8, .pointer = 0x10, .behind = 4, .behind_len = 8,
	};
	struct kmem_word w[] = { { .va = BASE + 0x508, .len = 8 }, { .va = BASE + 0x1000, .len = 8 } };
	struct kmem_list *l;
	uint64_t v = 0;

	CHECK(!kmem_list_create(k.m, &shape));           /* nothing runs */
	CHECK(!kmem_list_reading(NULL));
	ops.live = true;
	ops.list = three;
	k.mem->s.ops = &ops;
	CHECK(!kmem_list_create(k.m, &(struct kmem_list_shape){ .len = 0x30, .next = 0x29 }));
	for (uint64_t at = 0x10400; at <= 0x10600; at += 0x100)
		mem_put64(k.mem, at + 0x8, at);
	mem_put64(k.mem, 0x10510, BASE + 0x1000);        /* the others point nowhere */
	l = kmem_list_create(k.m, &shape);
	CHECK(l && !kmem_list_reading(l));
	kmem_list_from(l, BASE + 0x400);
	CHECK_EQ(kmem_list_reading(l), 1);
	/* One that others follow is not read again. */
	kmem_list_from(l, BASE + 0x500);
	CHECK_EQ(kmem_list_reading(l), 1);
	mem_put64(k.mem, 0x10508, 7);
	mem_put64(k.mem, 0x20004, 8);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x508, &v, NULL), ATW_OK);
	CHECK_EQ(v, 7);
	kmem_serve(k.m, l);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x508, &v, NULL), ATW_OK);
	CHECK_EQ(v, 0x10500);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x1004, &v, NULL), ATW_OK);
	CHECK_EQ(v, 0x66656463);
	kmem_words(k.m, w, 2);
	CHECK(w[0].read && w[1].read);
	CHECK_EQ(w[0].value, 0x10500);
	CHECK_EQ(w[1].value, 0x862613938);
	/* Across the end of a part, and of what is behind. */
	CHECK(!kmem_list_find(l, BASE + 0x52c, 8));
	CHECK(kmem_list_find(l, BASE + 0x528, 8));
	CHECK(!kmem_list_find(l, BASE + 0x1008, 8));
	kmem_hold(k.m, BASE + 0x500, 0x20);
	kmem_serve(k.m, NULL);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x508, &v, NULL), ATW_OK);
	CHECK_EQ(v, 0x10500);
	kmem_release(k.m);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x508, &v, NULL), ATW_OK);
	CHECK_EQ(v, 7);
	/* The last one leads to what is not known: it is read from there. */
	kmem_list_from(l, BASE + 0x600);
	CHECK_EQ(kmem_list_reading(l), 2);
	kmem_serve(k.m, l);
	CHECK_EQ(kmem_u64(k.m, BASE + 0x508, &v, NULL), ATW_OK);
	CHECK_EQ(v, 7);
	kmem_list_forget(l);
	CHECK(!kmem_list_reading(l));
	kmem_serve(k.m, NULL);
	kmem_list_destroy(l);
	end(&k);
}

/* What was announced is read once, and then held without a read until it is forgotten. */
TEST(structs_that_are_read_ahead)
{
	struct machine k = machine();
	struct kmem_ahead *a = kmem_ahead_create(k.m);
	uint64_t v = 0, reads;

	CHECK(a);
	kmem_ahead_add(a, BASE + 0xff8, 8);
	kmem_ahead_add(a, BASE + 0x1000, 8);
	kmem_ahead_add(a, BASE + 0xff8, 8);
	CHECK(!kmem_ahead_hold(a, BASE + 0xff8, 8));     /* not read so far */
	kmem_ahead_read(a);
	CHECK_EQ(kmem_reads(k.m), 2);
	reads = k.mem->reads;
	CHECK(kmem_ahead_hold(a, BASE + 0xff8, 8));
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	CHECK_EQ(v, UINT64_C(0x3736353433323130));
	kmem_release(k.m);
	CHECK(!memcmp(kmem_ahead_find(a, BASE + 0x1000, 8), "89abcdef", 8));
	CHECK_EQ(k.mem->reads, reads);
	/* Another length, an address inside, and what lies apart or is not there. */
	CHECK(!kmem_ahead_hold(a, BASE + 0xff8, 4));
	CHECK(!kmem_ahead_hold(a, BASE + 0xffc, 4));
	kmem_ahead_add(a, BASE + 0xffc, 8);
	kmem_ahead_add(a, BASE + 0x3000, 8);
	kmem_ahead_add(a, BASE + 0x4000, 8);
	kmem_ahead_read(a);
	CHECK(!kmem_ahead_find(a, BASE + 0xffc, 8));
	CHECK(!kmem_ahead_find(a, BASE + 0x3000, 8));
	CHECK(!kmem_ahead_find(a, BASE + 0x4000, 8));
	CHECK(kmem_ahead_same(a, 2));
	mem_put64(k.mem, 0x20000, 5);
	CHECK(kmem_ahead_same(a, 1));
	CHECK(!kmem_ahead_same(a, 2));
	kmem_ahead_forget(a);
	CHECK(!kmem_ahead_hold(a, BASE + 0xff8, 8));
	kmem_ahead_destroy(a);
	end(&k);
}

/* Where more pages lie than are met at a time is found once. */
TEST(slots_that_are_kept)
{
	struct atw_source_ops live = mem_ops;
	struct machine k = machine();
	uint64_t v = 0, reads = 0;

	live.live = true;
	k.mem->s.ops = &live;
	for (unsigned i = 16; i < 64; i++) {
		mem_put64(k.mem, 0x4000 + i * 8, (0x40000 + i * 0x1000) | 3);
		mem_put64(k.mem, 0x40000 + i * 0x1000, i);
	}
	for (unsigned round = 0; round < 2; round++) {
		reads = k.mem->reads;
		for (unsigned i = 16; i < 64; i++) {
			CHECK_EQ(kmem_u64(k.m, BASE + i * 0x1000, &v, NULL), ATW_OK);
			CHECK_EQ(v, i);
		}
	}
	/* But for those that have to share a place. */
	CHECK(k.mem->reads - reads < 48 + 48);
	end(&k);
}

/* A dump does not change: nothing is copied. */
TEST(dumps_are_not_held)
{
	struct machine k = machine();
	uint64_t v = 0;

	kmem_hold(k.m, BASE + 0xff8, 8);
	mem_put64(k.mem, 0x10ff8, 7);
	CHECK_EQ(kmem_u64(k.m, BASE + 0xff8, &v, NULL), ATW_OK);
	CHECK_EQ(v, 7);
	end(&k);
}
