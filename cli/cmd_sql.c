/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_sql.c - queries over the listings and reports of a source. */
#include "sql.h"

#include "base/io.h"

struct sql_opts {
	const char *passed[SQL_PASSED];
	bool allow;
};

#define PASSED(i, name, arg, help) \
	{ 0, name, OPT_TEXT, offsetof(struct sql_opts, passed[i]), arg, help, NULL }

/* In the order of sql_passed. */
static const struct opt options[] = {
	PASSED(0, "kernel", "FILE",
	       "read missing symbols and types from FILE (vmlinux, System.map or BTF)"),
	PASSED(1, "root", "PHYS", "use the root table at physical address PHYS"),
	PASSED(2, "paging", "MODE",
	       "use paging mode MODE; `atwalk info --paging-modes` lists them"),
	PASSED(3, "pte-ext", "LIST",
	       "enable extensions of the paging mode: lpa2, thead, svrsw60t59b"),
	PASSED(4, "cbit", "BIT", "mask entry bit BIT, which marks encrypted memory (SME, SEV, TDX)"),
	OPT_ALLOW(struct sql_opts, allow),
	{ 0 }
};

/* Does nothing but blanks and ";" follow? */
static bool sql_is_end(const char *text)
{
	return !text[strspn(text, " \t\r\n;")];
}

/* All statements of a text. */
static int sql_run_all(struct sql *s, const char *text)
{
	int status = EXIT_COMPLETE;

	while (status == EXIT_COMPLETE && !sql_is_end(text)) {
		if (s->c->output && s->ran)
			return usage_error("sql", "--output takes the rows of one statement");
		s->ran = true;
		status = sql_run(s, &text);
	}
	return status;
}

/* ---- a prompt ---- */

static void sql_list_tables(void)
{
	for (size_t i = 0; sql_kind(i); i++)
		printf("%-16s %s\n", sql_kind(i)->name, sql_kind(i)->about);
}

/* Lines that are no SQL: ".tables", ".quit". Returns false to end. */
static bool sql_dot(const char *line)
{
	if (!strcmp(line, ".quit\n") || !strcmp(line, ".exit\n"))
		return false;
	if (!strcmp(line, ".tables\n"))
		sql_list_tables();
	else
		puts(".tables   list the tables\n.quit     end");
	return true;
}

/* Errors end a statement, and not the prompt. */
static int sql_prompt(struct sql *s)
{
	struct buf text = { 0 };
	char *line = NULL;
	size_t room = 0;
	int status = EXIT_COMPLETE;

	puts("Statements end with \";\". .tables lists the tables, .quit ends.");
	for (;;) {
		fputs(text.len ? "   ...> " : "atwalk> ", stdout);
		fflush(stdout);
		if (getline(&line, &room, stdin) < 0)
			break;
		if (!text.len && line[0] == '.') {
			if (!sql_dot(line))
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

/* ---- the command ---- */

static int sql_main(const struct common *c, void *opts, int argc, char **argv)
{
	const struct sql_opts *o = opts;
	struct sql s = { .c = c, .allow = o->allow };
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE, listings;

	if (!argc)
		return usage_error("sql", "SOURCE is missing");
	s.source = argv[0];
	memcpy(s.passed, o->passed, sizeof(s.passed));
	if (sql_open(&s, &err) < 0) {
		sql_close(&s);
		return print_error(&err);
	}
	for (int i = 1; i < argc && status == EXIT_COMPLETE; i++)
		status = sql_run_all(&s, argv[i]);
	if (argc == 1)
		status = isatty(STDIN_FILENO) ? sql_prompt(&s) : sql_read_standard_input(&s);
	listings = s.status;
	sql_close(&s);
	return status ? status : listings;
}

const struct command cmd_sql = {
	.name = "sql",
	.args = "SOURCE [QUERY...]",
	.summary = "query listings and reports by SQL",
	.about =
		"Runs each QUERY of SQL (SQLite) over tables that are listings and reports of\n"
		"SOURCE, with their columns. Without QUERY, statements are read from standard\n"
		"input; a terminal gets a prompt.\n\n"
		"TABLE:\n"
		"  tasks, threads        processes, and threads as well: ps\n"
		"  vmas, pages, totals   areas, pages and sums of processes: pages\n"
		"  ranges                what the kernel or, with pid = N, a process maps: map\n"
		"  walk('ADDRESS')       page-table entries on the way, with pid = N: walk -p\n"
		"  frames('PHYS')        what maps a physical page or range: find\n"
		"  memory('ADDRESS+LENGTH')  words of memory: rd\n"
		"  facts                 what is known of the source: info\n"
		"  report_NAME           a report: report_use, report_machine, ...\n\n"
		"With pid = N, only that process is read.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct sql_opts),
	.run = sql_main,
};
