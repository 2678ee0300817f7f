/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/schema.h"

#include <string.h>

#include "base/nearest.h"

int schema_find(const struct atw_schema *sc, const char *key, size_t len)
{
	for (size_t i = 0; i < sc->ncols; i++)
		if (strlen(sc->col[i].key) == len &&
		    !memcmp(sc->col[i].key, key, len))
			return (int)i;
	return -1;
}

bool column_has_words(const struct atw_column *c)
{
	return c->names && (c->type == ATW_T_ENUM || c->type == ATW_T_FLAGS ||
			    c->type == ATW_T_LETTERS);
}

bool column_is_signed(const struct atw_column *c)
{
	return c->type == ATW_T_CHANGE || c->type == ATW_T_CHANGE_BYTES;
}

bool names_is(const struct atw_names *nm, size_t i, const char *word,
	      size_t len)
{
	/* A LETTERS column may do without words. */
	const char *name = nm->name && i < nm->n ? nm->name[i] : NULL;

	return name && strlen(name) == len && !memcmp(name, word, len);
}

bool names_first(const struct atw_names *nm, size_t i)
{
	if (!nm->name || i >= nm->n || !nm->name[i])
		return false;
	for (size_t k = 0; k < i; k++)
		if (names_is(nm, k, nm->name[i], strlen(nm->name[i])))
			return false;
	return true;
}

void list_add(struct buf *b, size_t start, const char *word)
{
	if (b->len > start)
		buf_str(b, ", ");
	buf_str(b, word);
}

bool list_next(const char **list, const char **word, size_t *len)
{
	const char *p = *list;

	if (!p)
		return false;
	*word = p;
	*len = strcspn(p, ",");
	*list = p[*len] ? p + *len + 1 : NULL;
	return true;
}

void schema_keys(const struct atw_schema *sc, struct buf *ret)
{
	size_t start = ret->len;

	for (size_t i = 0; i < sc->ncols; i++)
		list_add(ret, start, sc->col[i].key);
}

int schema_unknown(const struct atw_schema *sc, const char *option,
		   const char *word, size_t len, struct atw_err *err)
{
	struct nearest near = { .word = word, .len = len };
	struct buf known = { 0 };
	int rc;

	schema_keys(sc, &known);
	rc = atw_err_set(err, ATW_E_USAGE,
			 "%s: unknown column '%.*s'; known: %s", option,
			 (int)(len < 64 ? len : 64), word,
			 known.data ? known.data : "none");
	for (size_t i = 0; i < sc->ncols; i++)
		nearest_try(&near, sc->col[i].key);
	if (near.name)
		atw_err_hint(err, "did you mean '%s'?", near.name);
	buf_deinit(&known);
	return rc;
}

int schema_choose(const struct atw_schema *sc, const char *option,
		  const char *list, struct columns *ret, struct atw_err *err)
{
	struct columns cs = { 0 };
	bool adds = list && list[0] == '+';
	uint64_t seen = 0;
	const char *word;
	size_t len;

	if (sc->ncols > SCHEMA_MAX)
		return atw_err_set(err, ATW_E_USAGE,
				   "schema '%s' has more than %d columns",
				   sc->name, SCHEMA_MAX);
	if (list && !*list)
		list = NULL;
	if (!list || adds) {
		for (size_t i = 0; i < sc->ncols; i++) {
			if (sc->col[i].hidden)
				continue;
			seen |= (uint64_t)1 << i;
			cs.at[cs.n++] = (uint8_t)i;
		}
	}
	if (adds)
		list++;
	while (list_next(&list, &word, &len)) {
		int i = schema_find(sc, word, len);

		if (i < 0)
			return schema_unknown(sc, option, word, len, err);
		if (seen >> i & 1) {
			/* Asking for more of what is there is no mistake. */
			if (adds)
				continue;
			return atw_err_set(err, ATW_E_USAGE,
					   "%s: column '%s' is named twice",
					   option, sc->col[i].key);
		}
		seen |= (uint64_t)1 << i;
		cs.at[cs.n++] = (uint8_t)i;
	}
	/* Added ones go where the schema has them: its widest column is last. */
	if (adds) {
		cs.n = 0;
		for (size_t i = 0; i < sc->ncols; i++)
			if (seen >> i & 1)
				cs.at[cs.n++] = (uint8_t)i;
	}
	if (!cs.n)
		return atw_err_set(err, ATW_E_USAGE,
				   "schema '%s' has no columns to show", sc->name);
	*ret = cs;
	return ATW_OK;
}
