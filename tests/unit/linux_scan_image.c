/* SPDX-License-Identifier: GPL-2.0-or-later */
/* linux_scan_image.c - VMCOREINFO by the pointers to it in the kernel's image. */
#include "linux/search.h"

#include "memory.h"
#include "test.h"

static const char text[] = "OSRELEASE=6.1.0-test\nPAGESIZE=4096\nCRASHTIME=1\n"
			   "SYMBOL(init_uts_ns)=ffffffff82a00000\n"
			   "SYMBOL(_stext)=ffffffff81000000\n"
			   "NUMBER(phys_base)=50331648\nKERNELOFFSET=0\n"
			   "SYMBOL(swapper_pg_dir)=ffffffff80010000\n"
			   "SYMBOL(node_online_map)=ffffffff82b00000\n"
			   "SIZE(page)=64\nOFFSET(page.flags)=0\n";

static const struct atw_source_ops ops = {
	.name = "machine", .help = "a test's",
	.close = mem_close, .read = mem_read, .extent = mem_extent, .fact = mem_fact,
};

static struct memory *machine(void)
{
	struct memory *m = calloc(1, sizeof(*m));

	m->s.ops = &ops;
	return m;
}

static void machine_free(struct memory *m)
{
	mem_close(&m->s);
	free(m);
}

struct found {
	uint64_t at[8];
	unsigned n, want;        /* the one that is accepted; 0: none is */
};

static int on_text(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at)
{
	struct found *f = arg;

	if (f->n < 8)
		f->at[f->n] = vi->len == sizeof(text) - 1 ? at.u : 0;
	return ++f->n == f->want;
}

/* Two pointers and the size between them, and what they point to. */
static void put_variables(struct memory *m, uint64_t at, uint64_t map, uint64_t note,
			  uint64_t data)
{
	mem_put64(m, at, map + note);
	mem_put64(m, at + 8, sizeof(text) - 1);
	mem_put64(m, at + 16, map + data);
	mem_put(m, note + 24, text, sizeof(text));
	mem_put(m, data, text, sizeof(text));
}

/* Of a part of the kernel's image. */
static void put_resource(struct memory *m, uint64_t at, uint64_t start, uint64_t last)
{
	mem_put64(m, at, start);
	mem_put64(m, at + 8, last);
	mem_put64(m, at + 16, 0xffffffff82345678);
	mem_put64(m, at + 24, 0x81000200);
}

/* The table of the real-mode trampoline, and an image of two large pages at 64 MiB. */
static struct memory *x86(bool five)
{
	struct memory *m = machine();
	uint64_t root = 0x9c000;

	mem_put64(m, 0x1000 - 8, 0x55);
	if (five) {
		mem_put64(m, root + 0xff8, 0x3010067);
		root = 0x3010000;
	}
	mem_put64(m, root + 0xff8, 0x3011063);
	mem_put64(m, 0x3011ff0, 0x3012063);
	mem_put64(m, 0x3011ff8, 0x3013067);
	mem_put64(m, 0x3012040, 0x40001e1);
	mem_put64(m, 0x3012048, 0x3014063);              /* of small pages */
	return m;
}

TEST(x86_of_four_and_five_levels)
{
	for (int five = 0; five < 2; five++) {
		struct memory *m = x86(five);
		struct found f = { .want = 1 };

		put_variables(m, 0x4300ab0, 0xffff9d8b40000000, 0x45001000, 0x45000000);
		CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
		CHECK_EQ(f.n, 1);
		CHECK_EQ(f.at[0], 0x45001018);
		/* The first 640 KiB, three or four tables, the image's pages. */
		CHECK(m->reads < 160 + 4 + 1024 + 8);
		machine_free(m);
	}
}

/* 12 MiB more of the image, which can be written; .bss is its last 5 MiB but one page. */
static struct memory *x86_with_bss(void)
{
	struct memory *m = x86(false);

	for (uint64_t i = 0; i < 6; i++)
		mem_put64(m, 0x3012050 + 8 * i, 0x4400000 + (i << 21) + 0x1e3);
	put_resource(m, 0x443f040, 0x4a00000, 0x4efefff);
	put_resource(m, 0x443f080, 0x4400000, 0x44fffff);
	put_resource(m, 0x443f0c0, 0x4000000, 0x40fffff);
	return m;
}

TEST(x86_by_the_resource_of_bss)
{
	/* Near its start; near its end, behind zeroes; behind it; in front of it. */
	static const struct { uint64_t at, most; } all[] = {
		{ 0x4a87ff8, 68 + 144 }, { 0x4ef0008, 68 + 352 + 16 },
		{ 0x4eff010, 68 + 352 + 272 + 16 }, { 0x4900010, 68 + 352 + 1792 + 64 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct memory *m = x86_with_bss();
		struct found f = { .want = 1 };
		put_variables(m, all[i].at, 0xffff9d8b40000000, 0x45001000, 0x45000000);
		/* The first MiB is in use; then there are 4 of zeroes. */
		for (uint64_t at = 0x4a00000; at < 0x4eff000; at += 0x1000)
			mem_put64(m, at + 0x800, at < 0x4b00000);
		CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
		CHECK_EQ(f.at[0], 0x45001018);
		CHECK(m->reads <= 160 + 4 + 8 + all[i].most);
		machine_free(m);
	}
}

TEST(resources_that_are_not_those_of_the_image)
{
	/* Outside of it, empty, no RAM, far away from the start of the data. */
	static const uint64_t all[][2] = {
		{ 0x3f00000, 0x4efefff }, { 0x4a00000, 0x7000000 }, { 0x4a00000, 0x4a00000 },
		{ 0x4a00800, 0x4efefff },
	};
	struct memory *m = x86_with_bss();
	struct found f = { .want = 1 };

	put_variables(m, 0x4efdff0, 0xffff9d8b40000000, 0x45001000, 0x45000000);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		put_resource(m, 0x443f040 + 64 * i, all[i][0], all[i][1]);
	CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
	CHECK_EQ(f.at[0], 0x45001018);
	machine_free(m);
}

TEST(a_text_that_is_not_accepted_is_followed_by_others)
{
	struct memory *m = x86(false);
	struct found f = { 0 };

	put_variables(m, 0x4300ab0, 0xffff9d8b40000000, 0x5001000, 0x5000000);
	/* In the other order, across two pages; it is nearer to the end. */
	put_variables(m, 0x4380ff8, 0xffff9d8b40000000, 0x6000000, 0x6001000);
	CHECK_EQ(scan_image(&m->s, on_text, &f), 0);
	CHECK_EQ(f.n, 4);
	CHECK_EQ(f.at[0], 0x6000018);
	CHECK_EQ(f.at[1], 0x6001000);
	CHECK_EQ(f.at[2], 0x5001018);
	CHECK_EQ(f.at[3], 0x5000000);
	machine_free(m);
}

static void headed(const char *magic, uint64_t base, uint64_t map)
{
	struct memory *m = machine();
	struct found f = { .want = 1 };

	mem_put64(m, base, 0x5a4d);
	mem_put64(m, base + 0x200000 + 16, 0x1a00000);
	mem_put(m, base + 0x200000 + 56, magic, 4);
	put_variables(m, base + 0x1b00ab8, map, base + 0x8001000, base + 0x8003000);
	CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
	CHECK_EQ(f.n, 1);
	CHECK_EQ(f.at[0], base + 0x8001018);
	machine_free(m);
}

TEST(arm64_and_riscv64_by_the_header_of_the_image)
{
	headed("ARM\x64", 0x40000000, 0xffff800000000000 - 0x40000000);
	/* A direct map at a random GiB. */
	headed("ARM\x64", 0x40000000, 0xffff8a7fc0000000);
	headed("RSC\x05", 0x80000000, 0xffffffd600000000 - 0x80000000);
	headed("RSC\x05", 0x880000000, 0xff60000000000000);
}

TEST(the_size_beside_one_pointer_alone)
{
	for (int before = 0; before < 2; before++) {
		struct memory *m = x86(false);
		struct found f = { .want = 1 };
		uint64_t at = 0x4300ab8;

		mem_put64(m, at - 8, 0xffff9d8b45003000);
		mem_put64(m, at, before ? sizeof(text) - 1 : 0xffff9d8b45000000);
		mem_put64(m, at + 8, before ? 0xffff9d8b45000000 : sizeof(text) - 1);
		/* Round sizes are those of other things. */
		for (uint64_t i = 0; i < 1000; i++) {
			mem_put64(m, 0x4380000 + 16 * i, 0xffff9d8b45000000);
			mem_put64(m, 0x4380008 + 16 * i, i % 2 ? 4096 * (1 + i % 16) : 512);
		}
		mem_put(m, 0x45000000, text, sizeof(text));
		CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
		CHECK_EQ(f.n, 1);
		CHECK_EQ(f.at[0], 0x45000000);
		machine_free(m);
	}
}

TEST(pages_that_are_missing_are_left_out)
{
	struct memory *m = x86(false);
	struct found f = { .want = 1 };

	put_variables(m, 0x4300ab0, 0xffff9d8b40000000, 0x5001000, 0x5000000);
	mem_kind(m, 0x4301000, 0x3000, ATW_EXCLUDED);
	mem_kind(m, 0x5001000, 0x1000, ATW_EXCLUDED);
	CHECK_EQ(scan_image(&m->s, on_text, &f), 1);
	CHECK_EQ(f.at[0], 0x5000000);
	machine_free(m);
}

TEST(what_points_nowhere_is_tried_some_times_only)
{
	struct memory *m = x86(false);
	struct found f = { .want = 1 };

	for (uint64_t at = 0x4200000; at < 0x4240000; at += 24) {
		mem_put64(m, at, 0xffff9d8b45003000);
		mem_put64(m, at + 8, 4000);
		mem_put64(m, at + 16, 0xffff9d8b45004000);
	}
	mem_put64(m, (uint64_t)1 << 46, 1);
	m->reads = 0;
	CHECK_EQ(scan_image(&m->s, on_text, &f), 0);
	CHECK_EQ(f.n, 0);
	CHECK(m->reads < 4000);
	machine_free(m);
}

TEST(tables_that_lead_to_themselves)
{
	struct memory *m = machine();
	struct found f = { .want = 1 };

	for (uint64_t at = 0; at < 0xa0000; at += 0x1000)
		for (uint64_t i = 0; i < 512; i++)
			mem_put64(m, at + 8 * i, 0x9c063);
	CHECK_EQ(scan_image(&m->s, on_text, &f), 0);
	machine_free(m);
}

TEST(no_memory_at_all)
{
	struct memory *m = machine();
	struct found f = { .want = 1 };

	CHECK_EQ(scan_image(&m->s, on_text, &f), 0);
	CHECK_EQ(f.n, 0);
	machine_free(m);
}
