/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins_formats.c - formats of output that plugins have. */
#include "base/message.h"
#include "config.h"
#include "plugins.h"

/* One of a plugin that is loaded; NULL: none has it. */
static const struct plugin_sink *plugins_find_sink(const struct plugins *g, const char *format)
{
	for (size_t i = 0; g && i < g->n; i++)
		for (size_t k = 0; k < g->v[i]->nsinks; k++)
			if (!strcmp(g->v[i]->sink[k].of.name, format))
				return &g->v[i]->sink[k];
	return NULL;
}

static const char *plugins_sink_name(const struct plugin *p, size_t i)
{
	return i < p->nsinks ? p->sink[i].of.name : NULL;
}

int plugins_check_sinks(const struct plugins *g, const struct plugin *p, struct atw_err *err)
{
	static const struct plugins_names sinks = { plugins_sink_name, format_is_own };
	const struct plugin *other;
	const char *name = plugins_clash(g, p, &sinks, &other);

	if (!name)
		return ATW_OK;
	return other ? atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it has the format '%.40s', which plugin %s has", name, other->name)
		     : atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it has the format '%.40s', which atwalk has itself", name);
}

/* A plugin that is not loaded and has what was looked for in its note. */
struct plugins_wanted {
	const char *word;
	char name[32];           /* empty: there is none */
};

static int plugins_formats_file(void *arg, const char *path, const struct plugin_note *note,
				const struct atw_err *why)
{
	struct plugins_wanted *w = arg;

	if (!why && !w->name[0] && plugin_list_has(note->formats, w->word))
		snprintf(w->name, sizeof(w->name), "%s", note->name);
	return ATW_OK;
}

/* The format was a default of a file: the error names its line. */
static const struct config_entry *plugins_format_entry(const struct common *c)
{
	for (size_t i = 0; c->config && i < c->config->n; i++)
		if (c->config->v[i].value == c->other_format)
			return &c->config->v[i];
	return NULL;
}

static int plugins_no_format(const struct common *c, const struct command *cmd)
{
	struct plugins_wanted w = { .word = c->other_format };
	const struct config_entry *e = plugins_format_entry(c);
	struct buf more = { 0 };
	struct atw_err err = { 0 };
	char why[400];
	int status;

	for (size_t i = 0; c->plugins && i < c->plugins->n; i++)
		for (size_t k = 0; k < c->plugins->v[i]->nsinks; k++)
			buf_printf(&more, "|%s", c->plugins->v[i]->sink[k].of.name);
	if (cmd->common & OPT_COMMON_PLUGINS)
		plugins_each(c, plugins_formats_file, &w, &err);
	if (w.name[0])
		buf_printf(&more, _("; did you mean --plugin %s --format %s?"), w.name, w.word);
	format_unknown(cmd->common, c->other_format, more.data ? more.data : "", why, sizeof(why));
	status = e ? config_wrong(e, why, NULL) : usage_error(cmd->name, "%s", why);
	buf_deinit(&more);
	return status;
}

int plugins_choose_format(struct common *c, const struct command *cmd)
{
	const struct plugin_sink *s;

	if (c->format != FORMAT_SINK)
		return EXIT_COMPLETE;
	s = plugins_find_sink(c->plugins, c->other_format);
	if (!s)
		return plugins_no_format(c, cmd);
	c->sink = &s->ops;
	return EXIT_COMPLETE;
}

void plugins_help(const struct common *c)
{
	const struct plugins *g = c->plugins;
	bool any = false;

	for (size_t i = 0; g && i < g->n; i++)
		for (size_t k = 0; k < g->v[i]->nsinks; k++) {
			if (!any)
				printf("\n%s\n", _("formats of plugins:"));
			any = true;
			printf("  %-26s %s\n", g->v[i]->sink[k].of.name,
			       g->v[i]->sink[k].ops.help);
		}
}
