/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_plugins.c - what others add to atwalk, and why one is not used. */
#include "common/plugins.h"
#include "programs.h"
#include "base/message.h"

enum { G_NAME, G_KIND, G_STATE, G_VERSION, G_HELP, G_FORMATS, G_SOURCES, G_PATH, G_WHY, G_COUNT };
enum { STATE_USED, STATE_AVAILABLE, STATE_UNUSED };

static const char *const states[] = { "used", "available", "unused" };
static const struct atw_names state_names = { 3, states, NULL };

static const struct atw_column columns[G_COUNT] = {
	[G_NAME] = COLUMN("name", TEXT, 15, "its name: atwalk NAME, or --plugin NAME"),
	[G_KIND] = COLUMN("kind", TEXT, 16, "command: a program atwalk-NAME in PATH; annotator, report, sink, source: what a shared object has"),
	[G_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 9, .names = &state_names,
		      .help = "used; available: by --plugin; or unused" },
	[G_VERSION] = COLUMN("version", TEXT, 7, "of a shared object", .hidden = true),
	[G_HELP] = COLUMN("help", TEXT, 40, "what a shared object is for", .hidden = true),
	[G_FORMATS] = COLUMN("formats", TEXT, 16, "formats that a shared object has: --format", .hidden = true),
	[G_SOURCES] = COLUMN("sources", TEXT, 16, "sources that a shared object has: SOURCE is NAME:TEXT", .hidden = true),
	[G_PATH] = COLUMN("path", TEXT, 40, "its file"),
	[G_WHY] = COLUMN("why", TEXT, 0, "why it is not used"),
};
static const struct atw_schema schema = { "plugins", columns, G_COUNT };

struct plugins_list {
	const struct common *c;
	struct atw_output *out;
	struct buf names;        /* of shared objects in folders, each with a NUL */
	struct atw_err err;
};

/* `note`: NULL for a program. */
static int plugins_put(struct plugins_list *g, const char *name, const char *kind, unsigned state,
		       const struct plugin_note *note, const char *path, const char *why)
{
	const union atw_value v[G_COUNT] = {
		[G_NAME].s = name, [G_KIND].s = kind, [G_STATE].u = state,
		[G_VERSION].s = note ? note->version : NULL,
		[G_HELP].s = note ? note->help : NULL,
		[G_FORMATS].s = note ? note->formats : NULL,
		[G_SOURCES].s = note ? note->sources : NULL, [G_PATH].s = path, [G_WHY].s = why,
	};
	struct atw_row row = { v, 1 << G_STATE | 1 << G_PATH | 1 << G_NAME };

	row.have |= (kind && *kind ? 1 << G_KIND : 0) | (note && *note->version ? 1 << G_VERSION : 0) |
		    (note && *note->help ? 1 << G_HELP : 0) |
		    (note && *note->formats ? 1 << G_FORMATS : 0) |
		    (note && *note->sources ? 1 << G_SOURCES : 0) |
		    (why ? 1 << G_WHY : 0);
	return atw_output_row(g->out, &row, &g->err);
}

static int plugins_program(void *arg, const struct plugin_program *p)
{
	return plugins_put(arg, p->name, "command", p->why ? STATE_UNUSED : STATE_USED, NULL,
			   p->path, p->why);
}

/* ---- shared objects ---- */

/* Does an option or the configuration name it, by name or by path? */
static bool plugins_is_named(const struct plugins_list *g, const char *name, const char *path)
{
	for (size_t i = 0; i < g->c->plugin.n; i++) {
		const char *word = g->c->plugin.v[i];
		size_t len = plugins_word_len(word);
		const char *what = plugins_is_path(word) ? path : name;

		if (strlen(what) == len && !memcmp(what, word, len))
			return true;
	}
	return false;
}

/* The first of a name is used. */
static bool plugins_is_second(const struct plugins_list *g, const char *name)
{
	for (size_t at = 0; at < g->names.len; at += strlen(g->names.data + at) + 1)
		if (!strcmp(g->names.data + at, name))
			return true;
	return false;
}

static int plugins_file(void *arg, const char *path, const struct plugin_note *note,
			const struct atw_err *why)
{
	struct plugins_list *g = arg;
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	size_t len = strlen(file);
	_auto_free char *name = strndup(file, len > 3 && !strcmp(file + len - 3, ".so") ? len - 3 : len);
	unsigned state = STATE_AVAILABLE;
	char kinds[64];
	const char *text = why ? why->text : NULL;

	if (!name)
		return atw_err_nomem(&g->err);
	if (!text && plugins_is_second(g, name) && !plugins_is_named(g, "", path))
		text = _("another one of this name is in front of it");
	if (text)
		state = STATE_UNUSED;
	else if (plugins_is_named(g, name, path))
		state = STATE_USED;
	if (!text)
		buf_keep(&g->names, name, strlen(name));
	plugin_kinds_text(note->kinds, kinds);
	return plugins_put(g, name, kinds, state, note, path, text);
}

static int plugins_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct plugins_list g = { .c = c };
	struct atw_output_opts oo;
	int r;

	if (argc)
		return usage_error("plugins", "'%.64s': there is nothing to choose", argv[0]);
	rows_opts(c, &oo);
	oo.ahead = true;
	r = atw_output_open(&oo, &schema, &g.out, &g.err);
	if (r == ATW_OK) {
		r = programs_each(plugins_program, &g, &g.err);
		if (r == ATW_E_PERM) {
			print_warning(c, "%s", g.err.text);
			r = ATW_OK;
		}
	}
	r = r ?: plugins_each(c, plugins_file, &g, &g.err);
	buf_deinit(&g.names);
	return output_end(g.out, r, EXIT_COMPLETE, &g.err);
}

const struct command cmd_plugins = {
	.name = "plugins",
	.args = "",
	.summary = "list what others add to atwalk",
	.about =
		"Lists programs atwalk-NAME in the folders of PATH: atwalk NAME runs them with\n"
		"the words behind NAME. Lists shared objects NAME.so in the folders of plugins:\n"
		"--plugin NAME uses what they add. None is started or loaded for this.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_PLUGIN_FILES |
		  OPT_COMMON_SENTENCES,
	.opts_size = 1,
	.run = plugins_run,
};
