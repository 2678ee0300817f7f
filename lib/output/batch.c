/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch.c - rows kept column by column, as plugins get them. */
#include "output/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

enum { BATCH_BLOCK = 64 << 10 };

int batch_init(struct row_batch *ret, size_t ncols, struct atw_err *err)
{
	struct row_batch b = { .ncols = ncols };

	b.cell = calloc(ncols * ROW_BATCH_STEP + 1, sizeof(*b.cell));
	b.known = calloc(ncols * ROW_BATCH_WORDS + 1, sizeof(*b.known));
	if (!b.cell || !b.known) {
		batch_deinit(&b);
		return atw_err_nomem(err);
	}
	*ret = b;
	return ATW_OK;
}

void batch_deinit(struct row_batch *b)
{
	for (size_t i = 0; i < b->nblocks; i++)
		free(b->block[i].data);
	free(b->block);
	free(b->cell);
	free(b->known);
	*b = (struct row_batch){ 0 };
}

/* Room for a text; NULL: no memory. */
static char *batch_room(struct row_batch *b, size_t len)
{
	char *p;

	while (b->at < b->nblocks && b->block[b->at].cap - b->used < len) {
		b->at++;
		b->used = 0;
	}
	if (b->at == b->nblocks) {
		size_t cap = len > BATCH_BLOCK ? len : BATCH_BLOCK;

		p = malloc(cap);
		if (!p || !ARRAY_ROOM(b->block, b->nblocks, b->blocks_cap)) {
			free(p);
			return NULL;
		}
		b->block[b->nblocks].data = p;
		b->block[b->nblocks++].cap = cap;
		b->used = 0;
	}
	p = b->block[b->at].data + b->used;
	b->used += len;
	return p;
}

const char *batch_text(struct row_batch *b, const char *last, const char *s)
{
	size_t len;
	char *p;

	if (last && !strcmp(last, s))
		return last;
	len = strlen(s) + 1;
	p = batch_room(b, len);
	return p ? memcpy(p, s, len) : NULL;
}

bool batch_set(struct row_batch *b, size_t to, const struct atw_column *col, union atw_value v,
	       bool known)
{
	union atw_cell *cell = &batch_cells(b, to)[b->n];

	if (!known)
		return true;
	batch_known(b, to)[b->n / 64] |= UINT64_C(1) << b->n % 64;
	if (col->type == ATW_T_TEXT) {
		bool has_last = b->n && batch_knows(b, to, b->n - 1);

		cell->s = batch_text(b, has_last ? cell[-1].s : NULL, v.s);
		return cell->s;
	}
	/* A list as well, for as long as it is there. */
	memcpy(cell, &v, sizeof(v));
	return true;
}

void batch_clear(struct row_batch *b)
{
	memset(b->known, 0, b->ncols * ROW_BATCH_WORDS * sizeof(*b->known));
	b->n = b->at = b->used = 0;
}

/* ---- columns of plugins ---- */

static const uint8_t batch_types[] = {
	[ATW_COLUMN_ADDRESS] = ATW_T_PA, [ATW_COLUMN_HEX] = ATW_T_HEX,
	[ATW_COLUMN_BYTES] = ATW_T_BYTES, [ATW_COLUMN_COUNT] = ATW_T_COUNT,
	[ATW_COLUMN_PAGES] = ATW_T_PAGES, [ATW_COLUMN_ENUM] = ATW_T_ENUM,
	[ATW_COLUMN_FLAGS] = ATW_T_FLAGS, [ATW_COLUMN_TEXT] = ATW_T_TEXT,
	[ATW_COLUMN_MILLISECONDS] = ATW_T_SECONDS, [ATW_COLUMN_CHANGE] = ATW_T_CHANGE,
	[ATW_COLUMN_CHANGE_BYTES] = ATW_T_CHANGE_BYTES,
};

/* Can rows of this column be read as the type that a plugin states? */
static bool batch_fits(uint32_t type, enum atw_type have)
{
	if (have == ATW_T_LIST || have == ATW_T_TIME)
		return false;
	if (!type)
		return true;
	if (type >= sizeof(batch_types))
		return false;
	if (have == ATW_T_VA)
		have = ATW_T_PA;
	if (have == ATW_T_LETTERS)
		have = ATW_T_FLAGS;
	return batch_types[type] == have;
}

int batch_find_inputs(const struct plugin_columns *in, const struct atw_schema *sc,
		      int ret[ATW_PLUGIN_COLUMNS], struct atw_err *err)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct atw_plugin_column *c = &in->v[i];
		int at = schema_find(sc, c->name, strlen(c->name));

		ret[i] = at >= 0 && batch_fits(c->type, sc->col[at].type) ? at : -1;
		if (ret[i] < 0 && !(c->flags & ATW_INPUT_OPTIONAL))
			return atw_err_set(err, ATW_E_USAGE,
					   "it needs the column '%.40s', and rows of '%.40s' have none%s",
					   c->name, sc->name, at < 0 ? "" : _(" of its type"));
	}
	return ATW_OK;
}

/* The inverse of batch_types; addresses are one type, and a list is its length. */
static uint32_t batch_type_of(enum atw_type type)
{
	if (type == ATW_T_LIST)
		return ATW_COLUMN_COUNT;
	if (type == ATW_T_TIME)
		return ATW_COLUMN_TIME;
	for (uint32_t i = 1; i < sizeof(batch_types); i++)
		if (batch_fits(i, type))
			return i;
	return 0;
}

/* NULL: numbers, words or texts. */
static const char *batch_unit(enum atw_type type)
{
	switch (type) {
	case ATW_T_BYTES:
	case ATW_T_CHANGE_BYTES:
		return "bytes";
	case ATW_T_PAGES:
		return "pages";
	case ATW_T_SECONDS:
		return "ms";
	case ATW_T_TIME:
		return "us";
	default:
		return NULL;
	}
}

void batch_describe(const struct atw_column *c, struct atw_plugin_column *ret, char unit[16])
{
	const char *of = batch_unit(c->type);

	*ret = (struct atw_plugin_column){
		.size = sizeof(*ret), .name = c->key, .help = c->help,
		.type = batch_type_of(c->type), .hidden = c->hidden,
		.names = c->names ? c->names->name : NULL,
		.nnames = c->names && c->names->name ? (uint32_t)c->names->n : 0,
		.unit = of,
		.letters = c->type == ATW_T_LETTERS && c->names ? c->names->letters : NULL,
	};
	if (c->rate) {
		snprintf(unit, 16, "%s/s", of ? of : "");
		ret->unit = unit;
	}
}

void batch_describe_inputs(const struct plugin_columns *in, const struct atw_schema *sc,
			   const int at[ATW_PLUGIN_COLUMNS], struct plugin_inputs *ret)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct atw_column *c = at[i] < 0 ? NULL : &sc->col[at[i]];

		ret->at[i] = c ? &ret->v[i] : NULL;
		if (c)
			batch_describe(c, &ret->v[i], ret->unit[i]);
	}
}

struct atw_column batch_column(const struct atw_plugin_column *c, struct atw_names *names)
{
	*names = (struct atw_names){ .n = c->nnames, .name = c->names };
	return (struct atw_column){
		.key = c->name,
		.help = c->help ? c->help : "",
		.type = (enum atw_type)batch_types[c->type],
		.hidden = c->hidden,
		.names = c->nnames ? names : NULL,
	};
}

bool batch_value_is_valid(const struct atw_plugin_column *c, const union atw_cell *cell)
{
	return c->type == ATW_COLUMN_TEXT ? cell->s != NULL :
	       c->type != ATW_COLUMN_ENUM || cell->u < c->nnames;
}

int batch_result(int r, const char *plugin, struct atw_err *err)
{
	struct atw_err own = { 0 };

	if (r == ATW_OK)
		return r;
	err = err ? err : &own;
	if (r > 0 || err->status >= 0 || !err->text[0])
		atw_err_set(err, ATW_E_UNSUPPORTED, "it failed with status %d and gave no reason", r);
	atw_err_wrap(err, "plugin %s", plugin);
	return err->status;
}
