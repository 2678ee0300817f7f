/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_time.c - lifetimes of objects, and live bytes of each site over time. */
#include "kmap/lib/report.h"
#include "base/message.h"

static void time_note_clock(const struct kmap_query *a, const struct census_out *out)
{
	const char *clock = a->m->clock;

	if (kmap_timed(a->m) && clock && !strcmp(clock, "serial"))
		out->note(out->arg, "times count events: each allocation and each free is one");
	else if (kmap_timed(a->m) && clock)
		out->note(out->arg, "times are of clock %s", clock);
	else if (kmap_timed(a->m))
		out->note(out->arg, "times are of the recording's clock: events, or jiffies in the first form");
	else
		out->note(out->arg, "this recording has no times%s",
			  a->m->compressed ? _(": it merged the objects of a site") : "");
}

/* ---- lifetimes ---- */

enum {
	L_CACHE, L_TYPE, L_FROM, L_TO, L_OBJECTS, L_BYTES, L_UNTOUCHED, L_DEAD, L_DEAD_BYTES,
	L_COUNT,
};
static const struct atw_column life_columns[L_COUNT] = {
	KMAP_CACHE_COLUMNS,
	[L_FROM] = COLUMN("least", COUNT, 12,
			  "they lived, or were dead, at least so long"),
	[L_TO] = COLUMN("most", COUNT, 12, "and at most so long"),
	[L_OBJECTS] = COLUMN("objects", COUNT, 9, "that lived so long"),
	[L_BYTES] = COLUMN("size", BYTES, 7, "of these"),
	[L_UNTOUCHED] = COLUMN("untouched", COUNT, 9,
			       "of these, neither read nor written"),
	[L_DEAD] = COLUMN("dead", COUNT, 9,
			  "objects that were freed so long after their last access"),
	[L_DEAD_BYTES] = COLUMN("dead_size", BYTES, 9, "of these"),
};
static const struct atw_schema life_schema = { "kmap-lifetimes", life_columns, L_COUNT };

static uint64_t time_life_from(unsigned k)
{
	return k ? (uint64_t)1 << (k - 1) : 0;
}

static uint64_t time_lives(const void *of, size_t i)
{
	return kmap_cache(of, i)->lives;
}

static int time_life_row(const struct kmap_query *a, size_t cache, unsigned k,
			 const struct census_out *out, struct atw_err *err)
{
	const struct kmap_cache *c = kmap_cache(a->m, cache);
	const struct kmap_time *t = kmap_time(a->m, cache, k);
	struct report_row row = { 0 };

	if (!t->life && !t->dead)
		return ATW_OK;

	kmap_row_cache(&row, L_CACHE, c);
	row_u(&row, L_FROM, time_life_from(k));
	row_u(&row, L_TO, k == 64 ? UINT64_MAX : ((uint64_t)1 << k) - 1);
	row_u(&row, L_OBJECTS, t->life);
	row_u(&row, L_BYTES, t->life_bytes);
	row_u(&row, L_UNTOUCHED, t->life_untouched);
	/* If no access has a time, the dead time is not known. */
	if (a->m->has_used && (c->dead || !c->undated)) {
		row_u(&row, L_DEAD, t->dead);
		row_u(&row, L_DEAD_BYTES, t->dead_bytes);
	}
	return row_out(&row, out, err);
}

static int time_life_cache(const struct kmap_query *a, size_t cache,
			   const struct census_out *out, struct atw_err *err)
{
	const struct kmap_cache *c = kmap_cache(a->m, cache);
	int r = ATW_OK;

	for (unsigned k = 0; r == ATW_OK && k < KMAP_LIVES && c->lives + c->dead; k++)
		r = time_life_row(a, cache, k, out, err);
	return r;
}

static void time_note_dead(const struct kmap_model *m, const struct census_out *out)
{
	if (!m->has_used) {
		out->note(out->arg, "dead time, from the last access to the free, is n/a: accesses are recorded without times");
		return;
	}
	out->note(out->arg, "objects that have a dead time, from the last access to the free: %" PRIu64,
		  m->dead);
	if (m->undated)
		out->note(out->arg, "objects with accesses without times, so that their dead time is n/a: %" PRIu64,
			  m->undated);
	if (m->dead_late)
		out->note(out->arg, "objects that were accessed after they were freed have no dead time: %" PRIu64,
			  m->dead_late);
}

static int time_life_rows(const struct kmap_query *a, const struct census_out *out,
			  struct atw_err *err)
{
	_auto_free struct chart_order *order = kmap_by_weight(a->m->cache.n, time_lives, a->m, err);
	int r = order ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0; r == ATW_OK && i < a->m->cache.n; i++)
		r = time_life_cache(a, order[i].at, out, err);
	time_note_clock(a, out);
	if (a->m->s.live && !a->m->compressed)
		out->note(out->arg, "objects without a recorded free, not listed: %" PRIu64,
			  a->m->s.live);
	kmap_note_timeless(a, "are not listed", out);
	if (a->m->backwards)
		out->note(out->arg, "objects that were freed before they were allocated, not listed: %" PRIu64,
			  a->m->backwards);
	if (a->m->s.missed)
		out->note(out->arg, "objects with a missed free, which end when another object overlaps them: %" PRIu64,
			  a->m->s.missed);
	time_note_dead(a->m, out);
	kmap_note_idle(a, out);
	return r;
}

/* Where there are such times; returns their longest step, or `top`. */
static unsigned time_life_spots(const struct kmap_model *m, bool dead,
				struct chart_heat *h, struct chart_spot *spot,
				unsigned top)
{
	h->spot = spot;
	for (size_t i = 0; i < m->cache.n; i++)
		for (unsigned k = 0; k < KMAP_LIVES; k++) {
			const struct kmap_time *t = kmap_time(m, i, k);
			uint64_t n = dead ? t->dead : t->life;

			if (!n)
				continue;
			spot[h->n++] = (struct chart_spot){ i, k, n };
			top = k > top ? k : top;
		}
	return top;
}

/* Both with the same steps, so that one can be held against the other. */
static int time_life_charts(const struct kmap_query *a, struct chart_heat life,
			    struct chart_heat dead, struct scene *s, struct atw_err *err)
{
	const struct kmap_model *m = a->m;
	_auto_free struct chart_spot *spot = calloc(2 * m->time.n + 1, sizeof(*spot));
	char label[KMAP_LIVES][AXIS_TEXT];
	const char *col[KMAP_LIVES];
	unsigned top;

	if (!spot)
		return atw_err_nomem(err);
	top = time_life_spots(m, false, &life, spot, 0);
	top = time_life_spots(m, true, &dead, spot + life.n, top);
	for (unsigned k = 0; k <= top; k++)
		col[k] = axis_text(AXIS_COUNT, time_life_from(k), label[k]);
	life.col = dead.col = col;
	life.cols = dead.cols = top + 1;
	life.below = m->has_used ? &dead : NULL;
	return chart_heat(&life, s, err);
}

static int time_life_draw(const struct kmap_query *a, struct scene *s,
			  struct atw_err *err)
{
	size_t n = a->m->cache.n;
	_auto_free const char **row = kmap_cache_words(a->m, err);
	char of[2][160], columns[160];
	struct chart_heat h[2] = {
		{ .head = { "How long kernel objects live", kmap_of(a, "objects freed", of[0]),
			    "caches", AXIS_COUNT },
		  .row = row, .rows = n, .in_order = true,
		  .columns = a->m->has_used ?
			"how long they lived at least, in ticks of the recording's clock" :
			"how long they lived at least, in ticks of the recording's clock; how long they were dead is n/a" },
		{ .head = { "How long kernel objects are dead before they are freed",
			    kmap_of(a, "objects freed after their last access", of[1]), "caches",
			    AXIS_COUNT },
		  .row = row, .rows = n, .in_order = true, .columns = columns },
	};

	if (!row)
		return ATW_E_NOMEM;
	snprintf(columns, sizeof(columns), "how long after it at least, in ticks of the recording's clock; n/a of %"
		 PRIu64 " objects", a->m->undated);
	return time_life_charts(a, h[0], h[1], s, err);
}

const struct kmap_report kmap_report_lifetimes = {
	.name = "lifetimes",
	.title = "How long objects live, from their allocation to their free",
	.help = "Of each cache, how many objects lived, and were dead, so long; steps "
		"are powers of two.",
	.schema = &life_schema,
	.level = KMAP_LEVELS,
	.rows = time_life_rows,
	.draw = time_life_draw,
};

/* ---- live bytes ---- */

enum { V_TIME, V_TO, V_IP, V_FUNCTION, V_FILE, V_CACHE, V_TYPE, V_BYTES, V_COUNT };
static const struct atw_column live_columns[V_COUNT] = {
	[V_TIME] = COLUMN("from", COUNT, 12, "of a step of time"),
	[V_TO] = COLUMN("to", COUNT, 12, "its last tick"),
	[V_IP] = COLUMN("alloc_ip", VA, 0,
			"where it was allocated; n/a: all further places together"),
	[V_FUNCTION] = COLUMN("function", TEXT, 28, "that allocates"),
	[V_FILE] = HIDDEN_COLUMN("file", TEXT, 18, "the file it is in"),
	[V_CACHE] = COLUMN("cache", TEXT, 18, "slab cache"),
	[V_TYPE] = COLUMN("type", TEXT, 10, "kind of memory"),
	[V_BYTES] = COLUMN("size", BYTES, 8,
			   "allocated and not freed when the step ends"),
};
static const struct atw_schema live_schema = { "kmap-live", live_columns, V_COUNT };

/* The last series is of one site too, as long as there are not more of them. */
static bool time_is_shared(const struct kmap_model *m, size_t series)
{
	size_t n = 0;

	if (series + 1 < KMAP_SERIES)
		return false;
	for (size_t i = 0; i < m->site.n; i++)
		n += kmap_site(m, i)->series == series + 1;
	return n > 1;
}

static unsigned time_steps(const struct kmap_model *m)
{
	uint64_t last = (m->last >> m->series.shift) - m->series.from;

	return last < KMAP_STEPS ? (unsigned)last + 1 : KMAP_STEPS;
}

static int time_live_row(const struct kmap_query *a, const struct kmap_site *s,
			 unsigned from, unsigned to, uint64_t bytes,
			 const struct census_out *out, struct atw_err *err)
{
	const struct kmap_series *t = &a->m->series;
	struct report_row row = { 0 };

	row_u(&row, V_TIME, kmap_series_time(t, from));
	row_u(&row, V_TO, kmap_series_time(t, to) - 1);
	if (!time_is_shared(a->m, s->series - 1)) {
		kmap_row_site(&row, V_IP, a, s);
		kmap_row_cache(&row, V_CACHE, kmap_cache(a->m, s->cache));
	}
	row_u(&row, V_BYTES, bytes);
	return row_out(&row, out, err);
}

/* From its first byte on; steps that end with as many are one row. */
static int time_live_site(const struct kmap_query *a, const struct kmap_site *s,
			  const struct census_out *out, struct atw_err *err)
{
	const int64_t *v = a->m->series.v[s->series - 1];
	uint64_t sum = 0;
	int r = ATW_OK;

	for (unsigned k = 0, to; r == ATW_OK && k < time_steps(a->m); k = to) {
		bool any = sum;

		sum += (uint64_t)v[k];
		for (to = k + 1; to < time_steps(a->m) && !v[to]; to++)
			;
		if (sum || any)
			r = time_live_row(a, s, k, to, sum, out, err);
	}
	return r;
}

/* The most at the end of any step. */
static uint64_t time_peak(const void *of, size_t i)
{
	const struct kmap_model *m = of;
	const struct kmap_site *s = kmap_site(m, i);
	uint64_t sum = 0, most = 0;

	for (unsigned k = 0; s->series && k < KMAP_STEPS; k++) {
		sum += (uint64_t)m->series.v[s->series - 1][k];
		if ((int64_t)sum > (int64_t)most)
			most = sum;
	}
	return most;
}

static int time_live_rows(const struct kmap_query *a, const struct census_out *out,
			  struct atw_err *err)
{
	_auto_free struct chart_order *order = kmap_by_weight(a->m->site.n, time_peak, a->m, err);
	bool shared = false;
	int r = order ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0; r == ATW_OK && kmap_timed(a->m) && i < a->m->site.n; i++) {
		const struct kmap_site *s = kmap_site(a->m, order[i].at);

		if (!s->series || (shared && s->series == KMAP_SERIES))
			continue;
		shared |= s->series == KMAP_SERIES;
		r = time_live_site(a, s, out, err);
	}
	time_note_clock(a, out);
	if (kmap_timed(a->m))
		out->note(out->arg, "a step has %" PRIu64 " ticks; objects without a time of allocation are not here",
			  (uint64_t)1 << a->m->series.shift);
	kmap_note_timeless(a, "are not listed", out);
	return r;
}

static int time_put_lines(const struct kmap_query *a, const struct chart_order *order,
			  struct scene *s, struct atw_err *err)
{
	const struct kmap_series *t = &a->m->series;
	enum { MOST = 40 };
	size_t n = a->m->site.n < MOST ? a->m->site.n : MOST;
	unsigned nsteps = kmap_timed(a->m) ? time_steps(a->m) : 0;
	_auto_free struct chart_line *line = calloc(n + 1, sizeof(*line));
	_auto_free struct chart_point *point = calloc(n * KMAP_STEPS + 1, sizeof(*point));
	_auto_free size_t *at = calloc(n + 1, sizeof(*at));
	struct buf words = { 0 };
	char of[160], things[64];
	struct chart_lines c = {
		.head = { "Kernel memory that lives, by where it is allocated",
			  kmap_of(a, "bytes, over ticks of the recording's clock", of), things, AXIS_BYTES },
		.unit_x = AXIS_COUNT, .line = line,
	};
	int r;

	snprintf(things, sizeof(things), n < a->m->site.n ? "sites, the largest of %zu" : "sites",
		 (size_t)a->m->site.n);
	if (!line || !point || !at)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n && nsteps; i++) {
		const struct kmap_site *site = kmap_site(a->m, order[i].at);
		struct chart_point *p = point + c.n * KMAP_STEPS;
		uint64_t sum = 0;

		if (!site->series || !order[i].weight)
			continue;
		for (unsigned k = 0; k < nsteps; k++) {
			sum += (uint64_t)t->v[site->series - 1][k];
			p[k] = (struct chart_point){ kmap_series_time(t, k), sum };
		}
		at[c.n] = words.len;
		kmap_site_word(a, site, &words);
		buf_char(&words, '\0');
		line[c.n++] = (struct chart_line){ NULL, p, nsteps, order[i].weight };
	}
	for (size_t i = 0; i < c.n && !words.failed; i++)
		line[i].name = words.data + at[i];
	r = words.failed ? atw_err_nomem(err) : chart_lines(&c, s, err);
	buf_deinit(&words);
	return r;
}

static int time_live_draw(const struct kmap_query *a, struct scene *s,
			  struct atw_err *err)
{
	_auto_free struct chart_order *order = kmap_by_weight(a->m->site.n, time_peak, a->m, err);

	return order ? time_put_lines(a, order, s, err) : ATW_E_NOMEM;
}

const struct kmap_report kmap_report_live = {
	.name = "live",
	.title = "Live bytes over time, by where they are allocated",
	.help = "A site and a stretch of time in one row; the largest sites first.",
	.schema = &live_schema,
	.level = KMAP_LEVELS,
	.rows = time_live_rows,
	.draw = time_live_draw,
};
