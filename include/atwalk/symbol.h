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
 * @name: name without the module
 * @va: address of the first byte
 * @bytes: size, or distance to the next symbol if the size is not known; 0: not known
 * @type: letter as in nm(1); 0: not known
 */
struct atw_symbol {
	const char *name;
	atw_va va;
	uint64_t bytes;
	uint32_t type;
};

/**
 * atw_symbol_find - find a symbol by its name
 * @target: a target with ATW_CAP_SYMBOLS
 * @name: the complete name
 * @ret: the symbol; valid until the next call of atw_symbol_find() or atw_symbol_at()
 *	on @target
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_MISSING: the symbol does not exist, or there are no symbols;
 * @err says which.
 */
ATW_API int atw_symbol_find(struct atw_target *target, const char *name,
			    const struct atw_symbol **ret, struct atw_err *err);

/**
 * atw_symbol_at - find the symbol that contains an address
 * @target: a target with ATW_CAP_SYMBOLS
 * @va: the address
 * @ret: the symbol; valid until the next call of atw_symbol_find() or atw_symbol_at()
 *	on @target
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_MISSING: the address is in no symbol, or there are no symbols.
 */
ATW_API int atw_symbol_at(struct atw_target *target, atw_va va,
			  const struct atw_symbol **ret, struct atw_err *err);

struct atw_symbols;

/**
 * atw_symbols_open - list the symbols
 * @target: a target with ATW_CAP_SYMBOLS
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Those of the kernel are in its own order. Symbols that only the file in @kernel_file of
 * struct atw_open_opts has follow.
 *
 * Return: ATW_OK; ATW_E_MISSING: there are no symbols; ATW_E_NOMEM and others.
 */
ATW_API int atw_symbols_open(struct atw_target *target, struct atw_symbols **ret,
			     struct atw_err *err);

/**
 * atw_symbols_next - the next symbol
 * @symbols: the cursor
 * @ret: the symbol; valid until the next call on @symbols
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_END.
 */
ATW_API int atw_symbols_next(struct atw_symbols *symbols, const struct atw_symbol **ret,
			     struct atw_err *err);

/**
 * atw_symbols_close - close a list of symbols
 * @symbols: the cursor; may be NULL
 */
ATW_API void atw_symbols_close(struct atw_symbols *symbols);

#ifdef __cplusplus
}
#endif
#endif
