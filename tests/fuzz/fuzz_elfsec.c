/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections and symbols of an ELF file. The first 8 bytes of the input are an
 * address, for which the symbol is looked up.
 */
#include "format/elfsyms.h"
#include "fuzz.h"

enum { SECTIONS = 500, SYMBOLS = 200 };

static void section(const struct elfsec *e, uint32_t i)
{
	struct elfsec_section s = elfsec_at(e, i), found;
	struct atw_err err = { 0 };
	struct atw_blob b;
	int r = elfsec_bytes(e, &s, &b, &err);

	check_err(r, &err);
	if (r == ATW_OK)
		touch(b.data, b.len < 4096 ? b.len : 4096);
	if (i && *s.name)
		FUZZ_CHECK(elfsec_find(e, s.name, &found) == ATW_OK &&
			   !strcmp(found.name, s.name), "%s is there and not found", s.name);
}

static int find_elfsyms(const struct elfsyms *s, const char *name, uint64_t *ret)
{
	bool have;

	return elfsyms_find_many(s, &name, ret, &have, 1) ? ATW_OK : ATW_E_MISSING;
}

static void symbols(const struct elfsyms *s, uint64_t address)
{
	struct elfsyms_symbol sym;
	uint64_t at;

	FUZZ_CHECK(s->n && s->n <= s->all, "%u of %u", s->n, s->all);
	for (uint32_t i = 1; i < s->n; i++)
		FUZZ_CHECK(s->place[i - 1].address <= s->place[i].address, "place %u", i);
	for (uint32_t i = 0; i <= s->n && i < SYMBOLS; i++) {
		uint64_t want = i ? s->place[i - 1].address : address;

		if (elfsyms_near(s, want, &sym) < 0) {
			FUZZ_CHECK(!i, "no symbol where one is, 0x%" PRIx64, want);
			continue;
		}
		/* Padding behind a symbol has its name as well. */
		FUZZ_CHECK(!i || want - sym.address < sym.size, "%s at 0x%" PRIx64 "+0x%" PRIx64,
			   sym.name, sym.address, sym.size);
		FUZZ_CHECK(find_elfsyms(s, sym.name, &at) == ATW_OK, "%s", sym.name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint64_t address = take(&in, 8);
	struct atw_err err = { 0 };
	struct elfsyms syms;
	struct atw_blob id;
	struct elfsec e;
	int r = elfsec_parse((struct atw_blob){ in.p, in.len }, &e, &err);

	check_err(r, &err);
	if (r < 0)
		return 0;
	for (uint32_t i = 0; i <= e.n && i < SECTIONS; i++)
		section(&e, i);
	if (elfsec_build_id(&e, &id) == ATW_OK)
		touch(id.data, id.len);
	r = elfsyms_init(&syms, &e, &err);
	check_err(r, &err);
	if (r == ATW_OK) {
		symbols(&syms, address);
		elfsyms_deinit(&syms);
	}
	return 0;
}
