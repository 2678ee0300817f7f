/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_export.c - a capture as tables, for queries over many machines. */

#include "census.h"
#include "common/language.h"
#include "base/message.h"

struct export_opts {
	struct census_source_opts source;
	struct fleet_opts tables;
	enum { EXPORT_PARQUET, EXPORT_CSV, EXPORT_JSONL } format;
};

static const struct opt_choice format_choices[] = {
	{ "parquet", EXPORT_PARQUET }, { "csv", EXPORT_CSV }, { "jsonl", EXPORT_JSONL }, { 0 }
};

static const struct opt options[] = {
	OPT_FLEET(struct export_opts, tables),
	{ 0, "as", OPT_CHOICE, offsetof(struct export_opts, format), "FORMAT",
	  "write files of this format; default: parquet", format_choices },
	OPT_CENSUS(struct export_opts, source),
	{ 0 }
};

int export_tables(const struct common *c, const char *name, const struct census_source_opts *o,
		  const struct fleet_opts *tables)
{
	struct census_source_opts so = *o;
	struct census_summary summary = { 0 };
	struct atw_err err = { 0 };
	struct census_sink sink;
	struct fleet *f = NULL;
	int status = EXIT_COMPLETE;

	if (fleet_open(tables, &f, &err) < 0)
		status = print_error(&err);
	if (!status) {
		sink = fleet_sink(f);
		so.keep = so.need_frames = so.need_cached = true;
		status = census_source(c, name, &so, &sink, &summary);
	}
	if (!status && fleet_write(f, &err) < 0)
		status = print_error(&err);
	fleet_close(f);
	return status ? status : census_incomplete(name, &summary, N_("see table lost"));
}

static int export_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct export_opts *o = opts;

	if (argc != 2)
		return usage_error("export", argc < 1 ? "SOURCE and FOLDER are missing" :
				   argc < 2 ? "FOLDER is missing" :
				   "too many arguments; expected SOURCE and FOLDER");
	/* Reasons become cells of a table. */
	language_plain(true);
	o->tables.folder = argv[1];
	o->tables.format = options_word(format_choices, o->format);
	return export_tables(c, argv[0], &o->source, &o->tables);
}

const struct command cmd_export = {
	.name = "export",
	.args = "SOURCE FOLDER",
	.summary = "write a capture as tables, for queries over many machines",
	.about =
		"Writes seven tables of SOURCE, which is mostly a capture (atwalk-capture(5)), as\n"
		"FOLDER/TABLE/date=DATE/host=HOST/TIME.parquet:\n"
		"\n"
		"  captures  one row: the machine, and how much of it was read\n"
		"  tasks     every task, with the memory of its address space\n"
		"  areas     every memory area of every process, by NUMA node\n"
		"  units     programs and libraries: what they take in all processes\n"
		"  frames    what the frames of RAM are used for\n"
		"  files     mapped files, and files in the page cache, by control group and\n"
		"            NUMA node\n"
		"  lost      what could not be read\n"
		"\n"
		"Many captures may be written to one FOLDER. Query engines read all of it at\n"
		"once: see docs/fleet.md.",
	.common = OPT_COMMON_PLUGIN_SOURCES | OPT_COMMON_SOURCE | OPT_COMMON_PROGRESS |
		  OPT_COMMON_VERBOSE,
	.options = options,
	.opts_size = sizeof(struct export_opts),
	.run = export_run,
};
