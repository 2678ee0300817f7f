/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kdump-compressed, plain or flattened: the headers, and the file as a source. */
#include "format/view.h"
#include "format/kdump.h"
#include "source.h"

static void headers(struct atw_blob file)
{
	struct kdump_header h;
	struct atw_err err = { 0 };
	struct view v;
	int r = view_open(file, &v, &err);

	check_err(r, &err);
	if (r < 0)
		return;
	r = kdump_parse(&v, &h, &err);
	check_err(r, &err);
	if (r == ATW_OK) {
		FUZZ_CHECK(h.block_size == 1u << h.block_shift, "block size");
		FUZZ_CHECK(h.start_pfn <= h.end_pfn && h.end_pfn <= h.max_pfn, "frames");
		FUZZ_CHECK(h.bitmap2 + h.bitmap_len <= v.size, "bitmaps");
		FUZZ_CHECK(h.max_pfn <= UINT64_MAX >> h.block_shift, "memory");
		FUZZ_CHECK(memchr(h.release, 0, sizeof(h.release)) &&
			   memchr(h.machine, 0, sizeof(h.machine)), "utsname");
	}
	view_deinit(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	headers((struct atw_blob){ data, len });
	check_file("kdump", data, len);
	return 0;
}
