// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms tables of every layout give names and addresses;
 * contradictions are refused.
 */
#include "test.h"
#include "unit/kallsyms_image.h"

#include "base/bytes.h"

#define BASE 0xffffffff81000000

enum { PERCPU = 3, FIXED = 8, FILL = 700, N = FIXED + FILL };

static char long_text[201], longest_text[513], fill_text[FILL][16];

/* Per-CPU symbols first, aliases, long names, and enough to need markers. */
static uint32_t sample(struct made_symbol *s, bool percpu)
{
	struct made_symbol fixed[FIXED] = {
		{ 0, "A__per_cpu_start" }, { 0x1000, "Acpu_data" }, { 0x3000, "A__per_cpu_end" },
		{ BASE, "T_text" }, { BASE, "T_stext" }, { BASE + 0x10, "t_stexts" },
		{ BASE + 0x40, long_text }, { BASE + 0x90, longest_text },
	};
	unsigned skip = percpu ? 0 : PERCPU;
	uint32_t n = 0;

	/* No token fits into these: 200 and 512 codes. */
	memset(long_text, 'q', 200);
	long_text[0] = 't';
	memset(longest_text, 'z', 512);
	longest_text[0] = 't';
	longest_text[511] = '\0';
	for (unsigned i = skip; i < FIXED; i++)
		s[n++] = fixed[i];
	for (unsigned i = 0; i < FILL; i++) {
		snprintf(fill_text[i], sizeof(fill_text[i]), "%sfn_%u", i % 3 ? "T" : "d__", i);
		s[n++] = (struct made_symbol){ BASE + 0x1000 + i * 0x20ul, fill_text[i] };
	}
	s[n - 1].address = BASE + 0x800000;      /* alone behind a gap */
	return n;
}

static const struct made_how hows[] = {
	{ .form = KALLSYMS_ABSOLUTE },
	{ .form = KALLSYMS_RELATIVE },
	{ .form = KALLSYMS_PERCPU },
	{ .form = KALLSYMS_RELATIVE, .order = true },
	{ .form = KALLSYMS_PERCPU, .late = true },
	{ .form = KALLSYMS_RELATIVE, .late = true },
	{ .form = KALLSYMS_ABSOLUTE, .late = true },
	{ .form = KALLSYMS_PLACE, .late = true },
	{ .form = KALLSYMS_PLACE, .late = true, .align = 4 },
};
enum { HOWS = sizeof(hows) / sizeof(hows[0]) };

/* short_names: 511 characters have no length of one byte; they stay out. */
static uint32_t make(struct made *m, struct made_how how, struct made_symbol *s)
{
	uint32_t n =
		sample(s, how.form == KALLSYMS_PERCPU || how.form == KALLSYMS_ABSOLUTE);

	for (uint32_t i = 0; how.short_names && i < n; i++)
		if (s[i].text == longest_text)
			s[i].text = "tshort";
	made_init(m, how, s, n, 1000);
	return n;
}

/* ---- answers ---- */

static void check_all(const struct kallsyms *k, const struct made_symbol *s, uint32_t n)
{
	struct kallsyms_iter it = { 0 };
	struct kallsyms_symbol sym, near;
	uint64_t a;

	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(kallsyms_next(k, &it, &sym), ATW_OK);
		CHECK_EQ(sym.address, s[i].address);
		CHECK_EQ(sym.type, s[i].text[0]);
		CHECK_STR(sym.name, s[i].text + 1);
		CHECK(sym.size > 0);
		CHECK_EQ(kallsyms_near(k, sym.address, &near), ATW_OK);
		CHECK_EQ(near.address, sym.address);
		CHECK_EQ(near.size, sym.size);
		CHECK_EQ(kallsyms_near(k, sym.address + sym.size - 1, &near), ATW_OK);
		CHECK_EQ(near.address, sym.address);
		CHECK_EQ(kallsyms_find(k, sym.name, strlen(sym.name), &a), ATW_OK);
		CHECK_EQ(a, sym.address);
	}
	CHECK_EQ(kallsyms_next(k, &it, &sym), ATW_END);
}

TEST(reads_every_form_with_both_kinds_of_length)
{
	for (unsigned i = 0; i < HOWS * 2; i++) {
		struct made_how how = hows[i / 2];
		struct made_symbol s[N];
		struct kallsyms_tables t;
		struct kallsyms k;
		struct made m;
		uint32_t n;

		how.short_names = i & 1;
		n = make(&m, how, s);
		t = made_tables(&m);
		CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
		CHECK_EQ(k.form, how.form);
		CHECK_EQ(k.long_names, !how.short_names);
		CHECK_EQ(k.nruns, 1);
		CHECK(k.names_len <= m.markers - m.names);
		check_all(&k, s, n);
		kallsyms_deinit(&k);
		image_free(&m.im);
	}
}

/* Nothing behind the names says which reading of lengths is right. */
TEST(reads_names_without_markers)
{
	for (unsigned i = 0; i < 2; i++) {
		struct made_how how = { .form = KALLSYMS_RELATIVE, .short_names = i };
		struct made_symbol s[N];
		struct kallsyms_tables t;
		struct kallsyms k;
		struct made m;
		uint32_t n = make(&m, how, s);

		t = made_tables(&m);
		t.names = made_part(&m, m.names, m.markers);
		CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
		CHECK_EQ(k.long_names, !i);
		check_all(&k, s, n);
		kallsyms_deinit(&k);
		image_free(&m.im);
	}
}

static int init_of(const struct kallsyms_tables *t, struct atw_err *err)
{
	struct kallsyms k;
	int r = kallsyms_init(&k, t, err);

	if (r == ATW_OK)
		kallsyms_deinit(&k);
	return r;
}

/* Both readings come to an end, and only that of kernels before 6.1 has _stext. */
TEST(takes_the_reading_of_lengths_that_has_the_anchor)
{
	struct made_symbol s[2] = { { BASE, "Tfn" }, { BASE + 16, "T_stext" } };
	struct made_how how = { .form = KALLSYMS_RELATIVE };
	struct image names = { 0 };
	struct kallsyms_tables t;
	uint8_t packed[16];
	struct atw_err err;
	struct kallsyms k;
	struct made m;
	uint64_t a;
	size_t n;

	made_init(&m, how, s, 2, 0);
	t = made_tables(&m);
	t.anchor = BASE + 16;
	/* 129 tokens and one name more; or 1 + 3 * 128, and behind them another. */
	fill(&names, 0, 387, 'q');
	put(&names, 0, "\x81\3", 2);
	n = made_pack("T_stext", packed);
	put_le(&names, 130, 1, n);
	put(&names, 131, packed, n);
	put(&names, 387, "\2Tq", 3);
	t.names = image_blob(&names);
	CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
	CHECK(!k.long_names);
	CHECK_EQ(k.names_len, 131 + n);
	CHECK_EQ(kallsyms_find(&k, "_stext", 6, &a), ATW_OK);
	CHECK_EQ(a, BASE + 16);
	kallsyms_deinit(&k);
	t.anchor++;
	CHECK_EQ(init_of(&t, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "kallsyms: none of 2 names is _stext");
	image_free(&names);
	image_free(&m.im);
}

TEST(finds_names_whole_and_many_at_once)
{
	static const char *const names[] = {
		"_stext", "_stex", "_stexts", "", "fn_", "fn_1", "__fn_0", "fn_699x", "cpu_data", "_text",
	};
	static const bool want[] = { 1, 0, 1, 0, 0, 1, 1, 0, 1, 1 };
	const char *lots[150];
	uint64_t addr[150] = { 0 };
	struct made_symbol s[N];
	struct kallsyms_tables t;
	struct kallsyms k;
	bool have[150];
	struct made m;
	uint64_t a = 77;

	make(&m, hows[2], s);
	t = made_tables(&m);
	CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
	CHECK_EQ(kallsyms_find_many(&k, names, addr, have, 10), 6);
	for (unsigned i = 0; i < 10; i++)
		CHECK_EQ(have[i], want[i]);
	CHECK_EQ(addr[0], BASE);
	CHECK_EQ(addr[2], BASE + 0x10);
	CHECK_EQ(addr[8], 0x1000);
	CHECK_EQ(kallsyms_find(&k, "nothing", 7, &a), ATW_E_MISSING);
	CHECK_EQ(a, 77);
	CHECK_EQ(kallsyms_find(&k, "_stexts", 6, &a), ATW_OK);   /* by length */
	CHECK_EQ(a, BASE);
	CHECK_EQ(kallsyms_find_many(&k, NULL, NULL, NULL, 0), 0);
	for (unsigned i = 0; i < 150; i++)
		lots[i] = i % 2 ? fill_text[i] + 1 : "nothing";
	CHECK_EQ(kallsyms_find_many(&k, lots, addr, have, 150), 75);
	CHECK_EQ(addr[149], BASE + 0x1000 + 149 * 0x20);
	kallsyms_deinit(&k);
	image_free(&m.im);
}

/* Names of 511 bytes and more share a place; and some tokens stand for nothing. */
TEST(finds_names_of_any_length)
{
	enum { NAMES = 5 };
	static const size_t len[NAMES] = { 509, 510, 511, 512, 600 };
	static char text[NAMES][603], other[602];
	struct made_symbol s[8] = { { BASE, "T_stext" } };
	struct kallsyms_tables t;
	struct kallsyms k;
	struct made m;
	uint64_t a;

	for (unsigned i = 0; i < NAMES; i++) {
		memset(text[i], 'z', len[i] + 1);
		text[i][0] = 't';
		s[1 + i] = (struct made_symbol){ BASE + 16 + i * 16, text[i] };
	}
	s[6] = (struct made_symbol){ BASE + 0x100, "Ta\x0b\x0c" "b\x0d" };
	s[7] = (struct made_symbol){ BASE + 0x110, "T\x0b" };
	made_init(&m, hows[1], s, 8, 0);
	t = made_tables(&m);
	CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
	for (unsigned i = 0; i < NAMES; i++) {
		CHECK_EQ(kallsyms_find(&k, text[i] + 1, len[i], &a), ATW_OK);
		CHECK_EQ(a, s[1 + i].address);
	}
	memset(other, 'z', sizeof(other) - 1);
	CHECK_EQ(kallsyms_find(&k, other, 601, &a), ATW_E_MISSING);
	CHECK_EQ(kallsyms_find(&k, other, 513, &a), ATW_E_MISSING);
	other[511] = 'y';
	CHECK_EQ(kallsyms_find(&k, other, 512, &a), ATW_E_MISSING);
	CHECK_EQ(kallsyms_find(&k, "ab", 2, &a), ATW_OK);
	CHECK_EQ(a, s[6].address);
	CHECK_EQ(kallsyms_find(&k, "", 0, &a), ATW_OK);
	CHECK_EQ(a, s[7].address);
	kallsyms_deinit(&k);
	image_free(&m.im);
}

TEST(bounds_symbols_by_the_next_and_by_their_kind)
{
	struct kallsyms_symbol sym = { .name = "same" };
	struct made_symbol s[N];
	struct kallsyms_tables t;
	struct kallsyms k;
	struct made m;

	make(&m, hows[2], s);
	t = made_tables(&m);
	CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
	CHECK_EQ(kallsyms_near(&k, BASE + 5, &sym), ATW_OK);
	CHECK_STR(sym.name, "_text");            /* the first of two */
	CHECK_EQ(sym.size, 0x10);
	CHECK_EQ(kallsyms_near(&k, 0x3000 + 0xffff, &sym), ATW_OK);
	CHECK_STR(sym.name, "__per_cpu_end");
	CHECK_EQ(kallsyms_near(&k, 0x3000 + 0x10000, &sym), ATW_E_MISSING);
	CHECK_EQ(kallsyms_near(&k, BASE - 1, &sym), ATW_E_MISSING);
	CHECK_EQ(kallsyms_near(&k, UINT64_MAX, &sym), ATW_E_MISSING);
	CHECK_STR(sym.name, "__per_cpu_end");
	/* fn_699 is data. */
	CHECK_EQ(kallsyms_near(&k, BASE + 0x8fffff, &sym), ATW_OK);
	CHECK_EQ(kallsyms_near(&k, BASE + 0x900000, &sym), ATW_E_MISSING);
	kallsyms_deinit(&k);
	image_free(&m.im);
}

/* Absolute symbols behind the others, and a page of offsets that is missing. */
TEST(searches_addresses_that_start_over)
{
	struct made_symbol s[] = {
		{ BASE, "T_stext" }, { BASE + 0x100, "Tb" }, { BASE + 0x200, "Tc" },
		{ 0x10, "Alow" }, { 0x20, "Ahigh" },
		{ BASE + 0x80, "Tlate" }, { BASE + 0x180, "Tlater" },
	};
	struct made_how how = { .form = KALLSYMS_PERCPU };
	struct kallsyms_symbol sym;
	struct kallsyms_tables t;
	struct kallsyms k;
	struct made m;

	made_init(&m, how, s, 7, 0);
	t = made_tables(&m);
	CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
	CHECK_EQ(k.nruns, 2);
	check_all(&k, s, 7);
	CHECK_EQ(kallsyms_near(&k, BASE + 0x90, &sym), ATW_OK);
	CHECK_STR(sym.name, "late");
	CHECK_EQ(sym.size, 0x80);
	CHECK_EQ(kallsyms_near(&k, BASE + 0x17f, &sym), ATW_OK);
	CHECK_STR(sym.name, "b");
	CHECK_EQ(kallsyms_near(&k, 0x18, &sym), ATW_OK);
	CHECK_STR(sym.name, "low");
	CHECK_EQ(kallsyms_near(&k, 0xf, &sym), ATW_E_MISSING);
	kallsyms_deinit(&k);
	image_free(&m.im);
}

/* ---- what is refused ---- */

TEST(refuses_what_contradicts_itself)
{
	struct made_symbol s[N];
	struct kallsyms_tables t, good;
	struct atw_err err;
	struct made m;

	make(&m, hows[2], s);
	good = t = made_tables(&m);
	t.num = 0;
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	t.num = UINT32_MAX;
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "kallsyms_num_syms: 4294967295"));
	t.num = good.num + 1;
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	t = good;
	t.index.len = 511;
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	t = good;
	t.anchor += 0x10;
	CHECK_EQ(init_of(&t, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, "_stext, symbol 4, has 0xffffffff") &&
	      strstr(err.text, "is never 0xffffffff81000010"));
	t = good;
	t.has_base = false;
	CHECK_EQ(init_of(&t, &err), ATW_E_UNSUPPORTED);
	t = good;
	t.absolute = true;
	t.num /= 2;
	CHECK_EQ(init_of(&t, &err), ATW_E_UNSUPPORTED);
	put_le(&m.im, m.index + 2 * 0xe0, 2, 0xfff0);            /* outside */
	t = good;
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "token 224 at 0xfff0"));
	image_free(&m.im);
}

TEST(refuses_names_that_are_none)
{
	struct made_symbol s[N];
	struct kallsyms_tables t;
	struct atw_err err;
	struct made m;

	make(&m, hows[1], s);
	t = made_tables(&m);
	put_le(&m.im, m.names, 1, 0);                            /* no length */
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "name 0 of 705, at 0x0"));
	image_free(&m.im);
	make(&m, hows[1], s);
	t = made_tables(&m);
	put_le(&m.im, m.names + 1, 1, '1');                      /* no type */
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	image_free(&m.im);
	make(&m, hows[1], s);
	t = made_tables(&m);
	t.names = made_part(&m, m.names, m.markers - 16);        /* off the end */
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	image_free(&m.im);
	s[1].text = "Tnone";
	made_init(&m, hows[1], s + 1, 3, 0);
	t = made_tables(&m);
	CHECK_EQ(init_of(&t, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "kallsyms: none of 3 names is _stext");
	image_free(&m.im);
}

TEST(refuses_addresses_in_disorder)
{
	struct made_symbol s[80];
	struct kallsyms_tables t;
	struct atw_err err;
	struct made m;

	for (unsigned i = 0; i < 80; i++)
		s[i] = (struct made_symbol){ BASE + i % 2 * 0x100, i ? "Tq" : "T_stext" };
	made_init(&m, hows[1], s, 80, 0);
	t = made_tables(&m);
	CHECK_EQ(init_of(&t, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, "start over more than 32 times"));
	image_free(&m.im);
}

/* Each blob in an allocation of its own and of its length: ASan sees the rest. */
static struct atw_blob cut(struct atw_blob b, size_t len)
{
	char *p = malloc(len + !len);

	if (!p)
		abort();
	memcpy(p, b.data, len);
	return (struct atw_blob){ p, len };
}

static void use(const struct kallsyms_tables *t)
{
	struct kallsyms_iter it = { 0 };
	struct kallsyms_symbol sym;
	struct atw_err err = { 0 };
	struct kallsyms k;
	uint64_t a;

	if (kallsyms_init(&k, t, &err) < 0) {
		CHECK(err.text[0]);
		return;
	}
	while (kallsyms_next(&k, &it, &sym) == ATW_OK)
		kallsyms_near(&k, sym.address + 1, &sym);
	CHECK_EQ(it.index, t->num);
	CHECK_EQ(kallsyms_find(&k, "_stext", 6, &a), ATW_OK);
	kallsyms_deinit(&k);
}

TEST(tables_cut_anywhere_end_in_a_refusal_or_an_answer)
{
	struct made_symbol s[20];

	for (unsigned i = 0; i < 20; i++)
		s[i] = (struct made_symbol){ BASE + i * 0x10, i == 3 ? "T_stext" : i == 9 ? long_text : "Tfn_q" };
	s[3].address = s[2].address = s[1].address = s[0].address = BASE;
	for (unsigned i = 0; i < HOWS; i++) {
		struct kallsyms_tables t, good;
		struct made m;

		made_init(&m, hows[i], s, 20, 0);
		good = made_tables(&m);
		for (unsigned which = 0; which < 4; which++) {
			struct atw_blob *b = which == 0   ? &t.names
					     : which == 1 ? &t.tokens
					     : which == 2 ? &t.index
							  : &t.offsets;

			t = good;
			for (size_t len = b->len + 1; len-- > 0; ) {
				t = good;
				*b = cut(*b, len);
				use(&t);
				t.num = (uint32_t)len;
				use(&t);
				free((void *)b->data);
			}
		}
		image_free(&m.im);
	}
}

/* ---- where they are ---- */

TEST(locates_the_tables_of_every_time)
{
	for (unsigned i = 0; i < HOWS; i++) {
		struct kallsyms_tables t, want;
		struct made_symbol s[N];
		struct kallsyms k;
		struct atw_err err = { 0 };
		struct made m;
		uint32_t n = make(&m, hows[i], s);

		want = made_tables(&m);
		CHECK_EQ(kallsyms_locate(image_blob(&m.im), m.va, BASE, &t, &err),
			 ATW_OK);
		CHECK_EQ((uintptr_t)t.names.data, (uintptr_t)want.names.data);
		CHECK_EQ((uintptr_t)t.tokens.data, (uintptr_t)want.tokens.data);
		CHECK_EQ((uintptr_t)t.index.data, (uintptr_t)want.index.data);
		CHECK_EQ((uintptr_t)t.offsets.data, (uintptr_t)want.offsets.data);
		CHECK_EQ(t.offsets.len, want.offsets.len);
		CHECK_EQ(t.num, n);
		CHECK_EQ(t.absolute, want.absolute);
		CHECK_EQ(t.has_base, want.has_base);
		CHECK_EQ(t.offsets_va, want.offsets_va);
		CHECK_EQ(kallsyms_init(&k, &t, NULL), ATW_OK);
		check_all(&k, s, n);
		kallsyms_deinit(&k);
		CHECK_EQ(kallsyms_locate(image_blob(&m.im), m.va, BASE + 8, &t, &err),
			 ATW_E_MISSING);
		CHECK(strstr(err.text, "none has _stext at 0xffffffff81000008"));
		image_free(&m.im);
	}
}

TEST(locates_nothing_in_an_image_cut_short)
{
	for (unsigned i = 0; i < HOWS; i += 2) {
		struct made_symbol s[N];
		struct kallsyms_tables t;
		struct atw_err err = { 0 };
		struct made m;

		make(&m, hows[i], s);
		for (size_t len = 0; len < m.end; len += len > m.tokens ? 1 : 97) {
			struct atw_blob b = cut(image_blob(&m.im), len);
			int r = kallsyms_locate(b, m.va, BASE, &t, &err);

			CHECK_EQ(r,
				 hows[i].late && len < m.index + 512 ? ATW_E_MISSING : r);
			if (r == ATW_OK)
				use(&t);
			free((void *)b.data);
		}
		for (size_t from = m.names - 16; from < m.index; from += 4) {
			struct atw_blob b =
				cut(made_part(&m, from, m.im.len), m.im.len - from);

			int r = kallsyms_locate(b, m.va + from, BASE, &t, &err);

			CHECK_EQ(r, from > m.names - 4 ? ATW_E_MISSING : r);
			if (r == ATW_OK)
				use(&t);
			free((void *)b.data);
		}
		image_free(&m.im);
	}
}

TEST(locates_few_symbols_too)
{
	static const unsigned counts[] = { 1, 2, 255, 256, 257, 511, 512, 513 };

	for (unsigned c = 0; c < 8; c++) {
		for (unsigned i = 0; i < HOWS; i++) {
			struct made_symbol s[513];
			struct kallsyms_tables t = { 0 };
			struct made m;

			for (unsigned n = 0; n < 513; n++)
				s[n] = (struct made_symbol){ BASE + n * 16, n ? "Tfn_1" : "T_stext" };
			made_init(&m, hows[i], s, counts[c], 24);
			CHECK_EQ(kallsyms_locate(image_blob(&m.im), m.va, BASE, &t, NULL),
				 ATW_OK);
			CHECK_EQ(t.num, counts[c]);
			image_free(&m.im);
		}
	}
}
