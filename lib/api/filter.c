/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter.c - filters of rows for the public API. */
#include <atwalk/report.h>

#include "api/api.h"
#include "base/cleanup.h"
#include "record/filter.h"
#include "record/schema.h"

struct atw_filter {
	struct filter *filter;
	struct atw_column column[SCHEMA_MAX];
	struct atw_names names[SCHEMA_MAX];
	size_t n;
};

static const struct {
	bool known;
	enum atw_type type;
} filter_types[] = {
	[ATW_COLUMN_ADDRESS] = { true, ATW_T_VA }, [ATW_COLUMN_HEX] = { true, ATW_T_HEX },
	[ATW_COLUMN_BYTES] = { true, ATW_T_BYTES }, [ATW_COLUMN_COUNT] = { true, ATW_T_COUNT },
	[ATW_COLUMN_PAGES] = { true, ATW_T_PAGES }, [ATW_COLUMN_ENUM] = { true, ATW_T_ENUM },
	[ATW_COLUMN_FLAGS] = { true, ATW_T_FLAGS }, [ATW_COLUMN_TEXT] = { true, ATW_T_TEXT },
	[ATW_COLUMN_MILLISECONDS] = { true, ATW_T_SECONDS },
	[ATW_COLUMN_CHANGE] = { true, ATW_T_CHANGE },
	[ATW_COLUMN_CHANGE_BYTES] = { true, ATW_T_CHANGE_BYTES },
	[ATW_COLUMN_LETTERS] = { true, ATW_T_LETTERS },
};

/* Bits are those of a value. */
static bool filter_fits(const struct atw_report_column *c)
{
	bool bits = c && (c->type == ATW_COLUMN_FLAGS || c->type == ATW_COLUMN_LETTERS);

	return c && c->name && c->type < ARRAY_SIZE(filter_types) &&
	       filter_types[c->type].known && (!bits || c->nnames <= 64) &&
	       (c->type != ATW_COLUMN_LETTERS || (c->letters && strlen(c->letters) <= 64));
}

static int filter_set_columns(struct atw_filter *f,
			      const struct atw_report_column *const *column, size_t n,
			      struct atw_err *err)
{
	for (f->n = 0; f->n < n; f->n++) {
		const struct atw_report_column *c = column[f->n];

		if (!filter_fits(c))
			return atw_err_set(err, ATW_E_USAGE, "column %zu is not valid", f->n);
		f->names[f->n] = (struct atw_names){
			.n = c->names ? c->nnames : 0, .name = c->names, .letters = c->letters,
		};
		f->column[f->n] = (struct atw_column){
			.key = c->name, .help = c->help, .type = filter_types[c->type].type,
			.names = c->names || c->letters ? &f->names[f->n] : NULL,
		};
	}
	return ATW_OK;
}

int atw_filter_open(const char *expr, const struct atw_report_column *const *column,
		    size_t n, struct atw_filter **ret, struct atw_err *err)
{
	struct atw_filter *f;
	struct atw_schema schema = { .name = "filter" };
	int r = api_both(expr, "the expression", ret, err) ?:
		api_given(column, "the columns", err);

	if (r == ATW_OK && (!n || n > SCHEMA_MAX))
		r = atw_err_set(err, ATW_E_USAGE, "%zu columns: expected 1 to %d", n, SCHEMA_MAX);
	r = r ?: API_NEW(&f, err);
	if (r != ATW_OK)
		return r;
	r = filter_set_columns(f, column, n, err);
	schema.col = f->column;
	schema.ncols = f->n;
	r = r ?: filter_create(expr, &schema, &f->filter, err);
	if (r < 0)
		atw_filter_close(f);
	else
		*ret = f;
	return r;
}

bool atw_filter_match(const struct atw_filter *filter, const struct atw_report_row *row)
{
	union atw_value v[SCHEMA_MAX];
	const struct atw_row own = { v, row ? row->known : 0 };

	if (!filter || !row || row->ncells < filter->n)
		return false;
	for (size_t i = 0; i < filter->n; i++) {
		bool text = filter->column[i].type == ATW_T_TEXT;

		if (text)
			v[i].s = row->cell[i].s;
		else
			v[i].u = row->cell[i].u;
	}
	return filter_match(filter->filter, &own);
}

void atw_filter_close(struct atw_filter *filter)
{
	if (!filter)
		return;
	filter_destroy(filter->filter);
	free(filter);
}
