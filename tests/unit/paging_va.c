// SPDX-License-Identifier: GPL-2.0-or-later
/* paging_va.c - which virtual addresses a mode translates, and by which slots. */
#include "paging/paging.h"

#include "test.h"

#define MODE(name) const struct atw_paging *pg = atw_paging_find(name); CHECK(pg)

#define VALID(va)   CHECK(atw_va_valid(pg, ATW_VA(va)))
#define INVALID(va) CHECK(!atw_va_valid(pg, ATW_VA(va)))

TEST(signed_modes)
{
	MODE("x86_64-4");
	VALID(0);
	VALID(0x00007fffffffffff);
	INVALID(0x0000800000000000);
	INVALID(0xffff7fffffffffff);
	VALID(0xffff800000000000);
	VALID(~0ull);

	pg = atw_paging_find("x86_64-5");
	VALID(0x00ffffffffffffff);
	INVALID(0x0100000000000000);
	VALID(0xff00000000000000);
	VALID(0x0000800000000000);

	pg = atw_paging_find("riscv64-sv39");
	VALID(0x0000003fffffffff);
	INVALID(0x0000004000000000);
	VALID(0xffffffc000000000);
	INVALID(0xffffffbfffffffff);
}

TEST(split_modes)
{
	MODE("arm64-4k-48");
	VALID(0);
	VALID(0x0000ffffffffffff);
	INVALID(0x0001000000000000);
	INVALID(0x8000000000000000);
	VALID(0xffff000000000000);
	INVALID(0xfffeffffffffffff);
	VALID(~0ull);

	pg = atw_paging_find("arm64-16k-36");
	VALID(0x0000000fffffffff);
	INVALID(0x0000001000000000);
	VALID(0xfffffff000000000);

	pg = atw_paging_find("arm64-64k-52");
	VALID(0x000fffffffffffff);
	VALID(0xfff0000000000000);
	INVALID(0xffe0000000000000);
}

TEST(flat_modes)
{
	static const char *const name[] = {
		"i386", "i386-pae", "arm", "arm-lpae", "riscv32-sv32",
	};

	for (unsigned i = 0; i < 5; i++) {
		MODE(name[i]);
		VALID(0);
		VALID(0xffffffff);
		INVALID(0x100000000);
		INVALID(0xffffffffc0000000);
		CHECK_EQ(atw_va_canonical(pg, 0xffffffffc0000000, true).u,
			 0xc0000000);
	}
}

TEST(canonical_addresses)
{
	MODE("x86_64-4");
	/* the top bit decides, whatever half is asked for */
	CHECK_EQ(atw_va_canonical(pg, 0x0000800000000000, false).u,
		 0xffff800000000000);
	CHECK_EQ(atw_va_canonical(pg, 0x00007fffffffffff, true).u,
		 0x00007fffffffffff);
	CHECK_EQ(atw_va_canonical(pg, 0xabcd7fffffffffff, false).u,
		 0x00007fffffffffff);

	pg = atw_paging_find("arm64-4k-39");
	CHECK_EQ(atw_va_canonical(pg, 0x0000004000000000, false).u,
		 0x0000004000000000);
	CHECK_EQ(atw_va_canonical(pg, 0x0000004000000000, true).u,
		 0xffffffc000000000);
	CHECK_EQ(atw_va_canonical(pg, ~0ull, false).u, 0x0000007fffffffff);

	pg = atw_paging_find("riscv64-sv57");
	CHECK_EQ(atw_va_canonical(pg, 0x0100000000000000, false).u,
		 0xff00000000000000);
}

/* Whatever the bits: canonical is valid, and doing it twice changes nothing. */
TEST(canonical_is_valid)
{
	const struct atw_paging *pg;
	uint64_t x = 1;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned k = 0; k < 2000; k++) {
			atw_va va;

			x = x * 6364136223846793005 + 1442695040888963407;
			va = atw_va_canonical(pg, x, k & 1);
			VALID(va.u);
			CHECK_EQ(atw_va_canonical(pg, va.u, va.u >> 63).u, va.u);
			CHECK_EQ((va.u ^ x) << (64 - pg->va_bits), 0);
		}
}

TEST(slots)
{
	MODE("x86_64-4");
	atw_va va = ATW_VA(0xffffffff81234567);

	CHECK_EQ(atw_index(pg, 3, va), 511);
	CHECK_EQ(atw_index(pg, 2, va), 510);
	CHECK_EQ(atw_index(pg, 1, va), 9);
	CHECK_EQ(atw_index(pg, 0, va), 0x34);
	CHECK_EQ(atw_table_bytes(pg, 3), 4096);

	pg = atw_paging_find("arm64-16k-48");
	CHECK_EQ(atw_index(pg, 3, ATW_VA(0xffff800000000000)), 1);
	CHECK_EQ(atw_index(pg, 2, ATW_VA(0xffff800000000000)), 0);
	CHECK_EQ(atw_table_bytes(pg, 3), 16);
	CHECK_EQ(atw_table_bytes(pg, 0), 16384);

	pg = atw_paging_find("arm64-4k-52");
	CHECK_EQ(atw_index(pg, 4, ATW_VA(0xfff0000000000000)), 0);
	CHECK_EQ(atw_index(pg, 4, ATW_VA(0xffff000000000000)), 15);
	CHECK_EQ(atw_table_bytes(pg, 4), 128);

	pg = atw_paging_find("arm");
	CHECK_EQ(atw_index(pg, 1, ATW_VA(0xc0123456)), 0xc01);
	CHECK_EQ(atw_index(pg, 0, ATW_VA(0xc0123456)), 0x23);
	CHECK_EQ(atw_table_bytes(pg, 1), 16384);
	CHECK_EQ(atw_table_bytes(pg, 0), 1024);

	pg = atw_paging_find("i386-pae");
	CHECK_EQ(atw_index(pg, 2, ATW_VA(0xc0123456)), 3);
	CHECK_EQ(atw_table_bytes(pg, 2), 32);
}

TEST(letters)
{
	char s[5];

	atw_rights_letters(ATW_RIGHTS_ALL, s);
	CHECK_STR(s, "rwxu");
	atw_rights_letters(ATW_KR | ATW_KW | ATW_UR | ATW_UW, s);
	CHECK_STR(s, "rw-u");
	atw_rights_letters(ATW_KR | ATW_KX, s);
	CHECK_STR(s, "r-x-");
	atw_rights_letters(ATW_KR | ATW_KW | ATW_KX | ATW_UX, s);
	CHECK_STR(s, "--xu");
	atw_rights_letters(0, s);
	CHECK_STR(s, "----");
}
