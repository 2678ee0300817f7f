/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of perf_event_open(2): the type of the samples, then a record. */
#include "fuzz.h"
#include "trace/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint64_t type = take(&in, 8);
	struct trace_ref ref = { 0 };
	struct atw_err err = { 0 };
	int r = trace_sample_decode(type, (struct atw_blob){ in.p, in.len }, &ref, &err);

	check_err(r, &err);
	FUZZ_CHECK(r == ATW_OK || !ref.has, "changed on failure");
	FUZZ_CHECK(r != ATW_OK || (ref.count == 1 && (ref.has & TRACE_HAS_ADDRESS)), "no address");
	return 0;
}
