/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept.h - rows of a table and the texts between them, copied to be formatted later: the
 * first ones until the widths of columns are known, and those that another thread formats.
 */
#pragma once

#include "record/record.h"
#include "record/schema.h"

struct kept_rows {
	/*
	 * Words: the size of the item in words, a bit: a row or a text; then of a text its
	 * length and kind;
	 * of a row `have` and a value for each of its bits, where that of a text is its place.
	 */
	uint64_t *word;
	size_t len, cap;                 /* words */
	size_t rows, at;                 /* at: the next item to be taken */
	size_t last[SCHEMA_MAX];         /* the last text of a column; 0: none */
	bool huge;                       /* word[] is in huge pages */
	bool failed;                     /* no memory: something was lost */
};

void kept_deinit(struct kept_rows *k);
/* Empty again, with the memory that it has. */
void kept_clear(struct kept_rows *k);
/*
 * Texts are copied; a schema with lists cannot be kept. A failure is remembered. Column i of
 * the schema is at from[i] of the row; NULL: at i.
 */
void kept_row(struct kept_rows *k, const struct atw_schema *sc, const struct atw_row *row,
	      const uint8_t *from);
void kept_text(struct kept_rows *k, const char *text, size_t len);
/* Anything between rows, with a number that means something for the caller. */
void kept_event(struct kept_rows *k, unsigned kind, const void *data, size_t len);

/*
 * What was kept, in its order. Values go to `v`; all of it is valid until more is kept.
 * false: no more.
 */
struct kept_item {
	bool is_row;
	struct atw_row row;
	unsigned kind;           /* of an event; a text has 0 */
	const char *text;        /* aligned as any struct of words */
	size_t len;
};
bool kept_next(struct kept_rows *k, const struct atw_schema *sc, union atw_value *v,
	       struct kept_item *ret);
