/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.c - list of processes with sums. */
#include "report/processes.h"

#include <stdlib.h>

#include "report/report.h"

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
	p->v[p->n] = (struct process_sums){ .name = p->names.len, .pid = pid, .paper = paper };
	buf_add(&p->names, name.data, name.len);
	buf_char(&p->names, '\0');
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
