/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct page of three generations is decoded as the kernel made it, and random bytes of
 * it do no harm.
 */
#include "linux/page.h"

#include "linux/kpf.h"
#include "linux/memmap.h"
#include "kernel_memory.h"
#include "target/memory_vmas.h"
#include "test.h"

/* mem_map lies at PAGES; where members are is as in real kernels. */
enum {
	MAP = 0x100, PAGES = 0x1000, SIZE = 64, COUNT = 512, ALL = 960, LEFT_OVER = 0x808,
	FLAGS = 0, HEAD = 8, MAPPING = 24, PRIVATE = 40, MAPCOUNT = 48, REFCOUNT = 52,
};
enum { LOCKED, UPTODATE, LRU, RESERVED, SWAPBACKED, SWAPCACHE, HEADBIT, HWPOISON,
       SECOND = 9, SLAB = 12, REFERENCED = 16, DIRTY, ACTIVE };
enum generation { PAGES_510, PAGES_69, FOLIOS_612, GENERATIONS };

struct fixture {
	struct kmemory *mem;
	struct atw_kernel k;
	struct atw_memmap *m;
};

static void constant(struct needs *n, enum need_const c, int64_t value)
{
	n->constant[c] = value;
	n->have_const[c] = true;
}

static void flag_bits(struct needs *n)
{
	static const enum need_const all[] = {
		C_PG_referenced, C_PG_dirty, C_PG_active, C_PG_writeback, C_PG_reclaim,
		C_PG_unevictable, C_PG_private,
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		constant(n, all[i], REFERENCED + i);
	constant(n, C_PG_locked, LOCKED);
	constant(n, C_PG_uptodate, UPTODATE);
	constant(n, C_PG_lru, LRU);
	constant(n, C_PG_reserved, RESERVED);
	constant(n, C_PG_swapbacked, SWAPBACKED);
	constant(n, C_PG_swapcache, SWAPCACHE);
	constant(n, C_PG_head, HEADBIT);
	constant(n, C_PG_hwpoison, HWPOISON);
}

static void layout(struct kmemory *k, enum generation g)
{
	k->n.size[S_page] = SIZE;
	kset(k, N_page_flags, FLAGS, 8);
	kset(k, N_page_head, HEAD, 8);
	kset(k, N_page_mapping, MAPPING, 8);
	kset(k, N_page_private, PRIVATE, 8);
	kset(k, N_page_mapcount, MAPCOUNT, 4);
	kset(k, N_page_refcount, REFCOUNT, 4);
	flag_bits(&k->n);
	switch (g) {
	case PAGES_510:
		kset(k, N_page_dtor, 16, 1);
		kset(k, N_page_order, 17, 1);
		kset(k, N_page_entire, 20, 4);
		constant(&k->n, C_dtor_hugetlb, 2);
		constant(&k->n, C_PG_double_map, SECOND);
		constant(&k->n, C_type_slab, SLAB);
		break;
	case PAGES_69:
		kset(k, N_folio_flags, SIZE, 8);
		kset(k, N_folio_entire, SIZE + 20, 4);
		kset(k, N_folio_mapped, SIZE + 24, 4);
		constant(&k->n, C_type_slab, SLAB);
		constant(&k->n, C_PG_large_rmappable, SECOND);
		break;
	default:
		kset(k, N_folio_flags, SIZE, 8);
		kset(k, N_folio_mapcount, SIZE + 16, 4);
		kset(k, N_folio_entire, SIZE + 20, 4);
		constant(&k->n, C_PG_large_rmappable, SECOND);
		constant(&k->n, C_type_buddy, 0xf0);
		constant(&k->n, C_type_offline, 0xf1);
		constant(&k->n, C_type_table, 0xf2);
		constant(&k->n, C_type_hugetlb, 0xf4);
		constant(&k->n, C_type_slab, 0xf5);
		constant(&k->n, C_type_large_kmalloc, 0xf8);
		k->n.size[S_page_snapshot] = 64;
	}
}

static uint64_t at(uint64_t pfn) { return PAGES + pfn * SIZE; }

/* A page without an owner: not mapped, one reference. */
static void plain(struct fixture *f, uint64_t pfn)
{
	memset(f->mem->bytes + at(pfn), 0, SIZE);
	kput(f->mem, at(pfn) + MAPCOUNT, UINT32_MAX, 4);
	kput(f->mem, at(pfn) + REFCOUNT, 1, 4);
}

static bool start(struct fixture *f, enum generation g)
{
	struct atw_err err = { 0 };

	*f = (struct fixture){ .mem = kmemory_new() };
	layout(f->mem, g);
	f->mem->n.symbol[Y_mem_map] = KBASE + MAP;
	kpoint(f->mem, MAP, PAGES);
	for (uint64_t i = 0; i < COUNT; i++)
		plain(f, i);
	f->k.mem = &f->mem->s;
	f->k.own = f->k.space = f->mem->space;
	f->k.have_own = true;
	f->k.kmem = f->mem->m;
	f->k.sought_kmem.done = true;
	f->k.needs = f->mem->n;
	f->k.needs_done = f->k.symbols_done = true;
	if (atw_memmap_open(&f->k, &f->m, &err) == ATW_OK)
		return true;
	fprintf(stderr, "%s\n", err.text);
	kmemory_free(f->mem);
	return false;
}

static void stop(struct fixture *f)
{
	atw_memmap_close(f->m);
	kmemory_free(f->mem);
}

static void put(struct fixture *f, uint64_t pfn, unsigned member, uint64_t value,
		unsigned len)
{
	kput(f->mem, at(pfn) + member, value, len);
}

/* 2^order pages from pfn on; the tails point to the head. */
static void compound(struct fixture *f, uint64_t pfn, unsigned order, uint64_t flags)
{
	put(f, pfn, FLAGS, flags | 1u << HEADBIT, 8);
	for (uint64_t i = 1; i < (uint64_t)1 << order; i++)
		put(f, pfn + i, HEAD, (KBASE + at(pfn)) | 1, 8);
	put(f, pfn + 1, 16, UINT32_MAX, 4);
	put(f, pfn + 1, 20, UINT32_MAX, 4);
	if (f->m->abi.order != NEED_NONE)
		put(f, pfn + 1, 17, order, 1);
	else
		put(f, pfn + 1, FLAGS, order, 8);
}

/* Drops the cached struct pages, so that a change by the test is read. */
static void drop_cache(struct fixture *f)
{
	struct zero_pages zero = f->m->zero;

	atw_memmap_close(f->m);
	if (atw_memmap_open(&f->k, &f->m, NULL) < 0)
		abort();
	f->m->zero = zero;
}

static struct lnx_page page(struct fixture *f, uint64_t pfn)
{
	struct lnx_page p = { .flags = UINT64_MAX };

	drop_cache(f);
	atw_memmap_page(f->m, pfn, &p, NULL);
	return p;
}

#define ANON_PAGE (kpf(KPF_UPTODATE) | kpf(KPF_LRU) | kpf(KPF_SWAPBACKED) | \
		   kpf(KPF_MMAP) | kpf(KPF_ANON))
#define ANON_BITS (1u << UPTODATE | 1u << LRU | 1u << SWAPBACKED)

TEST(small_pages)
{
	for (unsigned g = 0; g < GENERATIONS; g++) {
		struct fixture f;

		CHECK(start(&f, g));
		put(&f, 3, FLAGS, ANON_BITS, 8);
		put(&f, 3, MAPPING, KBASE | 1, 8);
		put(&f, 3, MAPCOUNT, 4, 4);
		put(&f, 3, REFCOUNT, 7, 4);
		CHECK_EQ(page(&f, 3).flags, ANON_PAGE);
		CHECK_EQ(page(&f, 3).count, 5);
		CHECK_EQ(page(&f, 3).refcount, 7);
		CHECK_EQ(page(&f, 3).head, 3);
		CHECK_EQ(page(&f, 3).order, 0);
		put(&f, 3, MAPPING, KBASE | 3, 8);
		CHECK_EQ(page(&f, 3).flags, ANON_PAGE | kpf(KPF_KSM));
		/* The swap cache's bit means other things in pages of files. */
		put(&f, 4, FLAGS, 1u << SWAPCACHE | 1u << LOCKED, 8);
		CHECK_EQ(page(&f, 4).flags, kpf(KPF_LOCKED));
		put(&f, 4, FLAGS, 1u << SWAPCACHE | 1u << SWAPBACKED | 1u << HWPOISON, 8);
		CHECK_EQ(page(&f, 4).flags, kpf(KPF_SWAPCACHE) | kpf(KPF_SWAPBACKED) |
					    kpf(KPF_HWPOISON));
		stop(&f);
	}
}

TEST(large_pages_of_a_process)
{
	for (unsigned g = 0; g < GENERATIONS; g++) {
		uint64_t all = kpf(KPF_MMAP) | kpf(KPF_ANON) | kpf(KPF_THP), tail;
		struct fixture f;

		CHECK(start(&f, g));
		compound(&f, 16, 3, ANON_BITS);
		if (f.m->abi.rmappable)
			put(&f, 17, FLAGS, 3 | 1u << SECOND, 8);
		put(&f, 16, MAPPING, KBASE | 1, 8);
		put(&f, 17, 20, 1, 4);           /* mapped as a whole, twice */
		put(&f, 17, 16, g == FOLIOS_612 ? 2 : g == PAGES_510 ? 0x301 : 0, 4);
		put(&f, 19, MAPCOUNT, 0, 4);     /* and one page by itself */
		tail = g == FOLIOS_612 ? ANON_PAGE | all : all;
		CHECK_EQ(page(&f, 16).flags, ANON_PAGE | all | kpf(KPF_COMPOUND_HEAD));
		CHECK_EQ(page(&f, 19).flags, tail | kpf(KPF_COMPOUND_TAIL));
		CHECK_EQ(page(&f, 16).count, 2);
		CHECK_EQ(page(&f, 19).count, 3);
		CHECK_EQ(page(&f, 19).head, 16);
		CHECK_EQ(page(&f, 19).order, 3);
		stop(&f);
	}
}

/* Since 7.1: a mask that leads from a tail's own address to its head's. */
TEST(heads_by_mask)
{
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	compound(&f, 64, 4, 0);
	for (uint64_t i = 1; i < 16; i++)
		put(&f, 64 + i, HEAD, -(uint64_t)(16 * SIZE) | 1, 8);
	put(&f, 65, FLAGS, 4, 8);
	CHECK_EQ(page(&f, 79).head, 64);
	CHECK_EQ(page(&f, 79).flags, kpf(KPF_COMPOUND_TAIL));
	CHECK_EQ(page(&f, 64).flags, kpf(KPF_COMPOUND_HEAD));
	stop(&f);
}

/* Tails of two folios have the same mask then: they are not alike for that. */
TEST(tails_of_another_folio)
{
	struct page_like like;
	struct lnx_page p;
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	for (uint64_t folio = 64; folio <= 128; folio += 64) {
		compound(&f, folio, 4, folio == 64 ? 1u << LRU : ANON_BITS);
		for (uint64_t i = 1; i < 16; i++)
			put(&f, folio + i, HEAD, -(uint64_t)(16 * SIZE) | 1, 8);
		put(&f, folio + 1, FLAGS, 4, 8);
	}
	drop_cache(&f);
	CHECK_EQ(memmap_keep_nothing(&f.m->where, NULL), ATW_OK);
	memmap_soon_run(f.m, 64, 80);
	CHECK_EQ(atw_memmap_page(f.m, 136, &p, NULL), ATW_OK);
	CHECK(memmap_like(f.m, &p, &like));
	CHECK_EQ(memmap_same(f.m, &like, 137, 20), 7);
	CHECK_EQ(memmap_same(f.m, &like, 130, 20), 14);
	CHECK_EQ(memmap_same(f.m, &like, 70, 5), 0);
	stop(&f);
}

/* Up to 7.0 the first struct page of each page of a hugetlb page's may be a copy. */
TEST(heads_that_are_none)
{
	struct fixture f;

	CHECK(start(&f, PAGES_69));
	compound(&f, 0, 7, 0);
	put(&f, 1, FLAGS, 7, 8);
	put(&f, 64, FLAGS, 1u << HEADBIT, 8);
	put(&f, 64, HEAD, 0, 8);
	CHECK_EQ(page(&f, 64).head, 0);
	CHECK(page(&f, 64).flags & kpf(KPF_COMPOUND_TAIL));
	CHECK(!(page(&f, 0).flags & kpf(KPF_COMPOUND_TAIL)));
	stop(&f);
}

TEST(types)
{
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	put(&f, 5, MAPCOUNT, 0xf2000000, 4);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_PGTABLE));
	CHECK_EQ(page(&f, 5).count, 0);
	put(&f, 5, MAPCOUNT, 0xf1000000, 4);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_OFFLINE));
	put(&f, 5, MAPCOUNT, 0xf5000000, 4);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_SLAB));
	stop(&f);
	CHECK(start(&f, PAGES_510));
	put(&f, 5, MAPCOUNT, ~0x200u, 4);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_PGTABLE));
	put(&f, 5, MAPCOUNT, ~0x100u, 4);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_OFFLINE));
	put(&f, 5, MAPCOUNT, 77, 4);
	put(&f, 5, FLAGS, 1u << SLAB, 8);
	CHECK_EQ(page(&f, 5).flags, kpf(KPF_SLAB));
	CHECK_EQ(page(&f, 5).count, 0);
	stop(&f);
}

/* Only the first page of a free block is marked. */
TEST(free_blocks)
{
	struct fixture f;

	CHECK(start(&f, PAGES_510));
	put(&f, 32, MAPCOUNT, ~0x80u, 4);
	put(&f, 32, PRIVATE, 4, 8);
	for (uint64_t i = 32; i < 64; i++)
		put(&f, i, REFCOUNT, 0, 4);
	CHECK_EQ(page(&f, 32).flags, kpf(KPF_BUDDY));
	CHECK_EQ(page(&f, 47).flags, kpf(KPF_BUDDY));
	CHECK_EQ(page(&f, 47).order, 4);
	CHECK_EQ(page(&f, 48).flags, 0);
	stop(&f);
}

/* CONFIG_NO_PAGE_MAPCOUNT: mappings of single pages of a folio are not counted. */
TEST(averages)
{
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	compound(&f, 16, 2, ANON_BITS);
	put(&f, 17, FLAGS, 2 | 1u << SECOND, 8);
	put(&f, 17, 16, 5, 4);           /* 6 mappings of 4 pages */
	CHECK_EQ(page(&f, 18).count, 2);
	put(&f, 17, 16, 0, 4);
	CHECK_EQ(page(&f, 18).count, 1);
	stop(&f);
}

TEST(zero_pages_by_content)
{
	struct fixture f;

	CHECK(start(&f, PAGES_510));
	put(&f, 15, FLAGS, 1u << RESERVED, 8);
	put(&f, 2, FLAGS, 1u << RESERVED, 8);
	atw_memmap_mapped(f.m, 2, 1);    /* holds struct pages */
	CHECK_EQ(page(&f, 2).flags, kpf(KPF_RESERVED));
	memset(f.mem->bytes + 15 * 4096, 0, 4096);
	atw_memmap_mapped(f.m, 15, 1);
	CHECK_EQ(page(&f, 15).flags, kpf(KPF_RESERVED) | kpf(KPF_ZERO_PAGE));
	stop(&f);
}

TEST(what_is_missing)
{
	struct atw_err err = { 0 };
	struct lnx_page p;
	struct fixture f;

	CHECK(start(&f, PAGES_510));
	CHECK_EQ(atw_memmap_page(f.m, 100000, &p, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "kernel address"));
	stop(&f);
	f.mem = kmemory_new();
	f.k = (struct atw_kernel){ .mem = &f.mem->s, .own = f.mem->space, .kmem = f.mem->m,
				   .needs = f.mem->n, .needs_done = true,
				   .symbols_done = true };
	f.k.sought_kmem.done = true;
	CHECK_EQ(atw_memmap_open(&f.k, &f.m, &err), ATW_E_UNSUPPORTED);
	kmemory_free(f.mem);
}

/* Two levels, by VMCOREINFO: only the second section of the first root exists. */
TEST(sections)
{
	static const char text[] =
		"SYMBOL(mem_section)=ffff888000000200\nLENGTH(mem_section)=2\n"
		"SIZE(mem_section)=16\nOFFSET(mem_section.section_mem_map)=8\n"
		"NUMBER(SECTION_SIZE_BITS)=19\n";
	struct atw_err err = { 0 };
	struct lnx_page_kind k;
	struct lnx_page p;
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	f.k.vi = (struct atw_vmcoreinfo){ text, sizeof(text) - 1 };
	f.k.have_vi = true;
	kpoint(f.mem, 0x200, 0x300);
	kput64(f.mem, 0x310 + 8, (KBASE + PAGES - 128 * SIZE) | 0xf);
	put(&f, 2, FLAGS, 1u << LRU, 8);
	CHECK_EQ(page(&f, 130).flags, kpf(KPF_LRU));
	CHECK_EQ(page(&f, 255).flags, 0);
	CHECK_EQ(atw_memmap_page(f.m, 2, &p, &err), ATW_E_MISSING);
	CHECK(strstr(err.text, "the kernel has no memory there"));
	CHECK_EQ(atw_memmap_page(f.m, 256, &p, &err), ATW_E_MISSING);
	CHECK_EQ(atw_memmap_page(f.m, 128 * 256, &p, &err), ATW_E_MISSING);
	CHECK_EQ(atw_memmap_page(f.m, UINT64_MAX, &p, &err), ATW_E_MISSING);
	/* Without a section or a root there are no struct pages. */
	CHECK_EQ(atw_memmap_kind(f.m, 2, &k, NULL), ATW_E_MISSING);
	CHECK_EQ(k.same, 126);
	CHECK_EQ(atw_memmap_kind(f.m, 128 * 256 + 5, &k, NULL), ATW_E_MISSING);
	CHECK_EQ(k.same, 128 * 256 - 5);
	CHECK_EQ(atw_memmap_kind(f.m, UINT64_MAX - 1, &k, NULL), ATW_E_MISSING);
	CHECK_EQ(k.same, 2);
	/* A section without the flag is absent, whatever its pointer. */
	kput64(f.mem, 0x310 + 8, (KBASE + PAGES - 128 * SIZE) | 0xd);
	drop_cache(&f);
	CHECK_EQ(atw_memmap_page(f.m, 130, &p, &err), ATW_E_MISSING);
	stop(&f);
}

/* All frames in ascending order, as a scan of all RAM visits them. */
TEST(kinds)
{
	for (unsigned g = 0; g < GENERATIONS; g++) {
		const struct { uint64_t pfn, same, flags; bool waits; } want[] = {
			{ 0, 1, 0, false }, { 1, 1, 0, true }, { 2, 1, 0, false }, { 3, 1, 0, false },
			{ 4, 4, kpf(KPF_BUDDY), false },
			{ 8, 8, ANON_PAGE | kpf(KPF_THP) | kpf(KPF_COMPOUND_HEAD), false },
			{ 16, 1, kpf(KPF_RESERVED), false }, { 17, 1, kpf(KPF_OFFLINE), false },
			{ 18, 46, 0, false },
		};
		struct lnx_page_kind k = { 0 };
		struct fixture f;

		CHECK(start(&f, g));
		for (uint64_t i = 0; i < COUNT; i++)
			put(&f, i, PRIVATE, 0, 8);
		put(&f, 1, REFCOUNT, 0, 4);
		put(&f, 3, REFCOUNT, 0, 4);
		put(&f, 3, MAPPING, KBASE, 8);   /* has an owner */
		for (uint64_t i = 4; i < 8; i++)
			put(&f, i, REFCOUNT, 0, 4);
		put(&f, 4, MAPCOUNT, g == FOLIOS_612 ? 0xf0000000 : ~0x80u, 4);
		put(&f, 4, PRIVATE, 2, 8);
		compound(&f, 8, 3, ANON_BITS);
		if (f.m->abi.rmappable)
			put(&f, 9, FLAGS, 3 | 1u << SECOND, 8);
		put(&f, 8, MAPPING, KBASE | 1, 8);
		put(&f, 9, 20, 0, 4);
		put(&f, 9, 16, g == FOLIOS_612 ? 0 : g == PAGES_510 ? 0x301 : 0, 4);
		for (uint64_t i = 9; i < 16; i++)
			put(&f, i, REFCOUNT, 0, 4);
		put(&f, 16, FLAGS, 1u << RESERVED, 8);
		put(&f, 16, REFCOUNT, 0, 4);
		put(&f, 17, MAPCOUNT, g == FOLIOS_612 ? 0xf1000000 : ~0x100u, 4);
		put(&f, 17, REFCOUNT, 0, 4);
		drop_cache(&f);
		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			CHECK_EQ(atw_memmap_kind(f.m, want[i].pfn, &k, NULL), ATW_OK);
			CHECK_EQ(k.flags, want[i].flags);
			CHECK_EQ(k.same, want[i].same);
			CHECK_EQ(k.waits, want[i].waits);
		}
		/* In a free block or folio, the kind is that of its head. */
		CHECK_EQ(atw_memmap_kind(f.m, 6, &k, NULL), ATW_OK);
		CHECK_EQ(k.flags, kpf(KPF_BUDDY));
		CHECK_EQ(k.same, 2);
		CHECK_EQ(atw_memmap_kind(f.m, 11, &k, NULL), ATW_OK);
		CHECK_EQ(k.flags, want[5].flags);
		CHECK_EQ(k.same, 5);
		/* Missing struct pages are skipped up to the next page of them. */
		CHECK_EQ(atw_memmap_kind(f.m, 100000, &k, NULL), ATW_E_MISSING);
		CHECK_EQ(k.same, 32);
		stop(&f);
	}
}

static int add_unknown(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	(void)err;
	*(uint64_t *)arg += run->use == CAPTURE_UNKNOWN ? run->pages : 0;
	return ATW_OK;
}

/* Struct pages that the kernel initializes when it needs their frames: zeroed until then. */
TEST(frames_without_an_initialized_struct_page)
{
	for (int g = 0; g < GENERATIONS; g++) {
		struct lnx_page_kind k = { 0 };
		uint64_t unknown = 0, unmade = 0;
		struct ram_frames of;
		struct fixture f;

		CHECK(start(&f, (enum generation)g));
		for (uint64_t pfn = 64; pfn < 128; pfn++)
			for (unsigned at = 0; at < SIZE; at += 8)
				put(&f, pfn, at, 0, 8);
		/* One that has flags or a mapcount is no such page. */
		put(&f, 96, FLAGS, 1u << RESERVED, 8);
		put(&f, 100, MAPCOUNT, UINT32_MAX, 4);
		drop_cache(&f);
		CHECK_EQ(atw_memmap_kind(f.m, 64, &k, NULL), ATW_OK);
		CHECK(k.unmade);
		CHECK_EQ(k.flags, kpf(KPF_NOPAGE));
		CHECK_EQ(atw_memmap_kind(f.m, 96, &k, NULL), ATW_OK);
		CHECK(!k.unmade);
		of = (struct ram_frames){ .map = f.m, .page_shift = 12, .unmade = &unmade,
					  .tell = add_unknown, .arg = &unknown };
		CHECK_EQ(walk_ram_frames(&of, 64 << 12, (128 << 12) - 1, NULL), ATW_OK);
		CHECK_EQ(unmade, 62);
		CHECK_EQ(unknown, 62);
		stop(&f);
	}
}

static uint64_t asked;

static bool only_64(uint64_t pfn)
{
	asked++;
	return pfn == 64;
}

/* Of pages in use: those of what is done with them are no part of their kind, and others are. */
TEST(flags_that_come_and_go)
{
	static const uint64_t flags[] = {
		ANON_BITS, ANON_BITS | 1u << LOCKED | 1u << REFERENCED, ANON_BITS | 1u << ACTIVE,
		ANON_BITS | 1u << DIRTY,
	};
	const uint64_t passing = kpf(KPF_LOCKED) | kpf(KPF_REFERENCED) | kpf(KPF_ACTIVE);

	for (int g = 0; g < GENERATIONS; g++) {
		struct lnx_page_kind k = { 0 };
		struct fixture f;

		CHECK(start(&f, (enum generation)g));
		for (uint64_t i = 0; i < 4; i++)
			put(&f, 20 + i, FLAGS, flags[i], 8);
		drop_cache(&f);
		for (uint64_t i = 0; i < 3; i++) {
			CHECK_EQ(atw_memmap_kind(f.m, 20 + i, &k, NULL), ATW_OK);
			CHECK_EQ(k.flags & (kpf(KPF_UPTODATE) | passing), kpf(KPF_UPTODATE));
			CHECK_EQ(k.same, 3 - i);
		}
		CHECK_EQ(page(&f, 21).flags & kpf(KPF_LOCKED), kpf(KPF_LOCKED));
		CHECK_EQ(atw_memmap_kind(f.m, 23, &k, NULL), ATW_OK);
		CHECK_EQ(k.flags & kpf(KPF_DIRTY), kpf(KPF_DIRTY));
		stop(&f);
	}
}

/* Of folios that may be the huge zero folio, and until it is found. */
TEST(asked_for_the_huge_zero_folio)
{
	struct lnx_page_kind k = { 0 };
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	compound(&f, 16, 4, 0);
	compound(&f, 32, 4, 1u << LRU);
	compound(&f, 48, 3, 0);
	compound(&f, 64, 4, 0);
	compound(&f, 80, 4, 0);
	drop_cache(&f);
	f.m->zero = (struct zero_pages){ .huge_pages = 16, .tried = UINT64_MAX };
	asked = 0;
	atw_memmap_ask_zero(f.m, only_64);
	for (uint64_t pfn = 16; pfn < 96; pfn += k.same) {
		CHECK_EQ(atw_memmap_kind(f.m, pfn, &k, NULL), ATW_OK);
		CHECK_EQ((k.flags & kpf(KPF_ZERO_PAGE)) != 0, pfn == 64);
	}
	CHECK_EQ(asked, 2);
	stop(&f);
}

/* A list of a CPU: its head, then the pages in it. */
static void link_pages(struct fixture *f, uint64_t head, const uint64_t *pfn, size_t n)
{
	for (size_t i = 0; i <= n; i++) {
		uint64_t from = i ? at(pfn[i - 1]) + HEAD : head;
		uint64_t to = i < n ? at(pfn[i]) + HEAD : head;

		kpoint(f->mem, from, to);
		kpoint(f->mem, to + 8, from);
	}
}

static void free_lists_fill(struct fixture *f)
{
	static const uint64_t small[] = { 3, 24, 5 }, large[] = { 48, 32 };

	for (uint64_t i = 0; i < COUNT; i++)
		if (i == 3 || i == 5 || i == 24 || (i > 8 && i < 16) || (i > 16 && i < 20) ||
		    (i >= 32 && i < 36) || (i >= 48 && i < 52) || i == 60)
			put(f, i, REFCOUNT, 0, 4);
	link_pages(f, 0x400, small, 3);
	link_pages(f, 0x420, large, 2);
	/* Tails of an allocation of order 3: poisoned, alone, and with a link left over. */
	put(f, 9, HEAD, 0xdead000000000100, 8);
	put(f, 9, HEAD + 8, 0xdead000000000122, 8);
	kpoint(f->mem, at(10) + HEAD, at(10) + HEAD);
	kpoint(f->mem, at(10) + HEAD + 8, at(10) + HEAD);
	kpoint(f->mem, at(11) + HEAD, at(5) + HEAD);
	kpoint(f->mem, at(11) + HEAD + 8, 0x400);
	kpoint(f->mem, at(12) + HEAD, 0xf000);
	/* The entry behind it cannot be read. */
	kpoint(f->mem, at(60) + HEAD, 0xc000);
}

static bool is_in_list(uint64_t pfn)
{
	return pfn == 3 || pfn == 5 || pfn == 24 || (pfn >= 32 && pfn < 36) ||
	       (pfn >= 48 && pfn < 52);
}

static void free_lists_look(struct fixture *f, uint64_t first, bool live)
{
	struct lnx_page_kind k = { 0 };

	for (uint64_t pfn = first; pfn < 64; pfn += k.same) {
		CHECK_EQ(atw_memmap_kind(f->m, pfn, &k, NULL), ATW_OK);
		CHECK_EQ(k.unsure, pfn == 60 && !live);
		CHECK_EQ(k.waits, is_in_list(pfn));
	}
}

/* Pages without references are free if they are in a list, and the kernel's if not. */
TEST(free_lists)
{
	for (unsigned g = 0; g < GENERATIONS; g++) {
		struct atw_source_ops ops = kmemory_ops;
		struct fixture f;

		CHECK(start(&f, g));
		f.k.needs.member[N_page_list] = HEAD;
		free_lists_fill(&f);
		f.mem->hole_at = 0xc000;
		f.mem->hole_len = 16;
		for (unsigned live = 0; live < 2; live++) {
			ops.live = live;
			f.mem->s.ops = &ops;
			for (uint64_t first = 0; first < 64; first++) {
				drop_cache(&f);
				free_lists_look(&f, first, live);
			}
		}
		f.mem->s.ops = &kmemory_ops;
		stop(&f);
	}
}

static uint64_t left_over_reads;

static ssize_t left_over_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			      struct atw_err *err)
{
	left_over_reads += pa.u <= LEFT_OVER && LEFT_OVER < pa.u + len;
	return kmemory_read(s, pa, buf, len, err);
}

/* Each page of it has a link left over. */
static void free_block(struct fixture *f, uint64_t pfn, unsigned order)
{
	put(f, pfn, MAPCOUNT, 0xf0000000, 4);
	put(f, pfn, PRIVATE, order, 8);
	for (uint64_t i = 0; i < (uint64_t)1 << order; i++) {
		put(f, pfn + i, REFCOUNT, 0, 4);
		kpoint(f->mem, at(pfn + i) + HEAD, LEFT_OVER - 8);
	}
}

/*
 * Of a running machine, the first pages of several large blocks are read at once. Links that
 * pages inside of free blocks have left over are not followed.
 */
TEST(free_blocks_in_a_row)
{
	enum { ORDER = 7, BLOCK = 1 << ORDER, BLOCKS = 7, END = BLOCKS * BLOCK };
	struct atw_source_ops ops = kmemory_ops;

	ops.read = left_over_read;
	for (unsigned live = 0; live < 2; live++) {
		struct lnx_page_kind k = { 0 };
		struct fixture f;
		uint64_t pfn;

		CHECK(start(&f, FOLIOS_612));
		f.k.needs.member[N_page_list] = HEAD;
		for (pfn = COUNT; pfn < ALL; pfn++)
			plain(&f, pfn);
		for (pfn = 0; pfn < END; pfn += BLOCK)
			free_block(&f, pfn, ORDER);
		free_block(&f, END + 8, 3);
		put(&f, END, REFCOUNT, 0, 4);
		ops.live = live;
		f.mem->s.ops = &ops;
		left_over_reads = 0;
		drop_cache(&f);
		for (pfn = 0; pfn < ALL; pfn += k.same) {
			bool is_free = pfn < END || pfn == END + 8;

			CHECK_EQ(atw_memmap_kind(f.m, pfn, &k, NULL), ATW_OK);
			CHECK_EQ(k.flags, is_free ? kpf(KPF_BUDDY) : 0);
			if (is_free)
				CHECK_EQ(k.same, pfn < END ? BLOCK : 8);
			CHECK(!k.waits && !k.unsure);
		}
		CHECK_EQ(pfn, ALL);
		/* Blocks 0; 1 and 2; 3 to 6; what is behind them. */
		CHECK_EQ(memmap_reads(&f.m->where), live ? 4 : BLOCKS + 1);
		CHECK_EQ(left_over_reads, 0);
		f.mem->s.ops = &kmemory_ops;
		stop(&f);
	}
}

/* A page that is asked for again is read again. */
TEST(kinds_of_pages_that_change)
{
	struct atw_source_ops ops = kmemory_ops;
	struct lnx_page_kind k;
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	ops.live = true;
	f.mem->s.ops = &ops;
	drop_cache(&f);
	for (uint64_t pfn = 0; pfn < 9; pfn += k.same)
		CHECK_EQ(atw_memmap_kind(f.m, pfn, &k, NULL), ATW_OK);
	put(&f, 5, FLAGS, ANON_BITS, 8);
	put(&f, 5, MAPPING, KBASE | 1, 8);
	for (unsigned again = 0; again < 2; again++) {
		CHECK_EQ(atw_memmap_kind(f.m, 5, &k, NULL), ATW_OK);
		CHECK_EQ(k.flags, ANON_PAGE & ~kpf(KPF_MMAP));
	}
	f.mem->s.ops = &kmemory_ops;
	stop(&f);
}

/* One that ends in the middle of what its order says, as no kernel has it. */
TEST(free_blocks_that_are_not_aligned)
{
	struct lnx_page_kind k;
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	f.k.needs.member[N_page_list] = HEAD;
	for (uint64_t pfn = 60; pfn < 256; pfn++)
		put(&f, pfn, REFCOUNT, 0, 4);
	put(&f, 63, MAPCOUNT, 0xf0000000, 4);
	put(&f, 63, PRIVATE, 7, 8);
	drop_cache(&f);
	for (uint64_t pfn = 0; pfn < COUNT; pfn += k.same) {
		CHECK_EQ(atw_memmap_kind(f.m, pfn, &k, NULL), ATW_OK);
		CHECK(!k.unsure);
	}
	stop(&f);
}

struct runs {
	struct capture_frames run[8];
	size_t n;
};

static int add_run(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct runs *t = arg;

	(void)err;
	if (t->n == 8)
		return 42;
	t->run[t->n++] = *run;
	return ATW_OK;
}

/* Frames without a struct page are reported as unknown, never as free. */
TEST(all_frames_by_use)
{
	static const struct capture_frames want[] = {
		{ .pa = 0x1000, .pages = 3, .use = CAPTURE_KERNEL },
		{ .pa = 0x4000, .pages = 5, .use = CAPTURE_FREE },
		{ .pa = 0x9000, .pages = 2, .use = CAPTURE_KERNEL },
		{ .pa = 0xb000, .pages = 1, .use = CAPTURE_UNKNOWN },
		{ .pa = 0xc000, .pages = 4, .use = CAPTURE_SLAB },
		{ .pa = 0x10000, .pages = 944, .use = CAPTURE_KERNEL },
		{ .pa = 0x3c0000, .pages = 1000, .use = CAPTURE_UNKNOWN },
	};
	struct runs t = { .n = 0 };
	struct ram_frames of;
	struct fixture f;

	CHECK(start(&f, FOLIOS_612));
	/* The rest of this test's memory holds struct pages, too. */
	for (uint64_t i = COUNT; i < ALL; i++)
		plain(&f, i);
	put(&f, 4, MAPCOUNT, 0xf0000000, 4);
	put(&f, 4, PRIVATE, 2, 8);
	for (uint64_t i = 4; i < 9; i++)
		put(&f, i, REFCOUNT, 0, 4);      /* the last one is on a per-CPU list */
	put(&f, 11, HEAD, 1, 8);                 /* a tail without a head */
	compound(&f, 12, 2, 0);
	put(&f, 13, FLAGS, 2, 8);
	put(&f, 12, MAPCOUNT, 0xf8000000, 4);    /* kmalloc()'s */
	drop_cache(&f);
	of = (struct ram_frames){ .map = f.m, .page_shift = 12, .tell = add_run, .arg = &t };
	CHECK_EQ(walk_ram_frames(&of, 0x800, (1960 << 12) + 0x7fe, NULL), ATW_OK);
	CHECK_EQ(t.n, 7);
	for (size_t i = 0; i < t.n; i++) {
		CHECK_EQ(t.run[i].pa, want[i].pa);
		CHECK_EQ(t.run[i].pages, want[i].pages);
		CHECK_EQ(t.run[i].use, want[i].use);
	}
	t.n = 8;
	CHECK_EQ(walk_ram_frames(&of, 0, 0xfff, NULL), 42);
	stop(&f);
}

/* Any content of a struct page is decoded or refused without an invalid access. */
TEST(random_bytes)
{
	uint64_t seed = 1;

	for (unsigned g = 0; g < GENERATIONS; g++) {
		struct fixture f;

		CHECK(start(&f, g));
		for (unsigned round = 0; round < 40; round++) {
			for (size_t i = PAGES; i < PAGES + COUNT * SIZE; i += 8) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				kput64(f.mem, i, seed >> 8);
				/* Random words rarely make heads and tails. */
				if (i % SIZE == HEAD && seed >> 63)
					kput64(f.mem, i, (KBASE + PAGES +
						(seed >> 20) % COUNT * SIZE) | 1);
			}
			drop_cache(&f);
			for (uint64_t pfn = 0; pfn < COUNT; pfn++) {
				struct lnx_page p = { 0 };
				int r;

				atw_memmap_mapped(f.m, pfn, seed >> 62 ? 1 : 512);
				r = atw_memmap_page(f.m, pfn, &p, NULL);
				CHECK(r == ATW_OK ? p.pfn == pfn : r == ATW_E_DAMAGED);
			}
			drop_cache(&f);
			for (uint64_t pfn = 0; pfn < COUNT;) {
				struct lnx_page_kind kind = { 0 };
				int r = atw_memmap_kind(f.m, pfn, &kind, NULL);

				CHECK(r == ATW_OK || r == ATW_E_DAMAGED);
				CHECK(kind.same && kind.same <= (uint64_t)1 << 22);
				pfn += kind.same;
			}
		}
		stop(&f);
	}
}

/* Those that are alike have the kind that each of them has. */
static void kinds_are_equal(struct atw_memmap *m, uint64_t *together)
{
	const uint64_t folio = kpf(KPF_COMPOUND_HEAD) | kpf(KPF_COMPOUND_TAIL) | kpf(KPF_BUDDY);
	struct lnx_page_kind k, each;

	for (uint64_t pfn = 0; pfn < COUNT; pfn += k.same) {
		if (atw_memmap_kind(m, pfn, &k, NULL) != ATW_OK || k.flags & folio)
			continue;
		for (uint64_t i = 0; i < k.same; i++) {
			CHECK_EQ(memmap_kind(m, pfn + i, NULL, true, &each, NULL), ATW_OK);
			CHECK(each.flags == k.flags && each.waits == k.waits &&
			      each.kmalloc == k.kmalloc && each.same == 1);
		}
		*together += k.same - 1;
	}
}

/* Struct pages of few sorts: those that processes map, tails of folios, and odd ones. */
static void few_sorts(struct fixture *f, uint64_t *seed)
{
	static const uint64_t flags[] = {
		ANON_BITS, ANON_BITS, ANON_BITS | 1u << RESERVED, 1u << UPTODATE | 1u << LRU, 0,
		ANON_BITS | UINT64_C(1) << 40,
	};
	static const uint32_t mapcount[] = { 0, 0, 0, 1, UINT32_MAX, 0xf0000000, UINT32_MAX - 128 };
	static const uint32_t refs[] = { 1, 1, 2, 0 };

	for (uint64_t pfn = 1; pfn < COUNT; pfn++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		plain(f, pfn);
		put(f, pfn, FLAGS, flags[(*seed >> 20) % 6], 8);
		put(f, pfn, MAPCOUNT, mapcount[(*seed >> 30) % 7], 4);
		put(f, pfn, REFCOUNT, refs[(*seed >> 40) % 4], 4);
		put(f, pfn, MAPPING, 0x1000 | (*seed >> 50 & 3), 8);
	}
	for (uint64_t pfn = 16; pfn < COUNT; pfn += 32) {
		compound(f, pfn, 3, ANON_BITS);
		/* Tails of one folio may name another, where a dump is damaged. */
		if (*seed >> pfn % 64 & 1)
			put(f, pfn + 5, HEAD, (KBASE + at(pfn + 1)) | 1, 8);
	}
}

static bool answers_the_same(const struct lnx_page *a, const struct lnx_page *b)
{
	return a->flags == b->flags && a->count == b->count && a->order == b->order &&
	       a->have_order == b->have_order && !strcmp(a->cache, b->cache);
}

TEST(pages_like_their_neighbours)
{
	uint64_t seed = 1, likes = 0, runs = 0, down = 0, together = 0;

	for (unsigned round = 0; round < 50 * GENERATIONS; round++) {
		struct lnx_page page[COUNT], again;
		struct fixture f;
		int r[COUNT];

		if (!start(&f, round % GENERATIONS))
			abort();
		few_sorts(&f, &seed);
		drop_cache(&f);
		for (uint64_t pfn = 0; pfn < COUNT; pfn++)
			r[pfn] = memmap_page(f.m, pfn, &page[pfn], NULL);
		CHECK_EQ(memmap_keep_nothing(&f.m->where, NULL), ATW_OK);
		memmap_soon_run(f.m, 0, COUNT);
		for (uint64_t pfn = 0; pfn < COUNT; pfn++) {
			struct page_like like;
			uint64_t same;

			CHECK_EQ(atw_memmap_page(f.m, pfn, &again, NULL), r[pfn]);
			if (r[pfn] != ATW_OK)
				continue;
			CHECK(answers_the_same(&again, &page[pfn]));
			CHECK(again.pfn == pfn && again.head == page[pfn].head &&
			      again.raw == page[pfn].raw && again.mapping == page[pfn].mapping &&
			      again.refcount == page[pfn].refcount);
			if (!memmap_like(f.m, &again, &like))
				continue;
			likes++;
			same = memmap_same(f.m, &like, pfn + 1, COUNT - pfn - 1);
			for (uint64_t i = 1; i <= same; i++, runs++)
				CHECK(r[pfn + i] == ATW_OK &&
				      answers_the_same(&page[pfn + i], &again) &&
				      !page[pfn + i].refcount == !again.refcount);
			/* Down, the same as one by one. */
			for (same = 0; !like.info && same < pfn; same++)
				if (!memmap_same(f.m, &like, pfn - 1 - same, 1))
					break;
			CHECK_EQ(memmap_same_down(f.m, &like, pfn - 1, pfn), same);
			CHECK_EQ(memmap_same_down(f.m, &like, pfn - 1, same / 2), same / 2);
			down += same;
		}
		kinds_are_equal(f.m, &together);
		stop(&f);
	}
	/* All cases have occurred. */
	CHECK(likes > 1000);
	CHECK(runs > 1000);
	CHECK(down > 400);
	CHECK(together > 500);
}

/* The same of many at once; the head of a folio is read once for all of its pages. */
TEST(origins_of_many)
{
	for (unsigned g = 0; g < GENERATIONS; g++) {
		uint64_t pfn[] = { 1, 2, 3, 8, 9, 10, 11, 64, 100 };
		const uint64_t of = kpf(KPF_ANON) | kpf(KPF_KSM) | kpf(KPF_SWAPBACKED) |
				    kpf(KPF_HUGE) | kpf(KPF_THP) | kpf(KPF_ZERO_PAGE);
		struct page_origin o[9];
		struct fixture f;

		if (!start(&f, g)) {
			CHECK(false);
			continue;
		}
		for (unsigned i = 0; i < 3; i++) {
			put(&f, 1 + i, FLAGS, ANON_BITS, 8);
			put(&f, 1 + i, MAPCOUNT, 0, 4);
			put(&f, 1 + i, MAPPING, i == 2 ? 0x1000 : 0x1001, 8);
		}
		compound(&f, 8, 2, ANON_BITS);
		put(&f, 8, MAPPING, 0x2001, 8);
		for (unsigned i = 0; i < 4; i++)
			put(&f, 8 + i, MAPCOUNT, 0, 4);
		put(&f, 64, FLAGS, 1u << UPTODATE | 1u << LRU, 8);
		put(&f, 64, MAPCOUNT, 0, 4);
		put(&f, 100, REFCOUNT, 0, 4);
		drop_cache(&f);
		CHECK_EQ(memmap_origins(f.m, pfn, sizeof(pfn) / sizeof(pfn[0]), o, NULL), ATW_OK);
		for (size_t i = 0; i < sizeof(pfn) / sizeof(pfn[0]); i++) {
			CHECK(o[i].known);
			CHECK_EQ(o[i].stale, pfn[i] == 100);
			if (!o[i].stale)
				CHECK_EQ(o[i].flags, page(&f, pfn[i] / 4 == 2 ? 8 : pfn[i]).flags & of);
		}
		CHECK(o[0].flags & kpf(KPF_ANON));
		CHECK(!(o[2].flags & kpf(KPF_ANON)) && o[2].flags & kpf(KPF_SWAPBACKED));
		CHECK_EQ(o[3].order, 2);
		CHECK_EQ(o[6].order, 2);
		CHECK_EQ(o[7].flags, 0);
		stop(&f);
	}
}

TEST(names)
{
	CHECK_STR(lnx_page_flag_name(0), "LOCKED");
	CHECK_STR(lnx_page_flag_name(KPF_ARCH_3), "ARCH_3");
	CHECK(!lnx_page_flag_name(27));
	CHECK(!lnx_page_flag_name(1000));
}
