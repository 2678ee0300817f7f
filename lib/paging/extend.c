// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * extend.c - CPU extensions that change the meaning of entry bits.
 *
 * They are tables as well, next to those of the mode that they change. Two have a number:
 * "cbit=N" is the encryption bit of AMD SME and SEV (CPUID 8000001F EBX[5:0]) or the shared
 * bit of Intel TDX guests; "ipa=N" the width of guest-physical addresses of arm64's stage 2,
 * 64 - VTCR_EL2.T0SZ.
 */
#include <string.h>

#include "paging/tables.h"

/* One or two digits. */
static bool extend_number(const char *number, unsigned *ret)
{
	size_t digits = strspn(number, "0123456789");

	*ret = 0;
	if (digits < 1 || digits > 2 || number[digits])
		return false;
	for (; *number; number++)
		*ret = *ret * 10 + (unsigned)(*number - '0');
	return true;
}

static int extend_set_cbit(struct atw_paging *pg, const char *number, struct atw_err *err)
{
	unsigned n;

	/* EPT has none: a key is part of the physical address. */
	if (pg->family != ATW_X86 || pg->word_size != 8 || !strncmp(pg->name, "ept-", 4))
		return atw_err_set(err, ATW_E_USAGE,
				   "%s has no encryption bit", pg->name);
	if (!extend_number(number, &n))
		return atw_err_set(err, ATW_E_USAGE,
				   "cbit=%s: not the number of a bit", number);
	if (n < pg->page_shift || n >= pg->pa_bits)
		return atw_err_set(err, ATW_E_USAGE,
				   "cbit=%u: an address of %s is in bits %u to %u",
				   n, pg->name, pg->page_shift, pg->pa_bits - 1);
	pg->ignore |= BIT(n);
	return ATW_OK;
}

/*
 * The fewest levels of which 16 tables can be the root, as stage2_pgtable_levels() of KVM has
 * them; the narrowest addresses are those that KVM allows.
 */
static int extend_set_ipa(struct atw_paging *pg, const char *number, struct atw_err *err)
{
	enum { IPA_LEAST = 32, CONCATENATED = 4 };
	static const char *const names[] = { "PTE", "PMD", "PUD" };
	unsigned bits = pg->page_shift - 3u, levels = 1, n;

	if (pg->family != ATW_ARM64 || !pg->stage2)
		return atw_err_set(err, ATW_E_USAGE,
				   "%s has no width of guest-physical addresses to choose",
				   pg->name);
	if (!extend_number(number, &n) || n < IPA_LEAST || n > pg->pa_bits)
		return atw_err_set(err, ATW_E_USAGE,
				   "ipa=%s: an address of %s has %d to %u bits", number, pg->name,
				   IPA_LEAST, pg->pa_bits);
	while (pg->page_shift + levels * bits + CONCATENATED < n)
		levels++;
	memset(pg->level, 0, sizeof(pg->level));
	for (unsigned i = 0; i < levels; i++) {
		unsigned shift = pg->page_shift + i * bits;

		pg->level[i] = (struct atw_level){
			i + 1 < levels ? names[i] : levels > 1 ? "PGD" : "PTE",
			(uint8_t)shift, (uint8_t)(i + 1 < levels ? bits : n - shift),
		};
	}
	pg->nlevels = (uint8_t)levels;
	pg->va_bits = (uint8_t)n;
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
	if (!strncmp(ext, "ipa=", 4))
		return extend_set_ipa(pg, ext + 4, err);

	x = extend_find_in(atw_extensions_arm64, pg, ext) ?:
	    extend_find_in(atw_extensions_arm64_s2, pg, ext) ?:
	    extend_find_in(atw_extensions_riscv, pg, ext);
	if (!x) {
		atw_err_set(err, ATW_E_USAGE, "%s has no extension \"%.64s\"",
			    pg->name, ext);
		atw_err_hint(err, "there are: lpa2 (arm64 with 4K or 16K pages), "
			     "thead and svrsw60t59b (riscv64), ipa=N (arm64 stage 2), "
			     "cbit=N (x86)");
		return ATW_E_USAGE;
	}
	pg->pa_bits = x->pa_bits;
	memcpy(pg->addr, x->addr, sizeof(pg->addr));
	pg->rules = x->rules;
	pg->flags = x->flags;
	pg->spans = x->spans;
	return ATW_OK;
}
