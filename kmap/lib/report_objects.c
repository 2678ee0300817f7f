/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_objects.c - the hottest objects, and the accesses of each thread. */
#include "kmap/lib/report.h"

enum {
	O_ADDRESS, O_SIZE, O_CACHE, O_TYPE, O_ALLOC_IP, O_FUNCTION, O_FILE, O_ALLOC, O_FREE,
	O_PID, O_TASK, O_READS, O_WRITES, O_COUNT,
};
static const struct atw_column columns[O_COUNT] = {
	[O_ADDRESS] = COLUMN("address", VA, 0, "of its first byte"),
	[O_SIZE] = COLUMN("size", BYTES, 6, "of it"),
	[O_CACHE] = COLUMN("cache", TEXT, 18, "slab cache"),
	[O_TYPE] = COLUMN("type", TEXT, 10, "kind of memory"),
	[O_ALLOC_IP] = HIDDEN_COLUMN("alloc_ip", VA, 0, "where it was allocated"),
	[O_FUNCTION] = COLUMN("function", TEXT, 24, "that allocated it"),
	[O_FILE] = HIDDEN_COLUMN("file", TEXT, 18, "the file that is in"),
	[O_ALLOC] = COLUMN("alloc_time", COUNT, 10, "when, by the recording's clock"),
	[O_FREE] = COLUMN("free_time", COUNT, 10, "its end"),
	[O_PID] = COLUMN("pid", COUNT, 6, "thread that allocated it"),
	[O_TASK] = COLUMN("task", TEXT, 12, "its name"),
	[O_READS] = COLUMN("reads", COUNT, 9, "of it"),
	[O_WRITES] = COLUMN("writes", COUNT, 9, "to it"),
};
static const struct atw_schema schema = { "kmap-objects", columns, O_COUNT };

static int objects_rows(const struct kmap_query *a, const struct census_out *out,
			struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && i < a->m->hots; i++) {
		const struct kmap_hot *h = &a->m->hot[i];
		const struct kmap_site *s = kmap_site(a->m, h->site);
		struct report_row row = { 0 };

		row_u(&row, O_ADDRESS, h->va);
		row_u(&row, O_SIZE, h->size);
		kmap_row_cache(&row, O_CACHE, kmap_cache(a->m, s->cache));
		kmap_row_site(&row, O_ALLOC_IP, a, s);
		row_if(&row, h->alloc_time, O_ALLOC, h->alloc_time);
		row_if(&row, h->freed, O_FREE, h->free_time);
		row_if(&row, h->pid >= 0, O_PID, (uint64_t)h->pid);
		row_s(&row, O_TASK, h->task);
		row_u(&row, O_READS, h->reads);
		row_u(&row, O_WRITES, h->writes);
		r = row_out(&row, out, err);
	}
	if (a->m->hots < a->m->s.objects - a->m->s.untouched)
		out->left_out(out->arg, ATW_PARAM_TOP, "the %zu hottest of %llu objects",
			      a->m->hots, (unsigned long long)a->m->s.objects);
	kmap_note_sites(a, out);
	return r;
}

const struct kmap_report kmap_report_objects = {
	.name = "objects",
	.title = "The hottest objects",
	.help = "One object a row, the most accesses first.",
	.schema = &schema,
	.level = KMAP_LEVELS,
	.rows = objects_rows,
};

/* ---- processes ---- */

enum { P_PID, P_TASK, P_OBJECTS, P_BYTES, P_READS, P_WRITES, P_SITES, P_COUNT };
static const struct atw_column process_columns[P_COUNT] = {
	[P_PID] = COLUMN("pid", COUNT, 6, "thread; n/a: outside of any"),
	[P_TASK] = COLUMN("task", TEXT, 16, "its name at that time"),
	[P_OBJECTS] = COLUMN("objects", COUNT, 8, "that it allocated"),
	[P_BYTES] = COLUMN("size", BYTES, 7, "of these"),
	[P_READS] = COLUMN("reads", COUNT, 10, "of all objects"),
	[P_WRITES] = COLUMN("writes", COUNT, 10, "to them"),
	[P_SITES] = COLUMN("sites", COUNT, 6, "with objects that it accessed"),
};
static const struct atw_schema process_schema = { "kmap-processes", process_columns, P_COUNT };

static uint64_t objects_weight(const void *of, size_t i)
{
	const struct kmap_model *m = of;
	const struct kmap_process *p = kmap_process(m, i);

	return m->has_pids ? kmap_sum(p->reads, p->writes) : p->objects;
}

static int objects_process_rows(const struct kmap_query *a, const struct census_out *out,
				struct atw_err *err)
{
	size_t n = a->m->process.n;
	_auto_free struct chart_order *order = kmap_by_weight(n, objects_weight, a->m, err);
	int r = order ? ATW_OK : ATW_E_NOMEM;

	/* There pids are filled with zeroes. */
	for (size_t i = 0; r == ATW_OK && !a->m->compressed && i < n; i++) {
		const struct kmap_process *p = kmap_process(a->m, order[i].at);
		struct report_row row = { 0 };

		if (p->gone)
			continue;
		row_if(&row, (int64_t)p->key.a >= 0, P_PID, p->key.a);
		row_s(&row, P_TASK, p->task);
		row_u(&row, P_OBJECTS, p->objects);
		row_u(&row, P_BYTES, p->bytes);
		if (a->m->has_pids) {
			row_u(&row, P_READS, p->reads);
			row_u(&row, P_WRITES, p->writes);
			row_u(&row, P_SITES, p->sites);
		}
		r = row_out(&row, out, err);
	}
	if (a->m->compressed)
		out->note(out->arg, "this recording merged all objects of a site, whichever threads allocated and used them");
	else if (!a->m->has_pids)
		out->note(out->arg, "reading and writing threads are not known: accesses have no pid in this form");
	return r;
}

const struct kmap_report kmap_report_processes = {
	.name = "processes",
	.title = "Processes: allocations, reads and writes of each thread",
	.help = "A thread, under one of its names, in one row; pid n/a is code that ran "
		"outside of any, such as interrupts.",
	.schema = &process_schema,
	.level = KMAP_LEVELS,
	.rows = objects_process_rows,
};
