/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lime.h - the LiME format: ranges of memory, each preceded by a header of 32 bytes { u32
 * magic, u32 version, u64 first, u64 last (inclusive), u64 0 }. AVML has another magic
 * and version in the same header. Pure.
 */
#ifndef FORMAT_LIME_H
#define FORMAT_LIME_H

#include <atwalk/base.h>

enum {
	LIME_HEADER = 32,
	LIME_MAGIC = 0x4c694d45,
	LIME_VERSION = 1,
};

struct lime_range {
	uint64_t at;             /* of the header in the file */
	uint64_t start, len;     /* physical memory, bytes */
	uint64_t data;           /* offset in the file of what follows the header */
};

/*
 * The header at `off`. ATW_END at the end of the file, or if the header is truncated:
 * `off` is below the length then. The data may be truncated as well, which the caller
 * must check.
 */
int lime_header(struct atw_blob file, uint64_t off, uint32_t magic,
		uint32_t version, struct lime_range *ret, struct atw_err *err);

#endif
