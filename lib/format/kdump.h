/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump.h - the kdump-compressed format of makedumpfile and QEMU, and its
 * ancestor diskdump. Pure: bytes in, struct out.
 *
 *	block 0                 main header
 *	block 1                 sub header, notes, vmcoreinfo   (sub_hdr_size)
 *	                        1st bitmap: memory the machine had
 *	                        2nd bitmap: pages stored here   (bitmap_blocks)
 *	descriptors             one for each stored page, by frame number
 *	page data               wherever the descriptors say
 *
 * A frame is block_size bytes, which need not be the kernel's page size: QEMU
 * writes arm64 dumps in units of 64 KiB whatever the guest runs.
 */
#ifndef FORMAT_KDUMP_H
#define FORMAT_KDUMP_H

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

/* A place in the file: {0, 0} when there is none. */
struct kdump_part {
	uint64_t off, len;
};

struct kdump_header {
	bool diskdump;               /* the ancestor: has no sub header we read */
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
	uint64_t start_pfn, end_pfn; /* which of them this file describes */
	bool split;                  /* one file of a set */

	uint64_t phys_base;
	uint32_t dump_level;         /* makedumpfile -d */
	struct kdump_part vmcoreinfo, notes;

	/* Both bitmaps have a bit for every frame; equal when there is but one. */
	uint64_t bitmap1, bitmap2;   /* offsets */
	uint64_t bitmap_len;         /* bytes of each that matter */
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
 * Read the headers. What is returned has been checked: the arithmetic fits,
 * and sub header, notes, vmcoreinfo and bitmaps lie inside the file.
 * Descriptors and pages may not: a dump that is cut off there is worth having.
 */
int kdump_parse(const struct view *v, struct kdump_header *ret,
		struct atw_err *err);

/*
 * One page's descriptor. ATW_E_DAMAGED when it cannot be one: then it says
 * why. *codec is set if the flags name one: *compressed.
 */
int kdump_desc_parse(const void *bytes, const struct kdump_header *h,
		     struct kdump_desc *ret, bool *compressed,
		     enum codec *codec, struct atw_err *err);

#endif
