/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter.c - recursive-descent parser of filter expressions. */
#include "record/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "record/program.h"
#include "record/schema.h"

struct filter {
	struct program prog;
};

struct filter_parser {
	struct lex lx;
	const struct atw_schema *sc;
	struct program *prog;
	unsigned depth;
	struct atw_err *err;
};

/*
 * LETTERS (the effective value) before ENUM before FLAGS (raw bits); 0: the column has no
 * words.
 */
static unsigned filter_rank(const struct atw_column *c)
{
	if (!column_has_words(c))
		return 0;
	return c->type == ATW_T_LETTERS ? 3 : c->type == ATW_T_ENUM ? 2 : 1;
}

static bool filter_knows(const struct atw_column *c, const char *word, size_t len)
{
	if (column_has_words(c))
		for (size_t i = 0; i < c->names->n; i++)
			if (names_is(c->names, i, word, len))
				return true;
	return false;
}

/* Each word once, even if several columns have it. */
static void filter_add_words(const struct atw_schema *sc, struct buf *ret,
			     struct nearest *near)
{
	size_t start = ret->len;

	for (size_t c = 0; c < sc->ncols; c++) {
		const struct atw_names *nm = sc->col[c].names;

		if (!column_has_words(&sc->col[c]))
			continue;
		for (size_t i = 0; i < nm->n; i++) {
			bool seen = !names_first(nm, i);

			for (size_t k = 0; k < c && !seen; k++)
				seen = filter_knows(&sc->col[k], nm->name[i],
						    strlen(nm->name[i]));
			if (seen)
				continue;
			list_add(ret, start, nm->name[i]);
			nearest_try(near, nm->name[i]);
		}
	}
}

/* Truncate a list that is too long for a message at the end of a name. */
static void filter_cut_list(struct buf *b, size_t max)
{
	if (!b->data || b->len <= max)
		return;
	b->len = max - 5;
	while (b->len && b->data[b->len] != ',')
		b->len--;
	b->data[b->len] = '\0';
	buf_str(b, ", ...");
}

/* "area~libc, task~libc": a single word may be meant as a substring of a text. */
static void filter_text_matches(const struct atw_schema *sc, const char *word, size_t len,
				struct buf *ret)
{
	const char *quote = memchr(word, ' ', len) ? "'" : "";
	size_t start = ret->len, n = 0;

	for (size_t i = 0; i < sc->ncols && n < 4; i++) {
		if (sc->col[i].type != ATW_T_TEXT)
			continue;
		buf_printf(ret, "%s%s~%s%.*s%s", ret->len > start ? ", " : "", sc->col[i].key,
			   quote, (int)len, word, quote);
		n++;
	}
}

/* The key of the LETTERS column that has all letters of the word ("wx"), or NULL. */
static const char *filter_all_letters(const struct atw_schema *sc, const char *word,
				      size_t len)
{
	for (size_t i = 0; i < sc->ncols; i++) {
		const struct atw_names *nm = sc->col[i].names;
		size_t n = 0;

		while (nm && nm->letters && n < len && strchr(nm->letters, word[n]))
			n++;
		if (len && n == len && len <= strlen(nm->letters))
			return sc->col[i].key;
	}
	return NULL;
}

static int filter_unknown_name(struct filter_parser *ps, const char *word, size_t len,
			       size_t at)
{
	struct nearest near = { .word = word, .len = len };
	struct buf known = { 0 };
	size_t had;

	buf_str(&known, "columns ");
	schema_keys(ps->sc, &known);
	for (size_t i = 0; i < ps->sc->ncols; i++)
		nearest_try(&near, ps->sc->col[i].key);
	had = known.len;
	buf_str(&known, "; words ");
	filter_add_words(ps->sc, &known, &near);
	if (known.len == had + strlen("; words ")) {
		known.len = had;
		if (known.data)
			known.data[had] = '\0';
	}
	filter_cut_list(&known, 380);
	lex_error(ps->err, "unknown name '%.*s' at character %zu; known: %s",
		  (int)(len < 64 ? len : 64), word, at + 1, known.data ? known.data : "");
	known.len = 0;
	if (len && len < 64)
		filter_text_matches(ps->sc, word, len, &known);
	if (memchr(word, '&', len) || memchr(word, '|', len))
		atw_err_hint(ps->err, "write 'and', 'or'");
	else if (filter_all_letters(ps->sc, word, len))
		atw_err_hint(ps->err, "did you mean %s=%.*s?",
			     filter_all_letters(ps->sc, word, len), (int)len, word);
	else if (near.name && known.len)
		atw_err_hint(ps->err, "did you mean '%s'? Texts match as in %s", near.name, known.data);
	else if (near.name)
		atw_err_hint(ps->err, "did you mean '%s'?", near.name);
	else if (known.len)
		atw_err_hint(ps->err, "texts match as in %s", known.data);
	buf_deinit(&known);
	return ATW_E_USAGE;
}

static int filter_bare_word(struct filter_parser *ps, const char *word, size_t len,
			    size_t at)
{
	const struct atw_schema *sc = ps->sc;
	size_t start = ps->prog->n;
	unsigned best = 0;

	for (size_t i = 0; i < sc->ncols; i++)
		if (filter_rank(&sc->col[i]) > best &&
		    filter_knows(&sc->col[i], word, len))
			best = filter_rank(&sc->col[i]);
	if (!best) {
		int i = schema_named(sc, word, len);

		if (i < 0)
			return filter_unknown_name(ps, word, len, at);
		return lex_error(ps->err,
				 "'%s' at character %zu is a column: compare it "
				 "with something, as in %s=VALUE",
				 sc->col[i].key, at + 1, sc->col[i].key);
	}
	for (size_t i = 0; i < sc->ncols; i++) {
		if (filter_rank(&sc->col[i]) != best ||
		    !filter_knows(&sc->col[i], word, len))
			continue;
		if (ps->prog->n > start)
			program_jump(ps->prog, true);
		compare_word(ps->prog, &sc->col[i], (uint8_t)i, word, len, true);
	}
	program_close(ps->prog, start);
	return ATW_OK;
}

static int filter_comparison(struct filter_parser *ps, const char *word, size_t len)
{
	struct compare cmp = { .op = ps->lx.tok, .op_at = ps->lx.at };
	int i = schema_named(ps->sc, word, len);
	int rc;

	if (i < 0)
		return schema_unknown(ps->sc, ATW_PARAM_FILTER, word, len, ps->err);
	rc = lex_value(&ps->lx, ps->err);
	if (rc < 0)
		return rc;
	cmp.col = &ps->sc->col[i];
	cmp.index = (uint8_t)i;
	cmp.value = ps->lx.word;
	cmp.len = ps->lx.len;
	cmp.value_at = ps->lx.at;
	rc = compare_compile(&cmp, ps->prog, ps->err);
	return rc < 0 ? rc : lex_next(&ps->lx, ps->err);
}

static int filter_parse_or(struct filter_parser *ps);

static int filter_parse_group(struct filter_parser *ps)
{
	size_t at = ps->lx.at;
	int rc;

	if (ps->depth == FILTER_DEPTH)
		return lex_error(
			ps->err,
			"more than %d parentheses inside each other at character %zu",
			FILTER_DEPTH, at + 1);
	rc = lex_next(&ps->lx, ps->err);
	if (rc < 0)
		return rc;
	ps->depth++;
	rc = filter_parse_or(ps);
	ps->depth--;
	if (rc < 0)
		return rc;
	if (ps->lx.tok == TOK_END)
		return lex_error(ps->err, "'(' at character %zu is not closed", at + 1);
	if (ps->lx.tok != TOK_CLOSE)
		return lex_expected(&ps->lx, "'and', 'or' or ')'", ps->err);
	return lex_next(&ps->lx, ps->err);
}

static int filter_parse_term(struct filter_parser *ps)
{
	const char *word = ps->lx.word;
	size_t len = ps->lx.len, at = ps->lx.at;
	int rc;

	if (ps->lx.tok == TOK_OPEN)
		return filter_parse_group(ps);
	if (ps->lx.tok != TOK_WORD)
		return lex_expected(&ps->lx, "a name", ps->err);
	rc = lex_next(&ps->lx, ps->err);
	if (rc < 0)
		return rc;
	if (tok_compares(ps->lx.tok))
		return filter_comparison(ps, word, len);
	return filter_bare_word(ps, word, len, at);
}

static int filter_parse_unary(struct filter_parser *ps)
{
	bool negated = false;
	int rc;

	/* A loop and not a recursion: a million `not` need no stack. */
	while (ps->lx.tok == TOK_NOT) {
		negated = !negated;
		rc = lex_next(&ps->lx, ps->err);
		if (rc < 0)
			return rc;
	}
	rc = filter_parse_term(ps);
	if (rc == ATW_OK && negated)
		program_add(ps->prog, (struct insn){ .op = OP_NOT });
	return rc;
}

/* Terms joined by one keyword: the first that yields `stop` decides. */
static int filter_parse_chain(struct filter_parser *ps, enum tok between, bool stop,
			      int (*part)(struct filter_parser *ps))
{
	size_t start = ps->prog->n;
	int rc = part(ps);

	while (rc == ATW_OK && ps->lx.tok == between) {
		program_jump(ps->prog, stop);
		rc = lex_next(&ps->lx, ps->err) ?: part(ps);
	}
	program_close(ps->prog, start);
	return rc;
}

static int filter_parse_and(struct filter_parser *ps)
{
	return filter_parse_chain(ps, TOK_AND, false, filter_parse_unary);
}

static int filter_parse_or(struct filter_parser *ps)
{
	return filter_parse_chain(ps, TOK_OR, true, filter_parse_and);
}

static int filter_parse(struct filter_parser *ps)
{
	int rc = lex_next(&ps->lx, ps->err) ?: filter_parse_or(ps);

	if (rc < 0)
		return rc;
	if (ps->lx.tok == TOK_CLOSE)
		return lex_error(ps->err, "')' at character %zu closes nothing",
				 ps->lx.at + 1);
	if (ps->lx.tok != TOK_END) {
		rc = lex_expected(&ps->lx, "'and' or 'or'", ps->err);
		/* Converted to lower case. */
		if (strchr("&|AO", *ps->lx.word))
			atw_err_hint(ps->err, "write 'and', 'or'");
		return rc;
	}
	if (ps->prog->failed)
		return atw_err_nomem(ps->err);
	return ATW_OK;
}

int filter_create(const char *expr, const struct atw_schema *sc,
		  struct filter **ret, struct atw_err *err)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct filter_parser ps = {.sc = sc, .err = err};
	int rc;

	if (!f)
		return atw_err_nomem(err);
	ps.prog = &f->prog;
	lex_init(&ps.lx, expr);
	rc = filter_parse(&ps);
	if (rc < 0) {
		filter_destroy(f);
		return rc;
	}
	*ret = f;
	return ATW_OK;
}

void filter_page(struct filter *f, unsigned page_shift)
{
	program_page(&f->prog, page_shift);
}

void filter_destroy(struct filter *f)
{
	if (!f)
		return;
	program_deinit(&f->prog);
	free(f);
}

bool filter_match(const struct filter *f, const struct atw_row *row)
{
	return program_run(&f->prog, row);
}

enum filter_verdict filter_decide(const struct filter *f, const struct atw_row *row)
{
	return (enum filter_verdict)program_results(&f->prog, row);
}

uint64_t filter_columns(const struct filter *f)
{
	return program_columns(&f->prog);
}
