/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_feed.h - a report that is fed events by hand, and what comes out: rows as
 * "key=value key=value", a line each, and notes as "# text".
 */
#pragma once

#include <stdarg.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "census/model.h"
#include "test.h"

struct feed {
	const struct census_report *report;
	void *state;
	struct buf said;
	struct atw_err err;
	int status;              /* of the first event that failed */
};

static inline void feed_value(struct buf *b, const struct atw_column *c, union atw_value v)
{
	switch (c->type) {
	case ATW_T_TEXT:
		buf_str(b, v.s);
		break;
	case ATW_T_ENUM:
		buf_str(b, c->names->name[v.u]);
		break;
	case ATW_T_FLAGS:
		for (size_t i = 0; i < c->names->n; i++)
			if (v.u >> i & 1)
				buf_printf(b, "%s,", c->names->name[i]);
		break;
	case ATW_T_SECONDS:
		buf_printf(b, "%" PRIu64 ".%03" PRIu64, v.u / 1000, v.u % 1000);
		break;
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		buf_printf(b, "%+" PRId64, (int64_t)v.u);
		break;
	default:
		buf_printf(b, "%" PRIu64, v.u);
	}
}

static inline int feed_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct feed *f = arg;
	const struct atw_schema *sc = f->report->schema;
	const char *gap = "";

	(void)err;
	for (size_t i = 0; i < sc->ncols; i++) {
		if (!(row->have >> i & 1))
			continue;
		buf_printf(&f->said, "%s%s=", gap, sc->col[i].key);
		feed_value(&f->said, &sc->col[i], row->v[i]);
		gap = " ";
	}
	buf_char(&f->said, '\n');
	return ATW_OK;
}

ATW_PRINTF(2, 3) static inline void feed_note(void *arg, const char *fmt, ...)
{
	struct feed *f = arg;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_printf(&f->said, "# %s\n", text);
}

ATW_PRINTF(3, 4)
static inline void feed_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	struct feed *f = arg;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_printf(&f->said, "# %s (parameter %d)\n", text, param);
}

static inline struct feed feed_open_with(const char *name, const struct census_report_opts *o)
{
	struct feed f = { .report = census_report_find(name, strlen(name)) };

	if (!f.report || census_report_start(f.report, o, &f.state, &f.err) < 0)
		abort();
	return f;
}

static inline struct feed feed_open(const char *name)
{
	return feed_open_with(name, &(struct census_report_opts){ 0 });
}

/* As the model does: only what the report wants. */
static inline void feed_event(struct feed *f, struct census_event ev)
{
	ev.page = ev.page ? ev.page : 4096;
	if (f->status == ATW_OK && f->report->on >> ev.what & 1)
		f->status = f->report->feed(f->state, &ev, &f->err);
}

static inline void feed_header(struct feed *f, const char *key, const char *value)
{
	const struct capture_header h = { blob_of(key), blob_of(value) };

	feed_event(f, (struct census_event){ .what = CENSUS_ON_HEADER, .header = &h });
}

static inline void feed_end(struct feed *f)
{
	feed_event(f, (struct census_event){ .what = CENSUS_ON_END });
}

/* All that it says, once; the report is closed. */
static inline const char *feed_finish(struct feed *f)
{
	const struct census_out out = {
		.row = feed_row, .text = feed_note, .note = feed_note,
		.left_out = feed_left_out, .lacks = feed_note, .plain = true, .arg = f,
	};

	if (f->status == ATW_OK)
		f->status = f->report->finish(f->state, &out, &f->err);
	census_report_drop(f->report, f->state);
	f->state = NULL;
	if (f->status != ATW_OK)
		buf_printf(&f->said, "! %d %s\n", f->status, f->err.text);
	buf_str(&f->said, "");
	return f->said.data;
}

static inline void feed_close(struct feed *f)
{
	buf_deinit(&f->said);
}
