/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.c - lookup of columns and words, and parsing of column lists. */
#include "record/schema.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/nearest.h"

int schema_find(const struct atw_schema *sc, const char *key, size_t len)
{
	for (size_t i = 0; i < sc->ncols; i++)
		if (strlen(sc->col[i].key) == len && !memcmp(sc->col[i].key, key, len))
			return (int)i;
	return -1;
}

/* Synonyms of column names that are used here and in smem, ps, top, crash and /proc. */
static const char *const same[][6] = {
	{ "resident", "rss", "mapped" },
	{ "vsize", "virtual", "vsz", "vss", "vmsize" },
	{ "swapped", "swap", "vmswap" },
	{ "task", "comm", "command", "cmd" },
	{ "physical", "phys", "paddr", "pa" },
	{ "address", "addr", "vaddr", "va", "start" },
	{ "area", "vma", "path", "file" },
	{ "rights", "perms", "perm", "prot", "permissions" },
	{ "pageflags", "page_flags", "kpageflags" },
	{ "kcount", "mapcount", "kpagecount" },
	{ "entry", "pte" },
	{ "cgroup", "memcg" },
	{ "size", "length", "len" },
	{ "node", "nid" },
};

/* The row of the table, or NULL. */
static const char *const *schema_names_of(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		for (size_t k = 0; k < ARRAY_SIZE(same[i]) && same[i][k]; k++)
			if (strlen(same[i][k]) == len && !memcmp(same[i][k], word, len))
				return same[i];
	return NULL;
}

/* The next column after `from` that the word is a synonym of, or -1. */
static int schema_next_named(const struct atw_schema *sc, const char *const *names,
			     int from)
{
	for (size_t i = (size_t)from + 1; names && i < sc->ncols; i++)
		if (schema_names_of(sc->col[i].key, strlen(sc->col[i].key)) == names)
			return (int)i;
	return -1;
}

int schema_named(const struct atw_schema *sc, const char *word, size_t len)
{
	int i = schema_find(sc, word, len);
	const char *const *names = i < 0 ? schema_names_of(word, len) : NULL;

	if (i >= 0)
		return i;
	i = schema_next_named(sc, names, -1);
	return i >= 0 && schema_next_named(sc, names, i) < 0 ? i : -1;
}

const char *schema_other_name(const char *key, size_t i)
{
	const char *const *names = schema_names_of(key, strlen(key));

	for (size_t k = 0; names && k < ARRAY_SIZE(same[0]) && names[k]; k++)
		if (strcmp(names[k], key) != 0 && !i--)
			return names[k];
	return NULL;
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

bool names_is(const struct atw_names *nm, size_t i, const char *word, size_t len)
{
	/* A LETTERS column may have no words. */
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

int schema_unknown(const struct atw_schema *sc, enum atw_param param, const char *word,
		   size_t len, struct atw_err *err)
{
	struct nearest near = { .word = word, .len = len };
	struct buf known = { 0 };
	int rc;

	schema_keys(sc, &known);
	rc = atw_err_set_param(
		err, ATW_E_USAGE, param, "unknown column '%.*s'; known: %s",
		(int)(len < 64 ? len : 64), word, known.data ? known.data : _("none"));
	for (size_t i = 0; i < sc->ncols; i++)
		nearest_try(&near, sc->col[i].key);
	known.len = 0;
	for (int i = -1; (i = schema_next_named(sc, schema_names_of(word, len), i)) >= 0;)
		buf_printf(&known, "%s'%s'", known.len ? " or " : "", sc->col[i].key);
	if (known.len)
		atw_err_hint(err, "did you mean %s?", known.data);
	else if (near.name)
		atw_err_hint(err, "did you mean '%s'?", near.name);
	buf_deinit(&known);
	return rc;
}

int schema_choose(const struct atw_schema *sc, enum atw_param param, const char *list,
		  struct columns *ret, struct atw_err *err)
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
		int i = schema_named(sc, word, len);

		if (i < 0)
			return schema_unknown(sc, param, word, len, err);
		if (seen >> i & 1) {
			/* "+" with a column that is shown anyway is no error. */
			if (adds)
				continue;
			return atw_err_set_param(err, ATW_E_USAGE, param,
						 "column '%s' is named twice",
						 sc->col[i].key);
		}
		seen |= (uint64_t)1 << i;
		cs.at[cs.n++] = (uint8_t)i;
	}
	/*
	 * Added columns are inserted in the schema's order, because the widest is last.
	 */
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
