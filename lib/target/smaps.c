/* SPDX-License-Identifier: GPL-2.0-or-later */
/* smaps.c - adding up what smaps_rollup adds up. */
#include "target/smaps.h"

#include "linux/kpf.h"

enum smaps_class smaps_class(enum page_state state, bool hugetlb, bool special)
{
	switch (state) {
	case PAGE_PRESENT:
	case PAGE_PROTNONE:
		return special ? SMAPS_NONE : hugetlb ? SMAPS_HUGETLB : SMAPS_RSS;
	case PAGE_MIGRATION:
	case PAGE_DEVICE:
		return hugetlb ? SMAPS_HUGETLB : SMAPS_RSS;
	case PAGE_SWAP:
		return SMAPS_SWAP;
	default:
		return SMAPS_NONE;
	}
}

enum smaps_kind smaps_kind_of(uint64_t flags, enum smaps_kind before)
{
	if (flags & kpf(KPF_ANON))
		return SMAPS_ANON;
	if (flags & kpf(KPF_SWAPBACKED))
		return SMAPS_SHMEM;
	if (!(flags & kpf(KPF_COMPOUND_TAIL)))
		return SMAPS_FILE;
	return before == SMAPS_SHMEM || before == SMAPS_FILE ? before : SMAPS_NOT_ANON;
}

/* Divided by 64 bits if possible, which takes a fraction of the time. */
static unsigned __int128 smaps_share(uint64_t bytes, uint64_t mappings)
{
	if (mappings == 1)
		return (unsigned __int128)bytes << SMAPS_SHARE;
	if (bytes >> (64 - SMAPS_SHARE))
		return ((unsigned __int128)bytes << SMAPS_SHARE) / mappings;
	return (bytes << SMAPS_SHARE) / mappings;
}

void smaps_add(struct smaps *s, const struct smaps_pages *p)
{
	if (p->class == SMAPS_SWAP)
		s->swap += p->bytes;
	if (p->class == SMAPS_HUGETLB)
		s->hugetlb += p->bytes;
	if (p->class != SMAPS_RSS)
		return;
	s->rss += p->bytes;
	s->kind[p->kind] += p->bytes;
	if (p->large)
		s->thp[p->kind] += p->bytes;
	if (p->sizeless)
		s->sizeless += p->bytes;
	if (p->kindless)
		s->kindless += p->bytes;
	/* A page under migration counts once, and as private to no process. */
	if (p->moving || p->mappings > 1)
		s->shared += p->bytes;
	else if (p->mappings)
		s->uss += p->bytes;
	else
		s->uncounted += p->bytes;
	if (p->moving || p->mappings)
		s->pss += smaps_share(p->bytes, p->moving ? 1 : p->mappings);
}

void smaps_join(struct smaps *to, const struct smaps *from)
{
	to->rss += from->rss;
	to->uss += from->uss;
	to->shared += from->shared;
	to->swap += from->swap;
	to->hugetlb += from->hugetlb;
	for (unsigned i = 0; i < SMAPS_KINDS; i++) {
		to->kind[i] += from->kind[i];
		to->thp[i] += from->thp[i];
	}
	to->pss += from->pss;
	to->uncounted += from->uncounted;
	to->sizeless += from->sizeless;
	to->kindless += from->kindless;
	to->stateless += from->stateless;
	to->unswapped += from->unswapped;
}

uint64_t smaps_pss(const struct smaps *s)
{
	return (uint64_t)((s->pss + (1u << (SMAPS_SHARE - 1))) >> SMAPS_SHARE);
}

uint64_t smaps_huge(const struct smaps *s)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < SMAPS_KINDS; i++)
		all += s->thp[i];
	return all;
}

bool smaps_knows_huge(const struct smaps *s)
{
	return !s->sizeless;
}

bool smaps_knows_thp(const struct smaps *s, enum smaps_kind kind)
{
	return !s->sizeless && !s->thp[SMAPS_UNKIND] &&
	       (kind == SMAPS_ANON || !s->thp[SMAPS_NOT_ANON]);
}
