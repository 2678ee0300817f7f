/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tables of symbols: found in an image, and as five parts of one.
 * The same bytes are a list of symbols as text, too.
 *
 * Input: flags, and 16 bits each for where names, tokens, index and addresses
 * begin in what follows, in units of 4 bytes; 32 bits of how many symbols.
 */
#include "format/kallsyms.h"
#include "format/symtext.h"
#include "fuzz.h"

#define ANCHOR 0xffffffff81000000
#define VA 0xffffffff81800000

enum { SYMBOLS = 3000 };

static void symbols(const struct kallsyms *k)
{
	static const char *const names[] = { "_stext", "", "init", "fn_1", "no such name" };
	struct kallsyms_symbol sym, near;
	struct kallsyms_iter it = { 0 };
	uint64_t addr[5], a;
	bool have[5];
	size_t n = 0;

	while (it.index < SYMBOLS && kallsyms_next(k, &it, &sym) == ATW_OK) {
		FUZZ_CHECK(sym.size && sym.size <= kallsyms_size_max('d'), "size of %s", sym.name);
		FUZZ_CHECK(strlen(sym.name) < KALLSYMS_NAME, "name");
		FUZZ_CHECK(kallsyms_near(k, sym.address, &near) == ATW_OK &&
			   near.address == sym.address, "%s is not at its place", sym.name);
		if (strlen(sym.name) == KALLSYMS_NAME - 1 || it.index > 300)
			continue;
		FUZZ_CHECK(kallsyms_find(k, sym.name, strlen(sym.name), &a) == ATW_OK,
			   "%s is there and not found", sym.name);
	}
	FUZZ_CHECK(it.index >= SYMBOLS || it.index == k->t.num, "%u of %u", it.index, k->t.num);
	kallsyms_near(k, it.pos, &near);
	for (size_t i = 0; i < 5; i++)
		n += kallsyms_find(k, names[i], strlen(names[i]), &a) == ATW_OK;
	FUZZ_CHECK(kallsyms_find_many(k, names, addr, have, 5) == n, "not %zu", n);
	FUZZ_CHECK(have[0], "_stext is the proof");
}

static void open_tables(const struct kallsyms_tables *t)
{
	struct atw_err err = { 0 };
	struct kallsyms k;
	int r = kallsyms_init(&k, t, &err);

	check_err(r, &err);
	if (r < 0)
		return;
	symbols(&k);
	kallsyms_deinit(&k);
}

/* One by one, without what find_many() skips. */
static bool is_listed(const struct symtext *s, const char *name)
{
	struct symtext_symbol sym;

	for (uint32_t it = 0; symtext_next(s, &it, &sym) == ATW_OK;)
		if (!strcmp(sym.name, name))
			return true;
	return false;
}

static int find_symtext(const struct symtext *s, const char *name, uint64_t *ret)
{
	bool have;

	return symtext_find_many(s, &name, ret, &have, 1) ? ATW_OK : ATW_E_MISSING;
}

static void text(struct atw_blob blob)
{
	static const char *const names[] = { "_stext", "init", "no such name", "" };
	uint64_t addr[4];
	bool have[4];
	size_t n = 0;
	struct symtext_symbol sym, near;
	struct atw_err err = { 0 };
	uint32_t it = 0;
	struct symtext s;
	uint64_t a;
	int r = symtext_init(&s, blob, &err);

	check_err(r, &err);
	if (r < 0)
		return;
	while (it < SYMBOLS && symtext_next(&s, &it, &sym) == ATW_OK) {
		FUZZ_CHECK(symtext_near(&s, sym.address, &near) == ATW_OK &&
			   near.address == sym.address, "%s is not at its place", sym.name);
		FUZZ_CHECK(it > 300 || find_symtext(&s, sym.name, &a) ==
					       ATW_OK,
			   "%s is there and not found", sym.name);
	}
	FUZZ_CHECK(it == SYMBOLS || it == s.n, "%u of %u", it, s.n);
	for (size_t i = 0; i < 4; i++)
		n += is_listed(&s, names[i]);
	FUZZ_CHECK(symtext_find_many(&s, names, addr, have, 4) == n, "not %zu", n);
	symtext_deinit(&s);
}

static struct atw_blob from(struct input in, uint64_t units)
{
	size_t off = units * 4 < in.len ? units * 4 : in.len;

	return (struct atw_blob){ in.p + off, in.len - off };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	unsigned flags = (unsigned)take(&in, 1);
	uint64_t names = take(&in, 2), tokens = take(&in, 2), index = take(&in, 2);
	uint64_t offsets = take(&in, 2);
	uint32_t num = (uint32_t)take(&in, 4);
	struct kallsyms_tables t = {
		.names = from(in, names),
		.tokens = from(in, tokens),
		.index = from(in, index),
		.offsets = from(in, offsets),
		.absolute = flags & 1,
		.num = num,
		.has_base = flags & 2,
		.base = flags & 4 ? ANCHOR : ANCHOR - 0x10000,
		.offsets_va = VA + offsets * 4,
		.anchor = ANCHOR,
	};
	struct atw_err err = { 0 };
	int r;

	/* As a caller would have it: the names up to where the tokens begin. */
	if (flags & 8 && tokens > names && (tokens - names) * 4 < t.names.len)
		t.names.len = (tokens - names) * 4;
	if (flags & 16) {
		text((struct atw_blob){ in.p, in.len });
		return 0;
	}
	open_tables(&t);
	r = kallsyms_locate((struct atw_blob){ in.p, in.len }, VA, ANCHOR, &t, &err);
	check_err(r, &err);
	if (r == ATW_OK)
		open_tables(&t);
	return 0;
}
