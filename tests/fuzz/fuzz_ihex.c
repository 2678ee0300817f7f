/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of Intel HEX, as the plugin ihex reads them. */
#include "plugins/ihex/records.c"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct records r = { .text = (const char *)data, .len = len };
	enum record_result got;
	size_t bytes = 0, calls = 0;

	while ((got = records_next(&r)) == RECORD_DATA) {
		FUZZ_CHECK(r.n && r.n <= RECORD_BYTES, "%u bytes", r.n);
		FUZZ_CHECK(r.at + r.n <= UINT64_C(0x100010000), "0x%" PRIx64, r.at);
		FUZZ_CHECK(!r.wraps || (r.at + r.n <= r.base + 0x10000 && r.at >= r.base),
			   "0x%" PRIx64 " does not wrap", r.at);
		bytes += r.n;
		FUZZ_CHECK(++calls <= len, "it does not end");
	}
	FUZZ_CHECK(bytes <= len / 2, "%zu bytes in a text of %zu", bytes, len);
	FUZZ_CHECK(r.pos <= r.len, "it is at %zu of %zu", r.pos, r.len);
	FUZZ_CHECK(got != RECORD_WRONG || (r.why && r.line), "nothing is said");
	return 0;
}
