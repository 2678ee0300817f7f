/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_use.h - use of frames of RAM, from their flags; and runs of frames with the same use.
 * Pure.
 */
#ifndef TARGET_FRAME_USE_H
#define TARGET_FRAME_USE_H

#include "linux/kpf.h"
#include "target/provider.h"

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

#endif
