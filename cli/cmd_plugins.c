/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_plugins.c - what others add to atwalk, and why one is not used. */
#include "programs.h"

enum { G_NAME, G_KIND, G_STATE, G_PATH, G_WHY, G_COUNT };
enum { STATE_USED, STATE_UNUSED };

static const char *const states[] = { "used", "unused" };
static const struct atw_names state_names = { 2, states, NULL };

static const struct atw_column columns[G_COUNT] = {
	[G_NAME] = COLUMN("name", TEXT, 15, "its name: atwalk NAME runs it"),
	[G_KIND] = COLUMN("kind", TEXT, 7, "command: a program atwalk-NAME in PATH"),
	[G_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 6, .names = &state_names,
		      .help = "used, or unused" },
	[G_PATH] = COLUMN("path", TEXT, 40, "its file"),
	[G_WHY] = COLUMN("why", TEXT, 0, "why it is not used"),
};
static const struct atw_schema schema = { "plugins", columns, G_COUNT };

struct plugins {
	struct atw_output *out;
	struct atw_err err;
};

static int plugins_row(void *arg, const struct plugin_program *p)
{
	struct plugins *g = arg;
	const union atw_value v[G_COUNT] = {
		[G_NAME].s = p->name, [G_KIND].s = "command",
		[G_STATE].u = p->why ? STATE_UNUSED : STATE_USED, [G_PATH].s = p->path,
		[G_WHY].s = p->why,
	};
	const struct atw_row row = { v, (1 << G_COUNT) - 1 - (p->why ? 0 : 1 << G_WHY) };

	return atw_output_row(g->out, &row, &g->err);
}

static int plugins_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct plugins g = { .out = NULL };
	struct atw_output_opts oo;
	int r;

	if (argc)
		return usage_error("plugins", "'%.64s': there is nothing to choose", argv[0]);
	rows_opts(c, &oo);
	oo.ahead = true;
	r = atw_output_open(&oo, &schema, &g.out, &g.err);
	if (r == ATW_OK)
		r = programs_each(plugins_row, &g, &g.err);
	return output_end(g.out, r, EXIT_COMPLETE, &g.err);
}

const struct command cmd_plugins = {
	.name = "plugins",
	.args = "",
	.summary = "list what others add to atwalk",
	.about =
		"Lists programs atwalk-NAME in the folders of PATH: atwalk NAME runs them with\n"
		"the words behind NAME. None is started for this.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS,
	.opts_size = 1,
	.run = plugins_run,
};
