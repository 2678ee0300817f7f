/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins.h - plugins that --plugin and [output] plugin name: found, loaded, started. */
#pragma once

#include "command.h"
#include "host/plugin.h"
#include "source/plugged.h"

struct plugins {
	struct atw_host host;    /* first: what plugins get */
	const struct common *c;
	struct plugin **v;
	size_t n, cap;
	struct annotator *annotators;    /* of those that have one */
	size_t nannotators;
	struct plugin_source *source;    /* of all of them */
	struct added_sources sources;
	const struct command *cmd;
	uint32_t kinds;          /* enum atw_plugin_kind: what the command uses of them */
	struct buf inputs;       /* the columns that annotators need, separated by commas */
};

/* Where a report's rows and remarks go. */
struct atw_plugin_output {
	struct atw_output *out;
	const struct plugin *plugin;
	const struct plugin_report *report;
	bool incomplete;
};

/*
 * Loads what c->plugin has, into c->plugins, and sets what the command uses of it. Prints
 * errors; 0 or an exit status.
 */
int plugins_begin(struct common *c, const struct command *cmd);
void plugins_end(struct common *c);
/* What --plugin is given: does the word name a file, and how long is it without options? */
bool plugins_is_path(const char *word);
static inline size_t plugins_word_len(const char *word)
{
	return strcspn(word, ":");
}
/* The report of that name, and its plugin; NULL: none of those loaded has it. */
const struct plugin_report *plugins_report(const struct common *c, const char *name,
					   const struct plugin **plugin);

/* Names of one kind that a plugin has: of its formats, or of its sources and targets. */
struct plugins_names {
	const char *(*at)(const struct plugin *p, size_t i);    /* NULL past the end */
	bool (*own)(const char *name);                          /* does the program have it? */
};
/*
 * The first name of the plugin that the program or one that is loaded has, or that it has twice;
 * NULL: none. *ret is the plugin that has it, or NULL: the program.
 */
const char *plugins_clash(const struct plugins *g, const struct plugin *p,
			  const struct plugins_names *names, const struct plugin **ret);

/* ---- plugins_formats.c ---- */

/* The format of a plugin that --format names. Prints errors: none of those loaded has it. */
int plugins_choose_format(struct common *c, const struct command *cmd);
int plugins_check_sinks(const struct plugins *g, const struct plugin *p, struct atw_err *err);
/* Prints the formats of plugins. */
void plugins_help(const struct common *c);

/* ---- plugins_sources.c ---- */

int plugins_check_sources(const struct plugins *g, const struct plugin *p, struct atw_err *err);
/* Collects those of all that are loaded. */
int plugins_take_sources(struct plugins *g, struct atw_err *err);
/* A SOURCE that cannot be opened may be one of a plugin that is not loaded: a hint says so. */
void plugins_hint_source(const struct common *c, const char *name, struct atw_err *err);

/* ---- files, none of which is loaded ---- */

enum plugins_which { PLUGINS_FORMATS, PLUGINS_SOURCES };
typedef void plugins_word_fn(void *arg, const char *word);
/* Names in the notes of those that `words` of --plugin name. */
void plugins_each_name(const struct opt_list *words, enum plugins_which which, plugins_word_fn *fn,
		       void *arg);

typedef int plugins_file_fn(void *arg, const char *path, const struct plugin_note *note,
			    const struct atw_err *why);
/*
 * Each file NAME.so in the folders of plugins, and each that c->plugin names by its path;
 * `why` is the reason why it is refused, or NULL.
 */
int plugins_each(const struct common *c, plugins_file_fn *fn, void *arg, struct atw_err *err);
