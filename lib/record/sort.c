/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort.c - stable sort of rows. */
#include "record/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "record/intern.h"

/*
 * The elements that are sorted. `head` holds the prefix of the first key in the order of
 * unsigned numbers, so most comparisons need no access to the row.
 */
struct ref {
	uint64_t head;
	uint64_t row;
};

struct sorter {
	const struct atw_schema *sc;
	struct sort_keys keys;
	struct columns kept;     /* columns in a row's words, keys included */
	uint8_t word_of[SCHEMA_MAX];

	uint64_t *words;         /* a row: `have`, then its values */
	size_t nwords, cap;
	size_t stride;
	struct intern texts;
	void *lists;             /* copies, each behind a pointer to the previous */

	struct ref *ref;
	size_t nrefs, next;
	union atw_value out[SCHEMA_MAX];
};

static int sort_parse_key(const struct atw_schema *sc, const char *word, size_t len,
			  struct sort_key *ret, struct atw_err *err)
{
	/* "size:desc", or "size desc" as in SQL. */
	const char *colon = memchr(word, memchr(word, ':', len) ? ':' : ' ', len), *key = word;
	bool sign = len && (*word == '-' || *word == '+');
	size_t keylen = (colon ? (size_t)(colon - word) : len) - sign;
	size_t waylen = colon ? len - keylen - sign - 1 : 0;
	int i;

	key += sign;
	i = schema_named(sc, key, keylen);
	if (i < 0)
		return schema_unknown(sc, ATW_PARAM_SORT, key, keylen, err);
	ret->col = (uint8_t)i;
	ret->desc = (sign && *word == '-') || (waylen == 4 && !memcmp(colon + 1, "desc", 4));
	if (colon && (sign || (!ret->desc && (waylen != 3 || memcmp(colon + 1, "asc", 3)))))
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_SORT,
					 "'%.*s': expected %s, %s:asc or %s:desc",
					 (int)(len < 64 ? len : 64), word, sc->col[i].key,
					 sc->col[i].key, sc->col[i].key);
	return ATW_OK;
}

int sort_parse(const char *spec, const struct atw_schema *sc,
	       struct sort_keys *ret, struct atw_err *err)
{
	struct sort_keys keys = { 0 };
	uint64_t seen = 0;
	const char *word;
	size_t len;

	while (list_next(&spec, &word, &len)) {
		struct sort_key key = { 0 };
		int rc = sort_parse_key(sc, word, len, &key, err);

		if (rc < 0)
			return rc;
		if (seen >> key.col & 1)
			return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_SORT,
						 "column '%s' is named twice",
						 sc->col[key.col].key);
		seen |= (uint64_t)1 << key.col;
		keys.key[keys.n++] = key;
	}
	*ret = keys;
	return ATW_OK;
}

static void sort_keep(struct sorter *s, uint8_t col)
{
	for (size_t i = 0; i < s->kept.n; i++)
		if (s->kept.at[i] == col)
			return;
	s->word_of[col] = (uint8_t)(1 + s->kept.n);
	s->kept.at[s->kept.n++] = col;
}

int sorter_create(const struct atw_schema *sc, const struct sort_keys *keys,
		  const struct columns *cols, struct sorter **ret,
		  struct atw_err *err)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return atw_err_nomem(err);
	s->sc = sc;
	s->keys = *keys;
	for (size_t i = 0; i < cols->n; i++)
		sort_keep(s, cols->at[i]);
	for (size_t i = 0; i < keys->n; i++)
		sort_keep(s, keys->key[i].col);
	s->stride = 1 + s->kept.n;
	*ret = s;
	return ATW_OK;
}

void sorter_destroy(struct sorter *s)
{
	if (!s)
		return;
	while (s->lists) {
		void *next = *(void **)s->lists;

		free(s->lists);
		s->lists = next;
	}
	free(s->words);
	free(s->ref);
	intern_deinit(&s->texts);
	free(s);
}

/*
 * Copies the list, because its owner may change it after the row is added. NULL: no
 * memory.
 */
static const struct atw_list *sort_keep_list(struct sorter *s, const struct atw_list *l,
					     size_t ncols)
{
	struct kept {
		void *next;
		struct atw_list list;
	} *k;
	size_t words, bytes;
	uint64_t *have;

	if (__builtin_mul_overflow(l->n, ncols + 1, &words) ||
	    __builtin_mul_overflow(words, sizeof(*have), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*k), &bytes))
		return NULL;
	k = malloc(bytes);
	if (!k)
		return NULL;
	have = (uint64_t *)(k + 1);
	if (l->n) {
		memcpy(have, l->have, l->n * sizeof(*have));
		memcpy(have + l->n, l->v, l->n * ncols * sizeof(*l->v));
	}
	k->list = (struct atw_list){ l->n, (void *)(have + l->n), have };
	k->next = s->lists;
	s->lists = k;
	return &k->list;
}

int sorter_add(struct sorter *s, const struct atw_row *row, struct atw_err *err)
{
	uint64_t *w, have = 0;

	if (!array_reserve((void **)&s->words, &s->cap, s->nwords + s->stride,
			   sizeof(*s->words)))
		goto nomem;
	w = s->words + s->nwords;
	for (size_t i = 0; i < s->kept.n; i++) {
		unsigned col = s->kept.at[i];
		const union atw_value *v = &row->v[col];

		w[1 + i] = 0;
		if (!(row->have >> col & 1))
			continue;
		if (s->sc->col[col].type == ATW_T_LIST) {
			const struct atw_list *kept =
				sort_keep_list(s, v->list, s->sc->col[col].of->ncols);

			if (!kept)
				goto nomem;
			w[1 + i] = (uintptr_t)kept;
		} else if (s->sc->col[col].type != ATW_T_TEXT) {
			w[1 + i] = v->u;
		} else if (v->s) {
			const char *kept = intern_text(&s->texts, v->s, strlen(v->s));

			if (!kept)
				goto nomem;
			w[1 + i] = (uintptr_t)kept;
		} else {
			continue;
		}
		have |= (uint64_t)1 << col;
	}
	w[0] = have;
	s->nwords += s->stride;
	return ATW_OK;
nomem:
	return atw_err_set_param(err, ATW_E_NOMEM, ATW_PARAM_SORT,
				 "not enough memory for %zu rows",
				 s->nwords / s->stride + 1);
}

static const char *sort_text_of(uint64_t word)
{
	return (const char *)(uintptr_t)word;
}

static const struct atw_list *sort_list_of(uint64_t word)
{
	return (const struct atw_list *)(uintptr_t)word;
}

/* Converts signed to unsigned order; lists are compared by length. */
static uint64_t sort_in_order(const struct sorter *s, uint8_t col, uint64_t v)
{
	if (s->sc->col[col].type == ATW_T_LIST)
		return sort_list_of(v)->n;
	return column_is_signed(&s->sc->col[col]) ? v ^ (uint64_t)1 << 63 : v;
}

/* Compare two rows by one key; n/a is after everything. */
static int sort_compare_key(const struct sorter *s, const struct sort_key *key,
			    const uint64_t *a, const uint64_t *b)
{
	bool in_a = a[0] >> key->col & 1, in_b = b[0] >> key->col & 1;
	uint64_t va = a[s->word_of[key->col]], vb = b[s->word_of[key->col]];
	int d;

	if (!in_a || !in_b)
		return in_b - in_a;
	if (va == vb)
		return 0;
	if (s->sc->col[key->col].type == ATW_T_TEXT) {
		d = strcmp(sort_text_of(va), sort_text_of(vb));
	} else {
		va = sort_in_order(s, key->col, va);
		vb = sort_in_order(s, key->col, vb);
		d = va < vb ? -1 : va > vb;
	}
	return key->desc ? -d : d;
}

static int sort_compare_refs(const void *x, const void *y, void *sorter)
{
	const struct sorter *s = sorter;
	const struct ref *a = x, *b = y;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	for (size_t i = 0; i < s->keys.n; i++) {
		int d = sort_compare_key(s, &s->keys.key[i],
					 s->words + a->row * s->stride,
					 s->words + b->row * s->stride);

		if (d)
			return d;
	}
	/* Ties are broken by input order, which makes the sort stable. */
	return a->row < b->row ? -1 : 1;
}

static uint64_t sort_head_of(const struct sorter *s, const uint64_t *w)
{
	const struct sort_key *key = &s->keys.key[0];
	uint64_t v = w[s->word_of[key->col]];

	if (!(w[0] >> key->col & 1))
		return UINT64_MAX;
	if (s->sc->col[key->col].type == ATW_T_TEXT) {
		char first[8] = { 0 };

		memcpy(first, sort_text_of(v), strnlen(sort_text_of(v), sizeof(first)));
		v = get_be64(first);
	} else {
		v = sort_in_order(s, key->col, v);
	}
	return key->desc ? ~v : v;
}

int sorter_finish(struct sorter *s, struct atw_err *err)
{
	size_t n = s->nwords / s->stride;

	if (!n)
		return ATW_OK;
	s->ref = calloc(n, sizeof(*s->ref));
	if (!s->ref)
		return atw_err_set_param(err, ATW_E_NOMEM, ATW_PARAM_SORT,
					 "not enough memory for %zu rows", n);
	for (size_t i = 0; i < n; i++) {
		s->ref[i].row = i;
		if (s->keys.n)
			s->ref[i].head = sort_head_of(s, s->words + i * s->stride);
	}
	qsort_r(s->ref, n, sizeof(*s->ref), sort_compare_refs, s);
	s->nrefs = n;
	return ATW_OK;
}

bool sorter_next(struct sorter *s, struct atw_row *ret)
{
	const uint64_t *w;

	if (s->next == s->nrefs)
		return false;
	w = s->words + s->ref[s->next++].row * s->stride;
	for (size_t i = 0; i < s->kept.n; i++) {
		unsigned col = s->kept.at[i];

		if (s->sc->col[col].type == ATW_T_TEXT)
			s->out[col].s = sort_text_of(w[1 + i]);
		else if (s->sc->col[col].type == ATW_T_LIST)
			s->out[col].list = sort_list_of(w[1 + i]);
		else
			s->out[col].u = w[1 + i];
	}
	*ret = (struct atw_row){ .v = s->out, .have = w[0] };
	return true;
}
