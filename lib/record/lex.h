/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lex.h - lexer of --filter expressions.
 *
 * Blanks separate tokens. A name ends at a blank, a parenthesis or an operator; a value
 * ends at a blank or a parenthesis only, so that paths and task names need no quotes. 'x'
 * and "x" are one word whatever is between the quotes.
 */
#ifndef RECORD_LEX_H
#define RECORD_LEX_H

#include <atwalk/base.h>

enum tok {
	TOK_END, TOK_OPEN, TOK_CLOSE, TOK_AND, TOK_OR, TOK_NOT, TOK_WORD,
	TOK_EQ, TOK_NE, TOK_LT, TOK_LE, TOK_GT, TOK_GE, TOK_HAS,
};

struct lex {
	const char *expr;
	size_t pos;              /* behind the token */

	enum tok tok;
	size_t at;               /* where the token starts */
	const char *word;        /* TOK_WORD: without its quotes */
	size_t len;
};

void lex_init(struct lex *lx, const char *expr);
/* Advance to the next name, operator or parenthesis. */
int lex_next(struct lex *lx, struct atw_err *err);
/* Advance to the value behind an operator: a TOK_WORD. */
int lex_value(struct lex *lx, struct atw_err *err);
/* Fails with "expected WHAT at character N, not 'the token'". */
int lex_expected(const struct lex *lx, const char *what, struct atw_err *err);

/* "<=" */
const char *tok_text(enum tok t);
static inline bool tok_compares(enum tok t)
{
	return t >= TOK_EQ;
}

#endif
