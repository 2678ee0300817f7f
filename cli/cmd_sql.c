/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_sql.c - queries over the listings and reports of a source. */
#include "atwalk.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/io.h"
#include "common/plugins.h"
#include "sql_kinds.h"

enum {
	SQL_SYMBOLS = 5,                 /* in sql_opts.passed */
	SQL_NAME = 33,                   /* bytes of one, with its end */
};

struct sql_opts {
	const char *passed[SQL_PASSED];
	struct opt_list attach;
	bool allow;
};

#define PASSED(i, name, arg, help) \
	{ 0, name, OPT_TEXT, offsetof(struct sql_opts, passed[i]), arg, help, NULL }

/* In the order of sql_command(). */
static const struct opt options[] = {
	PASSED(0, "kernel", "FILE",
	       "read missing symbols and types from FILE (vmlinux, System.map or BTF)"),
	PASSED(1, "root", "PHYS", "use the root table at physical address PHYS"),
	PASSED(2, "paging", "MODE",
	       "use paging mode MODE; `atwalk info --paging-modes` lists them"),
	PASSED(3, "pte-ext", "LIST",
	       "enable extensions of the paging mode: lpa2, thead, svrsw60t59b, ipa=N"),
	PASSED(4, "cbit", "BIT", "mask entry bit BIT, which marks encrypted memory (SME, SEV, TDX)"),
	{ 0, "symbols", OPT_TEXT, offsetof(struct sql_opts, passed[SQL_SYMBOLS]), "FILE",
	  "of a recording of kmap: read function names from FILE", NULL },
	{ 0, "attach", OPT_LIST, offsetof(struct sql_opts, attach), "NAME=SOURCE",
	  "query another SOURCE as well: its tables are NAME_TABLE; may be repeated", NULL },
	OPT_ALLOW(struct sql_opts, allow),
	{ 0 }
};

/*
 * Is it a recording of kmap? Only atwalk-kmap knows: it is asked if the file begins as these
 * do, with a number, a comment or zstd, and unlike dumps and captures of text.
 */
static bool sql_is_recording(const char *source)
{
	static const unsigned char zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	char reply[8], head[4] = "";
	struct atw_err err = { 0 };
	int fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = io_read(fd, head, sizeof(head));
	close(fd);
	return n == sizeof(head) && (strchr("#( 0123456789abcdef", head[0]) ||
				     !memcmp(head, zstd, sizeof(zstd))) && head[0] &&
	       external_query(&cmd_kmap, "--recognize", source, reply, sizeof(reply), &err) == ATW_OK &&
	       !strcmp(reply, "yes\n");
}

/* ---- the command ---- */

static int sql_check(const struct sql *s)
{
	_auto_session struct session session = { 0 };

	return session_open(s->c, s->source[0].word, &session);
}

/* A recording: atwalk-kmap opens it when a table is read. */
static int sql_check_recording(const struct sql *s)
{
	return EXIT_COMPLETE;
}

/* ---- reports of plugins ---- */

struct sql_reports {
	struct sql_kind *v;
	size_t n, cap;
};

static void sql_reports_deinit(struct sql_reports *r)
{
	for (size_t i = 0; i < r->n; i++)
		free((char *)(uintptr_t)r->v[i].name);
	free(r->v);
}

/* One that is not read for a process: what its rows are made of is not known. */
static bool sql_reports_add(struct sql_reports *r, const char *plugin, const char *report,
			    const char *about)
{
	char name[SQL_TABLE_NAME];

	snprintf(name, sizeof(name), "report_%s", report);
	if (!ARRAY_ROOM(r->v, r->n, r->cap))
		return false;
	r->v[r->n] = (struct sql_kind){
		.name = strdup(name), .about = about, .cmd = &cmd_report, .word = report,
		.plugin = plugin,
	};
	return r->v[r->n].name && ++r->n;
}

/* A plugin with reports need not have columns for rows of statements as well. */
static bool sql_reports_init(struct sql_reports *r, struct plugins *g)
{
	for (size_t i = 0; g && i < g->n; i++) {
		const struct plugin *p = g->v[i];

		for (size_t k = 0; k < p->nreports; k++)
			if (!sql_reports_add(r, p->name, p->report[k].of.name, p->report[k].of.help))
				return false;
		for (size_t k = 0; p->nreports && k < g->nannotators; k++)
			if (g->annotators[k].plugin == p->name)
				g->annotators[k].lenient = true;
	}
	return true;
}

static struct sql_source sql_source_of(const char *name, const char *word,
				       const struct sql_reports *r)
{
	bool recording = sql_is_recording(word);

	return (struct sql_source){
		name, word, recording ? sql_recording_kind : sql_kind, r->v, recording ? 0 : r->n,
	};
}

/* A table of it that has the name of one of the sources before, or NULL. */
static const char *sql_taken(const struct sql *s, const struct sql_source *of)
{
	char name[SQL_TABLE_NAME], other[SQL_TABLE_NAME];
	const struct sql_kind *k, *l;

	for (size_t i = 0; (k = sql_source_kind(of, i)); i++)
		for (const struct sql_source *b = s->source; b < s->source + s->sources; b++)
			for (size_t j = 0; (l = sql_source_kind(b, j)); j++)
				if (!strcasecmp(sql_table_name(of, k, name),
						sql_table_name(b, l, other)))
					return k->name;
	return NULL;
}

/* NAME=SOURCE; NAME is copied. */
static int sql_attach_word(struct sql *s, const char *word, const struct sql_reports *r,
			   char name[SQL_NAME])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t len = strspn(word, letters);
	const char *table;

	if (!len || len >= SQL_NAME || *word <= '9' || word[len] != '=' || !word[len + 1])
		return usage_error("sql", "--attach: '%.80s' is not NAME=SOURCE", word);
	if (s->sources == SQL_SOURCES)
		return usage_error("sql", "--attach: more than %d sources", SQL_SOURCES - 1);
	snprintf(name, SQL_NAME, "%.*s", (int)len, word);
	s->source[s->sources] = sql_source_of(name, word + len + 1, r);
	table = sql_taken(s, &s->source[s->sources]);
	if (table)
		return usage_error("sql", "--attach %s: a table %s_%s is there already", name, name, table);
	s->sources++;
	return EXIT_COMPLETE;
}

static int sql_query(const struct common *c, const struct sql_opts *o,
		     const struct sql_reports *r, int argc, char **argv)
{
	struct sql s = {
		.c = c, .command = "sql", .sources = 1, .allow = o->allow, .check = sql_check,
		.source = { { .kind = sql_kind, .more = r->v, .nmore = r->n } },
	};
	static const char *const passed[SQL_PASSED] = { "--kernel", "--root", "--paging",
							"--pte-ext", "--cbit", "--symbols" };
	char name[SQL_SOURCES][SQL_NAME];
	bool recording;

	if (!argc)
		return usage_error("sql", "SOURCE is missing");
	recording = sql_is_recording(argv[0]);
	if (recording && !o->attach.n)
		return external_instead(&cmd_kmap);
	if (recording) {
		s.source[0] = sql_source_of(NULL, argv[0], r);
		s.check = sql_check_recording;
	}
	for (size_t i = 0; i < o->attach.n; i++) {
		int status = sql_attach_word(&s, o->attach.v[i], r, name[MIN(i, SQL_SOURCES - 1)]);

		if (status)
			return status;
		recording |= s.source[i + 1].kind == sql_recording_kind;
	}
	if (o->passed[SQL_SYMBOLS] && !recording)
		return usage_error("sql", "--symbols: %s is no recording of kmap", argv[0]);
	for (size_t i = 0; i < SQL_PASSED; i++) {
		s.passed[i].option = passed[i];
		s.passed[i].value = o->passed[i];
		s.passed[i].attached = i == SQL_SYMBOLS;
	}
	return sql_main(&s, argc, argv);
}

static int sql_command(const struct common *c, void *opts, int argc, char **argv)
{
	struct sql_reports r = { 0 };
	int status = sql_reports_init(&r, c->plugins) ? sql_query(c, opts, &r, argc, argv)
						      : print_nomem();

	sql_reports_deinit(&r);
	return status;
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
		"  memory('ADDRESS+LENGTH')  words of memory; with pid = N of a process: rd\n"
		"  facts                 what is known of the source: info\n"
		"  report_NAME           a report: report_use, report_machine, ...\n\n"
		"With pid = N, only that process is read. A recording of kmap as SOURCE has the\n"
		"tables of `atwalk kmap sql`. With --attach NAME=SOURCE, tables of another SOURCE\n"
		"are NAME_TABLE.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct sql_opts),
	.run = sql_command,
};
