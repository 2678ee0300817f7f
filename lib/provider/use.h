/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * use.h - what frames of RAM are used for, out of their flags; and runs of frames
 * that are used for the same. Pure.
 */
#ifndef PROVIDER_USE_H
#define PROVIDER_USE_H

#include "kernel/kpf.h"
#include "provider/provider.h"

/*
 * Flags are those of /proc/kpageflags, with KSM as true as in struct atw_page. What
 * else that file says without meaning it changes nothing here: types go first.
 *
 * The small page of zeroes was reserved at boot like the image that it is part of,
 * and is told so; CAPTURE_ZEROES is the large one. Flags do not tell what the kernel
 * has taken for itself from what waits in a list of a CPU to be given out again, nor
 * from large blocks of kmalloc(): all are CAPTURE_KERNEL here. struct atw_page_kind
 * tells them apart.
 */
enum capture_use frame_use(uint64_t flags);
/* Types: frames that nobody maps; where types lie, others have the mapping. */
static inline uint64_t frame_types(void)
{
	return kpf(KPF_SLAB) | kpf(KPF_BUDDY) | kpf(KPF_OFFLINE) | kpf(KPF_PGTABLE);
}

/* The frames that lie in first..last as a whole; ret_end is not included. */
void use_whole(uint64_t first, uint64_t last, unsigned page_shift, uint64_t *ret_pfn,
	       uint64_t *ret_end);

/* Runs on their way to who wants them: neighbours of one use become one. */
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
