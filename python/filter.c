// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - rows of a table by an expression, as --filter of atwalk(1). */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* A column as the library's filters know it. */
struct filter_column {
	struct atw_report_column is;
	uint64_t *code;         /* of texts that are made of words: the value of each */
};

struct filter_work {
	const struct table *table;
	struct filter_column *column;
	const struct atw_report_column **is;
	union atw_cell *cell;
	struct atw_filter *filter;
};

static uint32_t filter_type(const struct table_column *column)
{
	if (column->words.type)
		return column->words.type;
	switch (column->kind) {
	case TABLE_ADDRESS:
		return ATW_COLUMN_ADDRESS;
	case TABLE_BYTES:
		return ATW_COLUMN_BYTES;
	case TABLE_CHANGE:
		return ATW_COLUMN_CHANGE;
	case TABLE_SECONDS:
		return ATW_COLUMN_MILLISECONDS;
	case TABLE_TEXT:
		return ATW_COLUMN_TEXT;
	default:
		return ATW_COLUMN_COUNT;
	}
}

/* Number of a word, or the number of words. */
static uint64_t filter_word(const struct atw_report_column *is, const char *word, size_t len)
{
	uint64_t i = 0;

	for (; i < is->nnames; i++)
		if (is->names[i] && strlen(is->names[i]) == len &&
		    !memcmp(is->names[i], word, len))
			break;
	return i;
}

/* "a,b,bit9" */
static uint64_t filter_flags(const struct atw_report_column *is, const char *text)
{
	uint64_t flags = 0;

	while (*text) {
		size_t len = strcspn(text, ",");
		uint64_t bit = filter_word(is, text, len);

		if (bit == is->nnames && !strncmp(text, "bit", 3))
			bit = strtoull(text + 3, NULL, 10);
		if (bit < 64)
			flags |= (uint64_t)1 << bit;
		text += len + (text[len] == ',');
	}
	return flags;
}

static uint64_t filter_letters(const struct atw_report_column *is, const char *text)
{
	uint64_t bits = 0;

	for (size_t i = 0; text[i] && is->letters[i]; i++)
		if (text[i] == is->letters[i])
			bits |= (uint64_t)1 << i;
	return bits;
}

static bool filter_set_column(struct filter_column *to, const struct table_column *column)
{
	struct atw_report_column *is = &to->is;

	*is = (struct atw_report_column){
		.name = column->name, .help = "", .names = column->words.names,
		.nnames = column->words.n, .letters = column->words.letters,
		.type = filter_type(column),
	};
	if (column->kind != TABLE_TEXT || is->type == ATW_COLUMN_TEXT)
		return true;
	to->code = malloc((column->ntext + 1) * sizeof(*to->code));
	for (size_t i = 0; to->code && i < column->ntext; i++) {
		const struct table_text *text = &column->text[i];

		to->code[i] = is->type == ATW_COLUMN_ENUM ?
				      filter_word(is, text->bytes, text->len) :
			      is->type == ATW_COLUMN_LETTERS ? filter_letters(is, text->bytes) :
							       filter_flags(is, text->bytes);
	}
	return to->code;
}

static bool filter_match_row(struct filter_work *w, size_t row)
{
	struct atw_report_row r = { .cell = w->cell, .ncells = (uint32_t)w->table->ncolumns };

	for (size_t i = 0; i < w->table->ncolumns; i++) {
		const struct table_column *column = &w->table->column[i];

		if (!table_known(column, row))
			continue;
		r.known |= (uint64_t)1 << i;
		if (column->kind == TABLE_TEXT) {
			int32_t at = ((int32_t *)column->data)[row];

			if (w->column[i].code)
				w->cell[i].u = w->column[i].code[at];
			else
				w->cell[i].s = column->text[at].bytes;
		} else if (column->kind == TABLE_SECONDS) {
			w->cell[i].u = (uint64_t)(((double *)column->data)[row] * 1000 + 0.5);
		} else {
			w->cell[i].u = ((uint64_t *)column->data)[row];
		}
	}
	return atw_filter_match(w->filter, &r);
}

static bool filter_init(struct filter_work *w, const struct table *table)
{
	size_t n = table->ncolumns + 1;

	*w = (struct filter_work){
		.table = table, .column = calloc(n, sizeof(*w->column)),
		.is = calloc(n, sizeof(struct atw_report_column *)),
		.cell = calloc(n, sizeof(*w->cell)),
	};
	if (!w->column || !w->is || !w->cell)
		return false;
	for (size_t i = 0; i < table->ncolumns; i++) {
		if (!filter_set_column(&w->column[i], &table->column[i]))
			return false;
		w->is[i] = &w->column[i].is;
	}
	return true;
}

static void filter_deinit(struct filter_work *w)
{
	atw_filter_close(w->filter);
	for (size_t i = 0; w->column && i < w->table->ncolumns; i++)
		free(w->column[i].code);
	free(w->column);
	free(w->is);
	free(w->cell);
}

/* The rows for which the expression is true, or NULL with an exception. */
static struct table *filter_rows(struct filter_work *w, struct table *from)
{
	enum { BETWEEN = 65536 };        /* rows between looks for signals */
	struct table *to = table_like(from);

	for (size_t row = 0; to && !to->failed && row < from->rows; row++) {
		if (row % BETWEEN == 0 && PyErr_CheckSignals()) {
			Py_CLEAR(to);
			break;
		}
		if (filter_match_row(w, row))
			table_copy_row(to, from, row);
	}
	if (to && to->failed) {
		Py_CLEAR(to);
		PyErr_NoMemory();
	}
	return to;
}

PyObject *table_filter(PyObject *self, PyObject *args)
{
	struct table *from = (struct table *)self, *to = NULL;
	struct atw_err err = { 0 };
	struct filter_work work;
	const char *expr;

	if (!PyArg_ParseTuple(args, "s", &expr))
		return NULL;
	if (!filter_init(&work, from)) {
		PyErr_NoMemory();
	} else if (atw_filter_open(expr, work.is, from->ncolumns, &work.filter, &err)) {
		/* Its text begins behind the name of what was given. */
		atw_err_wrap(&err, "filter");
		source_raise(table_module(self), &err, NULL);
	} else {
		to = filter_rows(&work, from);
	}
	filter_deinit(&work);
	return (PyObject *)to;
}
