// SPDX-License-Identifier: GPL-2.0-or-later
/* System.map and /proc/kallsyms are searched by name and address, sorted or not. */
#include "base/bytes.h"
#include "test.h"

#include "format/symtext.h"

static const char proc[] =
	"0000000000001000 A cpu_data\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T _stext\r\n"
	"ffffffff81000040 t helper\n"
	"ffffffff82000000 D jiffies\n"
	"ffffffffc0a21000 t helper\t[second]\n"
	"ffffffffc0a20000 t start\t[first]\r\n"
	"ffffffffc0a21010 t .L1\0021\t[second]";

static int find_symtext(const struct symtext *s, const char *name, uint64_t *ret)
{
	bool have;

	return symtext_find_many(s, &name, ret, &have, 1) ? ATW_OK : ATW_E_MISSING;
}

TEST(finds_names)
{
	static const char *const names[] = { "_stext", "nope", "helper", ".L1\0021", "_stex" };
	struct symtext s;
	uint64_t a = 77, addr[5];
	bool have[5];

	CHECK_EQ(symtext_init(&s, blob_of(proc), NULL), ATW_OK);
	CHECK_EQ(s.n, 8);
	CHECK_EQ(s.bad, 0);
	CHECK_EQ(find_symtext(&s, "nope", &a), ATW_E_MISSING);
	CHECK_EQ(a, 77);
	CHECK_EQ(find_symtext(&s, "helper", &a), ATW_OK);
	CHECK_EQ(a, 0xffffffff81000040);
	CHECK_EQ(symtext_find_many(&s, names, addr, have, 5), 3);
	CHECK(have[0] && !have[1] && have[2] && have[3] && !have[4]);
	CHECK_EQ(addr[0], 0xffffffff81000000);
	CHECK_EQ(addr[3], 0xffffffffc0a21010);
	symtext_deinit(&s);
}

TEST(finds_addresses_in_what_is_out_of_order)
{
	struct symtext_symbol sym;
	struct symtext s;

	CHECK_EQ(symtext_init(&s, blob_of(proc), NULL), ATW_OK);
	CHECK_EQ(symtext_near(&s, 0xffffffff8100003f, &sym), ATW_OK);
	CHECK_STR(sym.name, "_text");
	CHECK_STR(sym.module, "");
	CHECK_EQ(sym.size, 0x40);
	CHECK_EQ(sym.type, 'T');
	CHECK_EQ(symtext_near(&s, 0xffffffffc0a21001, &sym), ATW_OK);
	CHECK_STR(sym.name, "helper");
	CHECK_STR(sym.module, "second");
	CHECK_EQ(sym.size, 0x10);
	CHECK_EQ(symtext_near(&s, 0xffffffffc0a20fff, &sym), ATW_OK);
	CHECK_STR(sym.name, "start");
	CHECK_EQ(symtext_near(&s, 0xffffffff82000000 + 0xfffff, &sym), ATW_OK);
	CHECK_STR(sym.name, "jiffies");
	CHECK_EQ(symtext_near(&s, 0xffffffff82000000 + 0x100000, &sym), ATW_E_MISSING);
	CHECK_EQ(symtext_near(&s, 0xfff, &sym), ATW_E_MISSING);
	CHECK_EQ(symtext_near(&s, UINT64_MAX, &sym), ATW_E_MISSING);
	symtext_deinit(&s);
}

TEST(lists_lines_as_they_lie)
{
	struct symtext_symbol sym;
	struct symtext s;
	uint32_t it = 0, n = 0;

	CHECK_EQ(symtext_init(&s, blob_of(proc), NULL), ATW_OK);
	while (symtext_next(&s, &it, &sym) == ATW_OK)
		if (++n == 7)
			CHECK_STR(sym.module, "first");
	CHECK_EQ(n, 8);
	symtext_deinit(&s);
}

TEST(passes_over_lines_that_are_none)
{
	struct symtext s;

	CHECK_EQ(symtext_init(&s, blob_of("ffffffff81000000 T _stext\n"
				       "                 U undefined\n"
				       "\r\n\n"
				       "ffffffff81000010 TT two\n"
				       "ffffffff81000020 T good [mod]\n"
				       "ffffffff81000030 T more [mod] than that\n"
				       "ffffffff81000030 T\n"
				       "11ffffffff81000030 T wide\n"
				       "81000030\tt\tnarrow\n"
				       "81000040 t last\n"
				       "81000050 t really"), NULL), ATW_OK);
	CHECK_EQ(s.n, 5);
	CHECK_EQ(s.bad, 5);
	CHECK_EQ(s.first_bad, 2);
	symtext_deinit(&s);
}

TEST(refuses_what_is_no_list)
{
	static char wide[] = "f\0f\0 \0T\0";
	struct atw_err err = { 0 };
	struct symtext s;

	CHECK_EQ(symtext_init(&s, blob_of(""), &err), ATW_E_FORMAT);
	CHECK_EQ(symtext_init(&s, blob_of("\n\n"), &err), ATW_E_FORMAT);
	CHECK_EQ(symtext_init(&s, blob_of("#!/bin/sh\necho hello\n"), &err),
		 ATW_E_FORMAT);
	CHECK(strstr(err.text, "line 1 is not an address, a type and a name"));
	CHECK_EQ(symtext_init(&s, (struct atw_blob){wide, sizeof(wide)}, &err),
		 ATW_E_FORMAT);
	CHECK(strstr(err.text, "byte 0x1 is 0"));
}

TEST(says_that_addresses_are_hidden)
{
	struct atw_err err = { 0 };
	struct symtext s;

	CHECK_EQ(symtext_init(&s, blob_of("0000000000000000 T _text\n"
				       "0000000000000000 T _stext\n"), &err), ATW_E_PERM);
	CHECK(strstr(err.text, "has no addresses: every one of its 2 symbols is at 0"));
	CHECK(strstr(err.hint, "kptr_restrict"));
}

/* Every length, each in an allocation of its own. */
TEST(text_cut_anywhere_is_read_or_refused)
{
	for (size_t len = 0; len <= sizeof(proc) - 1; len++) {
		struct symtext_symbol sym;
		struct symtext s;
		char *p = malloc(len + !len);
		uint32_t it = 0;

		CHECK(p);
		memcpy(p, proc, len);
		if (symtext_init(&s, (struct atw_blob){ p, len }, NULL) == ATW_OK) {
			while (symtext_next(&s, &it, &sym) == ATW_OK)
				symtext_near(&s, sym.address, &sym);
			symtext_deinit(&s);
		}
		free(p);
	}
}
