/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people type: numbers, sizes, extensions of paging modes. */
#include "paging/entry.h"
#include "base/num.h"
#include "fuzz.h"

static void number(const char *s, size_t len)
{
	uint64_t hex, dec, any, size, decimal;
	bool is_dec = num_dec(s, len, &dec), is_hex = num_hex(s, len, &hex);
	bool is_any = num_any(s, len, &any), is_size = num_size(s, len, &size);
	bool is_decimal = num_size_decimal(s, len, &decimal);
	char again[32], human[16];

	/* All parsers read plain digits alike; those that accept more agree, too. */
	FUZZ_CHECK(!is_dec || (is_any && any == dec), "'%.*s'", (int)len, s);
	FUZZ_CHECK(!is_any || (is_size && size == any), "'%.*s'", (int)len, s);
	FUZZ_CHECK(!is_size || (is_decimal && decimal == size), "'%.*s'", (int)len, s);
	if (is_hex) {
		snprintf(again, sizeof(again), "%" PRIx64, hex);
		FUZZ_CHECK(num_hex(again, strlen(again), &any) && any == hex, "'%.*s'",
			   (int)len, s);
	}
	for (const char *at = s; num_list_next(&at, s + len, &dec, &any);)
		FUZZ_CHECK(at <= s + len && dec <= any, "'%.*s'", (int)len, s);
	if (is_size)
		FUZZ_CHECK(strlen(num_human(size, human)) < sizeof(human), "'%.*s'",
			   (int)len, s);
}

static void extension(const char *s)
{
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		struct atw_paging copy = *pg;
		struct atw_err err = { 0 };
		int rc = atw_paging_extend(&copy, s, &err);

		check_err(rc, &err);
		if (rc == ATW_OK)
			entry_kind(&copy, 0, UINT64_MAX);
	}
	FUZZ_CHECK(!(pg = atw_paging_find(s)) || !strcmp(pg->name, s), "'%s'", s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	char *s = take_line(&in);

	number(s, strlen(s));
	number((const char *)data, len < 40 ? len : 40);
	extension(s);
	free(s);
	return 0;
}
