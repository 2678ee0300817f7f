// SPDX-License-Identifier: GPL-2.0-or-later
/* paging_extend.c - each mode takes its extensions, and what they change is exact. */
#include "paging/entry.h"

#include "test.h"

static int extend(const char *mode, const char *ext, struct atw_paging *ret)
{
	struct atw_err err = { 0 };
	int rc;

	*ret = *atw_paging_find(mode);
	rc = atw_paging_extend(ret, ext, &err);
	/* a refusal says why, and leaves the copy alone */
	if (rc && (!err.text[0] || err.status != rc ||
		   memcmp(ret, atw_paging_find(mode), sizeof(*ret))))
		return 99;
	return rc;
}

TEST(who_takes_what)
{
	static const struct { const char *ext, *takes; } row[] = {
		{ "lpa2", "arm64-4k arm64-16k arm64-s2-4k arm64-s2-16k" },
		{ "thead", "riscv64" },
		{ "svrsw60t59b", "riscv64" },
		{ "cbit=47", "x86_64 i386-pae npt" },
		{ "ipa=39", "arm64-s2" },
	};
	const struct atw_paging *pg;
	struct atw_paging copy;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++)
		for (unsigned k = 0; k < 5; k++) {
			char list[64], *save = NULL;
			bool takes = false;

			strcpy(list, row[k].takes);
			for (char *w = strtok_r(list, " ", &save); w;
			     w = strtok_r(NULL, " ", &save))
				takes |= !strncmp(pg->name, w, strlen(w));
			CHECK_EQ(extend(pg->name, row[k].ext, &copy),
				 takes ? ATW_OK : ATW_E_USAGE);
		}
}

TEST(bad_words)
{
	static const char *const bad[] = {
		"", "LPA2", "lpa2 ", "cbit", "cbit=", "cbit=x", "cbit=-1",
		"cbit=4 ", "cbit=047", "cbit=52", "cbit=63", "cbit=11",
		"cbit=0x2f", "cbit=4294967343",
	};
	struct atw_paging pg;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(extend("x86_64-4", bad[i], &pg), ATW_E_USAGE);
	CHECK_EQ(extend("x86_64-4", "cbit=12", &pg), ATW_OK);
	CHECK_EQ(extend("x86_64-4", "cbit=51", &pg), ATW_OK);
	CHECK_EQ(pg.ignore, 1ull << 51);
	CHECK_EQ(atw_paging_extend(&pg, "nonsense", NULL), ATW_E_USAGE);
}

/* Every mode of stage 2 comes out of each other one of its page size. */
TEST(ipa_equals_the_mode_of_that_width)
{
	static const struct { const char *granule; unsigned width[8]; } row[] = {
		{ "arm64-s2-4k", { 32, 36, 40, 42, 44, 48, 52 } },
		{ "arm64-s2-16k", { 40, 48, 52 } },
		{ "arm64-s2-64k", { 40, 48, 52 } },
	};

	for (size_t i = 0; i < 3; i++)
		for (const unsigned *from = row[i].width; *from; from++)
			for (const unsigned *to = row[i].width; *to; to++) {
				char name[32], ext[16];
				const struct atw_paging *want;
				struct atw_paging pg;

				snprintf(name, sizeof(name), "%s-%u", row[i].granule, *to);
				want = atw_paging_find(name);
				snprintf(name, sizeof(name), "%s-%u", row[i].granule, *from);
				snprintf(ext, sizeof(ext), "ipa=%u", *to);
				/* Wider than the entries of that mode can hold */
				if (*to > atw_paging_find(name)->pa_bits) {
					CHECK_EQ(extend(name, ext, &pg), ATW_E_USAGE);
					continue;
				}
				CHECK_EQ(extend(name, ext, &pg), ATW_OK);
				CHECK_EQ(pg.va_bits, *to);
				CHECK_EQ(pg.nlevels, want->nlevels);
				for (unsigned k = 0; k < ATW_MAX_LEVELS; k++) {
					CHECK_EQ(pg.level[k].shift, want->level[k].shift);
					CHECK_EQ(pg.level[k].bits, want->level[k].bits);
				}
				for (unsigned k = 0; k < want->nlevels; k++)
					CHECK_STR(pg.level[k].name, want->level[k].name);
			}
}

/* Widths between those of the modes: the root has 16 tables at most, and a bit at least. */
TEST(ipa_of_any_width)
{
	static const char *const modes[] = { "arm64-s2-4k-52", "arm64-s2-16k-52", "arm64-s2-64k-52" };
	static const char *const bad[] = { "ipa=", "ipa=x", "ipa=31", "ipa=53", "ipa=039", "ipa=39 ",
					   "ipa=-40", "ipa" };
	struct atw_paging pg;
	char ext[16];

	for (size_t i = 0; i < 3; i++)
		for (unsigned n = 32; n <= 52; n++) {
			unsigned sum;

			snprintf(ext, sizeof(ext), "ipa=%u", n);
			CHECK_EQ(extend(modes[i], ext, &pg), ATW_OK);
			sum = pg.page_shift;
			for (unsigned k = 0; k < pg.nlevels; k++) {
				CHECK_EQ(pg.level[k].shift, sum);
				sum += pg.level[k].bits;
			}
			CHECK_EQ(sum, n);
			CHECK(pg.level[pg.nlevels - 1].bits <= pg.page_shift - 3u + 4);
		}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(extend("arm64-s2-4k-52", bad[i], &pg), ATW_E_USAGE);
	CHECK_EQ(extend("arm64-s2-4k-40", "ipa=49", &pg), ATW_E_USAGE);
	CHECK_EQ(extend("arm64-s2-4k-40", "lpa2", &pg), ATW_OK);
	CHECK_EQ(atw_paging_extend(&pg, "ipa=49", NULL), ATW_OK);
	CHECK_EQ(pg.va_bits, 49);
}

TEST(bits_add_up)
{
	struct atw_paging pg;

	CHECK_EQ(extend("x86_64-5", "cbit=47", &pg), ATW_OK);
	CHECK_EQ(atw_paging_extend(&pg, "cbit=51", NULL), ATW_OK);
	CHECK_EQ(pg.ignore, 1ull << 47 | 1ull << 51);
}

TEST(lpa2_equals_the_52_bit_mode)
{
	static const char *const pair[][2] = {
		{ "arm64-4k-48", "arm64-4k-52" }, { "arm64-16k-48", "arm64-16k-52" },
		{ "arm64-s2-4k-48", "arm64-s2-4k-52" },
		{ "arm64-s2-16k-48", "arm64-s2-16k-52" },
	};
	struct atw_paging pg;

	for (unsigned i = 0; i < 4; i++) {
		const struct atw_paging *want = atw_paging_find(pair[i][1]);

		CHECK_EQ(extend(pair[i][0], "lpa2", &pg), ATW_OK);
		CHECK_EQ(pg.pa_bits, 52);
		CHECK(!memcmp(pg.addr, want->addr, sizeof(pg.addr)));
		CHECK(pg.rules == want->rules && pg.flags == want->flags &&
		      pg.spans == want->spans);
		CHECK_EQ(pg.va_bits, 48);
	}
}

TEST(thead_has_no_napot_and_no_pbmt)
{
	struct atw_paging pg;
	uint64_t w = 0x90000000200020e7;

	CHECK_EQ(extend("riscv64-sv39", "thead", &pg), ATW_OK);
	CHECK_EQ(entry_kind(&pg, 0, w), ATW_LEAF);
	CHECK_EQ(atw_entry_span(&pg, 0, w), 12);
	CHECK(!entry_replaces(&pg, 0, w));
	CHECK_EQ(entry_addr(&pg, 0, ATW_LEAF, w).u, 0x80008000);
	CHECK_EQ(entry_kind(atw_paging_find("riscv64-sv39"), 0, w), ATW_BAD);
}
