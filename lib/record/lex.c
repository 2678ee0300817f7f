/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lex.c - tokens of a filter expression. */
#include "record/program.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"

#define BLANKS " \t\n\r"

/* Longer operators precede those that are prefixes of them. */
static const struct {
	const char text[4];
	enum tok tok;
} ops[] = {
	{ "==", TOK_EQ }, { "!=", TOK_NE }, { "<=", TOK_LE }, { ">=", TOK_GE },
	{ "=", TOK_EQ }, { "<", TOK_LT }, { ">", TOK_GT }, { "~", TOK_HAS },
	{ "(", TOK_OPEN }, { ")", TOK_CLOSE },
};

static const struct {
	const char text[4];
	enum tok tok;
} keywords[] = {
	{ "and", TOK_AND }, { "or", TOK_OR }, { "not", TOK_NOT },
};

const char *tok_text(enum tok t)
{
	switch (t) {
	case TOK_EQ: return "=";
	case TOK_NE: return "!=";
	case TOK_LT: return "<";
	case TOK_LE: return "<=";
	case TOK_GT: return ">";
	case TOK_GE: return ">=";
	case TOK_HAS: return "~";
	default: return "";
	}
}

void lex_init(struct lex *lx, const char *expr)
{
	*lx = (struct lex){ .expr = expr };
}

/* Skip blanks; true if a token other than the end starts there. */
static bool lex_start(struct lex *lx)
{
	lx->pos += strspn(lx->expr + lx->pos, BLANKS);
	lx->at = lx->pos;
	lx->word = lx->expr + lx->at;
	lx->len = 0;
	lx->tok = TOK_END;
	return lx->expr[lx->pos] != '\0';
}

static int lex_quoted(struct lex *lx, struct atw_err *err)
{
	const char *from = lx->expr + lx->at + 1;
	const char *to = strchr(from, from[-1]);

	if (!to)
		return lex_error(err, "the quote at character %zu is not closed",
				 lx->at + 1);
	lx->tok = TOK_WORD;
	lx->word = from;
	lx->len = (size_t)(to - from);
	lx->pos = lx->at + lx->len + 2;
	return ATW_OK;
}

static int lex_word(struct lex *lx, const char *ends, struct atw_err *err)
{
	if (*lx->word == '"' || *lx->word == '\'')
		return lex_quoted(lx, err);
	lx->tok = TOK_WORD;
	lx->len = strcspn(lx->word, ends);
	lx->pos = lx->at + lx->len;
	return ATW_OK;
}

int lex_next(struct lex *lx, struct atw_err *err)
{
	int rc;

	if (!lex_start(lx))
		return ATW_OK;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t n = strlen(ops[i].text);

		if (!strncmp(lx->word, ops[i].text, n)) {
			lx->tok = ops[i].tok;
			lx->len = n;
			lx->pos = lx->at + n;
			return ATW_OK;
		}
	}
	if (*lx->word == '!') {
		lex_error(err, "'!' at character %zu is no operator", lx->at + 1);
		atw_err_hint(err, "write 'not' in front of what shall not hold");
		return ATW_E_USAGE;
	}
	rc = lex_word(lx, BLANKS "()=!<>~\"'", err);
	if (rc < 0 || lx->word != lx->expr + lx->at)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (lx->len == strlen(keywords[i].text) &&
		    !memcmp(lx->word, keywords[i].text, lx->len))
			lx->tok = keywords[i].tok;
	return ATW_OK;
}

int lex_value(struct lex *lx, struct atw_err *err)
{
	int rc;

	if (!lex_start(lx))
		return lex_expected(lx, "a value", err);
	rc = lex_word(lx, BLANKS "()", err);
	if (rc < 0)
		return rc;
	/* An empty value must be written as "". */
	if (lx->word == lx->expr + lx->at && !lx->len) {
		lx->len = 1;
		return lex_expected(lx, "a value", err);
	}
	return ATW_OK;
}

int lex_expected(const struct lex *lx, const char *what, struct atw_err *err)
{
	if (!lx->expr[lx->at])
		return lex_error(err, "expected %s at character %zu, not the end", message(what),
				 lx->at + 1);
	return lex_error(err, "expected %s at character %zu, not '%.*s'", message(what),
			 lx->at + 1, (int)(lx->len < 64 ? lx->len : 64), lx->word);
}
