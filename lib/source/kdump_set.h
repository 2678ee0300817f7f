/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump_set.h - the files of one kdump-compressed dump: one, or the parts that
 * makedumpfile --split wrote. Which frames there are, and where each one is.
 */
#ifndef SOURCE_KDUMP_SET_H
#define SOURCE_KDUMP_SET_H

#include "source/source.h"

#include "base/file.h"
#include "format/kdump.h"
#include "source/rank.h"

struct kdump_file {
	struct file file;
	struct view view;
	struct kdump_header h;
	const uint8_t *had;      /* 1st bitmap: the machine had this frame */
	const uint8_t *stored;   /* 2nd bitmap: and here it is */
	void *owned[2];          /* copies of them, where the view had to */
	struct rank_gaps gaps[2];/* what of each lies in holes of the file */
	struct rank rank;        /* of `stored` */
	uint64_t first_desc;     /* set bits before this file's first frame */
	uint64_t ndescs;
};

/* Which file answers for the frames [start, end). */
struct kdump_span {
	uint64_t start, end;
	const struct kdump_file *file;   /* NULL: the part was not given */
};

struct kdump_set {
	struct kdump_file *files;        /* as given */
	size_t nfiles;
	struct kdump_span *spans;        /* all of [0, max_pfn), in order */
	size_t nspans;
	uint64_t max_pfn;
	unsigned shift;                  /* of a frame */
};

/* After a failure deinit is due as well. */
int kdump_set_open(struct kdump_set *s, const struct atw_source_spec *spec,
		   struct atw_err *err);
void kdump_set_deinit(struct kdump_set *s);

/* The span of a frame below max_pfn. */
const struct kdump_span *kdump_set_span(const struct kdump_set *s, uint64_t pfn);

enum atw_extent_kind kdump_span_kind(const struct kdump_span *span, uint64_t pfn);
/* The first frame of another kind from pfn on, or the span's end. */
uint64_t kdump_span_run(const struct kdump_span *span, enum atw_extent_kind kind,
			uint64_t pfn);

/* Where the descriptor of a stored frame lies. */
static inline uint64_t kdump_file_desc(const struct kdump_file *f, uint64_t pfn)
{
	return f->h.descs + (rank_before(&f->rank, pfn) - f->first_desc) *
			    KDUMP_DESC_SIZE;
}

/*
 * If the file ends before what it promises: by how many bytes, at least.
 * Looks at the last descriptors only, as those are of the last pages.
 */
uint64_t kdump_file_short(const struct kdump_file *f);

#endif
