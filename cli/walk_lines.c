/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_lines.c - walk --cache-line: rows of cache lines below those of each address. */
#include "walk_lines.h"

int walk_lines_check(const struct walk_lines_opts *o)
{
	uint64_t n = o->line.u;

	if (!o->line.given && o->from)
		return usage_error("walk",
				   "--from is about cache lines: it needs --cache-line");
	if (o->line.given && (n < LINES_LEAST || n > LINES_MOST || n & (n - 1)))
		return usage_error("walk", "--cache-line is a power of two from %d to %d",
				   LINES_LEAST, LINES_MOST);
	return EXIT_COMPLETE;
}

int walk_lines_init(struct walk_lines *w, const struct common *c, struct session *src,
		    const struct walk_lines_opts *o, struct listing *list)
{
	const struct line_refs_opts ro = {
		.from = o->from, .line = (uint32_t)o->line.u, .one = src->subject.pid,
		.pid = (uint32_t)src->subject.pid,
	};

	*w = (struct walk_lines){.list = list};
	line_places_init(&w->places, c, src, list, (uint32_t)o->line.u, false);
	listing_add_lines(list, w->places.set[0].sets, w->places.set[1].sets, o->from);
	if (c->format == FORMAT_PLAIN)
		listing_narrow_lines(list, o->from);
	return o->from ? line_refs_read(c, &ro, &w->refs) : EXIT_COMPLETE;
}

void walk_lines_deinit(struct walk_lines *w)
{
	line_refs_deinit(&w->refs);
	line_places_deinit(&w->places);
}

/* The counts of one line, if it has references. */
static void walk_lines_fill(struct walk_lines *w, struct row *r, uint64_t address)
{
	struct lines *refs = w->refs.lines;
	uint32_t pid = address <= INT64_MAX ? (uint32_t)w->list->src->subject.pid : 0;
	struct lines_line l = {0};
	bool found = lines_get(refs, lines_find(refs, pid, address), &l) &&
		     l.address == address && l.pid == pid;

	/* Where references have no process they are taken for those of this one. */
	if (!found && pid)
		found = lines_get(refs, lines_find(refs, 0, address), &l) &&
			l.address == address && !l.has_pid;
	if (!found)
		l = (struct lines_line){.has_threads = true};
	row_set(r, C_REFS, l.counts.refs);
	if (!l.counts.unknown) {
		row_set(r, C_READS, l.counts.reads);
		row_set(r, C_WRITES, l.counts.writes);
	}
	if (l.has_threads)
		row_set(r, C_THREADS, l.threads);
	if (found)
		row_set(r, C_VERDICT, l.verdict);
}

static int walk_lines_put_one(void *arg, const struct line_place *p, struct atw_err *err)
{
	struct walk_lines *w = arg;
	struct row r = {0};
	struct atw_region area;

	/* What is not mapped has a row already. */
	if (p->state != STATE_PRESENT && p->state != STATE_PROTNONE)
		return ATW_OK;
	if (listing_area(w->list, p->address, p->address + (p->size - 1), &area)) {
		r.v[C_AREA].s = area.name;
		r.have |= COL(C_AREA);
	}
	if (w->list->src->subject.pid) {
		row_set(&r, C_PID, w->list->src->subject.pid);
		r.v[C_TASK].s = w->list->src->subject.task;
		r.have |= *w->list->src->subject.task ? COL(C_TASK) : 0;
	}
	row_set(&r, C_ADDRESS, p->address);
	row_set(&r, C_END, p->address + p->size);
	row_set(&r, C_SIZE, p->size);
	row_set(&r, C_LEVEL, listing_line_level(w->list));
	if (p->have_pa)
		row_set(&r, C_PHYSICAL, p->pa);
	if (p->have_state)
		row_set(&r, C_STATE, p->state);
	if (p->have_node)
		row_set(&r, C_NODE, p->node);
	for (unsigned i = 0; i < LINE_SETS; i++)
		if (p->have_set[i])
			row_set(&r, (enum col)(C_SET1 + i), p->set[i]);
	if (w->refs.lines && p->size == w->places.line)
		walk_lines_fill(w, &r, p->address);
	return row_put(&r, w->out, err);
}

int walk_lines_put(struct walk_lines *w, const struct address_arg *a, struct atw_output *out,
		   struct atw_err *err)
{
	uint64_t first, last;

	w->out = out;
	line_places_range(&w->places, &a->a, &first, &last);
	return line_places_each(&w->places, first, last, walk_lines_put_one, w, err);
}

void walk_lines_note(const struct walk_lines *w, struct atw_output *out)
{
	if (w->refs.lines)
		line_refs_note(&w->refs, out);
	line_places_note(&w->places, out);
}

int walk_lines_status(const struct walk_lines *w, int status)
{
	if (w->places.unread)
		status = EXIT_PARTIAL;
	return w->refs.lines ? line_refs_status(&w->refs, status) : status;
}
