/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_sizes.c - expressions of a statement that are sizes, as sum(pss) and rss - uss are.
 *
 * SQLite knows the type of a column, and of no expression. So those of the outer SELECT are
 * parsed as far as it is certain that sizes stay sizes: sums and differences of them, and
 * sum(), min(), max(), coalesce() and ifnull(). What a name in it is, SQLite is asked.
 */
#include "sql.h"

#ifdef HAVE_SQLITE3

#include <ctype.h>
#include <strings.h>

enum { SIZES_TOKENS = 2048, SIZES_NAMES = 16, SIZES_DEPTH = 32 };

struct sizes_token {
	char kind;                       /* 'a': a name or a keyword; 's': a text; else itself */
	bool quoted;
	unsigned depth;                  /* parentheses around it */
	size_t at, len;
};

struct sizes {
	const char *text;
	struct sizes_token *token;
	size_t n;
	/* An expression. */
	size_t at, end;
	unsigned depth;
	struct { size_t at, len; } name[SIZES_NAMES];
	size_t names;
};

/* ---- tokens ---- */

static size_t sizes_blanks(const char *s)
{
	const char *from = s, *end;

	for (;; s = end) {
		s += strspn(s, " \t\r\n\f");
		if (!strncmp(s, "--", 2))
			end = s + strcspn(s, "\n");
		else if (!strncmp(s, "/*", 2))
			end = strstr(s + 2, "*/") ? strstr(s + 2, "*/") + 2 : s + strlen(s);
		else
			return (size_t)(s - from);
	}
}

static bool sizes_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* Behind the closing quote; a doubled one is part of the text. */
static size_t sizes_quoted(const char *s)
{
	char end = *s == '[' ? ']' : *s;
	size_t n = 1;

	while (s[n] && (s[n] != end || (end != ']' && s[n + 1] == end)))
		n += s[n] == end ? 2 : 1;
	return n + (s[n] != '\0');
}

static bool sizes_split(struct sizes *z)
{
	size_t at = 0;
	unsigned depth = 0;

	for (;;) {
		struct sizes_token t = { .depth = depth };
		char c;

		at += sizes_blanks(z->text + at);
		c = z->text[at];
		if (!c)
			return true;
		t.at = at;
		t.len = 1;
		t.kind = c;
		if (strchr("\"`[", c) || c == '\'') {
			t.kind = c == '\'' ? 's' : 'a';
			t.quoted = true;
			t.len = sizes_quoted(z->text + at);
		} else if (sizes_in_name(c)) {
			t.kind = isdigit((unsigned char)c) ? '0' : 'a';
			while (sizes_in_name(z->text[at + t.len]))
				t.len++;
		}
		if (c == '(')
			depth++;
		else if (c == ')' && depth)
			t.depth = --depth;
		if (z->n == SIZES_TOKENS)
			return false;
		z->token[z->n++] = t;
		at += t.len;
	}
}

static bool sizes_is(const struct sizes *z, size_t i, const char *words)
{
	const struct sizes_token *t = &z->token[i];

	if (i >= z->n || t->kind != 'a' || t->quoted)
		return false;
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == t->len && !strncasecmp(z->text + t->at, words, n))
			return true;
	}
	return false;
}

/* The first of these words from `i` on that is in no parentheses; else how many tokens. */
static size_t sizes_seek(const struct sizes *z, size_t i, const char *words)
{
	while (i < z->n && (z->token[i].depth || (z->token[i].kind != ';' && !sizes_is(z, i, words))))
		i++;
	return i;
}

/* ---- an expression ---- */

static bool sizes_sum(struct sizes *z);

static bool sizes_takes(struct sizes *z, char kind)
{
	if (z->at >= z->end || z->token[z->at].kind != kind)
		return false;
	z->at++;
	return true;
}

/* "sum(" is behind us. coalesce(x, 0) is a size as well. */
static bool sizes_arguments(struct sizes *z)
{
	bool any = false;

	if (z->at < z->end && sizes_is(z, z->at, "distinct"))
		z->at++;
	do {
		const struct sizes_token *t = &z->token[z->at];

		if (any && z->at < z->end && t->kind == '0' && t->len == 1 && z->text[t->at] == '0')
			z->at++;
		else if (!sizes_sum(z))
			return false;
		any = true;
	} while (sizes_takes(z, ','));
	return sizes_takes(z, ')');
}

static bool sizes_term(struct sizes *z)
{
	size_t first = z->at;

	if (sizes_takes(z, '('))
		return sizes_sum(z) && sizes_takes(z, ')');
	if (!sizes_takes(z, 'a'))
		return false;
	if (z->at < z->end && z->token[z->at].kind == '(') {
		z->at++;
		return sizes_is(z, first, "sum min max coalesce ifnull") && sizes_arguments(z);
	}
	if (sizes_takes(z, '.') && !sizes_takes(z, 'a'))
		return false;
	if (z->names == SIZES_NAMES)
		return false;
	z->name[z->names].at = z->token[first].at;
	z->name[z->names++].len = z->token[z->at - 1].at + z->token[z->at - 1].len - z->token[first].at;
	return true;
}

static bool sizes_sum(struct sizes *z)
{
	bool good = z->depth < SIZES_DEPTH;

	z->depth++;
	good = good && sizes_term(z);
	while (good && (sizes_takes(z, '+') || sizes_takes(z, '-')))
		good = sizes_term(z);
	z->depth--;
	return good;
}

/* Without "AS name", where AS may be missing. */
static size_t sizes_end_of(const struct sizes *z, size_t at, size_t end)
{
	if (end - at >= 2 && strchr("as", z->token[end - 1].kind)) {
		if (sizes_is(z, end - 2, "as"))
			return end - 2;
		if (strchr("a)", z->token[end - 2].kind) && !sizes_is(z, end - 1, "notnull isnull"))
			return end - 1;
	}
	return end;
}

/* ---- what its names are ---- */

/* `with`: what is in front of SELECT; `from`: FROM and its tables. */
static bool sizes_named(const struct sizes *z, const struct sql *s, size_t with, size_t from,
			size_t from_end)
{
	sqlite3_stmt *st = NULL;
	struct buf b = { 0 };
	bool all = z->names > 0;

	buf_add(&b, z->text, with);
	buf_str(&b, "SELECT ");
	for (size_t i = 0; i < z->names; i++)
		buf_printf(&b, "%s%.*s", i ? ", " : "", (int)z->name[i].len, z->text + z->name[i].at);
	buf_str(&b, " ");
	buf_add(&b, z->text + from, from_end - from);
	if (b.failed || s->lib->prepare_v2(s->db, b.data, -1, &st, NULL) != SQLITE_OK)
		all = false;
	for (size_t i = 0; i < z->names && all; i++)
		all = sql_declared(s->lib->column_decltype(st, (int)i)) == ATW_T_BYTES;
	s->lib->finalize(st);
	buf_deinit(&b);
	return all;
}

static uint64_t sizes_of(struct sizes *z, const struct sql *s, size_t columns)
{
	static const char behind[] = "where group having window order limit";
	size_t select = sizes_seek(z, 0, "select"), from = sizes_seek(z, select, "from");
	size_t end = sizes_seek(z, from, behind), at, n = 0;
	uint64_t ret = 0;

	if ((select && !sizes_is(z, 0, "with")) || from >= z->n || !sizes_is(z, from, "from") ||
	    sizes_is(z, sizes_seek(z, select, "union except intersect"), "union except intersect"))
		return 0;
	for (at = select + 1 + sizes_is(z, select + 1, "distinct all"); at < from; n++) {
		size_t comma = at;

		while (comma < from && (z->token[comma].kind != ',' || z->token[comma].depth))
			comma++;
		z->at = at;
		z->end = sizes_end_of(z, at, comma);
		z->names = 0;
		if (n < columns && sizes_sum(z) && z->at == z->end &&
		    sizes_named(z, s, z->token[select].at, z->token[from].at,
				end < z->n ? z->token[end].at : strlen(z->text)))
			ret |= (uint64_t)1 << n;
		at = comma + 1;
	}
	/* "*" is several columns. */
	return n == columns ? ret : 0;
}

uint64_t sql_sizes(const struct sql *s, sqlite3_stmt *st, size_t columns)
{
	struct sizes z = { .text = s->lib->sql(st) };
	uint64_t ret = 0;

	z.token = z.text ? calloc(SIZES_TOKENS, sizeof(*z.token)) : NULL;
	if (z.token && sizes_split(&z))
		ret = sizes_of(&z, s, columns);
	free(z.token);
	return ret;
}

#endif
