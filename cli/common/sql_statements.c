/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_statements.c - statements of SQL: from operands, standard input, or a prompt. */
#include "sql.h"

#include "base/io.h"
#include "base/message.h"

bool sql_is_end(const char *text)
{
	return !text[strspn(text, " \t\r\n;")];
}

/* All statements of a text. */
static int sql_run_all(struct sql *s, const char *text)
{
	int status = EXIT_COMPLETE;

	while (status == EXIT_COMPLETE && !sql_is_end(text))
		status = sql_run(s, &text);
	return status;
}

const struct sql_kind *sql_source_kind(const struct sql_source *of, size_t i)
{
	size_t n = 0;

	while (n < i && of->kind(n))
		n++;
	if (of->kind(n))
		return of->kind(n);
	return i - n < of->nmore ? &of->more[i - n] : NULL;
}

const char *sql_table_name(const struct sql_source *of, const struct sql_kind *k,
			   char buf[SQL_TABLE_NAME])
{
	snprintf(buf, SQL_TABLE_NAME, "%s%s%s", of->name ? of->name : "", of->name ? "_" : "",
		 k->name);
	return buf;
}

/* ---- a prompt ---- */

static void sql_list_tables(const struct sql *s)
{
	char name[SQL_TABLE_NAME];
	const struct sql_kind *k;

	for (const struct sql_source *of = s->source; of < s->source + s->sources; of++)
		for (size_t i = 0; (k = sql_source_kind(of, i)); i++)
			printf("%-20s %s\n", sql_table_name(of, k, name), message(k->about));
}

/* Lines that are no SQL: ".tables", ".quit". Returns false to end. */
static bool sql_dot(const struct sql *s, const char *line)
{
	if (!strcmp(line, ".quit\n") || !strcmp(line, ".exit\n"))
		return false;
	if (!strcmp(line, ".tables\n"))
		sql_list_tables(s);
	else
		puts(_(".tables   list the tables\n.quit     end"));
	return true;
}

/* Errors end a statement, and not the prompt. */
static int sql_prompt(struct sql *s)
{
	struct buf text = { 0 };
	char *line = NULL;
	size_t room = 0;
	int status = EXIT_COMPLETE;

	puts(_("Statements end with \";\". .tables lists the tables, .quit ends."));
	for (;;) {
		fputs(text.len ? "   ...> " : "atwalk> ", stdout);
		fflush(stdout);
		if (getline(&line, &room, stdin) < 0)
			break;
		if (!text.len && line[0] == '.') {
			if (!sql_dot(s, line))
				break;
			continue;
		}
		buf_str(&text, line);
		if (text.failed || !sql_is_whole(s, text.data))
			continue;
		s->status = EXIT_COMPLETE;
		status = sql_run_all(s, text.data);
		text.len = 0;
	}
	putchar('\n');
	free(line);
	buf_deinit(&text);
	return status;
}

static int sql_read_standard_input(struct sql *s)
{
	enum { PART = 4096 };
	struct buf text = { 0 };
	char part[PART];
	int status;
	ssize_t n;

	while ((n = io_read(STDIN_FILENO, part, sizeof(part))) > 0)
		buf_add(&text, part, (size_t)n);
	status = text.failed ? print_nomem() : sql_run_all(s, text.data ? text.data : "");
	buf_deinit(&text);
	return status;
}

/* ---- all of it ---- */

int sql_main(struct sql *s, int argc, char **argv)
{
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE, listings;

	s->source[0].word = argv[0];
	s->sources = MAX(s->sources, 1);
	if (sql_open(s, &err) < 0) {
		sql_close(s);
		return print_error(&err);
	}
	for (int i = 1; i < argc && status == EXIT_COMPLETE; i++) {
		s->more = i + 1 < argc;
		status = sql_run_all(s, argv[i]);
	}
	if (argc == 1)
		status = isatty(STDIN_FILENO) ? sql_prompt(s) : sql_read_standard_input(s);
	listings = s->status;
	sql_close(s);
	return status ? status : listings;
}
