/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flattened.c - index of makedumpfile's flattened format. */
#include "format/view.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/overlay.h"
#include "base/sorted.h"

/* The header and record headers are big-endian on every machine. */
#define SIGNATURE       "makedumpfile"
#define HEADER_TYPE     16
#define HEADER_VERSION  24
#define HEADER_USED     32
#define RECORD_SIZE     16
#define END_OFFSET      UINT64_MAX      /* -1 */
#define FLAT_TYPE       1
#define FLAT_VERSION    1

bool flattened_probe(struct atw_blob head)
{
	const char *p = blob_at(head, 0, sizeof(SIGNATURE));

	return p && !memcmp(p, SIGNATURE, sizeof(SIGNATURE));
}

/* Where records overlap, the last one in the file wins. */
static bool flattened_resolve(struct view_piece **pieces, size_t *npieces)
{
	struct view_piece *in = *pieces, *out = NULL;
	size_t n = *npieces, cap = n;
	_auto_free struct extent *v = calloc(n, sizeof(*v));

	for (size_t i = 0; v && i < n; i++)
		v[i] = (struct extent){
			.start = in[i].start, .len = in[i].len, .off = in[i].at,
			.placed = true, .order = OVERLAY_ORDERS - in[i].at,
		};
	if (v && overlay(&v, &n, &cap))
		out = calloc(n, sizeof(*out));
	if (!out)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = (struct view_piece){ v[i].start, v[i].len, v[i].off };
	free(in);
	*pieces = out;
	*npieces = n;
	return true;
}

/* Sort by offset; resolve overlaps only if there are any. */
static bool flattened_arrange(struct view_piece **pieces, size_t *npieces)
{
	struct view_piece *p = *pieces;
	bool sorted = true, overlap = false;

	for (size_t i = 1; i < *npieces && sorted; i++)
		sorted = p[i - 1].start <= p[i].start;
	if (!sorted)
		qsort(p, *npieces, sizeof(*p), sorted_by_u64);
	for (size_t i = 1; i < *npieces && !overlap; i++)
		overlap = p[i - 1].start + p[i - 1].len > p[i].start;
	return !overlap || flattened_resolve(pieces, npieces);
}

static int flattened_check_header(struct atw_blob file, struct atw_err *err)
{
	const char *h = blob_at(file, 0, FLATTENED_HEADER_SIZE);
	uint64_t type, version;

	if (!flattened_probe(file))
		return atw_err_set(err, ATW_E_FORMAT,
				   "does not start like a flattened dump");
	if (!h)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the flattened dump ends inside its header, after %zu bytes",
				   file.len);
	type = get_be64(h + HEADER_TYPE);
	version = get_be64(h + HEADER_VERSION);
	if (type != FLAT_TYPE || version != FLAT_VERSION)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "flattened form type %" PRIu64 " version %" PRIu64
				   " is not known, only type 1 version 1",
				   type, version);
	return 0;
}

int flattened_open(struct atw_blob file, struct view *ret, struct atw_err *err)
{
	_auto_free struct view_piece *pieces = NULL;
	size_t n = 0, cap = 0;
	uint64_t at = FLATTENED_HEADER_SIZE, end;
	struct view v = { .file = file, .unfinished = true };
	int rc = flattened_check_header(file, err);

	if (rc < 0)
		return rc;
	while (at < file.len) {
		const char *rec = blob_at(file, at, RECORD_SIZE);
		uint64_t start, len, have;

		if (!rec) {
			v.missing = RECORD_SIZE - (file.len - at);
			break;
		}
		start = get_be64(rec);
		len = get_be64(rec + 8);
		if (start == END_OFFSET) {
			v.unfinished = false;
			break;
		}
		/* Offsets are signed: a set top bit is invalid. */
		if (!add_u64(start, len, &end) || end > INT64_MAX)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "the flattened dump's record at 0x%" PRIx64
					   " is for 0x%" PRIx64 " bytes at 0x%" PRIx64,
					   at, len, start);
		at += RECORD_SIZE;
		have = file.len - at;
		if (len > have) {
			v.missing = len - have;
			len = have;
		}
		if (len) {
			if (!ARRAY_ROOM(pieces, n, cap))
				goto nomem;
			pieces[n++] = (struct view_piece){ start, len, at };
		}
		at += len;
		if (v.missing)
			break;
	}
	if (!n)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the flattened dump holds no bytes after its header");
	if (!flattened_arrange(&pieces, &n) || !n)
		goto nomem;
	v.size = pieces[n - 1].start + pieces[n - 1].len;
	v.npieces = n;
	v.pieces = v.owned = take_ptr(pieces);
	*ret = v;
	return 0;
nomem:
	return atw_err_set(err, ATW_E_NOMEM,
			   "no memory for the index of %zu flattened records", n);
}

int view_open(struct atw_blob file, struct view *ret, struct atw_err *err)
{
	if (flattened_probe(file))
		return flattened_open(file, ret, err);
	*ret = view_direct(file);
	return 0;
}
