/* SPDX-License-Identifier: GPL-2.0-or-later */
/* markdown.c - a format: tables in Markdown, as GitHub and most wikis read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/plugin.h>

static const struct atw_host *host;

/* A table in progress. Several may be, so nothing of it is global. */
struct markdown {
	struct atw_plugin_stream *to;
	uint32_t n;
	const struct atw_plugin_column *const *column;
	char *line;              /* of the row that is formatted */
	size_t len, cap;
	int failed;              /* out of memory */
};

/* ---- a line ---- */

static void markdown_add(struct markdown *m, const char *s, size_t len)
{
	if (m->cap - m->len < len) {
		size_t cap = 2 * (m->len + len);
		char *line = realloc(m->line, cap);

		if (!line) {
			m->failed = 1;
			return;
		}
		m->line = line;
		m->cap = cap;
	}
	memcpy(m->line + m->len, s, len);
	m->len += len;
}

/* Text may have any bytes: none of them may end the cell, or be taken for a mark. */
static void markdown_text(struct markdown *m, const char *s)
{
	static const char marks[] = "\\`*_{}[]<>()#+!|~&";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 127)
			markdown_add(m, " ", 1);
		else if (strchr(marks, *s))
			markdown_add(m, (char[]){ '\\', *s }, 2);
		else
			markdown_add(m, s, 1);
	}
}

/* The words of a set of bits, and what has no name as a number. */
static void markdown_words(struct markdown *m, const struct atw_plugin_column *c, uint64_t u)
{
	char number[24];
	int any = 0;

	for (uint32_t i = 0; i < c->nnames && i < 64; i++)
		if (u >> i & 1 && c->names[i]) {
			markdown_add(m, ",", any);
			markdown_text(m, c->names[i]);
			u &= ~((uint64_t)1 << i);
			any = 1;
		}
	if (!u)
		return;
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)u);
	markdown_add(m, ",", any);
	markdown_text(m, number);
}

static void markdown_letters(struct markdown *m, const char *letters, uint64_t u)
{
	for (uint32_t i = 0; i < 64 && letters[i]; i++)
		markdown_text(m, (char[]){ u >> i & 1 ? letters[i] : '-', 0 });
}

static void markdown_number(struct markdown *m, const char *fmt, unsigned long long u)
{
	char number[32];

	markdown_add(m, number, (size_t)snprintf(number, sizeof(number), fmt, u));
}

static void markdown_cell(struct markdown *m, const struct atw_plugin_column *c,
		      union atw_cell cell)
{
	switch (c->type) {
	case ATW_COLUMN_TEXT:
		markdown_text(m, cell.s);
		break;
	case ATW_COLUMN_FLAGS:
		if (c->letters)
			markdown_letters(m, c->letters, cell.u);
		else
			markdown_words(m, c, cell.u);
		break;
	case ATW_COLUMN_ENUM:
		if (cell.u < c->nnames && c->names[cell.u])
			markdown_text(m, c->names[cell.u]);
		else
			markdown_number(m, "0x%llx", cell.u);
		break;
	case ATW_COLUMN_ADDRESS:
	case ATW_COLUMN_HEX:
		markdown_number(m, "0x%016llx", cell.u);
		break;
	case ATW_COLUMN_CHANGE:
	case ATW_COLUMN_CHANGE_BYTES:
		markdown_number(m, "%lld", cell.u);
		break;
	case ATW_COLUMN_MILLISECONDS:
		markdown_number(m, "%llu.", cell.u / 1000);
		markdown_number(m, "%03llu", cell.u % 1000);
		break;
	default:
		markdown_number(m, "%llu", cell.u);
		break;
	}
}

static int markdown_write(struct markdown *m, struct atw_err *err)
{
	int r;

	markdown_add(m, "\n", 1);
	r = m->failed ? host->error(err, ATW_E_NOMEM, "out of memory")
		      : host->write(m->to, m->line, m->len, err);
	m->len = 0;
	return r;
}

/* ---- a table ---- */

static int markdown_is_number(const struct atw_plugin_column *c)
{
	return c->type != ATW_COLUMN_TEXT && c->type != ATW_COLUMN_ENUM &&
	       c->type != ATW_COLUMN_FLAGS;
}

static int markdown_begin(void *instance, const struct atw_listing *l,
			  struct atw_plugin_stream *to, void **ret, struct atw_err *err)
{
	struct markdown *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return host->error(err, ATW_E_NOMEM, "out of memory");
	m->to = to;
	m->n = l->ninputs;
	m->column = l->inputs;   /* valid until `end` */
	for (uint32_t i = 0; i < m->n; i++) {
		markdown_add(m, "| ", 2);
		markdown_text(m, m->column[i]->name);
		markdown_add(m, " ", 1);
	}
	markdown_add(m, "|\n", 2);
	for (uint32_t i = 0; i < m->n; i++)
		markdown_add(m, markdown_is_number(m->column[i]) ? "|---:" : "|----", 5);
	markdown_add(m, "|", 1);
	r = markdown_write(m, err);
	if (r == ATW_OK) {
		*ret = m;
		return r;
	}
	/* `end` is called for what began. */
	free(m->line);
	free(m);
	return r;
}

/* What is not known is an empty cell. */
static int markdown_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct markdown *m = state;
	int r = ATW_OK;

	for (uint32_t row = 0; row < b->nrows && r == ATW_OK; row++) {
		for (uint32_t i = 0; i < m->n; i++) {
			markdown_add(m, "| ", 2);
			if (b->in_known[i][row / 64] >> row % 64 & 1)
				markdown_cell(m, m->column[i], b->in[i][row]);
			markdown_add(m, " ", 1);
		}
		markdown_add(m, "|", 1);
		r = markdown_write(m, err);
	}
	return r;
}

static void markdown_end(void *state)
{
	struct markdown *m = state;

	free(m->line);
	free(m);
}

static const struct atw_plugin_sink markdown = {
	.size = sizeof(markdown), .name = "markdown", .help = "table in Markdown",
	.begin = markdown_begin, .rows = markdown_rows, .end = markdown_end,
};

static const struct atw_plugin_sink *markdown_sink(void *instance, uint32_t i)
{
	return i ? NULL : &markdown;
}

static int markdown_start(const struct atw_host *h, const char *options, void **ret,
			  struct atw_err *err)
{
	host = h;
	if (!ATW_HAS_MEMBER(h, write))
		return h->error(err, ATW_E_UNSUPPORTED, "this atwalk has no formats of plugins");
	if (options)
		return h->error(err, ATW_E_USAGE, "it has no option '%.40s'", options);
	return ATW_OK;
}

ATW_PLUGIN_WITH("markdown", "1", ATW_PLUGIN_SINK, "tables in Markdown: --format markdown",
		"markdown", "", "",
		.start = markdown_start, .sink = markdown_sink);
