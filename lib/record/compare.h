/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare.h - comparisons COLUMN OP VALUE, by the type of the column. */
#ifndef RECORD_COMPARE_H
#define RECORD_COMPARE_H

#include "record/record.h"

#include "record/lex.h"
#include "record/program.h"

struct compare {
	const struct atw_column *col;
	uint8_t index;           /* of the column */
	enum tok op;
	size_t op_at;            /* position in the expression */
	const char *value;
	size_t len, value_at;
};

int compare_compile(const struct compare *c, struct program *p,
		    struct atw_err *err);

/*
 * Test whether the column has that word; `want` false: whether it has another value.
 * false: the word is not a value of the column.
 */
bool compare_word(struct program *p, const struct atw_column *col,
		  uint8_t index, const char *word, size_t len, bool want);

#endif
