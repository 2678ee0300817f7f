/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_pages.c - properties of pages from entries and flags. */
#include "census/model_pages.h"

#include "linux/kpf.h"
#include "linux/vm_flags.h"

/* Bits of the pagemap word in runs: from bit 55 on. */
enum { MAP_FILE = 1 << (61 - 55) };

/*
 * Entries of upper tables that map files have no PM_FILE before 6.11: for a large folio
 * the page flags decide. Otherwise the bit of the entry does, which was read at the same
 * time as the entry.
 */
static bool model_pages_is_of_large_file(const struct census_pages *p)
{
	const uint64_t compound = kpf(KPF_COMPOUND_HEAD) | kpf(KPF_COMPOUND_TAIL);

	return p->known & CENSUS_FLAGS && p->flags & compound && p->flags & kpf(KPF_MMAP) &&
	       !(p->flags & kpf(KPF_ANON));
}

static void model_pages_origin(struct census_pages *p, bool no_anon)
{
	const struct capture_run *run = p->run;

	p->zero = run->state == CAPTURE_ZERO ||
		  (p->known & CENSUS_FLAGS && p->flags >> KPF_ZERO_PAGE & 1);
	if (run->has & CAPTURE_M_MAP) {
		p->known |= CENSUS_ORIGIN;
		p->anon = !(run->map & MAP_FILE) && !p->zero &&
			  (no_anon || !model_pages_is_of_large_file(p));
	} else if (!no_anon && p->known & CENSUS_FLAGS) {
		p->known |= CENSUS_ORIGIN;
		p->anon = p->flags >> KPF_ANON & 1;
	}
}

/* Frames of device memory can look like RAM; [vvar] pages belong to no process. */
static bool model_pages_is_device(const struct census_area *a,
				  const struct capture_run *run)
{
	return run->state == CAPTURE_DEVICE || census_is_device(a) ||
	       (!a->process->paper && a->v_has & CAPTURE_V_FLAGS && a->v->flags & VM_PFNMAP);
}

static void model_pages_mappings(struct census_pages *p)
{
	const struct capture_run *run = p->run;

	if (run->has & CAPTURE_M_COUNT) {
		p->known |= CENSUS_COUNT | CENSUS_REFS;
		p->count = p->refs = run->count;
	}
	if (run->has & CAPTURE_M_REFS) {
		p->known |= CENSUS_REFS;
		p->refs = run->refs;
		p->counted = true;
	}
}

/* Of the folio that pages end in, what the pages behind them follow. */
struct model_folio {
	bool known, swapbacked;
	uint64_t end;                    /* address of the frame behind them */
};

static struct model_folio model_folio_behind(const struct census_pages *p, uint64_t page)
{
	const uint32_t need = CENSUS_BACKED | CENSUS_PA;

	return (struct model_folio){
		(p->known & need) == need && !p->same, p->swapbacked, p->pa + p->pages * page,
	};
}

/*
 * Sets `swapbacked`. Older kernels set the flag only in the head of a large folio, and its
 * tails follow it.
 */
static void model_pages_backing(struct census_pages *p, const struct model_folio *before)
{
	if (!(p->known & CENSUS_FLAGS))
		return;
	p->swapbacked = p->flags & kpf(KPF_SWAPBACKED);
	/* A tail always belongs to the folio of the frame before it. */
	if (p->swapbacked || !(p->flags & kpf(KPF_COMPOUND_TAIL))) {
		p->known |= CENSUS_BACKED;
	} else if (before->known && p->known & CENSUS_PA && before->end == p->pa) {
		p->known |= CENSUS_BACKED;
		p->swapbacked = before->swapbacked;
	}
}

static uint64_t model_pages_frame(const struct capture_run *run)
{
	return run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;
}

void model_pages(const struct census_area *a, const struct capture_run *run,
		 const struct model_lacks *lacks, uint64_t page, struct census_pages *p)
{
	const struct model_folio before = model_folio_behind(p, page);
	bool present = run->entry & CAPTURE_PRESENT, paper = a->process->paper;

	*p = (struct census_pages){
		.area = a, .run = run, .va = run->va, .pages = run->pages,
		.swapped = (run->has & CAPTURE_M_SWAP) && !present,
	};
	if (!present)
		return;
	p->present = true;
	p->writable = run->entry & CAPTURE_WRITE;
	/*
	 * The LPMA format's processor has that bit without a meaning: see capture_add().
	 */
	p->exec = !paper && (run->entry & CAPTURE_EXEC);
	p->dirty = run->entry & CAPTURE_DIRTY;
	p->accessed = run->entry & CAPTURE_ACCESSED;
	p->device = model_pages_is_device(a, run);
	p->same = run->same;
	if (!run->noframe) {
		p->known |= CENSUS_PA;
		p->pa = model_pages_frame(run);
	}
	model_pages_mappings(p);
	/* The LPMA format's kernel had other flags at the same bits. */
	if (run->has & CAPTURE_M_FLAGS && !paper) {
		p->known |= CENSUS_FLAGS;
		p->flags = run->flags;
	}
	model_pages_origin(p, lacks->anon);
	p->kindless = !(a->v_has & CAPTURE_V_PAGE) && lacks->page_hugetlb && lacks->area_hugetlb;
	model_pages_backing(p, &before);
}

bool model_pages_like(const struct capture_run *run, struct census_pages *p)
{
	/* What tails are depends on the frames before them. */
	if (p->known & CENSUS_FLAGS && p->flags & kpf(KPF_COMPOUND_TAIL))
		return false;
	p->like = true;
	p->run = run;
	p->va = run->va;
	p->pages = run->pages;
	if (p->known & CENSUS_PA)
		p->pa = model_pages_frame(run);
	return true;
}
