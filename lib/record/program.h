/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - compiled filter expression: tests that set one truth value, and forward
 * jumps over tests that can no longer change it.
 */
#pragma once

#include <atwalk/base.h>

#include "record/record.h"
#include "record/intern.h"

enum insn_op {
	OP_RANGE,                /* truth = (a <= value <= b) == want */
	OP_LENGTH,               /* truth = (a <= length of the list <= b) == want */
	OP_ANY,                  /* truth = (value & a has a bit) == want */
	OP_TEXT,                 /* truth = (value is s) == want */
	OP_HAS,                  /* truth = (value contains s) == want */
	OP_SIZE,                 /* truth = (value is digits, and a <= them <= b) == want */
	OP_NOT,                  /* truth = !truth */
	OP_JUMP,                 /* go to `to` if truth == want */
};

#define JUMP_OPEN UINT32_MAX     /* a jump without a target yet */

struct insn {
	uint8_t op;              /* enum insn_op */
	uint8_t col;
	bool want;
	uint8_t shift;           /* RANGE: of pages, which a and b are bytes of; 0: of numbers */
	uint32_t to;
	union {
		struct { uint64_t a, b; };
		const char *s;
	};
};

struct program {
	struct insn *insn;
	size_t n, cap;
	struct intern texts;     /* texts that instructions point to */
	bool failed;             /* an allocation for an instruction failed */
};

void program_deinit(struct program *p);
void program_add(struct program *p, struct insn in);
/* Emits a jump whose target is set by program_close(). */
void program_jump(struct program *p, bool want);
/* Set the target of the open jumps from `start` on to here. */
void program_close(struct program *p, size_t start);
/* Pages that are compared with bytes have 1 << page_shift of them; 1 << 12 until it is known. */
void program_page(struct program *p, unsigned page_shift);
bool program_run(const struct program *p, const struct atw_row *row);
/* Bit i: the program tests column i. */
uint64_t program_columns(const struct program *p);
/*
 * The results it could have if each test of a value that is n/a could have either one: bit
 * `false`, bit `true`, or both. Takes time proportional to its length.
 */
unsigned program_results(const struct program *p, const struct atw_row *row);

/* ---- lex.c: lexer of --filter expressions ---- */

/*
 * Blanks separate tokens. A name ends at a blank, a parenthesis or an operator; a value
 * ends at a blank or a parenthesis only, so that paths and task names need no quotes. 'x'
 * and "x" are one word whatever is between the quotes.
 */

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

/* An error about the expression. */
#define lex_error(err, ...) \
	atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_FILTER, __VA_ARGS__)

/* ---- compare.c: comparisons COLUMN OP VALUE, by the type of the column ---- */

struct compare {
	const struct atw_column *col;
	uint8_t index;           /* of the column */
	enum tok op;
	size_t op_at;            /* position in the expression */
	const char *value;
	size_t len, value_at;
};

int compare_compile(const struct compare *c, struct program *p, struct atw_err *err);

/*
 * Test whether the column has that word; `want` false: whether it has another value.
 * false: the word is not a value of the column.
 */
bool compare_word(struct program *p, const struct atw_column *col,
		  uint8_t index, const char *word, size_t len, bool want);
