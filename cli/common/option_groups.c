/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_groups.c - options that several commands take, by groups. */
#include "command.h"

#define AT(field) offsetof(struct common, field)

#define ROW_FORMATS \
	{ "plain", FORMAT_PLAIN }, { "csv", FORMAT_CSV }, { "json", FORMAT_JSON }, \
	{ "jsonl", FORMAT_JSONL }, { "html", FORMAT_HTML }, { "parquet", FORMAT_PARQUET }

/* Other words are formats of plugins. */
static const struct opt_choice row_formats[] = { ROW_FORMATS, { NULL, FORMAT_SINK } };
static const struct opt_choice picture_formats[] = {
	ROW_FORMATS, { "svg", FORMAT_SVG }, { "ps", FORMAT_PS }, { "pdf", FORMAT_PDF },
	{ "png", FORMAT_PNG }, { "pprof", FORMAT_PPROF }, { NULL, FORMAT_SINK }
};
static const struct opt_choice units_choices[] = {
	{ "human", UNITS_HUMAN }, { "bytes", UNITS_BYTES }, { "pages", UNITS_PAGES }, { 0 }
};
static const struct opt_choice color_choices[] = {
	{ "auto", COLOR_AUTO }, { "always", COLOR_ALWAYS }, { "never", COLOR_NEVER }, { 0 }
};

static const struct opt output_options[] = {
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write output to FILE (replaced atomically, except for recordings)", NULL },
	{ 0 }
};
static const struct opt picture_options[] = {
	{ 0, "format", OPT_CHOICE_OR, AT(format), "FORMAT",
	  "select the output format of rows or of pictures", picture_formats },
	{ 0 }
};
static const struct opt format_options[] = {
	{ 0, "format", OPT_CHOICE_OR, AT(format), "FORMAT", "select the output format", row_formats },
	{ 0 }
};
static const struct opt row_options[] = {
	{ 0, "columns", OPT_TEXT, AT(columns), "LIST",
	  "show the columns in LIST; +LIST adds to the default columns", NULL },
	{ 0, "filter", OPT_TEXT, AT(filter), "EXPR",
	  "show only rows that match EXPR, e.g. 'writable and size>=2M'", NULL },
	{ 0, "sort", OPT_TEXT, AT(sort), "COLUMNS",
	  "sort rows by COLUMN[:desc],...; -COLUMN is COLUMN:desc", NULL },
	{ 0, "group", OPT_TEXT, AT(group), "COLUMN",
	  "print one row for each value of COLUMN: number of rows, sums of sizes", NULL },
	{ 0, "expect", OPT_TEXT, AT(expect), "ROWS",
	  "exit with 1 unless so many rows match --filter: some, none or a number", NULL },
	{ 0, "color", OPT_CHOICE, AT(color), "WHEN",
	  "color the plain table", color_choices },
	{ 0 }
};
static const struct opt units_options[] = {
	{ 0, "units", OPT_CHOICE, AT(units), "UNITS",
	  "print sizes of the plain table in UNITS", units_choices },
	{ 0 }
};
static const struct opt plugin_options[] = {
	{ 0, "plugin", OPT_LIST, AT(plugin), "PLUGIN",
	  "use what PLUGIN adds: NAME[:OPTIONS] or FILE.so[:OPTIONS]; may be repeated", NULL },
	{ 0 }
};
static const struct opt source_options[] = {
	{ 'S', "part", OPT_LIST, AT(parts), "FILE",
	  "read FILE as a further part of a split dump; may be repeated", NULL },
	{ 0, "layout", OPT_TEXT, AT(layout), "PIECES",
	  "take PIECES, GPA:HVA:LEN,..., for the layout of a guest's RAM", NULL },
	{ 0, "rate", OPT_TEXT, AT(rate), "BYTES",
	  "read at most BYTES per second (K, M, G) from a live source", NULL },
	{ 0, "jobs", OPT_TEXT, AT(jobs), "N",
	  "use N CPUs; default: all", NULL },
	{ 0 }
};
static const struct opt progress_options[] = {
	{ 0, "progress", OPT_FLAG, AT(progress), NULL,
	  "report progress even if standard error is not a terminal", NULL },
	{ 0 }
};
static const struct opt verbose_options[] = {
	{ 'v', "verbose", OPT_MORE, AT(verbose), NULL,
	  "report what was found and how; given twice: log every read", NULL },
	{ 0 }
};
static const struct opt every_options[] = {
	{ 'q', "quiet", OPT_FLAG, AT(quiet), NULL,
	  "suppress warnings on standard error", NULL },
	{ 0, "config", OPT_TEXT, AT(config_file), "FILE",
	  "read defaults of options from FILE only", NULL },
	{ 0, "no-config", OPT_FLAG, AT(no_config), NULL,
	  "do not read defaults of options from files", NULL },
	{ 'h', "help", OPT_FLAG, AT(help), NULL, "show this help", NULL },
	{ 'V', "version", OPT_FLAG, AT(version), NULL, "show the version", NULL },
	{ 0 }
};

/* In the order of help. */
static const struct {
	unsigned group;          /* 0: each command takes it */
	unsigned instead;        /* group with options that replace these */
	const struct opt *table;
} groups[COMMON_SETS] = {
	{ OPT_COMMON_OUTPUT, 0, output_options },
	{ OPT_COMMON_PICTURES, 0, picture_options },
	{ OPT_COMMON_ROWS, OPT_COMMON_PICTURES, format_options },
	{ OPT_COMMON_ROWS, 0, row_options },
	{ OPT_COMMON_UNITS, 0, units_options },
	{ OPT_COMMON_PLUGINS | OPT_COMMON_PLUGIN_FILES | OPT_COMMON_PLUGIN_SOURCES, 0,
	  plugin_options },
	{ OPT_COMMON_SOURCE, 0, source_options },
	{ OPT_COMMON_PROGRESS, 0, progress_options },
	{ OPT_COMMON_VERBOSE, 0, verbose_options },
	{ 0, 0, every_options },
};

void common_sets(unsigned taken, struct common *c, struct opt_set ret[COMMON_SETS])
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		bool lacks = groups[i].group && !(taken & groups[i].group);

		ret[i] = (struct opt_set){
			.table = groups[i].table, .base = c,
			.refused = lacks || (taken & groups[i].instead),
		};
	}
}

const char *format_word(const struct common *c)
{
	return c->sink ? c->sink->name : options_word(picture_formats, c->format);
}

bool format_is_own(const char *word)
{
	for (const struct opt_choice *f = picture_formats; f->word; f++)
		if (!strcmp(f->word, word))
			return true;
	return false;
}

void format_unknown(unsigned taken, const char *word, const char *more, char *why,
		    size_t why_len)
{
	options_no_choice(taken & OPT_COMMON_PICTURES ? picture_options : format_options, word,
			  more, why, why_len);
}
