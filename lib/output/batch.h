/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch.h - rows kept column by column, as plugins get them, and the columns of plugins as
 * columns of a schema.
 */
#pragma once

#include <atwalk/plugin.h>
#include "record/schema.h"

enum {
	/* At a time; a plugin must expect ATW_BATCH_ROWS. More do not fit a cache. */
	ROW_BATCH_ROWS = 1024,
	/* Columns begin in different sets of a cache: the step is no power of two. */
	ROW_BATCH_STEP = ROW_BATCH_ROWS + 8,
	ROW_BATCH_WORDS = ROW_BATCH_ROWS / 64,
};

/* Zeroed: without columns. */
struct row_batch {
	size_t ncols, n;         /* n: rows */
	union atw_cell *cell;    /* ROW_BATCH_STEP of each column */
	uint64_t *known;         /* ROW_BATCH_WORDS of each */
	struct { char *data; size_t cap; } *block;       /* texts of the rows */
	size_t nblocks, blocks_cap, at, used;            /* `used` of block `at` */
};

int batch_init(struct row_batch *ret, size_t ncols, struct atw_err *err);
void batch_deinit(struct row_batch *b);
/*
 * A copy of a text, until batch_clear(); `last` itself if it is equal: adjacent rows mostly
 * have the same texts. NULL: no memory.
 */
const char *batch_text(struct row_batch *b, const char *last, const char *s);
/* Column `to` of the next row, which batch_added() completes. Texts are copied. */
bool batch_set(struct row_batch *b, size_t to, const struct atw_column *col,
	       union atw_value v, bool known);
static inline void batch_added(struct row_batch *b)
{
	b->n++;
}
/* Forget the rows; then no value is known. */
void batch_clear(struct row_batch *b);

static inline union atw_cell *batch_cells(const struct row_batch *b, size_t col)
{
	return b->cell + col * ROW_BATCH_STEP;
}
static inline uint64_t *batch_known(const struct row_batch *b, size_t col)
{
	return b->known + col * ROW_BATCH_WORDS;
}
static inline bool batch_knows(const struct row_batch *b, size_t col, size_t row)
{
	return batch_known(b, col)[row / 64] >> row % 64 & 1;
}

/* ---- columns of plugins ---- */

/* Checked, with all members that this program knows. */
struct plugin_columns {
	struct atw_plugin_column v[ATW_PLUGIN_COLUMNS];
	size_t n;
};

/*
 * Where a plugin finds the columns that it reads; ret[i] is -1 for an optional one that is
 * not there. ATW_E_USAGE: one is missing.
 */
int batch_find_inputs(const struct plugin_columns *in, const struct atw_schema *sc,
		      int ret[ATW_PLUGIN_COLUMNS], struct atw_err *err);
/* What a plugin learns of them. */
struct plugin_inputs {
	struct atw_plugin_column v[ATW_PLUGIN_COLUMNS];
	char unit[ATW_PLUGIN_COLUMNS][16];
	const struct atw_plugin_column *at[ATW_PLUGIN_COLUMNS];
};
void batch_describe_inputs(const struct plugin_columns *in, const struct atw_schema *sc,
			   const int at[ATW_PLUGIN_COLUMNS], struct plugin_inputs *ret);
/* What a plugin learns of one; `unit` has its unit, if that is no constant. */
void batch_describe(const struct atw_column *c, struct atw_plugin_column *ret, char unit[16]);
/* A column of a schema; *names is what it points to. */
struct atw_column batch_column(const struct atw_plugin_column *c, struct atw_names *names);
/* Does a plugin's value need to be checked, because it leads somewhere? */
bool batch_value_is_valid(const struct atw_plugin_column *c, const union atw_cell *cell);
/* What a plugin returned: 0, or an error with a sentence. `plugin`: its name. */
int batch_result(int r, const char *plugin, struct atw_err *err);
