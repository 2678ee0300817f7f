/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LiME: the range headers, and the file as a source. */
#include "format/avml.h"
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct atw_blob file = { data, len };
	struct atw_err err = { 0 };
	struct lime_range r;
	int rc;

	for (uint64_t off = 0; off < len; off += LIME_HEADER) {
		rc = lime_header(file, off, LIME_MAGIC, LIME_VERSION, &r, &err);
		check_err(rc, &err);
		if (rc != ATW_OK)
			continue;
		FUZZ_CHECK(r.len && r.start + r.len > r.start && r.at == off &&
			   r.data == off + LIME_HEADER, "not a range");
	}
	check_file("lime", data, len);
	return 0;
}
