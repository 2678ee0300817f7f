/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump.h - headers of the kdump-compressed format of makedumpfile and QEMU, and its
 * predecessor diskdump. Pure: bytes in, struct out.
 *
 *	block 0                 main header
 *	block 1                 sub header, notes, vmcoreinfo   (sub_hdr_size)
 *	1st bitmap: memory the machine had
 *	2nd bitmap: pages stored here   (bitmap_blocks)
 *	descriptors             one for each stored page, by frame number
 *	page data               at offsets in the descriptors
 *
 * A frame is block_size bytes, which need not be the kernel's page size: QEMU writes
 * arm64 dumps in units of 64 KiB for any page size of the guest.
 */
#pragma once

#include "base/codec.h"
#include "format/view.h"

#define KDUMP_DESC_SIZE  24
#define KDUMP_UTS_LEN    65

enum kdump_status_bits {
	KDUMP_ZLIB = 0x1,
	KDUMP_LZO = 0x2,
	KDUMP_SNAPPY = 0x4,
	KDUMP_INCOMPLETE = 0x8,      /* the writer ran out of space */
	KDUMP_EXCLUDED_VMEMMAP = 0x10,
	KDUMP_ZSTD = 0x20,
};
#define KDUMP_COMPRESSED (KDUMP_ZLIB | KDUMP_LZO | KDUMP_SNAPPY | KDUMP_ZSTD)

/* A range of the file: {0, 0} if there is none. */
struct kdump_part {
	uint64_t off, len;
};

struct kdump_header {
	bool diskdump;               /* the predecessor: its sub header is not used */
	unsigned version;            /* 0 to 6 */
	unsigned bits;               /* 32 or 64: the kernel that was dumped */
	char sysname[KDUMP_UTS_LEN + 1], nodename[KDUMP_UTS_LEN + 1];
	char release[KDUMP_UTS_LEN + 1], kversion[KDUMP_UTS_LEN + 1];
	char machine[KDUMP_UTS_LEN + 1];
	uint32_t status;             /* enum kdump_status_bits */
	uint32_t block_size;         /* a power of two, 4 KiB to 1 MiB */
	unsigned block_shift;
	uint32_t nr_cpus;

	uint64_t max_pfn;            /* frames are [0, max_pfn) */
	uint64_t start_pfn, end_pfn; /* frames described by this file */
	bool split;                  /* one file of a set */

	uint64_t phys_base;
	uint32_t dump_level;         /* makedumpfile -d */
	struct kdump_part vmcoreinfo, notes;

	/*
	 * Both bitmaps have a bit for every frame; they are the same if there is only
	 * one.
	 */
	uint64_t bitmap1, bitmap2;   /* offsets */
	uint64_t bitmap_len;         /* bytes of each that are used */
	uint64_t descs;              /* offset of the descriptors */
};

struct kdump_desc {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;
};

/* 0..100, as in atw_source_ops. */
int kdump_probe(struct atw_blob head);

/*
 * Read the headers. The result has been checked: the arithmetic does not overflow, and
 * sub header, notes, vmcoreinfo and bitmaps lie inside the file. Descriptors and pages
 * may lie outside: a dump that is truncated there is still useful.
 */
int kdump_parse(const struct view *v, struct kdump_header *ret, struct atw_err *err);

/*
 * The descriptor of one page. ATW_E_DAMAGED: it is invalid, with the reason. *codec is
 * set if the flags contain a compression: *compressed.
 */
int kdump_desc_parse(const void *bytes, const struct kdump_header *h,
		     struct kdump_desc *ret, bool *compressed,
		     enum codec *codec, struct atw_err *err);
