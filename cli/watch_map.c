/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_map.c - rows of `map --watch`, one for each snapshot. */
#include "watch.h"

enum { W_TIME, W_RANGES, W_MAPPED = W_RANGES + 2, W_SIZES = W_MAPPED + 2,
       W_COLS = W_SIZES + 2 * LOOK_SIZES };

struct map_watch {
	struct map_look was, is;
	bool again;              /* `was` is a look */
	int (*look)(void *arg, struct map_look *l, struct atw_err *err);
	void *arg;
	char key[LOOK_SIZES][2][20];
	struct atw_column col[W_COLS];
	struct atw_schema schema;
};

void map_look_add(struct map_look *l, uint64_t page, uint64_t bytes)
{
	l->mapped += bytes;
	l->unsized += page ? 0 : bytes;
	for (size_t i = 0; i < l->nsizes; i++)
		if (l->size[i] == page)
			l->bytes[i] += bytes;
}

/* ---- which sizes of pages there are ---- */

static void watch_map_add_size(struct map_look *l, uint64_t size)
{
	size_t i = 0;

	while (i < l->nsizes && l->size[i] < size)
		i++;
	if (l->nsizes == LOOK_SIZES || (i < l->nsizes && l->size[i] == size))
		return;
	memmove(l->size + i + 1, l->size + i, (l->nsizes - i) * sizeof(l->size[0]));
	l->size[i] = size;
	l->nsizes++;
}

static bool watch_map_has_leaves(const struct atw_paging *pg, unsigned level)
{
	const struct atw_rule *r = pg->rules;

	for (;; r++) {
		if (r->kind == ATW_LEAF && r->levels & ATW_L(level))
			return true;
		if (!r->mask && r->levels == ATW_L_ALL)
			return false;
	}
}

static void watch_map_find_sizes(struct map_look *l, const struct session *o)
{
	const struct atw_paging *pg = &o->subject.space.paging;
	uint64_t page = (uint64_t)1 << pg->page_shift;

	if (!target_has(o->target, TARGET_TABLES)) {     /* what /proc distinguishes */
		watch_map_add_size(l, page);
		watch_map_add_size(l, page * (page / 8));
		return;
	}
	for (unsigned i = 0; i < pg->nlevels; i++)
		if (watch_map_has_leaves(pg, i))
			watch_map_add_size(l, (uint64_t)1 << pg->level[i].shift);
	for (const struct atw_span_rule *s = pg->spans; s && s->shift; s++)
		watch_map_add_size(l, (uint64_t)1 << s->shift);
}

/* ---- rows ---- */

/* A number, and behind it how it changed. */
static void watch_map_pair(struct map_watch *w, unsigned at, const char *key,
			   const char *d_key, bool bytes, const char *help)
{
	w->col[at] = (struct atw_column){
		.key = key, .type = bytes ? ATW_T_BYTES : ATW_T_COUNT, .width = 6, .help = help,
	};
	w->col[at + 1] = (struct atw_column){
		.key = d_key, .type = bytes ? ATW_T_CHANGE_BYTES : ATW_T_CHANGE, .width = 6,
		.help = "its change since the look before",
	};
}

static void watch_map_make_columns(struct map_watch *w)
{
	w->col[W_TIME] = (struct atw_column){
		.key = "time", .type = ATW_T_SECONDS, .help = "since the first look",
	};
	watch_map_pair(w, W_RANGES, "ranges", "d_ranges", false,
		       "rows that map would have");
	watch_map_pair(w, W_MAPPED, "mapped", "d_mapped", true, "bytes that are mapped");
	for (size_t i = 0; i < w->is.nsizes; i++) {
		char *key = w->key[i][0], size[16];

		for (char *s = num_human(w->is.size[i], size); *s; s++)
			*s |= *s >= 'A' && *s <= 'Z' ? 'a' - 'A' : 0;
		snprintf(key, 20, "%s", size);
		snprintf(w->key[i][1], 20, "d_%s", size);
		watch_map_pair(w, W_SIZES + 2 * (unsigned)i, key, w->key[i][1], true,
			       "of these, in pages of that size");
	}
	w->schema = (struct atw_schema){ "watch", w->col, W_SIZES + 2 * w->is.nsizes };
}

static int watch_map_look(void *arg, struct atw_err *err)
{
	struct map_watch *w = arg;

	w->is.ranges = w->is.mapped = w->is.unsized = 0;
	memset(w->is.bytes, 0, sizeof(w->is.bytes));
	return w->look(w->arg, &w->is, err);
}

static int watch_map_show(void *arg, struct atw_output *out, uint64_t ms,
			  struct atw_err *err)
{
	struct map_watch *w = arg;
	uint64_t is[2 + LOOK_SIZES] = { w->is.ranges, w->is.mapped };
	uint64_t was[2 + LOOK_SIZES] = { w->was.ranges, w->was.mapped };
	union atw_value v[W_COLS] = { [W_TIME] = { .u = ms } };
	struct atw_row row = { v, COL(W_TIME) };

	memcpy(is + 2, w->is.bytes, sizeof(w->is.bytes));
	memcpy(was + 2, w->was.bytes, sizeof(w->was.bytes));
	for (unsigned i = 0; i < 2 + w->is.nsizes; i++) {
		bool known = i < 2 || !w->is.unsized;

		v[W_RANGES + 2 * i].u = is[i];
		v[W_RANGES + 2 * i + 1].u = is[i] - was[i];
		row.have |= known ? COL(W_RANGES + 2 * i) : 0;
		if (known && w->again && (i < 2 || !w->was.unsized))
			row.have |= COL(W_RANGES + 2 * i + 1);
	}
	w->was = w->is;
	w->again = true;
	return atw_output_row(out, &row, err);
}

int watch_map(const struct common *c, struct session *o, const struct space_opts *space,
	      const char *text, int (*fn)(void *arg, struct map_look *l, struct atw_err *err),
	      void *arg)
{
	struct map_watch w = { .look = fn, .arg = arg };
	const struct watched watched = {&w.schema, watch_map_look, watch_map_show, &w};

	watch_map_find_sizes(&w.is, o);
	watch_map_make_columns(&w);
	return watch(c, o, space, text, &watched);
}
