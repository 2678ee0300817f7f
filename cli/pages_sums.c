/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_sums.c - sums of areas and processes, for -q and --totals. */
#include "linux/kpf.h"
#include "pages.h"

void pages_sum(struct pages *p, struct page_area *a, const struct page_run *run,
	       uint64_t first, uint64_t last)
{
	bool hidden = run->have & RUN_STATE_HIDDEN;
	bool swap = run->state == PAGE_SWAP && !hidden;
	bool mapped = run->state == PAGE_PRESENT || run->state == PAGE_PROTNONE;
	bool unknown = run->state == PAGE_ABSENT && hidden;
	uint64_t bytes = last - first + 1;

	*(swap ? &p->swapped : mapped ? &p->mapped : unknown ? &p->unknown : &p->other) += bytes;
	a->sum.mapped += mapped ? bytes : 0;
	if (run->state == PAGE_SWAP && !swap && !p->prov->no_swap)
		p->unswapped += bytes;
	if (p->sums) {
		smaps_add_run(&p->look, run, first, last, &a->sum.of);
		return;
	}
	a->sum.of.swap += swap ? bytes : 0;
	a->sum.of.stateless += unknown ? bytes : 0;
	a->sum.of.unswapped += run->state == PAGE_SWAP && !swap && !p->prov->no_swap ? bytes : 0;
}

void pages_add_sums(struct pages *p, const struct provider_sums *sums)
{
	unsigned shift = p->prov->page_shift;
	struct smaps of = { .swap = sums->swapped << shift };

	for (size_t i = 0; i < sums->n; i++) {
		const struct provider_sum *s = &sums->v[i];
		bool hugetlb = s->known && s->flags & kpf(KPF_HUGE);

		smaps_add(&of, &(struct smaps_pages){
			.class = smaps_class(PAGE_PRESENT, hugetlb, false),
			.kind = s->known ? smaps_kind_of(s->flags, SMAPS_UNKIND)
					 : SMAPS_UNKIND,
			.bytes = s->pages << shift, .mappings = s->refs, .large = s->order,
		});
	}
	p->mapped += sums->mapped << shift;
	p->swapped += of.swap;
	smaps_join(&p->listed, &of);
	p->total = (struct page_sum){
		.size = sums->areas, .mapped = sums->mapped << shift, .of = of,
	};
}

/* Columns that need every page are n/a if not wanted or without permission. */
void pages_set_sums(struct pages *p, struct row *r, const struct page_sum *sum)
{
	static const struct { enum page_col column; enum smaps_kind kind; } thp[] = {
		{ P_THP_ANON, SMAPS_ANON }, { P_THP_SHMEM, SMAPS_SHMEM }, { P_THP_FILE, SMAPS_FILE },
	};
	const struct smaps *s = &sum->of;
	/* Every process has a few pages of unknown state. */
	bool known = p->totals || !s->stateless;
	bool sums = p->sums && known;

	row_set(r, P_SIZE, sum->size);
	row_set_if(r, known, P_MAPPED, sum->mapped);
	row_set_if(r, !s->unswapped, P_SWAPPED, s->swap);
	if (sums) {
		row_set(r, P_RSS, s->rss);
		row_set_if(r, !p->prov->no_kinds, P_HUGETLB, s->hugetlb);
	}
	if (sums && p->shares && !s->uncounted) {
		row_set(r, P_PSS, smaps_pss(s));
		row_set(r, P_USS, s->uss);
		row_set(r, P_PRIVATE, s->uss);
		row_set(r, P_SHARED, s->shared);
	}
	row_set_if(r, sums && smaps_knows_huge(s), P_HUGE, smaps_huge(s));
	for (unsigned i = 0; i < sizeof(thp) / sizeof(thp[0]); i++)
		if (sums && smaps_knows_thp(s, thp[i].kind))
			row_set(r, thp[i].column, s->thp[thp[i].kind]);
}

void pages_join_sums(struct page_sum *to, const struct page_sum *s)
{
	to->size += s->size;
	to->mapped += s->mapped;
	smaps_join(&to->of, &s->of);
}

void pages_note_sums(const struct pages *p)
{
	const struct smaps *s = &p->listed;
	const uint64_t ended = p->ended + p->ended_before;
	char rss[16], hugetlb[16], size[16];

	if (!p->sums)
		return;
	if (s->rss + s->hugetlb == p->mapped)
		atw_output_note(p->out, "of that, RSS %s and hugetlb %s", num_human(s->rss, rss),
				num_human(s->hugetlb, hugetlb));
	else
		atw_output_note(p->out, "of that, RSS %s and hugetlb %s; the rest is pages of zeroes and of devices",
				num_human(s->rss, rss), num_human(s->hugetlb, hugetlb));
	if (p->shares && ended == 1)
		atw_output_note(p->out, "%" PRIu64 " process ended while it was read: its shares are in no row, so the sum of PSS is less than the memory in use",
				ended);
	else if (p->shares && ended)
		atw_output_note(p->out, "%" PRIu64 " processes ended while they were read: their shares are in no row, so the sum of PSS is less than the memory in use",
				ended);
	if (p->look.stepless)
		atw_output_note(p->out, "%s of large pages: mappings of their parts were not counted, after %" PRIu64 " others",
				num_human(p->look.stepless, size), SMAPS_STEPS);
}

/* ---- of several threads ---- */

void pages_copy(struct pages *to, const struct pages *from)
{
	*to = (struct pages){
		.src = from->src, .c = from->c, .schema = from->schema, .asked = from->asked,
		.query = from->query, .areas_only = from->areas_only, .each = from->each,
		.whole = from->whole, .sums = from->sums, .shares = from->shares,
		.totals = from->totals, .headings = from->headings, .live = from->live,
		.areas = from->areas, .range = from->range, .nranges = from->nranges,
	};
}

void pages_join(struct pages *to, const struct pages *from)
{
	static const size_t counts[] = {
#define COUNT(member) offsetof(struct pages, member)
		COUNT(processes), COUNT(mapped), COUNT(swapped), COUNT(other), COUNT(absent),
		COUNT(unknown), COUNT(unswapped), COUNT(split), COUNT(unsplit), COUNT(lost),
		COUNT(excluded), COUNT(damaged), COUNT(unstable), COUNT(bad), COUNT(pageless),
		COUNT(stale), COUNT(ended), COUNT(look.stepless), COUNT(look.stale), COUNT(look.pageless),
#undef COUNT
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		*(uint64_t *)((char *)to + counts[i]) +=
			*(const uint64_t *)((const char *)from + counts[i]);
	to->inside |= from->inside;
	smaps_join(&to->listed, &from->listed);
}
