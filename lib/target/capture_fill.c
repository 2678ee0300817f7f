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

/* ---- what is not known ---- */

/* Of first..last nothing is known. Where runs tell of it after all, these are right. */
static void fill_add_hole(struct capture_provider *m, uint64_t first, uint64_t last)
{
	size_t i = m->nholes;

	if (first > last)
		return;
	while (i && m->hole[i - 1].first > first)
		i--;
	/* There is no room: rather what lies between two is not known either. */
	if (m->nholes == CAPTURE_HOLES) {
		if (!i)
			m->hole[i++].first = first;
		if (m->hole[i - 1].last < last)
			m->hole[i - 1].last = last;
		return;
	}
	memmove(m->hole + i + 1, m->hole + i, (m->nholes - i) * sizeof(m->hole[0]));
	m->hole[i].first = first;
	m->hole[i].last = last;
	m->nholes++;
}

void capture_drop_holes(struct capture_provider *m, uint64_t upto)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nholes; i++)
		if (m->hole[i].last >= upto)
			m->hole[n++] = m->hole[i];
	m->nholes = n;
}

static void fill_lost(struct capture_provider *m, const struct capture_lost *l,
		      uint32_t has)
{
	struct atw_err why = { 0 };
	char what[400];

	if (!(has & CAPTURE_L_START) || l->pid != m->pages.pid)
		return;
	if (has & CAPTURE_L_LAST)
		fill_add_hole(m, l->start, l->last);
	else
		fill_add_hole(m, l->start, l->start | (m->page - 1));
	if (l->start > m->last || (has & CAPTURE_L_LAST && l->last < m->at))
		return;
	capture_why(&why, l->why);
	snprintf(what, sizeof(what), "when it was taken: process %" PRIu64 ": %.*s at 0x%" PRIx64,
		 l->pid, (int)(l->what.len < 300 ? l->what.len : 300),
		 l->what.data ? (const char *)l->what.data : "", l->start);
	provider_cannot(&m->p, what, &why);
}

/* ---- areas ---- */

static void fill_end_area(struct capture_provider *m)
{
	uint64_t missing = m->area.resident > m->area.listed ?
			   m->area.resident - m->area.listed : 0;
	bool known = m->area.any || m->c->paper;
	struct atw_err why = { 0 };
	char what[96];

	if (!m->area.open)
		return;
	m->area.open = false;
	if (missing || !known || m->pages.fault || m->pages.cut)
		fill_add_hole(m, m->area.upto, m->area.last);
	/* /proc has no pagemap words for [vsyscall], so that is no failure. */
	m->hidden_from = !known && !m->pages.fault && !m->pages.cut &&
			 m->area.start > INT64_MAX ? m->area.start : UINT64_MAX;
	if (missing && !m->pages.fault && !m->pages.cut && m->area.last >= m->at) {
		snprintf(what, sizeof(what), "process %" PRIu64 ": 0x%" PRIx64 "-0x%" PRIx64,
			 m->pages.pid, m->area.start, m->area.last + 1);
		atw_err_set(&why, ATW_E_MISSING, "%" PRIu64 " of %" PRIu64
			    " pages that are in memory are not recorded", missing, m->area.resident);
		provider_cannot(&m->p, what, &why);
	}
	m->pages.fault = false;
}

static void fill_begin_area(struct capture_provider *m, const struct capture_record *rec)
{
	const struct capture_area *v = &rec->v;

	fill_end_area(m);
	m->area.open = true;
	m->area.any = false;
	m->area.start = m->area.upto = v->start;
	m->area.last = v->last;
	m->area.resident = v->resident / m->page;
	m->area.listed = 0;
	m->area.rights_known = capture_area_rights(m->c, rec, &m->area.rights);
}

/* ---- runs of the file ---- */

static void fill_take_run(struct capture_provider *m)
{
	m->have = m->fresh = true;
	m->area.any = true;
	if (m->pages.fault && m->run.va)
		fill_add_hole(m, m->area.upto, m->run.va - 1);
	m->pages.fault = false;
	m->area.upto = m->run.va + m->run.pages * m->page;
	if (capture_is_present(&m->run))
		m->area.listed += m->run.pages;
}

/* So many runs were wrong that nothing more of the task is read, and so nothing known. */
static void fill_give_up(struct capture_provider *m)
{
	struct atw_err why = { 0 };

	atw_err_set(&why, ATW_E_DAMAGED, "line %" PRIu64 ": %d runs were wrong so far: nothing "
		    "behind it is read of process %" PRIu64, m->pages.s->rd.line, CAPTURE_FAULTS,
		    m->pages.pid);
	provider_cannot(&m->p, "runs", &why);
	fill_add_hole(m, m->area.upto, UINT64_MAX);
	m->pages.open = false;
	m->pages.cut = true;
	m->text.len = 0;
}

/* A run of the M: line, if it has one that can be read. */
static bool fill_run_of_text(struct capture_provider *m)
{
	struct atw_err why = { 0 };
	int r = ATW_E_FORMAT;

	while (m->text.len && r != ATW_END && r != ATW_OK) {
		r = capture_run(&m->pages.s->rd, &m->text, &m->run, &why);
		if (r == ATW_OK || r == ATW_END)
			break;
		m->pages.fault = true;
		provider_cannot(&m->p, "a run is wrong", &why);
		if (++m->pages.wrong >= CAPTURE_FAULTS)
			fill_give_up(m);
	}
	if (r == ATW_OK)
		fill_take_run(m);
	else
		m->text.len = 0;
	return r == ATW_OK;
}

int capture_fill(struct capture_provider *m, struct atw_err *err)
{
	struct capture_record rec;
	int r = ATW_OK;

	while (!m->have && r == ATW_OK) {
		if (fill_run_of_text(m))
			break;
		r = capture_cursor_next(&m->pages, &rec, err);
		if (r != ATW_OK)
			break;
		if (rec.letter == 'V')
			fill_begin_area(m, &rec);
		else if (rec.letter == 'M')
			m->text = rec.m;
		else if (rec.letter == 'L')
			fill_lost(m, &rec.l, rec.has);
		else if (rec.letter == 'P')
			m->area.any = true;
	}
	if (r == ATW_END)
		fill_end_area(m);
	return r < 0 ? r : ATW_OK;
}
