/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - a file in the byte order of its format, even if it is stored flattened.
 *
 * A parser reads bytes at offsets that the format defines. In an ordinary file these are
 * offsets of the file; in a flattened one (see below) the bytes are stored as pieces in
 * another order, each with its offset. A view maps between the two without copying.
 */
#pragma once

#include <atwalk/base.h>

struct view_piece {
	uint64_t start;          /* offset by the format */
	uint64_t len;
	uint64_t at;             /* offset in the file */
};

struct view {
	struct atw_blob file;            /* borrowed */
	const struct view_piece *pieces; /* by start, disjoint; NULL: not flattened */
	size_t npieces;
	struct view_piece *owned;        /* freed by view_deinit() */
	uint64_t size;                   /* end of the last piece */
	uint64_t missing;                /* bytes that are known to be missing at the
					  * end of the file */
	bool unfinished;                 /* flattened, without its end record */
};

/* A file that is not flattened. Needs no view_deinit(). */
static inline struct view view_direct(struct atw_blob file)
{
	return (struct view){ .file = file, .size = file.len };
}

void view_deinit(struct view *v);

/* Is the file flattened? */
static inline bool view_flattened(const struct view *v)
{
	return v->pieces != NULL;
}

/*
 * The number of contiguous bytes at `off`: 0 in a gap and past the end. *ret points into
 * the file.
 */
uint64_t view_run(const struct view *v, uint64_t off, const void **ret);

/* The distance from `off`, which is in a gap, to the next piece or the end. */
uint64_t view_gap(const struct view *v, uint64_t off);

/* `len` contiguous bytes, or NULL: past the end, in a gap, or in two pieces. */
const void *view_at(const struct view *v, uint64_t off, uint64_t len);

/*
 * Copy `len` bytes, also from several pieces. false: a byte is in a gap or past the end;
 * the contents of buf are undefined then.
 */
bool view_read(const struct view *v, uint64_t off, void *buf, size_t len);

/*
 * The same where the format defines zeroes that writers skip (padding after a header,
 * empty bitmap blocks): gaps read as zero. false only if the range exceeds the end.
 */
bool view_read_padded(const struct view *v, uint64_t off, void *buf, size_t len);

/*
 * A range as one blob: a pointer into the file if it is contiguous there, else copied to
 * *owned, which the caller frees and which is not modified otherwise. Gaps are zero.
 * ATW_E_DAMAGED: past the end, or longer than the contents of the file can justify.
 * ATW_E_NOMEM.
 */
int view_blob(const struct view *v, uint64_t off, uint64_t len, void **owned,
	      struct atw_blob *ret);

/* ---- flattened ---- */

/*
 * Makedumpfile's flattened format for output that cannot seek.
 *
 * A 4096-byte header, then records of {offset, size, bytes}, and an end record. Written
 * by `makedumpfile -F` and by every QEMU kdump format but kdump-raw-*. The contained file
 * may be kdump-compressed or ELF.
 */

#define FLATTENED_HEADER_SIZE 4096

bool flattened_probe(struct atw_blob head);

/*
 * Index the records, so that the view reads like the file before it was flattened. Where
 * records overlap, the later one wins, as if they were written in this order. A file that
 * ends inside of a record, or without the end record, can still be opened: see
 * view.missing and view.unfinished. Memory: 24 bytes per record; freed by view_deinit().
 */
int flattened_open(struct atw_blob file, struct view *ret, struct atw_err *err);

/* view_direct() or flattened_open(), by the magic of the file. */
int view_open(struct atw_blob file, struct view *ret, struct atw_err *err);
