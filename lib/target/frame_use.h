/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_use.h - use of frames of RAM, from their flags; and runs of frames with the same use.
 * Pure.
 */
#pragma once

#include "linux/kpf.h"
#include "target/provider.h"
#include "base/table.h"
#include "linux/memmap.h"

/*
 * Flags are those of /proc/kpageflags, with KSM corrected as in struct lnx_page. Page
 * types are checked first, since the file sets other flags of typed pages by accident.
 *
 * The small zero page was reserved at boot as a part of the kernel image, and is reported
 * as such; CAPTURE_ZEROES is the huge zero folio. Pages that the kernel allocated, pages
 * in the per-CPU lists of the allocator, and large blocks of kmalloc() have the same
 * flags: all are CAPTURE_KERNEL here. struct lnx_page_kind distinguishes them.
 */
enum capture_use frame_use(uint64_t flags);
/* Page types: frames that no process maps; the type takes the place of the mapcount. */
static inline uint64_t frame_types(void)
{
	return kpf(KPF_SLAB) | kpf(KPF_BUDDY) | kpf(KPF_OFFLINE) | kpf(KPF_PGTABLE);
}

/* The frames that lie in first..last as a whole; ret_end is not included. */
void use_whole(uint64_t first, uint64_t last, unsigned page_shift, uint64_t *ret_pfn,
	       uint64_t *ret_end);

/* Runs on their way to the receiver: adjacent runs of one use are merged. */
struct use_runs {
	provider_frames_fn *tell;
	void *arg;
	unsigned page_shift;
	struct capture_frames run;       /* pages 0: none waits */
	bool in_folio;                   /* tails may follow */
	enum capture_use head;           /* what the folio is used for */
	bool have_clean, clean;          /* of frames that are added: may they be dropped? */
};

int use_runs_add(struct use_runs *u, uint64_t pfn, uint64_t n, enum capture_use use,
		 struct atw_err *err);
/*
 * Frames from `pfn` on by their words, in ascending order from call to call. Up to
 * 6.9 the file says little of a folio's tails, and the head is asked.
 */
int use_runs_words(struct use_runs *u, uint64_t pfn, const uint64_t *word, size_t n,
		   struct atw_err *err);
/* What follows is no neighbour of what was; the last run leaves. */
int use_runs_end(struct use_runs *u, struct atw_err *err);

/* ---- frame_kinds.c ---- */

/*
 * Kind of each frame, read once even if many processes map it.
 *
 * Few combinations of flags and orders occur, so a frame has the number of one, in two
 * bytes; blocks of frames exist where one of them was asked for.
 */

enum { KINDS_BLOCK_BITS = 11, KINDS_BLOCK = 1 << KINDS_BLOCK_BITS };

struct kinds {
	struct table blocks;             /* ids of frames, by frame / KINDS_BLOCK */
	uint64_t nr;
	uint16_t *last;                  /* the block met last, and its number */
	struct page_origin *kind;        /* by id; that of 0 and 1 is unknown */
	size_t nkinds, kinds_cap;
	uint64_t asked;                  /* frames */
	uint64_t read;                   /* of these, read */
};

void kinds_deinit(struct kinds *k);
/* The number of a kind; 0: there is no memory, or no number, for it. */
uint16_t kinds_number(struct kinds *k, const struct page_origin *o);
/* false: no memory. */
bool kinds_ask(struct kinds *k, uint64_t pfn);
/* These frames are of that kind. false: no memory. */
bool kinds_put(struct kinds *k, uint64_t pfn, uint64_t n, uint16_t kind);
/* Of all that were asked for and not read. */
int kinds_read(struct kinds *k, struct atw_memmap *m, struct atw_err *err);
/* Index in k->kind; 0: that frame was not asked for. */
unsigned kinds_find(struct kinds *k, uint64_t pfn);

/* The same, and of how many frames from pfn on, `most` at most, it is so. */
unsigned kinds_run(struct kinds *k, uint64_t pfn, uint64_t most, uint64_t *ret_same);

static inline unsigned kinds_get(struct kinds *k, uint64_t pfn)
{
	if (k->last && k->nr == pfn / KINDS_BLOCK)
		return k->last[pfn % KINDS_BLOCK];
	return kinds_find(k, pfn);
}
