/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump_set.h - the files of one kdump-compressed dump: one, or the parts that
 * makedumpfile --split wrote. Which frames there are, and where each one is.
 */
#pragma once

#include <atwalk/base.h>

#include "source/source.h"
#include "base/file.h"
#include "format/kdump.h"
#include "source/cpu_notes.h"

/* ---- rank.c: a bitmap that can be asked "how many are set before bit n?" ---- */

/*
 * Dumps that store only some pages say which in a bitmap and store those in
 * order: the number of a page in the file is the rank of its frame number.
 * One sum per 512 bits answers that with a few popcounts and costs an eighth
 * of the bitmap in memory.
 */

struct file_holes;

/* Whole blocks of 512 bits that lie in a hole of a sparse file: all clear. */
struct rank_gap {
	uint64_t start, end;     /* bits, multiples of 512 */
	uint64_t skipped;        /* blocks in the gaps before this one */
	uint64_t rank;           /* set bits before it, by rank_init() */
};

struct rank_gaps {
	struct rank_gap *v;      /* ascending, disjoint */
	size_t n;
};

/* Those of a bitmap that lies at `at` of the file. false: no memory. */
bool rank_gaps_init(struct rank_gaps *g, const struct file_holes *holes, uint64_t at,
		    uint64_t nbits);
void rank_gaps_deinit(struct rank_gaps *g);
/* The end of the gap that holds bit n, or n itself. */
uint64_t rank_gaps_end(const struct rank_gaps *g, uint64_t n);

struct rank {
	const uint8_t *bits;     /* borrowed; bit n is bits[n / 8] >> n % 8 */
	uint64_t nbits;          /* bits past this are ignored */
	uint64_t *sums;          /* set bits before each block of 512, without gaps */
	uint64_t total;
	const struct rank_gaps *gaps;
};

/*
 * false: no memory. `bits` must stay and hold (nbits + 7) / 8 bytes, and so must the
 * gaps, which are not read and cost no memory; NULL: there are none.
 */
bool rank_init(struct rank *r, const void *bits, uint64_t nbits, struct rank_gaps *gaps);
void rank_deinit(struct rank *r);

/* How many of bits [0, n) are set; n may be past the end. */
uint64_t rank_before(const struct rank *r, uint64_t n);

/* Past the end every bit is clear. */
static inline bool bitmap_test(const void *bits, uint64_t nbits, uint64_t n)
{
	return n < nbits && (((const uint8_t *)bits)[n / 8] >> n % 8 & 1);
}

/* Bits n to n + 63 for n a multiple of 64, clear past the end. */
uint64_t bitmap_word(const void *bits, uint64_t nbits, uint64_t n);

/* ---- kdump_set.c ---- */

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

/* ---- kdump_facts.c: metadata of a kdump-compressed dump ---- */

struct kdump_facts {
	const struct kdump_header *h;    /* the first file's; parts agree */
	struct atw_blob vmcoreinfo, notes;
	void *owned[2];                  /* their copies, when in pieces */
	struct cpu_notes cpus;
	uint64_t ncpus, stored;
	char truncated[512];             /* a sentence, or empty */
};

/* Borrows from the set. Deinit is due after a failure, too. */
int kdump_facts_init(struct kdump_facts *f, const struct kdump_set *s,
		     struct atw_err *err);
void kdump_facts_deinit(struct kdump_facts *f);

/*
 * "vmcoreinfo", "release", "machine" (as uname -m), "cpus", "cpuN.prstatus",
 * "cpuN.cr0" .cr2 .cr3 .cr4 (x86 under QEMU), "truncated".
 */
int kdump_facts_get(const struct kdump_facts *f, const char *key, struct atw_blob *ret);

/* "kdump-compressed v6, zlib, flattened, split, all 3 parts" */
void kdump_set_describe(const struct kdump_set *s, char *buf, size_t len);
