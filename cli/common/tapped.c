/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tapped.c - command lines of commands that are run for their rows or columns. */
#include "command.h"

bool command_takes(const struct command *cmd, const char *option)
{
	for (const struct opt *o = cmd->options; o && o->name; o++)
		if (!strcmp(o->name, option))
			return true;
	return false;
}

void command_arg(struct command_args *a, const char *word)
{
	if (!array_reserve((void **)&a->v, &a->cap, (size_t)a->n + 2, sizeof(*a->v))) {
		a->failed = true;
		return;
	}
	/* Words of a command line are not changed, though main() has them so. */
	a->v[a->n++] = (char *)(uintptr_t)word;
	a->v[a->n] = NULL;
}

void command_arg_option(struct command_args *a, const char *option, const char *value)
{
	if (!value)
		return;
	command_arg(a, option);
	command_arg(a, value);
}

void command_arg_common(struct command_args *a, const struct common *c)
{
	for (size_t i = 0; i < c->parts.n; i++)
		command_arg_option(a, "--part", c->parts.v[i]);
	command_arg_option(a, "--layout", c->layout);
	command_arg_option(a, "--rate", c->rate);
	command_arg_option(a, "--jobs", c->jobs);
	if (c->progress)
		command_arg(a, "--progress");
	command_arg(a, c->verbose ? "--verbose" : "--quiet");
}

void command_args_deinit(struct command_args *a)
{
	free(a->v);
	*a = (struct command_args){ 0 };
}

/* ---- columns ---- */

struct tapped_columns {
	command_columns_fn *fn;
	void *arg;
	bool known;
};

static int tapped_open(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct tapped_columns *t = arg;

	t->known = true;
	t->fn(t->arg, sc);
	/* What follows are rows. */
	return atw_err_set(err, ATW_E_USAGE, "the columns are known");
}

static int tapped_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	return ATW_OK;
}

bool command_columns(const struct command *cmd, const struct common *of, command_columns_fn *fn,
		     void *arg, int argc, char **argv)
{
	struct tapped_columns t = { .fn = fn, .arg = arg };
	const struct atw_tap tap = { .open = tapped_open, .row = tapped_row, .arg = &t };

	diagnostics_silence(true);
	command_tap(cmd, of, &tap, "", argc, argv);
	diagnostics_silence(false);
	return t.known;
}
