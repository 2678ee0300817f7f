// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paging_mistakes.c - known mistakes of tools for page tables, one test each, with the
 * entries that showed it.
 */
#include "paging/entry.h"

#include "test.h"

#define MODE(name) const struct atw_paging *pg = atw_paging_find(name); CHECK(pg)

static uint64_t leaf_pa(const struct atw_paging *pg, unsigned level,
			uint64_t word)
{
	return entry_addr(pg, level, ATW_LEAF, word).u;
}

/* What a leaf maps `va` to. */
static uint64_t pa_of(const struct atw_paging *pg, unsigned level,
		      uint64_t word, uint64_t va)
{
	unsigned size = pg->level[level].shift;

	if (entry_replaces(pg, level, word))
		size = atw_entry_span(pg, level, word);
	return leaf_pa(pg, level, word) + (va & ((1ull << size) - 1));
}

/* Rights after `n` entries from the root down, the last one a leaf. */
static const char *path_rights(const struct atw_paging *pg, unsigned leaf_level,
			       const uint64_t *word, unsigned n, char ret[5])
{
	unsigned rights = ATW_RIGHTS_ALL;

	for (unsigned i = 0; i < n; i++) {
		unsigned level = leaf_level + n - 1 - i;
		enum atw_kind k = i == n - 1 ? ATW_LEAF : ATW_TABLE;

		if (entry_kind(pg, level, word[i]) != k)
			return "not a path";
		rights = entry_rights(pg, level, k, word[i], rights);
	}
	atw_rights_letters(rights, ret);
	return ret;
}

#define PATH(leaf_level, want, ...) do { \
	const uint64_t words_[] = { __VA_ARGS__ }; \
	char buf_[5]; \
	CHECK_STR(path_rights(pg, leaf_level, words_, sizeof(words_) / 8, buf_), want); \
} while (0)

/* ---- arm64 ---- */

TEST(arm64_lpa_keeps_bit_47)
{
	MODE("arm64-64k-52");
	CHECK_EQ(entry_kind(pg, 0, 0x800000010793), ATW_LEAF);
	CHECK_EQ(leaf_pa(pg, 0, 0x800000010793), 0x800000010000);
	CHECK_EQ(pa_of(pg, 0, 0x800000010793, 0xffff80000001abcd), 0x80000001abcd);
	CHECK_EQ(leaf_pa(pg, 0, 0x80000001f793), 0xf800000010000);
	CHECK_EQ(leaf_pa(pg, 0, 0x800000018793), 0x8800000010000);
}

TEST(arm64_lpa2_keeps_bit_49)
{
	MODE("arm64-4k-52");
	CHECK_EQ(leaf_pa(pg, 0, 0x2000000000793), 0xe000000000000);
	CHECK_EQ(leaf_pa(pg, 0, 0x2000000000493), 0x2000000000000);
	CHECK_EQ(leaf_pa(pg, 0, 0x1000000000493), 0x1000000000000);
	CHECK_EQ(leaf_pa(pg, 0, 0x0000000000593), 0x4000000000000);
	CHECK_EQ(leaf_pa(pg, 0, 0x0000000000693), 0x8000000000000);
	CHECK_EQ(entry_addr(pg, 2, ATW_TABLE, 0x2000000000003).u,
		 0x2000000000000);

	pg = atw_paging_find("arm64-16k-52");
	CHECK_EQ(leaf_pa(pg, 0, 0x2000000000793), 0xe000000000000);
}

TEST(arm64_lpa_layout_is_for_64k_only)
{
	static const char *const name[] = {
		"arm64-4k-39", "arm64-4k-42", "arm64-4k-48", "arm64-4k-52",
	};

	for (unsigned i = 0; i < 3; i++) {
		MODE(name[i]);
		CHECK_EQ(leaf_pa(pg, 0, 0x68000040001f13), 0x40001000);
	}
	/* bits 9:8 are address where LPA2 is on, bits 15:12 stay */
	MODE(name[3]);
	CHECK_EQ(leaf_pa(pg, 0, 0x68000040001f13), 0xc000040001000);
	CHECK_EQ(leaf_pa(pg, 0, 0x68000040001c13), 0x40001000);
	/* 16K has no address in 13:12 */
	pg = atw_paging_find("arm64-16k-48");
	CHECK_EQ(leaf_pa(pg, 0, 0x6800004000ff13), 0x4000c000);
}

TEST(arm64_52_bit_root_on_48_bit_hardware)
{
	/*
	 * swapper_pg_dir has 1024 entries; with 48 bits TTBR1 points at the
	 * last 64 of them.
	 */
	const struct atw_paging *p48 = atw_paging_find("arm64-64k-48");
	MODE("arm64-64k-52");
	atw_va va = ATW_VA(0xffff000000000000);

	CHECK_EQ(atw_index(p48, 2, va), 0);
	CHECK_EQ(atw_index(pg, 2, va), 960);
	CHECK_EQ((atw_index(pg, 2, va) - atw_index(p48, 2, va)) * pg->word_size,
		 0x1e00);
	va = ATW_VA(0xffffffc012345678);
	CHECK_EQ(atw_index(pg, 2, va) - atw_index(p48, 2, va), 960);
	CHECK_EQ(atw_table_bytes(pg, 2) - atw_table_bytes(p48, 2), 0x1e00);
}

TEST(arm64_upper_levels_take_rights_away)
{
	MODE("arm64-4k-39");
	/* PGD, PMD: tables; PTE: a user page, read-write, executable */
	const uint64_t t = 0x40003003, leaf = 0x40001f53;

	PATH(0, "rwxu", t, t, leaf);
	PATH(0, "rw-u", t | 1ull << 60, t, leaf);               /* UXNTable */
	PATH(0, "r-xu", t, t | 1ull << 62, leaf);               /* APTable[1] */
	PATH(0, "r-xu", t | 1ull << 62, t, leaf | 1ull << 53);
	PATH(0, "--xu", t | 1ull << 61, t, leaf);               /* APTable[0] */
	/* and for the kernel */
	PATH(0, "rwx-", t, t, 0x40001f13 | 1ull << 54);
	PATH(0, "rw--", t, t | 1ull << 59, 0x40001f13 | 1ull << 54);
	PATH(0, "r-x-", t | 1ull << 62, t, 0x40001f13 | 1ull << 54);
	PATH(0, "rwx-", t | 3ull << 60, t, 0x40001f53);
}

TEST(arm64_writable_is_not_the_access_flag)
{
	MODE("arm64-4k-48");
	const uint64_t af = 1ull << 10, ap2 = 1ull << 7, uxn = 1ull << 54;

	PATH(0, "rwx-", 0x40001003 | uxn);
	PATH(0, "rwx-", 0x40001003 | uxn | af);
	PATH(0, "r-x-", 0x40001003 | uxn | ap2);
	PATH(0, "r-x-", 0x40001003 | uxn | ap2 | af);
}

TEST(arm64_dirty_is_not_dbm_alone)
{
	MODE("arm64-4k-48");

	/* hardware says DBM and read-only; "dirty" is Linux's to say */
	for (unsigned i = 0; pg->flags[i].letter; i++)
		CHECK(strcmp(pg->flags[i].name, "dirty"));
	PATH(0, "r-x-", 0x40001483 | 1ull << 51 | 1ull << 54);
}

TEST(arm64_user_writable_is_never_kernel_code)
{
	MODE("arm64-4k-48");
	unsigned r;

	r = entry_rights(pg, 0, ATW_LEAF, 0x40001f53, ATW_RIGHTS_ALL);
	CHECK_EQ(r, ATW_RIGHTS_ALL & ~ATW_KX);
	/* with APTable[1] above it is not writable: the kernel may execute */
	r = entry_rights(pg, 1, ATW_TABLE, 0x4000000040003003, ATW_RIGHTS_ALL);
	r = entry_rights(pg, 0, ATW_LEAF, 0x40001f53, r);
	CHECK_EQ(r, ATW_KR | ATW_KX | ATW_UR | ATW_UX);
}

TEST(arm64_contiguous_entries_carry_their_own_address)
{
	MODE("arm64-4k-48");
	uint64_t w = 0x0010000080005703;

	CHECK_EQ(atw_entry_span(pg, 0, w), 16);
	CHECK(!entry_replaces(pg, 0, w));
	CHECK_EQ(pa_of(pg, 0, w, 0x5123), 0x80005123);
}

/* ---- RISC-V ---- */

TEST(riscv_napot_takes_address_bits_from_the_va)
{
	MODE("riscv64-sv39");
	uint64_t w = 1ull << 63 | 0x80008ull << 10 | 0xd7;
	uint64_t va = 0x3f00000000;

	CHECK_EQ(entry_kind(pg, 0, w), ATW_LEAF);
	CHECK_EQ(atw_entry_span(pg, 0, w), 16);
	CHECK(entry_replaces(pg, 0, w));
	CHECK_EQ(pa_of(pg, 0, w, va + 0x5123), 0x80005123);
	CHECK_EQ(pa_of(pg, 0, w, va + 0xffff), 0x8000ffff);
}

TEST(riscv_leaves_at_every_level)
{
	static const uint64_t word[] = {
		0x200800e7, 0x200800e7, 0x200000e7, 0x20000000e7,
		0x4000000000e7,
	};
	static const uint64_t want[] = {
		0x80200000, 0x80200000, 0x80000000, 0x8000000000,
		0x1000000000000,
	};
	MODE("riscv64-sv57");

	for (unsigned l = 0; l < 5; l++) {
		CHECK_EQ(entry_kind(pg, l, word[l]), ATW_LEAF);
		CHECK_EQ(leaf_pa(pg, l, word[l]), want[l]);
		CHECK_EQ(atw_entry_span(pg, l, word[l]), 12 + 9 * l);
	}
}

/* ---- x86 ---- */

TEST(x86_keeps_address_bits_48_to_51)
{
	static const char *const name[] = { "x86_64-4", "x86_64-5", "i386-pae" };

	for (unsigned i = 0; i < 3; i++) {
		MODE(name[i]);
		CHECK_EQ(leaf_pa(pg, 0, 0x800f000012345063), 0xf000012345000);
		CHECK_EQ(leaf_pa(pg, 1, 0x800f0000122000e3), 0xf000012200000);
		CHECK_EQ(entry_addr(pg, 1, ATW_TABLE, 0xf000012345067).u,
			 0xf000012345000);
	}
}

TEST(x86_rights_are_those_of_the_whole_path)
{
	MODE("x86_64-4");
	const uint64_t t = 0x1067, nx = 1ull << 63, leaf = 0x2067;

	PATH(0, "rwxu", t, t, t, leaf);
	/* W is the AND over all levels */
	PATH(0, "r-xu", t & ~2ull, t, t, leaf);
	PATH(0, "r-xu", t, t & ~2ull, t, leaf);
	PATH(0, "r-xu", t, t, t & ~2ull, leaf);
	PATH(0, "r-xu", t, t, t, leaf & ~2ull);
	/* so is U */
	PATH(0, "rwx-", t & ~4ull, t, t, leaf);
	PATH(0, "rwx-", t, t, t & ~4ull, leaf);
	/* NX is the OR */
	PATH(0, "rw-u", t | nx, t, t, leaf);
	PATH(0, "rw-u", t, t, t | nx, leaf);
	PATH(0, "rw-u", t, t, t, leaf | nx);
	PATH(0, "r---", t & ~6ull, t, t, leaf | nx);
	PATH(1, "rw-u", t, t, 0x8000000000e000e7);
}

TEST(x86_encryption_bit_is_no_address)
{
	struct atw_paging amd;

	MODE("x86_64-4");
	amd = *pg;
	CHECK_EQ(atw_paging_extend(&amd, "cbit=47", NULL), ATW_OK);
	CHECK_EQ(leaf_pa(pg, 0, 0x800012345063), 0x800012345000);
	CHECK_EQ(leaf_pa(&amd, 0, 0x800012345063), 0x12345000);
	CHECK_EQ(entry_addr(&amd, 3, ATW_TABLE, 0x800012345067).u, 0x12345000);
	CHECK_EQ(atw_leaf_attrs(&amd, 0) >> 47 & 1, 0);
}

TEST(x86_prot_none_is_absent_for_the_cpu)
{
	MODE("x86_64-4");

	/* P clear, bit 8 set: what the (inverted) rest means is Linux's to say */
	CHECK_EQ(entry_kind(pg, 0, 0x800ffffedcbaf120), ATW_ABSENT);
	CHECK_EQ(entry_kind(pg, 1, 0x8000000012200180), ATW_ABSENT);
	CHECK_EQ(atw_entry_flags(pg, 0, ATW_ABSENT, 0x800ffffedcbaf120), 0);
}

TEST(x86_pat_bit_of_a_large_page_is_no_address)
{
	MODE("x86_64-4");

	CHECK_EQ(leaf_pa(pg, 1, 0x2010e7), 0x200000);
	CHECK_EQ(leaf_pa(pg, 2, 0x400010e7), 0x40000000);
	CHECK_EQ(leaf_pa(pg, 0, 0x2010e7), 0x201000);
}

TEST(i386_pse36_and_pat_share_bit_7)
{
	MODE("i386");

	CHECK_EQ(leaf_pa(pg, 1, 0x0081e0e3), 0xf00800000);
	CHECK_EQ(leaf_pa(pg, 0, 0x0081e0e3), 0x0081e000);
}

TEST(arm_supersection_bits_are_sections_only)
{
	MODE("arm");

	CHECK_EQ(leaf_pa(pg, 1, 0x41240c62), 0x3241000000);
	CHECK_EQ(leaf_pa(pg, 1, 0x41200c62), 0x41200000);
	CHECK_EQ(leaf_pa(pg, 0, 0x41240c62), 0x41240000);
	/* a table's address has two bits more than a page's */
	CHECK_EQ(entry_addr(pg, 1, ATW_TABLE, 0x41240c61).u, 0x41240c00);
}
