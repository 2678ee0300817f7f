/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_sql.c - queries over the listings and reports of a source. */
#include "atwalk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "sql_kinds.h"

struct sql_opts {
	const char *passed[SQL_PASSED], *symbols;
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
	{ 0, "symbols", OPT_TEXT, offsetof(struct sql_opts, symbols), "FILE",
	  "of a recording of kmap: read function names from FILE", NULL },
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

	return session_open(s->c, s->source, &session);
}

static int sql_command(const struct common *c, void *opts, int argc, char **argv)
{
	const struct sql_opts *o = opts;
	struct sql s = { .c = c, .command = "sql", .kind = sql_kind, .allow = o->allow,
			 .check = sql_check };
	static const char *const passed[SQL_PASSED] = { "--kernel", "--root", "--paging",
							"--pte-ext", "--cbit" };

	if (!argc)
		return usage_error("sql", "SOURCE is missing");
	if (sql_is_recording(argv[0]))
		return external_instead(&cmd_kmap);
	if (o->symbols)
		return usage_error("sql", "--symbols: %s is no recording of kmap", argv[0]);
	for (size_t i = 0; i < SQL_PASSED; i++) {
		s.passed[i].option = passed[i];
		s.passed[i].value = o->passed[i];
	}
	return sql_main(&s, argc, argv);
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
		"With pid = N, only that process is read. A recording of kmap as SOURCE has the\n"
		"tables of `atwalk kmap sql`.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct sql_opts),
	.run = sql_command,
};
