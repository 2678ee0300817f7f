/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_sql.c - queries over the listings and reports of a KMAP. */
#include "cli/common/sql.h"
#include "cli/common/sql_recording.h"
#include "base/io.h"
#include "kmap.h"

#define ROWS(table, text) \
	{ .name = table, .about = text, .cmd = &kmap_show, .option = "--rows=" table },
#define REPORT(report, text) \
	{ .name = "report_" report, .about = text, .cmd = &kmap_report, .word = report },

static const struct sql_kind kinds[] = { SQL_RECORDING_TABLES(ROWS, REPORT) };

static const struct sql_kind *kmap_sql_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}

struct kmap_sql_opts {
	const char *symbols, *kernel;
};

static const struct opt options[] = {
	{ 0, "symbols", OPT_TEXT, offsetof(struct kmap_sql_opts, symbols), "FILE",
	  "read function names from FILE (System.map, /proc/kallsyms or vmlinux)", NULL },
	{ 0, "kernel", OPT_TEXT, offsetof(struct kmap_sql_opts, kernel), "VMLINUX",
	  "read names of functions, files and folders from VMLINUX (debug information)", NULL },
	{ 0 }
};

static int kmap_sql_check(const struct sql *s)
{
	struct atw_err err = { 0 };

	if (!access(s->source[0].word, R_OK))
		return EXIT_COMPLETE;
	atw_err_set(&err, io_status(errno), "%s: %s", s->source[0].word, strerror(errno));
	return print_error(&err);
}

static int kmap_sql_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct kmap_sql_opts *o = opts;
	struct sql s = {
		.c = c,
		.command = "kmap sql",
		.source = { { .kind = kmap_sql_kind } },
		.check = kmap_sql_check,
		.passed = { { "--symbols", o->symbols }, { "--kernel", o->kernel } },
	};

	if (!argc)
		return usage_error("kmap sql", "FILE is missing");
	if (!strcmp(argv[0], "-"))
		return usage_error("kmap sql", "standard input can be read only once: use a file");
	return sql_main(&s, argc, argv);
}

const struct command kmap_sql = {
	.name = "kmap sql",
	.args = "FILE [QUERY...]",
	.summary = "query objects, accesses and reports by SQL",
	.about =
		"Runs each QUERY of SQL (SQLite) over tables that are listings and reports of a\n"
		"KMAP, with their columns. Without QUERY, statements are read from standard input;\n"
		"a terminal gets a prompt.\n\n"
		"TABLE:\n"
		"  objects      objects: show --rows objects\n"
		"  accesses     accesses of an instruction to an object: show --rows accesses\n"
		"  report_NAME  a report: report_caches, report_flows, ...",
	.common =
		OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_UNITS | OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct kmap_sql_opts),
	.run = kmap_sql_run,
};
