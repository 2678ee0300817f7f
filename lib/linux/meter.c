/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meter.c - progress of a search through memory. */
#include "linux/kernel.h"

static uint64_t meter_stored(struct atw_source *mem)
{
	uint64_t sum = 0, at = 0;
	struct atw_extent e;

	while (atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK) {
		sum += e.kind == ATW_DATA ? e.len : 0;
		at = e.start.u + e.len;
		if (at <= e.start.u)
			break;
	}
	return sum;
}

void meter_begin(struct meter *m, struct atw_source *mem)
{
	if (!m || !m->fn || m->depth++)
		return;
	m->done = 0;
	m->all = meter_stored(mem);
	m->fn(m->arg, 0, m->all);
}

void meter_add(struct meter *m, uint64_t bytes)
{
	if (!m || !m->fn || m->depth > 1)
		return;
	m->done += bytes;
	/* Completion is reported only by meter_end(). */
	if (m->done < m->all)
		m->fn(m->arg, m->done, m->all);
}

void meter_end(struct meter *m)
{
	if (!m || !m->fn || --m->depth)
		return;
	m->fn(m->arg, m->all, m->all);
}
