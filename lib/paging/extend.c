// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * extend.c - CPU extensions that change the meaning of entry bits.
 *
 * They are tables as well, next to those of the mode that they change. The only one with
 * a number is "cbit=N": the encryption bit of AMD SME and SEV (CPUID 8000001F EBX[5:0])
 * or the shared bit of Intel TDX guests.
 */
#include <string.h>

#include "paging/tables.h"

static int extend_set_cbit(struct atw_paging *pg, const char *number, struct atw_err *err)
{
	unsigned n = 0;
	size_t digits = strspn(number, "0123456789");

	if (pg->family != ATW_X86 || pg->word_size != 8 || pg->stage2)
		return atw_err_set(err, ATW_E_USAGE,
				   "%s has no encryption bit", pg->name);
	if (digits < 1 || digits > 2 || number[digits])
		return atw_err_set(err, ATW_E_USAGE,
				   "cbit=%s: not the number of a bit", number);
	for (; *number; number++)
		n = n * 10 + (unsigned)(*number - '0');
	if (n < pg->page_shift || n >= pg->pa_bits)
		return atw_err_set(err, ATW_E_USAGE,
				   "cbit=%u: an address of %s is in bits %u to %u",
				   n, pg->name, pg->page_shift, pg->pa_bits - 1);
	pg->ignore |= BIT(n);
	return ATW_OK;
}

static const struct atw_extension *extend_find_in(const struct atw_extension *x,
						  const struct atw_paging *pg,
						  const char *name)
{
	for (; x->name; x++)
		if (!strcmp(x->name, name) && x->family == pg->family &&
		    x->page_shift == pg->page_shift &&
		    x->word_size == pg->word_size && x->stage2 == pg->stage2)
			return x;
	return NULL;
}

int atw_paging_extend(struct atw_paging *pg, const char *ext, struct atw_err *err)
{
	const struct atw_extension *x;

	if (!strncmp(ext, "cbit=", 5))
		return extend_set_cbit(pg, ext + 5, err);

	x = extend_find_in(atw_extensions_arm64, pg, ext) ?:
	    extend_find_in(atw_extensions_arm64_s2, pg, ext) ?:
	    extend_find_in(atw_extensions_riscv, pg, ext);
	if (!x) {
		atw_err_set(err, ATW_E_USAGE, "%s has no extension \"%.64s\"",
			    pg->name, ext);
		atw_err_hint(err, "there are: lpa2 (arm64 with 4K or 16K pages), "
			     "thead and svrsw60t59b (riscv64), cbit=N (x86)");
		return ATW_E_USAGE;
	}
	pg->pa_bits = x->pa_bits;
	memcpy(pg->addr, x->addr, sizeof(pg->addr));
	pg->rules = x->rules;
	pg->flags = x->flags;
	pg->spans = x->spans;
	return ATW_OK;
}
