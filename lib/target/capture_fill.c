/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_fill.c - the runs of a capture, one after the other, and of which addresses
 * nothing is known: where a line is wrong, where the file is cut off, where an L: line
 * says so, or where an area does not tell all of its pages.
 */
#include "target/capture_vmas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/message.h"

/* ---- what is not known ---- */

/* Of first..last nothing is known. Where runs tell of it after all, these are right. */
static void fill_add_hole(struct capture_pages *c, uint64_t first, uint64_t last)
{
	size_t i = c->nholes;

	if (first > last)
		return;
	while (i && c->hole[i - 1].first > first)
		i--;
	/* There is no room: rather what lies between two is not known either. */
	if (c->nholes == CAPTURE_HOLES) {
		if (!i)
			c->hole[i++].first = first;
		if (c->hole[i - 1].last < last)
			c->hole[i - 1].last = last;
		return;
	}
	memmove(c->hole + i + 1, c->hole + i, (c->nholes - i) * sizeof(c->hole[0]));
	c->hole[i].first = first;
	c->hole[i].last = last;
	c->nholes++;
}

void capture_drop_holes(struct capture_pages *c, uint64_t upto)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nholes; i++)
		if (c->hole[i].last >= upto)
			c->hole[n++] = c->hole[i];
	c->nholes = n;
}

static void fill_lost(struct capture_pages *c, const struct capture_lost *l, uint32_t has)
{
	struct atw_err why = { 0 };
	char what[400];

	if (!(has & CAPTURE_L_START) || l->pid != c->lines.pid)
		return;
	if (has & CAPTURE_L_LAST)
		fill_add_hole(c, l->start, l->last);
	else
		fill_add_hole(c, l->start, l->start | (c->m->page - 1));
	if (l->start > c->last || (has & CAPTURE_L_LAST && l->last < c->at))
		return;
	capture_why(&why, l->why);
	snprintf(what, sizeof(what), _("when the capture was taken, process %" PRIu64 ": %.*s at 0x%" PRIx64),
		 l->pid, (int)(l->what.len < 300 ? l->what.len : 300),
		 l->what.data ? (const char *)l->what.data : "", l->start);
	provider_cannot(c->cur.p, what, &why);
}

/* ---- areas ---- */

static void fill_end_area(struct capture_pages *c)
{
	uint64_t missing = c->area.resident > c->area.listed ?
			   c->area.resident - c->area.listed : 0;
	bool known = c->area.any || c->m->c->paper;
	struct atw_err why = { 0 };
	char what[96];

	if (!c->area.open)
		return;
	c->area.open = false;
	if (missing || !known || c->lines.fault || c->lines.cut)
		fill_add_hole(c, c->area.upto, c->area.last);
	/* /proc has no pagemap words for [vsyscall], so that is no failure. */
	c->hidden_from = !known && !c->lines.fault && !c->lines.cut &&
			 c->area.start > INT64_MAX ? c->area.start : UINT64_MAX;
	if (missing && !c->lines.fault && !c->lines.cut && c->area.last >= c->at) {
		snprintf(what, sizeof(what), "process %" PRIu64 ": 0x%" PRIx64 "-0x%" PRIx64,
			 c->lines.pid, c->area.start, c->area.last + 1);
		atw_err_set(&why, ATW_E_MISSING, "%" PRIu64 " of %" PRIu64
			    " pages that are in memory are not recorded", missing, c->area.resident);
		provider_cannot(c->cur.p, what, &why);
	}
	c->lines.fault = false;
}

static void fill_begin_area(struct capture_pages *c, const struct capture_record *rec)
{
	const struct capture_area *v = &rec->v;

	fill_end_area(c);
	c->area.open = true;
	c->area.any = false;
	c->area.start = c->area.upto = v->start;
	c->area.last = v->last;
	c->area.resident = v->resident / c->m->page;
	c->area.listed = 0;
	c->area.rights_known = capture_area_rights(c->m->c, rec, &c->area.rights);
}

/* ---- runs of the file ---- */

static void fill_take_run(struct capture_pages *c)
{
	c->have = c->fresh = true;
	c->area.any = true;
	if (c->lines.fault && c->run.va)
		fill_add_hole(c, c->area.upto, c->run.va - 1);
	c->lines.fault = false;
	c->area.upto = c->run.va + c->run.pages * c->m->page;
	if (capture_is_present(&c->run))
		c->area.listed += c->run.pages;
}

/* So many runs were wrong that nothing more of the task is read, and so nothing known. */
static void fill_give_up(struct capture_pages *c)
{
	struct atw_err why = { 0 };

	atw_err_set(&why, ATW_E_DAMAGED, "line %" PRIu64 ": %d runs were wrong so far: nothing "
		    "behind it is read of process %" PRIu64, c->lines.s->rd.line, CAPTURE_FAULTS,
		    c->lines.pid);
	provider_cannot(c->cur.p, "runs", &why);
	fill_add_hole(c, c->area.upto, UINT64_MAX);
	c->lines.open = false;
	c->lines.cut = true;
	c->text.len = 0;
}

/* A run of the M: line, if it has one that can be read. */
static bool fill_run_of_text(struct capture_pages *c)
{
	struct atw_err why = { 0 };
	int r = ATW_E_FORMAT;

	while (c->text.len && r != ATW_END && r != ATW_OK) {
		r = capture_run(&c->lines.s->rd, &c->text, &c->run, &why);
		if (r == ATW_OK || r == ATW_END)
			break;
		c->lines.fault = true;
		provider_cannot(c->cur.p, _("a run is wrong"), &why);
		if (++c->lines.wrong >= CAPTURE_FAULTS)
			fill_give_up(c);
	}
	if (r == ATW_OK)
		fill_take_run(c);
	else
		c->text.len = 0;
	return r == ATW_OK;
}

int capture_fill(struct capture_pages *c, struct atw_err *err)
{
	struct capture_record rec;
	int r = ATW_OK;

	while (!c->have && r == ATW_OK) {
		if (fill_run_of_text(c))
			break;
		r = capture_cursor_next(&c->lines, &rec, err);
		if (r != ATW_OK)
			break;
		if (rec.letter == 'V')
			fill_begin_area(c, &rec);
		else if (rec.letter == 'M')
			c->text = rec.m;
		else if (rec.letter == 'L')
			fill_lost(c, &rec.l, rec.has);
		else if (rec.letter == 'P')
			c->area.any = true;
	}
	if (r == ATW_END)
		fill_end_area(c);
	return r < 0 ? r : ATW_OK;
}
