/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols.c - all symbols of a kernel, for the public API: kept at once, lent one by one. */
#include "api/api.h"

struct symbols_kept {
	uint64_t address, bytes;
	size_t name;             /* offset of its text */
	char type;
};

struct atw_symbols {
	struct symbols_kept *kept;
	size_t n, cap, at;
	struct buf names;
	struct atw_symbol row;
};

static int symbols_keep(void *arg, const struct lnx_symbol *s, struct atw_err *err)
{
	struct atw_symbols *c = arg;

	if (!ARRAY_ROOM(c->kept, c->n, c->cap))
		return atw_err_nomem(err);
	c->kept[c->n++] = (struct symbols_kept){
		.address = s->address, .bytes = s->size, .name = c->names.len, .type = s->type,
	};
	buf_add(&c->names, s->name, strlen(s->name) + 1);
	return c->names.failed ? atw_err_nomem(err) : ATW_OK;
}

int atw_symbols_open(struct atw_target *target, struct atw_symbols **ret, struct atw_err *err)
{
	struct atw_symbols *c;
	int r = atw_target_need(target, ATW_CAP_SYMBOLS, err) ?:
		api_given(ret, "ret", err) ?:
		API_NEW(&c, err);

	if (r != ATW_OK)
		return r;
	r = atw_kernel_symbols_each(target->t->kernel, symbols_keep, c, err);
	if (r < 0)
		atw_symbols_close(c);
	else
		*ret = c;
	return r;
}

int atw_symbols_next(struct atw_symbols *symbols, const struct atw_symbol **ret,
		     struct atw_err *err)
{
	int r = api_both(symbols, "the symbols", ret, err);
	const struct symbols_kept *k;

	if (r < 0)
		return r;
	if (symbols->at == symbols->n)
		return ATW_END;
	k = &symbols->kept[symbols->at++];
	symbols->row = (struct atw_symbol){
		.name = symbols->names.data + k->name,
		.va = ATW_VA(k->address),
		.bytes = k->bytes,
		.type = (unsigned char)k->type,
	};
	*ret = &symbols->row;
	return ATW_OK;
}

void atw_symbols_close(struct atw_symbols *symbols)
{
	if (!symbols)
		return;
	buf_deinit(&symbols->names);
	free(symbols->kept);
	free(symbols);
}
