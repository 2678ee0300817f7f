// SPDX-License-Identifier: GPL-2.0-or-later
/* frame_use.c - use of frames of RAM, from their flags. */
#include "target/frame_use.h"

enum capture_use frame_use(uint64_t flags)
{
	/* The first that is there decides. */
	static const struct { uint8_t bit, use; } order[] = {
		{ KPF_HWPOISON, CAPTURE_HWPOISON }, { KPF_NOPAGE, CAPTURE_UNKNOWN },
		{ KPF_OFFLINE, CAPTURE_OFFLINE }, { KPF_BUDDY, CAPTURE_FREE },
		{ KPF_SLAB, CAPTURE_SLAB }, { KPF_PGTABLE, CAPTURE_PGTABLE },
		{ KPF_RESERVED, CAPTURE_RESERVED }, { KPF_ZERO_PAGE, CAPTURE_ZEROES },
		{ KPF_HUGE, CAPTURE_HUGETLB }, { KPF_KSM, CAPTURE_KSM },
		{ KPF_ANON, CAPTURE_ANON }, { KPF_SWAPBACKED, CAPTURE_SHMEM },
		/*
		 * On its way to a list or from one, a page of a file has no LRU. Those
		 * that a driver shows to processes are mapped and have none of these.
		 */
		{ KPF_LRU, CAPTURE_FILE }, { KPF_UPTODATE, CAPTURE_FILE },
		{ KPF_WRITEBACK, CAPTURE_FILE },
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (flags & kpf(order[i].bit))
			return order[i].use;
	return CAPTURE_KERNEL;
}

void use_whole(uint64_t first, uint64_t last, unsigned page_shift, uint64_t *ret_pfn,
	       uint64_t *ret_end)
{
	uint64_t part = ((uint64_t)1 << page_shift) - 1;

	*ret_pfn = (first >> page_shift) + (first & part ? 1 : 0);
	*ret_end = (last >> page_shift) + ((last & part) == part ? 1 : 0);
}

int use_runs_add(struct use_runs *u, uint64_t pfn, uint64_t n, enum capture_use use,
		 struct atw_err *err)
{
	struct capture_frames *run = &u->run;
	int r;

	if (run->pages && run->use == use && (!run->has || run->clean == u->clean) && (run->pa >> u->page_shift) + run->pages == pfn) {
		run->pages += n;
		return ATW_OK;
	}
	if (run->pages) {
		r = u->tell(u->arg, run, err);
		if (r != ATW_OK)
			return r;
	}
	*run = (struct capture_frames){ .pa = pfn << u->page_shift, .pages = n, .use = use };
	if (u->have_clean && use == CAPTURE_FILE) {
		run->has = CAPTURE_F_CLEAN;
		run->clean = u->clean;
	}
	return ATW_OK;
}

int use_runs_words(struct use_runs *u, uint64_t pfn, const uint64_t *word, size_t n,
		   struct atw_err *err)
{
	for (size_t i = 0, len; i < n; i += len) {
		bool tail = word[i] & kpf(KPF_COMPOUND_TAIL);
		enum capture_use use = frame_use(word[i]);
		int r;

		for (len = 1; i + len < n && word[i + len] == word[i]; len++)
			;
		if (tail && u->in_folio && use == CAPTURE_KERNEL)
			use = u->head;
		if (!tail) {
			u->in_folio = word[i] & kpf(KPF_COMPOUND_HEAD);
			u->head = use;
		}
		r = use_runs_add(u, pfn + i, len, use, err);
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

int use_runs_end(struct use_runs *u, struct atw_err *err)
{
	int r = u->run.pages ? u->tell(u->arg, &u->run, err) : ATW_OK;

	u->run.pages = 0;
	u->in_folio = false;
	return r;
}
