/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate_sums.c - annotate --summary: samples and misses by area and page size, and how
 * many of them large pages would avoid.
 */
#include <stdio.h>

#include "annotate.h"
#include "base/bytes.h"
#include "base/message.h"
#include "base/sorted.h"

/* Groups that are kept: an area has few, and hostile input any number. */
enum { ANNOTATE_GROUPS = 1 << 16, ANNOTATE_SIZES = 8 };

enum annotate_sum_col {
	AS_SAMPLES, AS_EVENTS, AS_SHARE, AS_WEIGHT, AS_TLB, AS_CACHE, AS_PAGE, AS_STATE,
	AS_WHY, AS_PID, AS_TASK, AS_ADDRESS, AS_RIGHTS, AS_AREA, AS_COLS,
};

static const struct atw_names whys = { LARGE_WHYS, large_why_names, NULL };
static const char *const rights[] = { "readable", "writable", "executable" };
static const struct atw_names rights_names = { 3, rights, "rwx" };

static const struct atw_column columns[AS_COLS] = {
	[AS_SAMPLES] = { .key = "samples", .type = ATW_T_COUNT, .width = 8,
			 .help = "--summary: lines" },
	[AS_EVENTS] = { .key = "events", .type = ATW_T_COUNT, .width = 8,
			.help = "references that they stand for: of perf, sums of their periods" },
	[AS_SHARE] = { .key = "share", .type = ATW_T_SECONDS, .width = 6,
		       .help = "--summary: part of all events; 1 is all of them" },
	[AS_WEIGHT] = { .key = "weight", .type = ATW_T_COUNT, .width = 8,
			.help = "--summary: sum of the weights of the lines" },
	[AS_TLB] = { .key = "tlb_misses", .type = ATW_T_COUNT, .width = 10,
		     .help = "--summary: events for which page tables were walked" },
	[AS_CACHE] = { .key = "cache_misses", .type = ATW_T_COUNT, .width = 12,
		       .help = "--summary: events that no cache of the CPU answered" },
	[AS_PAGE] = { .key = "page", .type = ATW_T_BYTES, .width = 4,
		      .help = "bytes of one translation" },
	[AS_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 10,
		       .names = &annotate_states, .help = "what maps them" },
	[AS_WHY] = { .key = "why", .type = ATW_T_ENUM, .width = 10, .names = &whys,
		     .help = "--summary: of small pages: what alignment and settings say about large ones there; possible: nothing is in the way" },
	[AS_PID] = { .key = "pid", .type = ATW_T_COUNT, .help = "process" },
	[AS_TASK] = { .key = "task", .type = ATW_T_TEXT, .width = 12, .help = "its name" },
	[AS_ADDRESS] = { .key = "area_address", .type = ATW_T_VA, .hidden = true,
			 .help = "--summary: where the area begins" },
	[AS_RIGHTS] = { .key = "area_rights", .type = ATW_T_LETTERS, .names = &rights_names,
			.help = "rights of the memory area (VMA)" },
	[AS_AREA] = { .key = "area", .type = ATW_T_TEXT, .width = 14,
		      .help = "memory area; of a kernel address, its region" },
};
const struct atw_schema annotate_sums_schema = { "annotate", columns, AS_COLS };

/* ---- groups ---- */

static void annotate_sum_add(struct annotate_sum *s, const struct trace_ref *t)
{
	enum trace_level level = t->has & TRACE_HAS_SOURCE ? trace_source_level(t->source)
							   : TRACE_LEVEL_UNKNOWN;
	enum trace_tlb tlb = t->has & TRACE_HAS_SOURCE ? trace_source_tlb(t->source)
						       : TRACE_TLB_UNKNOWN;

	s->samples++;
	s->events += t->count;
	if (t->has & TRACE_HAS_WEIGHT) {
		s->weighed++;
		s->weight += t->weight;
	}
	s->tlb_known += tlb != TRACE_TLB_UNKNOWN ? t->count : 0;
	s->tlb_misses += tlb == TRACE_TLB_MISS ? t->count : 0;
	s->cache_known += level != TRACE_LEVEL_UNKNOWN ? t->count : 0;
	s->cache_misses += trace_level_missed(level) ? t->count : 0;
}

/* Of all groups: every other sum is a part of these. */
static bool annotate_sums_fit(const struct annotate_sum *all, const struct trace_ref *t)
{
	uint64_t sum;

	return add_u64(all->events, t->count, &sum) &&
	       (!(t->has & TRACE_HAS_WEIGHT) || add_u64(all->weight, t->weight, &sum));
}

static bool annotate_same_group(const struct annotate_group *a, const struct annotate_group *b)
{
	return a->pid == b->pid && a->start == b->start && a->page == b->page &&
	       a->state == b->state && a->why == b->why && a->have_pid == b->have_pid &&
	       a->have_state == b->have_state && a->have_page == b->have_page &&
	       a->have_why == b->have_why && a->have_area == b->have_area;
}

static uint64_t annotate_group_key(const struct annotate_group *g)
{
	uint64_t bits = g->state | (uint64_t)g->why << 8 | (uint64_t)g->have_pid << 16 |
			(uint64_t)g->have_state << 17 | (uint64_t)g->have_area << 18 |
			(uint64_t)g->have_why << 19;

	return hash_two(hash_two(g->pid, g->start), hash_two(g->page, bits));
}

/* What the groups of references differ in; the names are not yet copied. */
static struct annotate_group annotate_group_of(const struct annotate_sums *s,
					       const struct annotate_ref *a)
{
	const struct place *p = &a->place;
	const struct place_area *area = p->area;
	struct annotate_group g = {
		.pid = a->have_pid ? a->pid : 0, .have_pid = a->have_pid,
		.state = a->have_state ? a->state : 0, .have_state = a->have_state,
	};

	if (p->have & PLACE_HAS_PAGE) {
		g.page = p->page;
		g.have_page = true;
	}
	if (area) {
		g.start = area->start;
		g.have_area = true;
		g.rights = area->rights;
		g.have_rights = !area->rights_unknown;
		g.have_why = area->large_known && g.have_page && p->page == s->smallest;
		g.why = g.have_why ? place_why_small(area, a->ref->address) : LARGE_NONE;
	} else if (a->area && p->kernel) {
		/* A region: one name has one beginning. */
		g.start = hash_bytes(0, a->area, strlen(a->area)) | 1;
	}
	return g;
}

static int annotate_sums_begin(struct annotate_sums *s, struct annotate_group *g,
			       uint64_t key, const struct annotate_ref *a, struct atw_err *err)
{
	if (!array_reserve((void **)&s->group, &s->cap, s->n + 1, sizeof(*s->group)))
		return atw_err_nomem(err);
	if (a->task)
		snprintf(g->task, sizeof(g->task), "%s", a->task);
	if (a->area) {
		g->area = strdup(a->area);
		if (!g->area)
			return atw_err_nomem(err);
	}
	if (!table_add(&s->table, key, s->n + 1)) {
		free(g->area);
		return atw_err_nomem(err);
	}
	s->group[s->n++] = *g;
	return ATW_OK;
}

int annotate_sums_add(struct annotate_sums *s, const struct annotate_ref *a,
		      struct atw_err *err)
{
	struct annotate_group g = annotate_group_of(s, a);
	uint64_t key = annotate_group_key(&g);
	const struct table_slot *slot = NULL;
	int r;

	if (!annotate_sums_fit(&s->all, a->ref))
		return atw_err_set(err, ATW_E_LIMIT,
				   "counts or weights sum to more than 2^64-1");
	annotate_sum_add(&s->all, a->ref);
	s->unset |= g.have_why && a->place.area->unset && g.why == LARGE_POSSIBLE;
	while ((slot = table_next(&s->table, key, slot))) {
		struct annotate_group *is = &s->group[slot->value - 1];

		if (annotate_same_group(is, &g)) {
			annotate_sum_add(&is->sum, a->ref);
			return ATW_OK;
		}
	}
	if (s->n == ANNOTATE_GROUPS) {
		annotate_sum_add(&s->unlisted, a->ref);
		return ATW_OK;
	}
	r = annotate_sums_begin(s, &g, key, a, err);
	if (r == ATW_OK)
		annotate_sum_add(&s->group[s->n - 1].sum, a->ref);
	return r;
}

void annotate_sums_deinit(struct annotate_sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->group[i].area);
	free(s->group);
	table_deinit(&s->table);
	*s = (struct annotate_sums){ 0 };
}

/* ---- rows ---- */

static int annotate_by_events(const void *a, const void *b)
{
	const struct annotate_group *x = a, *y = b;
	int names;

	if (x->sum.events != y->sum.events)
		return x->sum.events > y->sum.events ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	names = strcmp(x->area ? x->area : "", y->area ? y->area : "");
	if (names)
		return names;
	/* The beginning of a region is a hash: another one in each run. */
	if (x->have_area && y->have_area && x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return ORDER(x->page, y->page) ?: ORDER(x->state, y->state) ?:
	       ORDER(x->why, y->why);
}

static uint64_t annotate_thousandths(uint64_t part, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)part * 1000 / all) : 0;
}

static int annotate_put_group(const struct annotate_sums *s, const struct annotate_group *g,
			      struct atw_output *out, struct atw_err *err)
{
	union atw_value v[AS_COLS] = {
		[AS_SAMPLES].u = g->sum.samples, [AS_EVENTS].u = g->sum.events,
		[AS_SHARE].u = annotate_thousandths(g->sum.events, s->all.events),
		[AS_WEIGHT].u = g->sum.weight, [AS_TLB].u = g->sum.tlb_misses,
		[AS_CACHE].u = g->sum.cache_misses, [AS_PAGE].u = g->page,
		[AS_STATE].u = g->state, [AS_WHY].u = g->why, [AS_PID].u = g->pid,
		[AS_TASK].s = g->task, [AS_ADDRESS].u = g->start, [AS_RIGHTS].u = g->rights,
		[AS_AREA].s = g->area ? g->area : "",
	};
	const struct {
		bool have;
		enum annotate_sum_col col;
	} known[] = {
		{ true, AS_SAMPLES }, { true, AS_EVENTS }, { true, AS_SHARE }, { g->sum.weighed, AS_WEIGHT },
		{ g->sum.tlb_known, AS_TLB }, { g->sum.cache_known, AS_CACHE },
		{ g->have_page, AS_PAGE }, { g->have_state, AS_STATE }, { g->have_why, AS_WHY },
		{ g->have_pid, AS_PID }, { g->task[0], AS_TASK }, { g->have_area, AS_ADDRESS },
		{ g->have_rights, AS_RIGHTS }, { g->area, AS_AREA },
	};
	struct atw_row row = { .v = v };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		row.have |= known[i].have ? (uint64_t)1 << known[i].col : 0;
	return atw_output_row(out, &row, err);
}

/* ---- lines below the rows ---- */

enum annotate_what { ANNOTATE_EVENTS, ANNOTATE_TLB, ANNOTATE_CACHE };

static uint64_t annotate_count(const struct annotate_sum *s, enum annotate_what what)
{
	return what == ANNOTATE_TLB ? s->tlb_misses :
	       what == ANNOTATE_CACHE ? s->cache_misses : s->events;
}

/* "10 (83%) " */
static void annotate_part(struct buf *b, uint64_t part, uint64_t all)
{
	buf_printf(b, "%" PRIu64 " (%" PRIu64 "%%)", part,
		   all ? (uint64_t)((unsigned __int128)part * 100 / all) : 0);
}

/* "12 events: 10 (83%) on 4K pages, 2 (16%) on 2M pages" */
static void annotate_note_sizes(const struct annotate_sums *s, enum annotate_what what,
				const char *one, const char *many, struct atw_output *out)
{
	struct {
		uint64_t page, count;
	} by[ANNOTATE_SIZES];
	uint64_t all = annotate_count(&s->all, what), other = all;
	struct buf text = { 0 };
	size_t n = 0, k;

	for (size_t i = 0; i < s->n; i++) {
		const struct annotate_group *g = &s->group[i];
		uint64_t count = annotate_count(&g->sum, what);

		if (!g->have_page || !count)
			continue;
		for (k = 0; k < n && by[k].page != g->page; k++)
			;
		if (k == ANNOTATE_SIZES)
			continue;
		if (k == n) {
			by[n].page = g->page;
			by[n++].count = 0;
		}
		by[k].count += count;
		other -= count;
	}
	for (uint64_t last = 0; n; last++) {
		char size[16];

		k = 0;
		for (size_t i = 1; i < n; i++)
			if (by[i].page < by[k].page)
				k = i;
		buf_str(&text, last ? ", " : ": ");
		annotate_part(&text, by[k].count, all);
		buf_printf(&text, _(" on %s pages"), num_human(by[k].page, size));
		by[k] = by[--n];
	}
	if (other) {
		buf_str(&text, text.len ? ", " : ": ");
		annotate_part(&text, other, all);
		buf_str(&text, _(" on pages of unknown size, or on none"));
	}
	atw_output_note(out, "%" PRIu64 " %s%s", all, all == 1 ? message(one) : message(many),
			text.data ? text.data : "");
	buf_deinit(&text);
}

/* What of the misses large pages would avoid, and why not more. */
static void annotate_note_large(const struct annotate_sums *s, struct atw_output *out)
{
	enum annotate_what what = s->all.tlb_known ? ANNOTATE_TLB : ANNOTATE_EVENTS;
	const char *name = what ? _("TLB misses") : _("events");
	uint64_t by[LARGE_WHYS] = { 0 }, small = 0, unknown = 0;
	struct buf text = { 0 };
	char size[16];

	for (size_t i = 0; i < s->n; i++) {
		const struct annotate_group *g = &s->group[i];
		uint64_t count = annotate_count(&g->sum, what);

		if (!g->have_page || g->page != s->smallest)
			continue;
		small += count;
		if (g->have_why && g->why != LARGE_NONE)
			by[g->why] += count;
		else
			unknown += count;
	}
	num_human(s->smallest, size);
	if (!small) {
		atw_output_note(out, "large pages would avoid none of the %s: none is on %s pages",
				name, size);
		return;
	}
	if (!s->eligible) {
		atw_output_note(out, "large pages: the source does not say which areas may have them");
		return;
	}
	annotate_part(&text, by[LARGE_POSSIBLE], annotate_count(&s->all, what));
	buf_printf(&text, _(" of all %s"), name);
	for (unsigned i = LARGE_SMALL; i < LARGE_POSSIBLE; i++)
		if (by[i])
			buf_printf(&text, "; %" PRIu64 " %s", by[i], large_why_names[i]);
	if (unknown)
		buf_printf(&text, _("; %" PRIu64 " unknown"), unknown);
	if (s->unset)
		buf_str(&text, _("; the setting of the system is unknown"));
	atw_output_note(out, "on %s pages where large ones are possible: %s", size,
			text.data ? text.data : "");
	buf_deinit(&text);
}

int annotate_sums_put(struct annotate_sums *s, struct atw_output *out, struct atw_err *err)
{
	int r = ATW_OK;

	if (s->n)
		qsort(s->group, s->n, sizeof(*s->group), annotate_by_events);
	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		r = annotate_put_group(s, &s->group[i], out, err);
	if (r < 0)
		return r;
	if (s->all.events != s->all.samples)
		atw_output_note(out, "sampled: %" PRIu64 " events are an estimate from %" PRIu64 " samples",
				s->all.events, s->all.samples);
	annotate_note_sizes(s, ANNOTATE_EVENTS, N_("event"), N_("events"), out);
	if (s->all.tlb_known)
		annotate_note_sizes(s, ANNOTATE_TLB, N_("TLB miss"), N_("TLB misses"), out);
	if (s->all.cache_known)
		annotate_note_sizes(s, ANNOTATE_CACHE, N_("cache miss"), N_("cache misses"), out);
	annotate_note_large(s, out);
	if (s->unlisted.events)
		atw_output_note(out, "%" PRIu64 " events are in no row: they are of more than %d areas",
				s->unlisted.events, ANNOTATE_GROUPS);
	return ATW_OK;
}
