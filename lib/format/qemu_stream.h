/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_stream.h - QEMU's migration stream, in which it saves a guest: `migrate`, savevm,
 * and inside of libvirt's files. Pure.
 *
 * Pages come in any order and more than once: while the guest runs, those that it writes
 * are sent again, and the last copy counts. With mapped-ram each page has a place of its
 * own in the file, and a bitmap says which are stored.
 */
#pragma once

#include "format/view.h"

enum {
	QEMU_BLOCKS = 256,
	QEMU_NAME = 256,         /* with the NUL */
	QEMU_PACKED_MAX = 1 << 17, /* bytes that a page may be compressed to */
};

/* A block of RAM, or of another memory of the guest: ROM, flash, video memory. */
struct qemu_block {
	char name[QEMU_NAME];
	uint64_t len;
	/* mapped-ram: places in the file; page_size is 0 without it */
	uint64_t bitmap, pages, page_size;
	uint64_t sent;           /* copies of pages of it */
};

struct qemu_stream {
	char machine[QEMU_NAME]; /* type of the machine, "pc-q35-7.2"; or empty */
	unsigned page_bits;
	bool mapped;             /* mapped-ram */
	bool shared_left_out;    /* x-ignore-shared */
	bool complete;           /* the RAM is there to its end */
	struct qemu_block block[QEMU_BLOCKS];
	size_t nblocks;
	uint64_t ram_end;        /* place of what follows the RAM: devices */
	uint64_t copies, zeroes; /* pages of all blocks; some of them zeroes */
};

enum qemu_page_kind {
	QEMU_PAGE_BYTES,         /* as they are; of several pages, too */
	QEMU_PAGE_FILL,          /* one byte, repeated; of several pages, too */
	QEMU_PAGE_ZLIB,          /* one page */
};

struct qemu_page {
	size_t block;
	uint64_t start, len;     /* in the block */
	enum qemu_page_kind kind;
	uint64_t at;             /* of its bytes */
	uint32_t stored;         /* QEMU_PAGE_ZLIB: as many */
	uint8_t fill;
};

/* A failure ends the parsing and is its result. */
typedef int qemu_page_fn(void *arg, const struct qemu_page *p, struct atw_err *err);

bool qemu_stream_probe(struct atw_blob head);
/*
 * The stream at `start`; offsets of mapped-ram are of the whole view. `fn` gets each copy of
 * a page in the order of the stream. A stream that ends early is no failure if it lists
 * its blocks: see `complete`.
 */
int qemu_stream_parse(const struct view *v, uint64_t start, qemu_page_fn *fn, void *arg,
		      struct qemu_stream *ret, struct atw_err *err);
