/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol.c - symbols of the kernel in the public API. */
#include <stdio.h>

#include "api/api.h"

static int symbol_lend(struct atw_target *t, const struct atw_symbol **ret)
{
	t->symbol = (struct atw_symbol){
		.name = t->found.name,
		.va = ATW_VA(t->found.address),
		.bytes = t->found.size,
		.type = (unsigned char)t->found.type,
	};
	*ret = &t->symbol;
	return ATW_OK;
}

int atw_symbol_at(struct atw_target *target, atw_va va, const struct atw_symbol **ret,
		  struct atw_err *err)
{
	struct lnx_symbol found;
	int r = atw_target_need(target, ATW_CAP_SYMBOLS, err);

	if (r == ATW_OK)
		r = api_given(ret, "ret", err);
	if (r == ATW_OK)
		r = atw_kernel_symbol_at(target->t->kernel, va.u, &found, err);
	if (r < 0)
		return r;
	target->found = found;
	return symbol_lend(target, ret);
}

/* VMCOREINFO names some symbols and has no type and size of them. */
int atw_symbol_find(struct atw_target *target, const char *name,
		    const struct atw_symbol **ret, struct atw_err *err)
{
	struct lnx_symbol found;
	uint64_t at;
	int r = atw_target_need(target, ATW_CAP_SYMBOLS, err);

	if (r == ATW_OK)
		r = api_given(ret, "ret", err);
	if (r == ATW_OK)
		r = api_given(name, "the name", err);
	if (r == ATW_OK)
		r = atw_kernel_symbol(target->t->kernel, name, &at, err);
	if (r != ATW_OK)
		return r;
	if (atw_kernel_symbol_at(target->t->kernel, at, &found, NULL) < 0 ||
	    found.address != at)
		found = (struct lnx_symbol){.address = at};
	/* Of several at this address, the one that was asked for. */
	if (strcmp(found.name, name))
		found.type = 0;
	snprintf(found.name, sizeof(found.name), "%s", name);
	target->found = found;
	return symbol_lend(target, ret);
}
