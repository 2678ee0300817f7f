/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - a file as its format means it, whatever order its bytes lie in.
 *
 * A parser asks for bytes at the offsets its format speaks of. In an ordinary
 * file those are the file's own; in a flattened one (flattened.h) they were
 * written in another order, each piece with a note of where it belongs. The
 * view hides the difference and copies nothing.
 */
#ifndef FORMAT_VIEW_H
#define FORMAT_VIEW_H

#include <atwalk/base.h>

struct view_piece {
	uint64_t start;          /* where the bytes belong */
	uint64_t len;
	uint64_t at;             /* where in the file they lie */
};

struct view {
	struct atw_blob file;            /* borrowed */
	const struct view_piece *pieces; /* by start, disjoint; NULL: all as is */
	size_t npieces;
	struct view_piece *owned;        /* what view_deinit() frees */
	uint64_t size;                   /* end of the last piece */
	uint64_t missing;                /* bytes the file ends short of, known */
	bool unfinished;                 /* flattened, without its end record */
};

/* The file as it is. Needs no view_deinit(). */
static inline struct view view_direct(struct atw_blob file)
{
	return (struct view){ .file = file, .size = file.len };
}

void view_deinit(struct view *v);

/* Was the file in another order? */
static inline bool view_flattened(const struct view *v)
{
	return v->pieces != NULL;
}

/*
 * As many bytes as lie at `off` without a break: 0 in a gap and past the end.
 * *ret points into the file.
 */
uint64_t view_run(const struct view *v, uint64_t off, const void **ret);

/* How far it is from `off`, which is in a gap, to the next piece or the end. */
uint64_t view_gap(const struct view *v, uint64_t off);

/* `len` bytes in one run, or NULL: past the end, in a gap, in two pieces. */
const void *view_at(const struct view *v, uint64_t off, uint64_t len);

/*
 * Copy `len` bytes, from several pieces if need be. false, and rubbish in
 * buf: some byte is in a gap or past the end.
 */
bool view_read(const struct view *v, uint64_t off, void *buf, size_t len);

/*
 * The same for places where the format promises zeroes that writers skip
 * (padding after a header, empty bitmap blocks): gaps read as zero. false
 * only when the range goes past the end.
 */
bool view_read_padded(const struct view *v, uint64_t off, void *buf, size_t len);

/*
 * A stretch as one blob, for parsers that want one: in the file if it lies
 * there in one run, else copied to *owned, which the caller frees; untouched
 * if there was no need. Gaps are zero. ATW_E_DAMAGED: past the end, or
 * longer than a copy of what the file holds can be. ATW_E_NOMEM.
 */
int view_blob(const struct view *v, uint64_t off, uint64_t len, void **owned,
	      struct atw_blob *ret);

#endif
