// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_extract.c - a dump's page tables and kernel facts as a small dump. */

#include "atwalk.h"
#include "base/io.h"
#include "output/outfile.h"
#include "source/open.h"

struct extract_opts {
	struct space_opts space;
	bool pages;
};

static const struct opt options[] = {
	{ 0, "pages", OPT_FLAG, offsetof(struct extract_opts, pages), NULL,
	  "include the struct page of each page that processes map", NULL },
	OPT_KERNEL(struct extract_opts, space),
	{ 0 }
};

static const struct atw_column columns[] = {
	COLUMN("part", TEXT, 12, "of what"),
	COLUMN("count", COUNT, 8, "how many there are"),
	COLUMN("size", BYTES, 6, "bytes of it"),
};
static const struct atw_schema schema = { "extract", columns, 3 };

static int extract_put(struct atw_output *out, const char *part, bool have_count,
		       uint64_t count, uint64_t size, struct atw_err *err)
{
	const union atw_value v[3] = { { .s = part }, { .u = count }, { .u = size } };
	const struct atw_row row = { v, have_count ? 7 : 5 };

	return atw_output_row(out, &row, err);
}

/* Print the contents of the extract, which itself is written to the file of -o. */
static int extract_report(struct atw_output *out, const struct atw_extract_stats *st,
			  struct atw_err *err)
{
	int r = extract_put(out, "page tables", true, st->tables, st->table_bytes, err) ?:
		extract_put(out, "facts", false, 0, st->fact_bytes, err) ?:
		extract_put(out, "pages", true, st->pages, st->pages << 12, err) ?:
		extract_put(out, "file", true, 1, st->bytes, err);

	if (r == ATW_OK)
		r = atw_output_note(out, "%" PRIu64 " address space%s; pages are of 4 KiB, in %" PRIu64 " run%s; bytes that are neither page table nor metadata are zero",
				    st->spaces, st->spaces == 1 ? "" : "s", st->runs,
				    st->runs == 1 ? "" : "s");
	return r == ATW_OK ? atw_output_commit(out, err) : r;
}

static int extract_write_all(void *arg, const void *data, size_t len, struct atw_err *err)
{
	const struct outfile *t = arg;

	return io_write(t->fd, data, len) == len ? ATW_OK :
	       atw_err_set(err, ATW_E_IO, "%s: cannot write: %s", outfile_name(t), strerror(errno));
}

static int extract_count_tasks(struct atw_kernel *k, struct atw_err *err)
{
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r = lnx_tasks_open(k, &tasks, err);

	if (r < 0)
		return r;
	while ((r = lnx_tasks_next(tasks, &t, err)) == ATW_OK)
		;
	lnx_tasks_close(tasks);
	return r == ATW_END ? ATW_OK : r;
}

/*
 * Verify the file before it is renamed to its final name: it must open, and its list of tasks
 * must be complete.
 */
static int extract_check(const struct outfile *t, const struct session *src,
			 const struct atw_extract_stats *st, struct atw_err *err)
{
	const struct atw_kernel_opts o = { 0 };
	struct atw_source *s = NULL;
	struct source_input in;
	struct atw_kernel *k;
	char path[40];
	int r;

	if (!t->final)
		return ATW_OK;
	snprintf(path, sizeof(path), "elf:/proc/self/fd/%d", t->fd);
	r = source_input_open(path, NULL, NULL, NULL, &in, err);
	if (r >= 0) {
		in.name = outfile_name(t);
		r = source_open_input(&in, &s, err);
		source_input_close(&in);
	}
	if (r >= 0)
		r = atw_kernel_open(s, &o, &k, err);
	if (r == ATW_OK) {
		if (!st->no_tasks && !st->bad_tasks)
			r = extract_count_tasks(k, err);
		atw_kernel_close(k);
	}
	atw_source_close(s);
	return r < 0 ? atw_err_wrap(err, "%s: verification failed, and the extract was not written",
				    src->name) : ATW_OK;
}

/* Report what the source lacks, because the extract lacks it as well; also with -q. */
static bool extract_settle(const struct common *c, const struct session *src,
			   const struct atw_extract_stats *st)
{
	print_defects(c, src);
	if (st->no_tasks)
		print_incomplete("%s: cannot find tasks; the extract has only the page tables of the kernel and of CPUs: %.300s",
		       src->name, st->first.text);
	else if (st->bad_tasks || st->bad_spaces)
		print_incomplete("%s: cannot read %" PRIu64 " task%s and %" PRIu64 " address space%s: %.300s",
		       src->name, st->bad_tasks, st->bad_tasks == 1 ? "" : "s",
		       st->bad_spaces, st->bad_spaces == 1 ? "" : "s", st->first.text);
	if (st->bad_areas)
		print_incomplete("%s: cannot read every area and name of %" PRIu64 " address space%s: %.300s",
		       src->name, st->bad_areas, st->bad_areas == 1 ? "" : "s",
		       st->first_area.text);
	if (st->lost)
		print_incomplete("%s: %" PRIu64 " page table%s missing from the source, and so from the extract",
		       src->name, st->lost, st->lost == 1 ? " is" : "s are");
	return st->no_tasks || st->bad_tasks || st->bad_spaces || st->bad_areas ||
	       st->lost || src->target->defective;
}

static int extract_extract(const struct common *c, const struct extract_opts *o,
			   struct session *src)
{
	struct atw_extract_stats st = { 0 };
	struct outfile t = { .fd = -1 };
	struct atw_output *out = NULL;
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r = outfile_open_private(c->output, &t, &err);

	if (r < 0)
		return print_error(&err);
	if (isatty(t.fd)) {
		outfile_close(&t);
		return usage_error("extract", "refusing to write a dump to a terminal; use -o FILE");
	}
	output_opts(c, src, &oo);
	oo.path = NULL;
	if (t.fd != STDOUT_FILENO)
		r = atw_output_open(&oo, &schema, &out, &err);
	if (r == ATW_OK) {
		r = atw_extract(src->target->kernel, o->pages, extract_write_all, &t, &st,
				&err);
		if (r < 0 && r != ATW_E_IO)
			atw_err_wrap(&err, "%s", src->name);
	}
	if (r == ATW_OK)
		r = extract_check(&t, src, &st, &err) ?: outfile_commit(&t, &err);
	if (r == ATW_OK && out)
		r = extract_report(out, &st, &err);
	status = r < 0                         ? print_error(&err)
		 : extract_settle(c, src, &st) ? EXIT_PARTIAL
					       : EXIT_COMPLETE;
	atw_output_close(out);
	outfile_close(&t);
	return status;
}

static int extract_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct extract_opts *o = opts;
	_auto_session struct session src = { 0 };
	int status;

	if (argc != 1)
		return usage_error("extract", argc ? "too many arguments; expected one SOURCE"
						      : "SOURCE is missing");
	if (!c->output)
		return usage_error("extract", "-o FILE is missing");
	status = open_session(c, argv[0], &o->space, TARGET_TABLES, &src);
	return status ? status : extract_extract(c, o, &src);
}

const struct command cmd_extract = {
	.name = "extract",
	.args = "-o FILE SOURCE",
	.summary = "write a small dump of page tables and kernel metadata only",
	.about =
		"Writes to FILE the parts of SOURCE that walk, map, ps and info need: all page\n"
		"tables, the kernel's symbols and types, tasks and memory areas, but no\n"
		"contents of pages. FILE is an ELF core dump that can be attached to a bug\n"
		"report; it contains names of processes and files and the kernel command line.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct extract_opts),
	.run = extract_run,
};
