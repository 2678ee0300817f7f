/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_collect.c - capture of the physical memory of all processes. */

#include "census.h"
#include "common/language.h"
#include "report/write_paper.h"
#include "output/outfile.h"
#include "base/message.h"

struct collect_opts {
	struct census_source_opts source;
	enum { FORM_TODAY, FORM_2005 } form;
	bool zstd;
	struct fleet_opts tables;        /* folder NULL: none are wanted */
};

static const struct opt_choice form_choices[] = {
	{ "today", FORM_TODAY }, { "2005", FORM_2005 }, { 0 }
};

static const struct opt options[] = {
	{ 0, "frames", OPT_FLAG, offsetof(struct collect_opts, source.frames), NULL,
	  "record the use of every frame of RAM as well", NULL },
	{ 0, "cached", OPT_FLAG, offsetof(struct collect_opts, source.cached), NULL,
	  "record the files in the page cache and the use of every frame as well", NULL },
	{ 0, "raw", OPT_FLAG, offsetof(struct collect_opts, source.raw), NULL,
	  "record raw page-table entries and all page flags", NULL },
	{ 0, "form", OPT_CHOICE, offsetof(struct collect_opts, form), "FORM",
	  "select the capture format; 2005: the original LPMA format with 32-bit fields", form_choices },
	{ 0, "threads", OPT_FLAG, offsetof(struct collect_opts, source.threads), NULL,
	  "record the threads of processes as well", NULL },
	{ 0, "zstd", OPT_FLAG, offsetof(struct collect_opts, zstd), NULL,
	  "compress the output with zstd", NULL },
	{ 0, "tables", OPT_TEXT, offsetof(struct collect_opts, tables.folder), "FOLDER",
	  "write the tables of atwalk export to FOLDER; a capture only with -o", NULL },
	OPT_FLEET(struct collect_opts, tables),
	OPT_CENSUS(struct collect_opts, source),
	{ 0 }
};

enum { LEVEL = 3 };              /* zstd level: higher ones are slow and hardly smaller */

static bool collect_is_paper(const struct collect_opts *o)
{
	return o->form == FORM_2005;
}

/* Options that the selected format does not support. */
static int collect_check(const struct collect_opts *o, int argc)
{
	if (collect_is_paper(o) && o->source.frames)
		return usage_error("collect", "--frames cannot be used with --form 2005, which has no F: lines");
	if (collect_is_paper(o) && o->source.cached)
		return usage_error("collect", "--cached cannot be used with --form 2005, which has no C: lines");
	if (collect_is_paper(o) && o->source.raw)
		return usage_error("collect", "--raw cannot be used with --form 2005, which has no raw entries");
	if (o->tables.folder && collect_is_paper(o))
		return usage_error("collect", "--tables cannot be used with --form 2005");
	if (!o->tables.folder && (o->tables.host || o->tables.time))
		return usage_error("collect", "--host and --time are of the tables that --tables writes");
	if (argc != 1)
		return usage_error("collect", argc ? "too many arguments; expected one SOURCE"
						      : "SOURCE is missing");
	return EXIT_COMPLETE;
}

/* ---- a capture and its tables in one pass ---- */

struct collect_tee {
	struct census_sink first, second;
};

static int collect_on_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	const struct collect_tee *t = arg;

	return t->first.record(t->first.arg, rec, err) ?: t->second.record(t->second.arg, rec, err);
}

/* What a report cannot count is in the capture all the same. */
static int collect_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	const struct collect_tee *t = arg;

	return t->first.run(t->first.arg, run, err) ?: t->second.run(t->second.arg, run, err);
}

static int collect_on_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	const struct collect_tee *t = arg;

	return t->first.frames(t->first.arg, run, err) ?: t->second.frames(t->second.arg, run, err);
}

static int collect_collect(const struct common *c, const struct collect_opts *o,
			   const char *name, const struct outfile *t, struct fleet *tables,
			   struct census_summary *summary)
{
	struct census_source_opts so = o->source;
	struct census_writer *w = NULL;
	struct atw_err err = { 0 };
	struct census_sink sink;
	struct collect_tee both;
	int status, r = census_writer_open(t->fd, o->zstd ? LEVEL : 0, &w, &err);

	if (r < 0)
		return print_error(&err);
	sink = census_writer_sink(w);
	if (tables) {
		both = (struct collect_tee){ sink, fleet_sink(tables) };
		sink = (struct census_sink){
			.record = collect_on_record, .run = collect_on_run,
			.frames = collect_on_frames, .arg = &both,
		};
	}
	so.into = outfile_name(t);
	so.keep = so.need_slabs = true;
	status = census_source(c, name, &so, &sink, summary);
	if (!status && census_writer_end(w, &err) < 0) {
		atw_err_wrap(&err, "%s", outfile_name(t));
		status = print_error(&err);
	}
	census_writer_close(w);
	return status;
}

static int collect_paper(const struct common *c, const struct collect_opts *o, const char *name,
			 const struct outfile *t, struct census_summary *summary)
{
	struct census_source_opts so = o->source;
	struct paper_writer *w = NULL;
	struct atw_err err = { 0 };
	struct census_sink sink;
	int status, r = paper_writer_open(t->fd, o->zstd ? LEVEL : 0, &w, &err);

	if (r < 0)
		return print_error(&err);
	sink = paper_writer_sink(w);
	status = census_source(c, name, &so, &sink, summary);
	if (!status && paper_writer_end(w, &err) < 0) {
		atw_err_wrap(&err, "%s", name);
		status = print_error(&err);
	}
	paper_writer_close(w);
	return status;
}

static int collect_write(const struct common *c, const struct collect_opts *o, const char *name,
			 struct outfile *t, struct census_summary *summary)
{
	struct fleet *tables = NULL;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE;

	if (o->zstd && isatty(t->fd))
		status = usage_error("collect", "refusing to write compressed data to a terminal; use -o FILE");
	else if (collect_is_paper(o))
		status = collect_paper(c, o, name, t, summary);
	else if (o->tables.folder && fleet_open(&o->tables, &tables, &err) < 0)
		status = print_error(&err);
	else
		status = collect_collect(c, o, name, t, tables, summary);
	if (!status && tables && fleet_write(tables, &err) < 0)
		status = print_error(&err);
	if (!status && outfile_commit(t, &err) < 0)
		status = print_error(&err);
	fleet_close(tables);
	return status;
}

static int collect_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct collect_opts *o = opts;
	struct census_summary summary = { 0 };
	struct outfile t = { .fd = -1 };
	struct atw_err err = { 0 };
	int status = collect_check(o, argc);

	o->tables.format = "parquet";
	o->source.need_frames = o->source.need_cached = o->tables.folder;
	if (!status)
		status = check_output(c, argv[0]);
	if (status)
		return status;
	/* Reasons become L: lines, and cells of tables. */
	language_plain(true);
	if (o->tables.folder && !c->output)
		return export_tables(c, argv[0], &o->source, &o->tables);
	if (outfile_open_private(c->output, &t, &err) < 0)
		return print_error(&err);
	status = collect_write(c, o, argv[0], &t, &summary);
	outfile_close(&t);
	return status ? status : census_incomplete(argv[0], &summary,
						   collect_is_paper(o) ? "" : N_("see the L: lines"));
}

const struct command cmd_collect = {
	.name = "collect",
	.args = "SOURCE",
	.summary = "record page ownership of all processes in a capture file",
	.about =
		"Writes a capture (atwalk-capture(5)) of SOURCE: every task, its memory areas\n"
		"and their pages with the number of mappings of each; files, swap and RAM; and\n"
		"read errors. If SOURCE is a capture, it is rewritten in the current format.\n"
		"With --tables, the tables of atwalk-export(1) are made in the same pass; it implies\n"
		"--cached where that is known.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_PLUGIN_SOURCES | OPT_COMMON_SOURCE |
		  OPT_COMMON_PROGRESS | OPT_COMMON_VERBOSE,
	.options = options,
	.opts_size = sizeof(struct collect_opts),
	.run = collect_run,
};
