// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VMCOREINFO is recognised, ends where it ends, and
 * its values are found by whole keys.
 */
#include "test.h"

#include "format/vmcoreinfo.h"

static const char text[] =
	"OSRELEASE=6.1.0-56-amd64\n"
	"BUILD-ID=4d1fd3b5aea5\n"
	"PAGESIZE=4096\n"
	"SYMBOL(swapper_pg_dir)=ffffffff92e10000\n"
	"SYMBOL(low)=0x1000\n"
	"OFFSET(page.flags)=0\n"
	"SIZE(page)=64\n"
	"LENGTH(zone.free_area)=11\n"
	"NUMBER(phys_base)=-155189248\n"
	"NUMBER(kimage_voffset)=0xffff7fffc0000000\n"
	"NUMBER(pgtable_l5_enabled)=0\n"
	"NUMBER(bad)=12x\n"
	"NUMBER(big)=18446744073709551616\n"
	"EMPTY=\n"
	"KERNELOFFSET=10400000\n"
	"KERNELOFFSET2=7\n";

static size_t probe(const char *s, size_t len)
{
	/* A copy of exactly that length: one byte too far is caught. */
	char *copy = calloc(1, len + !len);
	size_t n;

	memcpy(copy, s, len);
	n = atw_vmcoreinfo_probe(copy, len);
	free(copy);
	return n;
}

TEST(knows_the_text)
{
	CHECK_EQ(probe(text, strlen(text)), strlen(text));
	CHECK_EQ(probe(text, sizeof(text)), strlen(text));      /* with its NUL */
	CHECK_EQ(probe("OSRELEASE=6\n", 12), 12);
	CHECK_EQ(probe("OSRELEASE=6", 11), 11);
}

TEST(knows_what_is_not_the_text)
{
	CHECK_EQ(probe("", 0), 0);
	CHECK_EQ(probe("OSRELEASE", 9), 0);
	CHECK_EQ(probe("OSRELEASE=", 10), 0);
	CHECK_EQ(probe("OSRELEASE=\n", 11), 0);
	CHECK_EQ(probe("OSRELEASE=%s\n\0PAGESIZE=%ld\n", 27), 0);
	CHECK_EQ(probe("OSRELEASE=6 and so on\n", 22), 0);
	CHECK_EQ(probe("XOSRELEASE=6\n", 13), 0);
	CHECK_EQ(probe("OSRELEASES=6\n", 13), 0);
}

TEST(ends_before_other_bytes)
{
	/* NUL, and what was there before. */
	CHECK_EQ(probe("OSRELEASE=6\nA=1\n\0B=2\n", 21), 16);
	/* A line that runs into garbage may have lost the half of its value. */
	CHECK_EQ(probe("OSRELEASE=6\nA=1\nSYMBOL(x)=ffff\x80\xff", 33), 16);
	CHECK_EQ(probe("OSRELEASE=6\nA=1\nSYMBOL(x)=ffff\tB=1\n", 35), 16);
	/* Printable garbage is no KEY=VALUE. */
	CHECK_EQ(probe("OSRELEASE=6\nA=1\nsome words = here\n", 34), 16);
	CHECK_EQ(probe("OSRELEASE=6\nA=1\n=5\n", 19), 16);
	CHECK_EQ(probe("OSRELEASE=6\nA=1\n\nB=1\n", 21), 16);
	/* Cut by the length alone. */
	CHECK_EQ(probe("OSRELEASE=6\nA=12345\n", 18), 18);
}

TEST(never_reads_past_any_length)
{
	for (size_t len = 0; len <= strlen(text); len++)
		CHECK(probe(text, len) <= len);
}

TEST(finds_values_by_their_whole_key)
{
	struct atw_vmcoreinfo vi = { text, strlen(text) };
	struct atw_blob b;

	CHECK_EQ(atw_vmcoreinfo_text(&vi, "OSRELEASE", &b), ATW_OK);
	CHECK_EQ(b.len, 14);
	CHECK(!memcmp(b.data, "6.1.0-56-amd64", 14));
	CHECK_EQ(atw_vmcoreinfo_text(&vi, "EMPTY", &b), ATW_OK);
	CHECK_EQ(b.len, 0);
	CHECK_EQ(atw_vmcoreinfo_text(&vi, "OSRELEAS", &b), ATW_E_MISSING);
	CHECK_EQ(atw_vmcoreinfo_text(&vi, "RELEASE", &b), ATW_E_MISSING);
	CHECK_EQ(atw_vmcoreinfo_text(&vi, "SYMBOL(swapper)", &b), ATW_E_MISSING);
}

TEST(reads_each_kind_of_number)
{
	struct atw_vmcoreinfo vi = { text, strlen(text) };
	static const struct { const char *key; uint64_t want; } good[] = {
		{ "PAGESIZE", 4096 },
		{ "SYMBOL(swapper_pg_dir)", 0xffffffff92e10000 },
		{ "SYMBOL(low)", 0x1000 },
		{ "OFFSET(page.flags)", 0 },
		{ "SIZE(page)", 64 },
		{ "LENGTH(zone.free_area)", 11 },
		{ "NUMBER(phys_base)", (uint64_t)-155189248 },
		{ "NUMBER(kimage_voffset)", 0xffff7fffc0000000 },
		{ "NUMBER(pgtable_l5_enabled)", 0 },
		{ "KERNELOFFSET", 0x10400000 },
		{ "KERNELOFFSET2", 7 },
	};
	static const char *const bad[] = {
		"NUMBER(bad)", "NUMBER(big)", "EMPTY", "OSRELEASE",
	};
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CHECK_EQ(atw_vmcoreinfo_u64(&vi, good[i].key, &v), ATW_OK);
		CHECK_EQ(v, good[i].want);
	}
	v = 42;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(atw_vmcoreinfo_u64(&vi, bad[i], &v), ATW_E_DAMAGED);
	CHECK_EQ(atw_vmcoreinfo_u64(&vi, "NUMBER(none)", &v), ATW_E_MISSING);
	CHECK_EQ(v, 42);
}

TEST(the_most_negative_number_fits)
{
	static const char s[] = "OSRELEASE=6\nNUMBER(a)=-9223372036854775808\n"
				"NUMBER(b)=-9223372036854775809\nNUMBER(c)=-\n";
	struct atw_vmcoreinfo vi = { s, strlen(s) };
	uint64_t v;

	CHECK_EQ(atw_vmcoreinfo_u64(&vi, "NUMBER(a)", &v), ATW_OK);
	CHECK_EQ(v, (uint64_t)1 << 63);
	CHECK_EQ(atw_vmcoreinfo_u64(&vi, "NUMBER(b)", &v), ATW_E_DAMAGED);
	CHECK_EQ(atw_vmcoreinfo_u64(&vi, "NUMBER(c)", &v), ATW_E_DAMAGED);
}
