/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sums.c - assignment of pages to the columns of Movall et al. and to ours. */
#include "report/report.h"
#include "report/sums.h"

enum sum sums_column(const struct census_area *a)
{
	/* Of a library, and of the program; the sums of other classes are SUM_OTHER. */
	static const uint8_t columns[][2] = {
		[CENSUS_TEXT] = { SUM_LIB_TEXT, SUM_TEXT },
		[CENSUS_RODATA] = { SUM_LIB_TEXT, SUM_TEXT },
		[CENSUS_DATA] = { SUM_LIB_DATA, SUM_DATA },
		[CENSUS_RELRO] = { SUM_LIB_DATA, SUM_DATA },
		[CENSUS_BSS] = { SUM_LIB_BSS, SUM_HEAP },
		[CENSUS_HEAP] = { SUM_HEAP, SUM_HEAP },
		[CENSUS_STACK] = { SUM_STACK, SUM_STACK },
		[CENSUS_ANON] = { SUM_HEAP, SUM_HEAP },
	};

	return a->class < ARRAY_SIZE(columns) ? columns[a->class][a->own] : SUM_OTHER;
}

/* 0: none, because no part is SUM_RW. */
static enum sum sums_part(const struct census_area *a)
{
	static const uint8_t parts[CENSUS_CLASSES] = {
		[CENSUS_RODATA] = SUM_RODATA, [CENSUS_RELRO] = SUM_RELRO,
		[CENSUS_ANON] = SUM_ANON, [CENSUS_JIT] = SUM_JIT, [CENSUS_SHM] = SUM_SHM,
		[CENSUS_FILE] = SUM_FILE, [CENSUS_RESERVED] = SUM_RESERVED,
		[CENSUS_BSS] = SUM_BSS,
	};

	return a->class == CENSUS_BSS && !a->own ? 0 : parts[a->class];
}

void sums_area(struct sums *s, const struct census_area *a, uint64_t pages)
{
	enum sum ours = sums_part(a);

	s->n[a->write ? SUM_RW : SUM_RX] += pages;
	s->n[SUM_TOTAL] += pages;
	s->n[sums_column(a)] += pages;
	if (ours)
		s->n[ours] += pages;
	s->guess |= a->guess;
}

/* Mapcounts of pages of the libraries' code; others have no columns. */
static void sums_add_mapped(struct sums *s, const struct census_area *a, uint64_t pages,
			    uint64_t single, uint64_t shared)
{
	if (sums_column(a) != SUM_LIB_TEXT)
		return;
	s->n[SUM_SINGLE] += single;
	s->n[SUM_MULTI] += shared;
	if (single + shared < pages)
		s->unknown = true;
}

bool sums_rest(struct sums *s, const struct census_area *a, bool virtual)
{
	if (!a->rest.user)
		return false;
	if (!virtual)
		sums_area(s, a, a->rest.user);
	*(a->rest.single + a->rest.shared ? &s->counted : &s->uncounted) = true;
	sums_add_mapped(s, a, a->rest.user, a->rest.single, a->rest.shared);
	s->incomplete |= 1u << SUM_SWAPPED;
	return true;
}

void sums_untold(struct sums *s, const struct census_area *a)
{
	if (!a) {
		s->incomplete = UINT32_MAX;
		return;
	}
	s->incomplete |= 1u << (a->write ? SUM_RW : SUM_RX) | 1u << SUM_TOTAL |
			 1u << sums_column(a) |
			 1u << SUM_SWAPPED;
	if (sums_part(a))
		s->incomplete |= 1u << sums_part(a);
	if (sums_column(a) == SUM_LIB_TEXT)
		s->incomplete |= 1u << SUM_SINGLE | 1u << SUM_MULTI;
}

void sums_pages(struct sums *s, const struct census_pages *p, bool virtual)
{
	if (p->swapped)
		s->n[SUM_SWAPPED] += p->pages;
	if (!is_resident(p))
		return;
	if (!virtual)
		sums_area(s, p->area, p->pages);
	*(p->known & CENSUS_REFS ? &s->counted : &s->uncounted) = true;
	if (!(p->known & CENSUS_REFS))
		sums_add_mapped(s, p->area, p->pages, 0, 0);
	else if (p->refs)
		sums_add_mapped(s, p->area, p->pages, p->refs == 1 ? p->pages : 0,
				p->refs == 1 ? 0 : p->pages);
}

/* ---- processes ---- */

void processes_deinit(struct processes *p)
{
	free(p->v);
	buf_deinit(&p->names);
}

int processes_add(struct processes *p, struct atw_blob name, uint64_t pid, bool paper,
		  struct atw_err *err)
{
	if (!ARRAY_ROOM(p->v, p->n, p->cap))
		return atw_err_nomem(err);
	p->v[p->n] = (struct process_sums){
		.name = buf_keep(&p->names, name.data, name.len), .pid = pid, .paper = paper };
	if (p->names.failed)
		return atw_err_nomem(err);
	p->n++;
	return ATW_OK;
}

void processes_feed(struct processes *p, const struct census_event *ev)
{
	struct process_sums *s = &p->v[p->n - 1];

	s->bare = false;
	if (ev->what == CENSUS_ON_AREA_END) {
		sums_area(&s->virtual, ev->area, area_pages(ev->area, ev->page));
		if (!sums_rest(&s->resident, ev->area, false) && ev->area->incomplete)
			sums_untold(&s->resident, ev->area);
	}
	if (ev->what == CENSUS_ON_PROCESS_END && ev->process->incomplete) {
		sums_untold(&s->resident, NULL);
		sums_untold(&s->virtual, NULL);
	}
	if (ev->what == CENSUS_ON_PAGES)
		sums_pages(&s->resident, ev->pages, false);
}
