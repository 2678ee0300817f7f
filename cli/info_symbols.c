/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_symbols.c - every symbol of the kernel, a row each. */
#include "info.h"

enum { S_ADDRESS, S_SIZE, S_TYPE, S_SYMBOL, S_COUNT };

static const struct atw_column columns[S_COUNT] = {
	[S_ADDRESS] = COLUMN("address", VA, 0, "where it begins"),
	[S_SIZE] = COLUMN("size", BYTES, 8, "its size, or bytes to the next one; n/a: not known"),
	[S_TYPE] = COLUMN("type", TEXT, 4, "letter as in nm(1)"),
	[S_SYMBOL] = COLUMN("symbol", TEXT, 0, "its name"),
};
static const struct atw_schema schema = { "symbols", columns, S_COUNT };

static int info_symbols_row(void *arg, const struct lnx_symbol *s, struct atw_err *err)
{
	const char type[2] = { s->type };
	const union atw_value v[S_COUNT] = {
		[S_ADDRESS].u = s->address, [S_SIZE].u = s->size, [S_TYPE].s = type,
		[S_SYMBOL].s = s->name,
	};
	const struct atw_row row = {
		v, 1u << S_ADDRESS | 1u << S_SYMBOL | (uint64_t)(s->size != 0) << S_SIZE |
		(uint64_t)(s->type != 0) << S_TYPE,
	};

	return atw_output_row(arg, &row, err);
}

int info_symbols(const struct common *c, const struct space_opts *o, const char *name)
{
	_auto_session struct session src = { 0 };
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	int status = open_session(c, name, o, TARGET_SYMBOLS, &src), r;

	if (status)
		return status;
	rows_opts(c, &oo);
	oo.ahead = true;
	r = atw_output_open(&oo, &schema, &out, &err);
	if (r == ATW_OK) {
		r = atw_kernel_symbols_each(src.target->kernel, info_symbols_row, out, &err);
		if (r < 0)
			atw_err_wrap(&err, "%s", name);
	}
	return output_end(out, r, EXIT_COMPLETE, &err);
}
