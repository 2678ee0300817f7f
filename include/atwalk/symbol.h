/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol.h - symbols of the kernel of a target. */
#ifndef ATWALK_SYMBOL_H
#define ATWALK_SYMBOL_H

#include <atwalk/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct atw_symbol - a symbol of the kernel
 * @name: without its module
 * @va: of its first byte
 * @bytes: its own size, else up to the next symbol; 0: not known
 * @type: a letter as nm(1) has it; 0: not known
 */
struct atw_symbol {
	const char *name;
	atw_va va;
	uint64_t bytes;
	uint32_t type;
};

/**
 * atw_symbol_find - find a symbol by its name
 * @target: with ATW_CAP_SYMBOLS
 * @name: the whole name
 * @ret: lent until the next call of a function of this header on @target
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_MISSING: there is no such symbol, or there are no symbols; @err
 * has which.
 */
ATW_API int atw_symbol_find(struct atw_target *target, const char *name,
			    const struct atw_symbol **ret, struct atw_err *err);

/**
 * atw_symbol_at - find the symbol that an address belongs to
 * @target: with ATW_CAP_SYMBOLS
 * @va: the address
 * @ret: lent until the next call of a function of this header on @target
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_MISSING: the address is in no symbol, or there are no symbols.
 */
ATW_API int atw_symbol_at(struct atw_target *target, atw_va va,
			  const struct atw_symbol **ret, struct atw_err *err);

#ifdef __cplusplus
}
#endif
#endif
