/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.h - columns and words of a schema by the names that users type. */
#pragma once

#include "record/record.h"

#include "base/buf.h"

#define SCHEMA_MAX 64            /* columns; a row's `have` has a bit for each */

/* A selection of columns of a schema, in any order. */
struct columns {
	size_t n;
	uint8_t at[SCHEMA_MAX];
};

/* The index of the column, or -1. */
int schema_find(const struct atw_schema *sc, const char *key, size_t len);

/*
 * The same, but synonyms are accepted: rss for resident, comm for task. The name itself
 * has precedence; an ambiguous synonym matches none.
 */
int schema_named(const struct atw_schema *sc, const char *word, size_t len);
/* The synonyms of a column by number; NULL past the end. */
const char *schema_other_name(const char *key, size_t i);

/*
 * "a,b": these; "+a,b": those not hidden, then these; NULL or "": those not
 * hidden. `param` is what the list was given as.
 */
int schema_choose(const struct atw_schema *sc, enum atw_param param, const char *list,
		  struct columns *ret, struct atw_err *err);

/* Fails with a message about a column that does not exist. */
int schema_unknown(const struct atw_schema *sc, enum atw_param param, const char *word,
		   size_t len, struct atw_err *err);

/* "address, end, size" */
void schema_keys(const struct atw_schema *sc, struct buf *ret);

/* Is the value of the column made of words of its names table? */
bool column_has_words(const struct atw_column *c);
bool column_is_signed(const struct atw_column *c);
/* Does entry i of the names table exist, and is it this word? */
bool names_is(const struct atw_names *nm, size_t i, const char *word, size_t len);
/* Is entry i the first one with its word? */
bool names_first(const struct atw_names *nm, size_t i);

/* Append a word to the list that begins at `start`, separated by a comma. */
void list_add(struct buf *b, size_t start, const char *word);

/* The next element of a comma-separated list; false at its end. */
bool list_next(const char **list, const char **word, size_t *len);
