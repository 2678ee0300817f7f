/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - commands, and what every program with commands shares. It includes what
 * nearly every command uses.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atwalk/base.h>
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/walk.h"

#include "options.h"

enum exit_status {
	EXIT_COMPLETE = 0,
	EXIT_NO = 1,             /* not mapped, violated, they differ */
	EXIT_USAGE = 2,
	EXIT_SOURCE = 3,         /* the source cannot be used */
	EXIT_PARTIAL = 4,        /* answered in part */
};

/*
 * Hints at the command that `word` was perhaps meant as, in an error about it. `source`
 * NULL: the word stands where a SOURCE should, else where an ADDRESS of that one should.
 */
typedef void suggest_fn(struct atw_err *err, const char *word, const char *source);

enum format {
	FORMAT_PLAIN, FORMAT_CSV, FORMAT_JSON, FORMAT_JSONL, FORMAT_HTML, FORMAT_PARQUET,
	FORMAT_SINK,             /* that of a plugin */
	FORMAT_SVG, FORMAT_PS, FORMAT_PDF, FORMAT_PNG, FORMAT_PPROF,
};
enum size_units { UNITS_USUAL, UNITS_HUMAN, UNITS_BYTES, UNITS_PAGES };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Groups of common options. A command takes those that mean something for it, and refuses
 * the others. --quiet, --help and --version mean something for each.
 */
enum {
	OPT_COMMON_OUTPUT = 1,           /* --output */
	OPT_COMMON_PICTURES = 2,         /* --format with those of pictures; with OPT_COMMON_ROWS */
	OPT_COMMON_ROWS = 4,             /* --format, --columns, --filter, --sort, --group,
					  * --expect, --color */
	OPT_COMMON_UNITS = 8,            /* --units: there are columns of sizes */
	OPT_COMMON_SOURCE = 16,          /* --part, --layout, --rate, --jobs */
	OPT_COMMON_PROGRESS = 32,        /* --progress */
	OPT_COMMON_VERBOSE = 64,         /* --verbose */
	OPT_COMMON_PLUGINS = 256,        /* --plugin */
	OPT_COMMON_PLUGIN_FILES = 512,   /* the same, but none is loaded */
	OPT_COMMON_PLUGIN_SOURCES = 2048,        /* the same, for sources and formats alone */
	OPT_COMMON_ADDRESSES = 128,      /* no option: rows have the columns of addresses */
	OPT_COMMON_SENTENCES = 1024,     /* likewise: rows have sentences, in English for programs */
	/* Of what lists something in a SOURCE. */
	OPT_COMMON_LISTING = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_UNITS |
			     OPT_COMMON_PLUGINS |
			     OPT_COMMON_SOURCE | OPT_COMMON_PROGRESS | OPT_COMMON_VERBOSE,
};

struct config;
struct plugins;
struct added_sources;

/* Values of the common options. */
struct common {
	suggest_fn *suggest;     /* NULL: no command is suggested */
	const char *output, *columns, *filter, *sort, *group, *rate, *jobs, *expect, *layout;
	/* As struct opt_choice_or. FORMAT_SINK: `other_format` was typed. */
	struct {
		enum format format;
		const char *other_format;
	};
	const struct atw_sink_ops *sink; /* of the plugin that has it; else NULL */
	enum size_units units;
	enum color color;
	struct opt_list parts;
	bool progress, quiet, help, version;
	unsigned verbose;
	const struct config *config;     /* defaults that were read */
	int behind;              /* operands behind "--"; -1: there is no such word */
	/* NULL, or where rows go, and expressions about them that name columns. */
	const struct atw_tap *tap;
	const char *asked;
	struct atw_output_sum *sum;      /* --expect: of all rows; else NULL */
	/* --plugin: what was given, first that of files; what was loaded, or NULL. */
	struct opt_list plugin;
	size_t plugins_of_config;
	struct plugins *plugins;
	const struct added_sources *sources;     /* theirs, or those of the command that runs
						  * this one; NULL: none */
	const char *inputs;      /* columns that they need; NULL: none */
	/* For help alone: config_read() takes these options out of the command line. */
	const char *config_file;
	bool no_config;
};

struct command {
	const char *name, *args, *summary, *about;
	unsigned common;         /* OPT_COMMON groups */
	const struct opt *options;
	size_t opts_size;        /* of the struct the options' offsets are in */
	int (*run)(const struct common *c, void *opts, int argc, char **argv);
	/* With OPT_COMMON_ADDRESSES: do these options choose rows of another kind? */
	bool (*other_rows)(const void *opts);
	/* For shells: words that fit as operand number `at`, by number; NULL past the end. */
	const char *(*operand)(int at, size_t i);
};

/* ---- running one ---- */

/* Signals and standard files, before anything is opened. */
void program_begin(void);
/* standard.c: the files alone. */
void hold_standard_files(void);

/* Callbacks of a program for words that are not a SOURCE. Each may be NULL. */
struct command_words {
	suggest_fn *suggest;
	/* The command that stands behind options; NULL: there is none. */
	const char *(*late)(int argc, char **argv);
	/* Accepts the first argument by returning 0, or else returns the exit status. */
	int (*check)(const char *word);
};

/* Parses the options behind a command's name, runs it and returns the exit status. */
int command_run(const struct command *cmd, const struct command_words *words, int argc,
		char **argv);
/*
 * Runs it for its rows: they go to `tap`, nothing is written, no file of defaults is read.
 * `asked` names the columns that are wanted. `of`: that of the command that it runs
 * for: its plugins may have the source; NULL: none.
 */
int command_tap(const struct command *cmd, const struct common *of, const struct atw_tap *tap,
		const char *asked, int argc, char **argv);
/* `c`: NULL, or that of its plugins. */
void command_help(const struct command *cmd, const struct common *c);

/* ---- tapped.c: command lines for command_tap() ---- */

/* Does the command have an option of this name, without "--"? */
bool command_takes(const struct command *cmd, const char *option);

/* Borrowed words, with NULL behind them. */
struct command_args {
	char **v;
	int n;
	size_t cap;
	bool failed;             /* no memory: some are missing */
};
void command_arg(struct command_args *a, const char *word);
/* The option and its value, unless that is NULL. */
void command_arg_option(struct command_args *a, const char *option, const char *value);
/* What `c` says of any source: --part, --layout, --rate, --progress, and how much is reported. */
void command_arg_common(struct command_args *a, const struct common *c);
void command_args_deinit(struct command_args *a);

typedef void command_columns_fn(void *arg, const struct atw_schema *sc);
/*
 * The columns of the first listing that this command line leads to; rows are not read.
 * Nothing is printed. false: it leads to none.
 */
bool command_columns(const struct command *cmd, const struct common *of, command_columns_fn *fn,
		     void *arg, int argc, char **argv);

/* Is it --help or -h? */
bool is_help_word(const char *word);
/* Flushes help and version, which are not written by a sink. Prints errors. */
int command_written(void);

/* ---- errors and warnings ---- */

/* Prints "atwalk: SENTENCE" and its hint; returns the exit status of the error. */
int print_error(const struct atw_err *err);
/* Reports that memory ran out. */
int print_nomem(void);
/* The same as wrong usage of a command, with its --help in place of the hint. */
int usage_error_of(const char *command, const struct atw_err *err);
/* The hint of an error, or what is known of its remedy; or "". */
const char *error_hint(const struct atw_err *err);
/* The effect of giving a parameter (enum atw_param): "--top N shows more"; or "". */
const char *param_remedy(int param);
/* The exit status for the status of an error. */
int exit_status(int status);
int usage_error(const char *command, const char *fmt, ...) ATW_PRINTF(2, 3);
/*
 * Why the exit status is EXIT_PARTIAL: -q does not silence it. Every command that ends with
 * this status has written at least one such line, or an error.
 */
void print_incomplete(const char *fmt, ...) ATW_PRINTF(1, 2);
/*
 * From here on errors about usage begin with `origin`, "FILE:LINE"; NULL: no longer.
 * diagnostics_first(): the first error since then that was printed, or "".
 */
void diagnostics_from(const char *origin);
/* Errors about a parameter, an enum atw_param, begin with `name` instead of its option. */
void diagnostics_name(int param, const char *name);
/* Was a command line wrong since then, whatever the source is? */
bool diagnostics_misused(void);
const char *diagnostics_first(void);
/*
 * Until (false), a warning or an error about a source is printed once: for a command that
 * runs others, each of which finds the same damage.
 */
void diagnostics_once(bool once);
/*
 * Until (false), nothing is printed: for a command that is run for its columns alone. Calls
 * nest, as commands do.
 */
void diagnostics_silence(bool silent);
bool diagnostics_are_silent(void);
/* Until (NULL, 0), --root and --kernel are no remedy unless they are among these options. */
void diagnostics_of_options(const struct opt_set *sets, size_t n);
/* A query is answered: what an option would do is a constraint of it. */
void diagnostics_of_query(bool query);
bool diagnostics_are_of_query(void);
/* Since that: was an error printed that a constraint of the query would remedy? */
bool diagnostics_query_lacks(void);
/* Prints a warning, or other information, unless -q is given. */
void print_warning(const struct common *c, const char *fmt, ...) ATW_PRINTF(2, 3);

/* ---- words that name files ---- */

/* Can the word be a SOURCE? Without "live" and special characters it is a file that exists. */
bool is_source_word(const char *word);
/* -o must not be the source. Prints errors. */
int check_output(const struct common *c, const char *name);

/* ---- rows ---- */

/* Does anything the user typed name the column? Nothing typed is the usual ones. */
bool asks_for(const struct common *c, const char *column);
/* The word of the format, as --format has it. */
const char *format_word(const struct common *c);
/* Is it a format of the program, of rows or of pictures? */
bool format_is_own(const char *word);
/*
 * Why the word is no format, of a command that takes these OPT_COMMON groups; `more`: what
 * follows the list of its formats.
 */
void format_unknown(unsigned taken, const char *word, const char *more, char *why,
		    size_t why_len);
/* Threads to use beside this one. false: --jobs is not a number of CPUs. */
bool threads_to_use(const struct common *c, unsigned *ret, struct atw_err *err);
/* The options about rows; pages are of 4 KiB. */
void rows_opts(const struct common *c, struct atw_output_opts *ret);
/*
 * The end of a listing that came to `r`: what was seen is written, what is wrong
 * said, `out` closed (NULL is fine, if r < 0). Returns `status`, or what became
 * of it. After ATW_E_LIMIT what was seen whole is still an answer.
 */
int output_end(struct atw_output *out, int r, int status, struct atw_err *err);

/* ---- option_groups.c ---- */

enum { COMMON_SETS = 10 };

/* Sets for a command that takes these OPT_COMMON groups; the other sets are refused. */
void common_sets(unsigned taken, struct common *c, struct opt_set ret[COMMON_SETS]);
