/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_smaps.c - sums of pages as in smaps_rollup. */
#include "report/report.h"
#include "linux/kpf.h"
#include "linux/vm_flags.h"

/* Of hugetlbfs: by the flags or the page size of the VMA, or by the flags of the page. */
static bool pages_smaps_is_hugetlb(const struct census_pages *p, uint64_t page)
{
	const struct census_area *a = p->area;

	return (a->v_has & CAPTURE_V_PAGE && a->v->page > page) ||
	       (a->v_has & CAPTURE_V_FLAGS && !a->process->paper &&
		a->v->flags & VM_HUGETLB) ||
	       (p->known & CENSUS_FLAGS && p->flags & kpf(KPF_HUGE));
}

/* Mapped without a mapcount: mapped by PFN. */
static bool pages_smaps_is_special(const struct census_pages *p)
{
	return p->device || p->zero ||
	       (p->known & CENSUS_COUNT && !p->count && !p->area->process->paper);
}

static enum smaps_kind pages_smaps_kind(const struct census_pages *p)
{
	if (!(p->known & CENSUS_ORIGIN))
		return SMAPS_UNKIND;
	if (p->anon)
		return SMAPS_ANON;
	if (!(p->known & CENSUS_BACKED))
		return SMAPS_NOT_ANON;
	return p->swapbacked ? SMAPS_SHMEM : SMAPS_FILE;
}

struct smaps_pages pages_smaps(const struct census_pages *p, uint64_t page)
{
	enum page_state state = p->present ? PAGE_PRESENT : p->swapped ? PAGE_SWAP :
		p->run->state == CAPTURE_MIGRATION ? PAGE_MIGRATION :
		p->run->state == CAPTURE_PRIVATE ? PAGE_DEVICE : PAGE_ABSENT;
	uint64_t refs = p->known & CENSUS_REFS ? p->refs + !p->refs : 0;

	return (struct smaps_pages){
		.class = smaps_class(state, pages_smaps_is_hugetlb(p, page),
				     pages_smaps_is_special(p)),
		.kind = p->present ? pages_smaps_kind(p) : SMAPS_UNKIND,
		.bytes = p->pages * page,
		/* The kernel also counts pages that this process may not see. */
		.mappings = refs && p->known & CENSUS_COUNT && p->count > refs ? p->count
									       : refs,
		.large = p->run->has & CAPTURE_M_ORDER && p->run->order,
		.moving = !p->present,
	};
}
