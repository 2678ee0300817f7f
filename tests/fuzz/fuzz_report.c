/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_report.c - every report of a capture. The first byte selects options, the rest is
 * the capture. Whatever it contains, sums must add up and no part may exceed its whole.
 */
#include <stdarg.h>

#include "census/model.h"
#include "fuzz.h"

/* Limit per capture: runs of a terabyte only make fuzzing slow. */
#define PAGES_MOST 20000
enum { REPORTS = 32 };

struct totals {
	const struct census_report *report;
	bool virtual, paper;
	uint64_t rows;
	uint64_t uses, ram, accounted, unaccounted, beyond, total;  /* of machine */
};

/* A number of the row; UINT64_MAX: n/a, or there is no such column. */
static uint64_t get(const struct totals *t, const struct atw_row *row, const char *key)
{
	const struct atw_schema *sc = t->report->schema;

	for (size_t i = 0; i < sc->ncols; i++)
		if (!strcmp(sc->col[i].key, key))
			return row->have >> i & 1 ? row->v[i].u : UINT64_MAX;
	return UINT64_MAX;
}

static void at_most(const struct totals *t, const struct atw_row *row, const char *part,
		    const char *whole)
{
	uint64_t p = get(t, row, part), w = get(t, row, whole);

	FUZZ_CHECK(p == UINT64_MAX || w == UINT64_MAX || p <= w,
		   "%s: %s is %" PRIu64 ", %s is %" PRIu64, t->report->name, part, p, whole, w);
}

static void is_sum(const struct totals *t, const struct atw_row *row, const char *whole,
		   const char *const *part)
{
	uint64_t w = get(t, row, whole), sum = 0;

	for (; *part; part++)
		sum += get(t, row, *part);
	FUZZ_CHECK(w == UINT64_MAX || w == sum, "%s: %s is %" PRIu64 ", not %" PRIu64,
		   t->report->name, whole, w, sum);
}

/* Texts are terminated. */
static void texts(const struct totals *t, const struct atw_row *row)
{
	const struct atw_schema *sc = t->report->schema;

	for (size_t i = 0; i < sc->ncols; i++)
		if (sc->col[i].type == ATW_T_TEXT && row->have >> i & 1)
			touch(row->v[i].s, strlen(row->v[i].s));
}

/* No frame is left out, and MemTotal is exact to the page. */
static void machine_row(struct totals *t, const struct atw_row *row)
{
	const struct { const char *use; uint64_t *to; } sums[] = {
		{ "RAM", &t->ram }, { "accounted", &t->accounted },
		{ "unaccounted", &t->unaccounted }, { "beyond", &t->beyond },
		{ "MemTotal", &t->total }, { "outside", NULL },
		/* Sizes of swap devices, not of RAM. */
		{ "swap", NULL }, { "swap free", NULL },
	};
	uint64_t pages = get(t, row, "pages");

	if (get(t, row, "node") != UINT64_MAX)
		return;
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (!strcmp(row->v[0].s, sums[i].use)) {
			if (sums[i].to)
				*sums[i].to = pages;
			return;
		}
	/* Missing values are n/a. */
	t->uses += pages == UINT64_MAX ? 0 : pages;
}

static void machine_sums(const struct totals *t)
{
	bool known = t->unaccounted != UINT64_MAX;

	/* F: lines before R: lines may list frames outside of RAM. */
	FUZZ_CHECK(!t->uses || t->ram == UINT64_MAX || t->uses >= t->ram,
		   "machine: %" PRIu64 " frames of %" PRIu64, t->uses, t->ram);
	FUZZ_CHECK(!known || t->accounted + t->unaccounted - t->beyond == t->total,
		   "machine: %" PRIu64 " + %" PRIu64 " - %" PRIu64 " is not %" PRIu64,
		   t->accounted, t->unaccounted, t->beyond, t->total);
}

static int on_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	static const char *const rw[] = { "rw_count", "rx_count", NULL };
	static const char *const parts[] = { "stack", "data", "text", "heap", "lib_bss",
					     "lib_data", "lib_text", "other", NULL };
	static const char *const virtual[] = { "virtual_text", "virtual_data", "virtual_bss",
					       NULL };
	static const char *const physical[] = { "text", "data", "bss", NULL };
	struct totals *t = arg;

	(void)err;
	t->rows++;
	texts(t, row);
	FUZZ_CHECK(!t->paper, "%s: a row in the paper's layout", t->report->name);
	if (!strcmp(t->report->name, "basic")) {
		is_sum(t, row, "total", rw);
		is_sum(t, row, "total", parts);
		at_most(t, row, "bss", "heap");
	} else if (!strcmp(t->report->name, "areas")) {
		at_most(t, row, "resident", "vsize");
		at_most(t, row, "single", "resident");
		at_most(t, row, "shared", "resident");
		at_most(t, row, "swapped", "vsize");
	} else if (!strcmp(t->report->name, "units")) {
		at_most(t, row, "resident", "vsize");
		at_most(t, row, "resident", "mappings");
		FUZZ_CHECK(get(t, row, "used"), "units: a file without a process");
	} else if (!strcmp(t->report->name, "totals")) {
		is_sum(t, row, "virtual", virtual);
		is_sum(t, row, "total", physical);
	} else if (!strcmp(t->report->name, "count")) {
		at_most(t, row, "user_space_pages", "mappings");
		at_most(t, row, "anon", "user_space_pages");
	} else if (!strcmp(t->report->name, "machine")) {
		machine_row(t, row);
	}
	return ATW_OK;
}

ATW_PRINTF(2, 3) static void on_text(void *arg, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	(void)arg;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	FUZZ_CHECK(n >= 0, "%s", fmt);
}

ATW_PRINTF(3, 4)
static void on_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	(void)arg;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	FUZZ_CHECK(n >= 0 && param, "%s", fmt);
}

/* Passes one record or run after the other, as census_read() does. */
static int feed(struct input text, const struct census_sink *to, struct atw_err *err)
{
	static struct capture_reader rd;
	const struct atw_blob all = { text.p, text.len };
	struct capture_record rec;
	struct capture_run run;
	struct capture_frames frames;
	uint64_t pages = 0;
	size_t pos = 0;
	int r = ATW_OK, got;

	capture_init(&rd);
	while (r == ATW_OK && (got = capture_next(&rd, all, true, &pos, &rec, NULL)) != ATW_END) {
		if (got != ATW_OK || rec.letter == 'E')
			continue;
		if (rec.letter != 'M' && rec.letter != 'F')
			r = to->record(to->arg, &rec, err);
		while (r == ATW_OK && rec.letter == 'M' &&
		       (got = capture_run(&rd, &rec.m, &run, NULL)) != ATW_END) {
			if (got != ATW_OK || run.pages > PAGES_MOST - pages)
				continue;
			pages += run.pages;
			r = to->run(to->arg, &run, err);
		}
		while (r == ATW_OK && rec.letter == 'F' &&
		       (got = capture_frames_run(&rd, &rec.f, &frames, NULL)) != ATW_END)
			if (got == ATW_OK)
				r = to->frames(to->arg, &frames, err);
	}
	return r;
}

/* A second snapshot, for reports that compare snapshots. */
static int second_look(struct input text, const struct census_report *const *kind,
		       void *const *state, size_t n, struct atw_err *err)
{
	const struct census_report *which[REPORTS];
	struct census_model *m;
	struct census_sink to;
	void *its[REPORTS];
	size_t k = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		if (kind[i]->looks) {
			which[k] = kind[i];
			its[k++] = state[i];
		}
	FUZZ_CHECK(census_model_open(which, its, k, &m, err) == ATW_OK, "%s", err->text);
	to = census_model_sink(m);
	r = feed(text, &to, err);
	if (r == ATW_OK)
		r = census_model_end(m, err);
	census_model_close(m);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct census_report *kind[REPORTS];
	struct totals totals[REPORTS];
	void *state[REPORTS] = { NULL };
	struct input in = { data, len };
	unsigned how = (unsigned)take(&in, 1);
	const struct census_report_opts o = { .virtual = how & 1 };
	struct census_model *m;
	struct census_sink to;
	struct atw_err err = { 0 };
	size_t n = 0;
	int r = ATW_OK;

	for (; n < REPORTS && census_report_kind(n) && r == ATW_OK; n++) {
		kind[n] = census_report_kind(n);
		totals[n] = (struct totals){ .report = kind[n], .virtual = how & 1,
					     .paper = how & 2 };
		r = census_report_start(kind[n], &o, &state[n], &err);
	}
	FUZZ_CHECK(r == ATW_OK && census_model_open(kind, state, n, &m, &err) == ATW_OK, "%s",
		   err.text);
	to = census_model_sink(m);
	r = feed(in, &to, &err);
	check_err(r, &err);
	if (r == ATW_OK)
		r = census_model_end(m, &err);
	for (unsigned i = how >> 3 & 3; i && r == ATW_OK; i--)
		r = second_look(in, kind, state, n, &err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		const struct census_out out = {
			.row = on_row, .text = on_text, .note = on_text,
			.left_out = on_left_out, .lacks = on_text,
			.plain = !(how & 4), .whole = true,
			.paper = (how & 2) && kind[i]->paper, .arg = &totals[i],
		};

		totals[i].paper = out.paper;
		if (kind[i]->step && how & 32)
			r = kind[i]->step(state[i], &out, &err);
		if (r == ATW_OK)
			r = kind[i]->finish(state[i], &out, &err);
		check_err(r, &err);
		if (r == ATW_OK && !strcmp(kind[i]->name, "machine"))
			machine_sums(&totals[i]);
	}
	for (size_t i = 0; i < n; i++)
		census_report_drop(kind[i], state[i]);
	census_model_close(m);
	return 0;
}
