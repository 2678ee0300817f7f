/* SPDX-License-Identifier: GPL-2.0-or-later */
/* struct pages that are announced are read together, neighbours in one part. */
#include "linux/memmap.h"

#include "memory.h"
#include "test.h"

/* Struct pages of 64 bytes from 0x10000 on, each filled with its frame's number. */
#define BASE UINT64_C(0xffff888000000000)
enum { SIZE = 64, FRAMES = 6000, FIRST = 0x10000, UNREAD = 1000 };
/* Struct pages that there is room for; of that many frames they are in a part. */
enum { ROOM = 4096, BLOCK = 64 };

struct machine {
	struct memory *mem;
	struct atw_source *src;
	struct kmem *m;
	struct memmap_ahead *a;
	unsigned reads;
};

static void count_read(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	(void)pa, (void)len, (void)result;
	++*(unsigned *)arg;
}

static void begin(struct machine *k)
{
	struct mmu_space sp = { .paging = *atw_paging_find("x86_64-4"),
				.low = { ATW_PA(0x1000), true } };

	*k = (struct machine){ .mem = mem_new() };
	mem_put64(k->mem, 0x1000 + (BASE >> 39 & 511) * 8, 0x2003);
	mem_put64(k->mem, 0x2000, 0x3003);
	mem_put64(k->mem, 0x3000, 0x4003);
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t bytes[SIZE / 8];

		for (unsigned b = 0; b < SIZE / 8; b++)
			bytes[b] = i;
		if (i / 64 != UNREAD / 64)
			mem_put(k->mem, FIRST + i * SIZE, bytes, SIZE);
		mem_put64(k->mem, 0x4000 + i / 64 * 8, (FIRST + i / 64 * 0x1000) | 3);
	}
	CHECK_EQ(atw_source_trace(&k->mem->s, count_read, &k->reads, &k->src, NULL), ATW_OK);
	sp.mem = k->src;
	CHECK_EQ(kmem_open(&sp, &k->m, NULL), ATW_OK);
	k->a = memmap_ahead_create(k->src, SIZE);
	CHECK(k->a);
}

static void end(struct machine *k)
{
	memmap_ahead_destroy(k->a);
	kmem_close(k->m);
	/* The wrapper owns what it wraps, but not how that was made. */
	k->src->below = NULL;
	atw_source_close(k->src);
	mem_free(k->mem);
}

static void add(struct machine *k, uint64_t pfn)
{
	memmap_ahead_add(k->a, pfn, 1, ATW_PA(FIRST + pfn * SIZE));
}

static const uint8_t *find(struct machine *k, uint64_t pfn)
{
	uint64_t n;

	return memmap_ahead_find(k->a, k->m, pfn, &n);
}

static bool finds(struct machine *k, uint64_t pfn)
{
	const uint8_t *p = find(k, pfn);

	return p && get_le64(p) == pfn && get_le64(p + SIZE - 8) == pfn;
}

TEST(neighbours_are_one_part)
{
	struct machine k;

	begin(&k);
	CHECK(!find(&k, 7));
	/* Downwards, and every other one before the rest. */
	for (unsigned i = 0; i < 100; i++)
		add(&k, 600 - i);
	for (unsigned i = 0; i < 100; i++)
		add(&k, 100 + (i * 2) % 100 + (i >= 50));
	for (unsigned i = 0; i < 100; i++)
		CHECK(finds(&k, 600 - i));
	/* 501 to 600, and 100 to 199. */
	CHECK_EQ(k.reads, 6);
	for (unsigned i = 0; i < 100; i++) {
		CHECK(finds(&k, 100 + (i * 2) % 100 + (i >= 50)));
		CHECK(finds(&k, 100 + (i * 2) % 100 + (i >= 50)));
	}
	CHECK_EQ(k.reads, 6);
	/* All were asked for: these are read anew. */
	add(&k, 100);
	CHECK(!find(&k, 600));
	CHECK(finds(&k, 100));
	CHECK_EQ(k.reads, 7);
	end(&k);
}

/* As many as there is room for, again and again, though few of them are asked for. */
TEST(what_is_forgotten_leaves_room)
{
	struct machine k;

	begin(&k);
	for (unsigned round = 0; round < 3; round++) {
		memmap_ahead_anew(k.a);
		for (unsigned i = 0; i < ROOM; i++)
			add(&k, 640 * round + i);
		for (unsigned i = 0; i < 50; i += 5)
			CHECK(finds(&k, 640 * round + i));
		CHECK_EQ(k.reads, (round + 1) * ROOM / BLOCK);
	}
	memmap_ahead_anew(k.a);
	CHECK(!find(&k, 1300));
	end(&k);
}

TEST(in_whatever_order)
{
	struct machine k;
	uint64_t x = 88172645463325252;

	begin(&k);
	for (unsigned round = 0; round < 50; round++) {
		uint64_t pfn[700];
		unsigned n, added, found = 0;

		for (n = 0; n < 700; n++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			pfn[n] = n && x % 4 ? (pfn[n - 1] + 1) % 900 : x % 900;
		}
		added = (unsigned)(x % 700) + 1;
		for (unsigned i = 0; i < added; i++)
			add(&k, pfn[i]);
		/* It may not be there, for there is no more room; but never another's. */
		for (unsigned i = 0; i < added; i++) {
			const uint8_t *p = find(&k, pfn[i]);

			found += p != NULL;
			CHECK(!p || get_le64(p) == pfn[i]);
		}
		CHECK(round || found == added);
	}
	end(&k);
}

TEST(a_few_at_a_time)
{
	struct machine k;

	begin(&k);
	for (unsigned i = 0; i < 900; i++) {
		for (unsigned n = i ? i + 8 : 0; n <= i + 8; n++)
			add(&k, n);
		finds(&k, i);
	}
	CHECK(k.reads < 150);
	end(&k);
}

TEST(stretches)
{
	struct machine k;
	uint64_t n = 0;
	const uint8_t *p;

	begin(&k);
	memmap_ahead_add(k.a, 300, 100, ATW_PA(FIRST + 300 * SIZE));
	memmap_ahead_add(k.a, 400, 20, ATW_PA(FIRST + 400 * SIZE));
	memmap_ahead_add(k.a, 200, 100, ATW_PA(FIRST + 200 * SIZE));
	memmap_ahead_add(k.a, UNREAD / 64 * 64 - 8, 16,
			 ATW_PA(FIRST + (UNREAD / 64 * 64 - 8) * SIZE));
	p = memmap_ahead_find(k.a, k.m, 310, &n);
	CHECK(p && get_le64(p + 9 * SIZE) == 319);
	CHECK_EQ(n, 10);
	p = memmap_ahead_find(k.a, k.m, 400, &n);
	CHECK(p && get_le64(p + 19 * SIZE) == 419);
	CHECK_EQ(n, 20);
	p = memmap_ahead_find(k.a, k.m, 299, &n);
	CHECK(p && get_le64(p) == 299);
	CHECK_EQ(n, 21);
	CHECK(!find(&k, 420));
	/* 200 to 419, and those around UNREAD. */
	CHECK_EQ(k.reads, 4 + 2);
	p = memmap_ahead_find(k.a, k.m, UNREAD / 64 * 64 - 6, &n);
	CHECK(p && get_le64(p) == UNREAD / 64 * 64 - 6);
	CHECK_EQ(n, 6);
	CHECK(!find(&k, UNREAD / 64 * 64));
	/* No more than there is room for. */
	memmap_ahead_anew(k.a);
	memmap_ahead_add(k.a, 10, 5000, ATW_PA(FIRST + 10 * SIZE));
	CHECK(finds(&k, 10 + ROOM - 1));
	CHECK(!find(&k, 10 + ROOM));
	memmap_ahead_anew(k.a);
	/* They are too far from each other for so many. */
	for (unsigned i = 1; i <= 1000; i++)
		memmap_ahead_add(k.a, (uint64_t)i << 32, 1, ATW_PA((uint64_t)i << 38));
	add(&k, 5);
	CHECK(!find(&k, 5));
	memmap_ahead_anew(k.a);
	add(&k, 5);
	CHECK(finds(&k, 5));
	end(&k);
}

/* Those between two that are close are read as well, and are found. */
TEST(small_gaps_are_read)
{
	struct machine k;
	uint64_t n = 0;

	begin(&k);
	add(&k, 64);
	add(&k, 73);
	add(&k, 90);
	CHECK(memmap_ahead_find(k.a, k.m, 64, &n));
	CHECK_EQ(n, 10);
	CHECK(finds(&k, 70));
	CHECK(!find(&k, 74));
	CHECK(!find(&k, 63));
	CHECK_EQ(k.reads, 2);
	/* One that was read between two others is not read again. */
	add(&k, 70);
	add(&k, 91);
	CHECK(finds(&k, 70));
	CHECK(finds(&k, 91));
	CHECK_EQ(k.reads, 3);
	end(&k);
}

/* Struct pages of blocks below this frame are contiguous. */
static bool place_of(void *arg, uint64_t pfn, atw_pa *ret)
{
	const uint64_t *end = arg;

	if (pfn % MEMMAP_BLOCK)
		abort();
	*ret = ATW_PA(FIRST + pfn * SIZE);
	return pfn < *end;
}

/* By addresses: what has no place is left out. */
TEST(frames_by_their_addresses)
{
	const uint64_t pa[] = { 0x140000, 0x13f000, 0x3e8000, 0x141000 };
	uint64_t end_at = 768;
	struct machine k;

	begin(&k);
	CHECK_EQ(memmap_ahead_add_frames(k.a, pa, 4, 12, place_of, &end_at), 4);
	CHECK(finds(&k, 0x140));
	CHECK(finds(&k, 0x13f));
	CHECK(!find(&k, 0x3e8));
	CHECK(finds(&k, 0x141));
	end(&k);
}

/* Each of another block, until there is no room for one more. */
TEST(frames_that_there_is_no_room_for)
{
	uint64_t pa[600], end_at = UINT64_MAX;
	struct machine k;

	for (uint64_t i = 0; i < 600; i++)
		pa[i] = i * MEMMAP_BLOCK << 12;
	begin(&k);
	CHECK_EQ(memmap_ahead_add_frames(k.a, pa, 600, 12, place_of, &end_at), 512);
	end(&k);
}

TEST(what_is_not_there)
{
	struct machine k;
	struct atw_err err = { 0 };
	const uint8_t *p;

	begin(&k);
	add(&k, UNREAD / 64 * 64 - 1);
	add(&k, UNREAD / 64 * 64);
	CHECK(finds(&k, UNREAD / 64 * 64 - 1));
	CHECK(!find(&k, UNREAD / 64 * 64));
	CHECK(!memmap_ahead_page(k.a, k.m, BASE + UNREAD / 64 * 0x1000, &err));
	CHECK(strstr(err.text, "is not in the source"));
	p = memmap_ahead_page(k.a, k.m, BASE + 0x1000, &err);
	CHECK(p && get_le64(p + SIZE) == 65);
	k.reads = 0;
	CHECK(memmap_ahead_page(k.a, k.m, BASE + 0x1000, NULL) == p);
	CHECK_EQ(k.reads, 0);
	/* What was read before the last of those that were added is old. */
	add(&k, 5);
	CHECK(finds(&k, 5));
	k.reads = 0;
	CHECK(memmap_ahead_page(k.a, k.m, BASE + 0x1000, NULL));
	CHECK(k.reads > 0);
	end(&k);
}
