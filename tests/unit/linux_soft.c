/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bits that the CPU ignores are decoded by machine and kernel generation. */
#include "linux/linux.h"

#include "linux/soft.h"
#include "test.h"

static struct atw_soft_word decode(const char *mode, const char *release,
				   unsigned level, uint64_t word)
{
	const struct atw_paging *pg = atw_paging_find(mode);
	const struct atw_soft_abi abi = atw_soft_abi_for(pg, release);

	return atw_soft_decode(&abi, pg, level, word);
}

#define CHECK_SWAP(w, ty, off) do { \
	struct atw_soft_word sw = (w); \
	CHECK_STR(atw_soft_name(sw.what), "swap"); \
	CHECK_EQ(sw.type, ty); \
	CHECK_EQ(sw.offset, off); \
} while (0)

#define CHECK_PAGE(w, name, at) do { \
	struct atw_soft_word sw = (w); \
	CHECK_STR(atw_soft_name(sw.what), name); \
	CHECK_EQ(sw.pa.u, at); \
} while (0)

TEST(nothing_is_nothing)
{
	CHECK_STR(atw_soft_name(decode("x86_64-4", "6.1", 0, 0).what), "absent");
	CHECK_STR(atw_soft_name(decode("arm64-4k-48", "6.12", 0, 0).what), "absent");
}

/* PROT_NONE keeps its frame inverted since the L1TF fixes. */
TEST(x86_protnone_is_inverted)
{
	uint64_t pa = 0x123456000, flags = 0x8000000000000120;
	uint64_t inverted = (~pa & 0x000ffffffffff000) | flags;
	uint64_t huge = (~UINT64_C(0x40200000) & 0x000fffffffe00000) | 0x1a0;

	CHECK_PAGE(decode("x86_64-4", "6.1.0-56-amd64", 0, inverted), "protnone", pa);
	CHECK_PAGE(decode("x86_64-5", "6.12.1", 0, inverted), "protnone", pa);
	CHECK_PAGE(decode("x86_64-4", "4.17.0", 0, pa | flags), "protnone", pa);
	/* A huge page being split: PSE without the present bit. */
	CHECK_PAGE(decode("x86_64-4", "6.1", 1, huge & ~UINT64_C(0x100)), "protnone", 0x40200000);
	CHECK(!decode("x86_64-4", "6.1", 0, inverted).guess);
	CHECK(decode("x86_64-4", NULL, 0, inverted).guess);
}

/* Secret memory's direct map on x86_64 6.12, pagemap's frame beside it. */
TEST(kernels_own_is_never_swap)
{
	const struct atw_paging *pg = atw_paging_find("x86_64-4");
	const struct atw_soft_abi abi = atw_soft_abi_for(pg, "6.12.107");
	uint64_t pa = 0x38b6000, word = (~pa & 0x000ffffffffff000) | UINT64_C(0x8000000000000020);

	CHECK_PAGE(atw_soft_decode_at(&abi, pg, ATW_VA(0xffff8c18838b6000), 0, word), "protnone", pa);
	CHECK_STR(atw_soft_name(atw_soft_decode_at(&abi, pg, ATW_VA(0x7f0000000000), 0, word).what),
		  "swap");
	CHECK_STR(atw_soft_name(atw_soft_decode_at(&abi, pg, ATW_VA(0xffff8c18838b6000), 0, 0).what),
		  "absent");
}

TEST(x86_swap)
{
	uint64_t word = UINT64_C(3) << 59 | ((~UINT64_C(0x12345) & 0x3ffffffffffff) << 9);

	CHECK_SWAP(decode("x86_64-4", "6.1", 0, word), 3, 0x12345);
	CHECK(!decode("x86_64-4", "6.1", 0, word).soft_dirty);
	CHECK(decode("x86_64-4", "6.1", 0, word | 2).soft_dirty);
	CHECK(decode("x86_64-4", "6.1", 0, word | 4).uffd_wp);
	CHECK(decode("x86_64-4", "6.1", 0, word | 8).exclusive);
	CHECK_SWAP(decode("x86_64-4", "4.9.0", 0, 5u << 9 | UINT64_C(0x777) << 14), 5, 0x777);
}

TEST(special_types)
{
	uint64_t offset = 0x4321;
	uint64_t low = (~offset & 0x3ffffffffffff) << 9;
	uint64_t marker = UINT64_C(31) << 59;

	CHECK_PAGE(decode("x86_64-4", "6.12", 0, UINT64_C(23) << 59 | low), "poison", offset << 12);
	CHECK_PAGE(decode("x86_64-4", "6.12", 0, UINT64_C(25) << 59 | low), "migration", offset << 12);
	CHECK_PAGE(decode("x86_64-4", "6.12", 0, UINT64_C(28) << 59 | low), "device", offset << 12);
	CHECK(decode("x86_64-4", "6.12", 0, UINT64_C(25) << 59 | low).guess);
	CHECK_PAGE(decode("x86_64-4", "6.15", 0, marker | ((~UINT64_C(1) & 0x3ffffffffffff) << 9)), "marker", 0);
	CHECK(decode("x86_64-4", "6.15", 0, marker | ((~UINT64_C(1) & 0x3ffffffffffff) << 9)).uffd_wp);
	CHECK_PAGE(decode("x86_64-4", "6.15", 0, marker | ((~UINT64_C(2) & 0x3ffffffffffff) << 9)), "poison", 0);
	CHECK_PAGE(decode("x86_64-4", "6.15", 0, marker | ((~UINT64_C(4) & 0x3ffffffffffff) << 9)), "guard", 0);
}

/* What is there has them in other bits, and so has PROT_NONE. */
TEST(bits_of_pages)
{
	static const struct { const char *mode, *release; uint64_t soft_dirty, uffd_wp; } of[] = {
		{ "x86_64-4", "6.18.44", 1 << 11, 1 << 10 },
		{ "x86_64-4", "4.9.0", 1 << 11, 0 },
		{ "i386", "6.1.0", 0, 0 },
		{ "arm64-4k-48", "6.12.0", 0, UINT64_C(1) << 58 },
		{ "arm64-4k-48", "6.1.0", 0, 0 },
		{ "riscv64-sv39", "6.19.0", UINT64_C(1) << 59, UINT64_C(1) << 60 },
	};
	uint64_t none = (~UINT64_C(0x123456000) & 0x000ffffffffff000) | 0x8000000000000120;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct atw_soft_abi abi = atw_soft_abi_for(atw_paging_find(of[i].mode),
							   of[i].release);
		struct soft_bits bits = soft_page_bits(&abi);

		CHECK_EQ(bits.soft_dirty, of[i].soft_dirty);
		CHECK_EQ(bits.uffd_wp, of[i].uffd_wp);
	}
	CHECK(!decode("x86_64-4", "6.18", 0, none).uffd_wp);
	CHECK(!decode("x86_64-4", "6.18", 0, none).soft_dirty);
	CHECK(decode("x86_64-4", "6.18", 0, none | 1 << 10).uffd_wp);
	CHECK(decode("x86_64-4", "6.18", 0, none | 1 << 11).soft_dirty);
	CHECK(decode("riscv64-sv39", "6.19", 0, 2u << 7 | 1 << 4).uffd_wp);
	CHECK(decode("riscv64-sv39", "6.19", 0, 2u << 7 | 1 << 3).soft_dirty);
}

/* What types there are by release, in a kernel that has all of them. */
TEST(types_by_release)
{
	static const struct {
		const char *mode, *release;
		uint8_t poison, migration, device, marker, error;
	} of[] = {
		{ "x86_64-4", "5.10.0", 27, 28, 30, 32, 32 },
		{ "x86_64-4", "5.15.0", 25, 26, 28, 32, 32 },
		{ "x86_64-4", "6.1.0", 22, 23, 26, 30, 31 },
		{ "arm64-4k-48", "6.1.0", 23, 24, 27, 31, 31 },
		{ "arm64-4k-48", "6.12.0", 23, 24, 27, 31, 32 },
		{ "x86_64-5", "7.2.12", 24, 25, 28, 31, 32 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct atw_soft_abi abi = atw_soft_abi_for(atw_paging_find(of[i].mode),
							   of[i].release);

		CHECK_EQ(abi.poison, of[i].poison);
		CHECK_EQ(abi.migration, of[i].migration);
		CHECK_EQ(abi.device, of[i].device);
		CHECK_EQ(abi.marker, of[i].marker);
		CHECK_EQ(abi.error, of[i].error);
		CHECK(!abi.configured);
	}
}

/* Three generations; the wrong one reads swap entries as pages. */
TEST(arm64_generations)
{
	uint64_t page = 0x48123000;

	CHECK_PAGE(decode("arm64-4k-48", "6.12.107+deb13-arm64", 0, page | 1u << 11), "protnone", page);
	CHECK_PAGE(decode("arm64-4k-48", "6.1.0-50-arm64", 0, page | UINT64_C(1) << 58), "protnone", page);
	CHECK_PAGE(decode("arm64-4k-48", "6.1", 1, 0x48200000 | UINT64_C(1) << 59), "protnone", 0x48200000);
	CHECK_SWAP(decode("arm64-4k-48", "6.12", 0, 2u << 6 | UINT64_C(0x900) << 12), 2, 0x900);
	CHECK_SWAP(decode("arm64-4k-48", "6.1", 0, 2u << 3 | UINT64_C(0x908) << 8), 2, 0x908);
	CHECK_SWAP(decode("arm64-4k-48", "5.10", 0, 2u << 2 | UINT64_C(0x908) << 8), 2, 0x908);
	CHECK(decode("arm64-4k-48", "6.12", 0, 2u << 6 | 4).exclusive);
	CHECK(decode("arm64-4k-48", "6.12", 0, 2u << 6 | 8).uffd_wp);
	/* 6.1: bit 11 of a swap entry is offset, not PROT_NONE. */
	CHECK_SWAP(decode("arm64-4k-48", "6.1", 0, 1u << 11), 0, 8);
	/* 52-bit addresses keep their upper bits. */
	CHECK_PAGE(decode("arm64-64k-52", "6.12", 0, 0x48120000 | 1u << 11 | 0xf000),
		   "protnone", 0xf000048120000);
}

TEST(riscv)
{
	CHECK_PAGE(decode("riscv64-sv48", "6.12", 0, UINT64_C(0x80123) << 10 | 1u << 5), "protnone", 0x80123000);
	CHECK_SWAP(decode("riscv64-sv39", "6.12", 0, 4u << 7 | UINT64_C(0x55) << 12), 4, 0x55);
	CHECK(decode("riscv64-sv39", "6.12", 0, 4u << 7 | 1u << 6).exclusive);
}

TEST(other_machines_are_unknown)
{
	CHECK_STR(atw_soft_name(decode("arm", "6.1", 0, 0x1230).what), "unknown");
}
