// SPDX-License-Identifier: GPL-2.0-or-later
/* lime.c - parser of LiME range headers. */
#include "format/lime.h"

#include <inttypes.h>

#include "base/bytes.h"

int lime_header(struct atw_blob file, uint64_t off, uint32_t magic,
		uint32_t version, struct lime_range *ret, struct atw_err *err)
{
	const uint8_t *p = blob_at(file, off, LIME_HEADER);
	uint64_t first, last;

	if (!p)
		return ATW_END;
	if (get_le32(p) != magic)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x%" PRIx64 ": magic is 0x%08x, not 0x%08x",
			off, get_le32(p), magic);
	if (get_le32(p + 4) != version)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
			"range header at 0x%" PRIx64 ": version is %u, and only %u is known",
			off, get_le32(p + 4), version);
	first = get_le64(p + 8);
	last = get_le64(p + 16);
	/* A range of all 2^64 bytes, or one that ends there, is invalid. */
	if (last < first || last == UINT64_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
			"range header at 0x%" PRIx64 ": 0x%" PRIx64 "-0x%" PRIx64 " is not a range of memory",
			off, first, last);
	*ret = (struct lime_range){
		.at = off, .start = first, .len = last - first + 1,
		.data = off + LIME_HEADER,
	};
	return ATW_OK;
}
