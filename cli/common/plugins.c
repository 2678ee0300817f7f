/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins.c - plugins that the user named: found, loaded, started. */
#include "plugins.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/auxv.h>

#include "base/bytes.h"
#include "base/message.h"
#include "config.h"
#include "host/host.h"

/* Seen from the folder of the program; the Makefile knows LIBDIR. */
#ifndef PLUGINS_FOLDER
#define PLUGINS_FOLDER "../lib/atwalk/plugins"
#endif

/* ---- what plugins may call ---- */

ATW_PRINTF(3, 4) static int plugins_error(struct atw_err *err, int status, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return atw_err_set(err, status, "%s", text);
}

ATW_PRINTF(2, 3) static void plugins_warn(const struct atw_host *host, const char *fmt, ...)
{
	const struct plugins *g = (const struct plugins *)host;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print_warning(g->c, "%s", text);
}

static int plugins_row(struct atw_plugin_output *out, const union atw_cell *cell, uint64_t known,
		       struct atw_err *err)
{
	const struct plugin_columns *col = &out->report->out;
	union atw_value v[ATW_PLUGIN_COLUMNS];
	struct atw_row row = { .v = v };

	for (size_t i = 0; i < col->n; i++) {
		if (!(known >> i & 1) || !batch_value_is_valid(&col->v[i], &cell[i]))
			continue;
		memcpy(&v[i], &cell[i], sizeof(v[i]));
		row.have |= UINT64_C(1) << i;
	}
	return atw_output_row(out->out, &row, err);
}

ATW_PRINTF(2, 3) static void plugins_note(struct atw_plugin_output *out, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	atw_output_note(out->out, "%s", text);
}

ATW_PRINTF(2, 3)
static void plugins_incomplete(struct atw_plugin_output *out, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->incomplete = true;
	atw_output_note(out->out, "%s", text);
	print_incomplete("report %s: %s", out->report->of.name, text);
}

/* ---- folders ---- */

enum { PLUGINS_FOLDERS = 3 };

/*
 * The library's; that of a build, which is not installed; and that of the configuration.
 * false: there is no folder of this number. `trusted`: it must belong to root.
 */
static bool plugins_folder(const struct common *c, size_t i, char ret[4300], bool *trusted)
{
	static const char *const own[] = { PLUGINS_FOLDER, "plugins" };
	const struct config_entry *e = c->config ? config_find(c->config, "plugins", "folder") : NULL;
	bool secure = getauxval(AT_SECURE);
	char program[4096];

	*trusted = secure;
	if (i < ARRAY_SIZE(own)) {
		if ((i && secure) || !host_program_folder(program, sizeof(program)))
			return false;
		snprintf(ret, 4300, "%s/%s", program, own[i]);
		return true;
	}
	if (secure || !e || !*e->value || strlen(e->value) > 4000)
		return false;
	snprintf(ret, 4300, "%s", e->value);
	return true;
}

/* ---- opening ---- */

/* A word is a name, or a file with a slash; options follow a colon. */
bool plugins_is_path(const char *word)
{
	return memchr(word, '/', plugins_word_len(word));
}

static int plugins_open_name(const struct common *c, const char *name, struct plugin_file *ret,
			     struct atw_err *err)
{
	struct buf path = { 0 };
	char folder[4300];
	int r = ATW_E_MISSING;
	bool trusted;

	if (!plugin_name_is_valid(name))
		return atw_err_set(err, ATW_E_USAGE,
				   "'%.64s' is neither a name nor a file with a slash", name);
	for (size_t i = 0; i < PLUGINS_FOLDERS && r == ATW_E_MISSING; i++) {
		if (!plugins_folder(c, i, folder, &trusted))
			continue;
		path.len = 0;
		buf_printf(&path, "%s/%s.so", folder, name);
		if (path.failed)
			r = atw_err_nomem(err);
		else if (!access(path.data, F_OK))
			r = plugin_file_open(path.data, trusted, ret, err);
		else if (errno != ENOENT && errno != ENOTDIR)
			r = atw_err_set(err, ATW_E_PERM, "%s: %s", path.data, strerror(errno));
		if (r < 0 && r != ATW_E_NOMEM && !access(path.data, F_OK)) {
			atw_err_wrap(err, "%s", path.data);
			buf_deinit(&path);
			return r;
		}
	}
	buf_deinit(&path);
	if (r == ATW_E_MISSING) {
		atw_err_set(err, r, "there is no plugin '%.40s'", name);
		atw_err_hint_command(err, "this lists them", "atwalk plugins");
	}
	return r;
}

static int plugins_open(const struct common *c, const char *word, struct plugin_file *ret,
			struct atw_err *err)
{
	_auto_free char *name = strndup(word, plugins_word_len(word));
	int r;

	if (!name)
		return atw_err_nomem(err);
	if (!plugins_is_path(word))
		return plugins_open_name(c, name, ret, err);
	if (getauxval(AT_SECURE))
		return atw_err_set(err, ATW_E_PERM,
				   "%s: not used: this program has more rights than its caller", name);
	r = plugin_file_open(name, false, ret, err);
	if (r < 0)
		atw_err_wrap(err, "%s", name);
	return r;
}

/* ---- loading ---- */

const char *plugins_clash(const struct plugins *g, const struct plugin *p,
			  const struct plugins_names *names, const struct plugin **ret)
{
	const char *name, *other;

	for (size_t i = 0; (name = names->at(p, i)); i++) {
		*ret = NULL;
		if (names->own(name))
			return name;
		for (size_t k = 0; k <= g->n; k++) {
			*ret = k < g->n ? g->v[k] : p;
			/* Of itself, those before this one. */
			for (size_t at = 0; (other = names->at(*ret, at)) && (*ret != p || at < i); at++)
				if (!strcmp(name, other))
					return name;
		}
	}
	return NULL;
}

static void plugins_add_inputs(struct buf *b, const struct plugin_columns *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (!(in->v[i].flags & ATW_INPUT_OPTIONAL))
			buf_printf(b, ",%s", in->v[i].name);
}

static int plugins_load(struct plugins *g, const char *word, bool lenient, struct atw_err *err)
{
	const char *colon = strchr(word, ':');
	struct plugin_file f = { .fd = -1 };
	char named[64];
	struct plugin *p;
	int r;

	if (!ARRAY_ROOM(g->v, g->n, g->cap))
		return atw_err_nomem(err);
	r = plugins_open(g->c, word, &f, err);
	if (r < 0)
		return r;
	if (!(f.note.kinds & g->kinds)) {
		/* A default of a file is for other commands, then. */
		if (!lenient)
			r = atw_err_set(err, ATW_E_USAGE, "%s: it has nothing that '%s' uses",
					f.path, g->cmd->name);
		plugin_file_close(&f);
		return r;
	}
	p = calloc(1, sizeof(*p));
	r = p ? plugin_load(&f, &g->host, colon ? colon + 1 : NULL, p, err) : atw_err_nomem(err);
	if (r == ATW_OK) {
		r = plugins_check_sinks(g, p, err) ?: plugins_check_sources(g, p, err);
		if (r < 0)
			plugin_stop(p);
	}
	snprintf(named, sizeof(named), _("plugin %s"), f.note.name);
	if (r < 0 && p && !text_begins(err->text, named))
		atw_err_wrap(err, "%s", f.path);
	plugin_file_close(&f);
	if (r < 0) {
		free(p);
		return r;
	}
	p->annotator.lenient = lenient;
	g->v[g->n++] = p;
	return ATW_OK;
}

static int plugins_begin_all(struct plugins *g, struct atw_err *err)
{
	const struct opt_list *words = &g->c->plugin;
	int r = ATW_OK;

	g->annotators = calloc(words->n, sizeof(*g->annotators));
	if (!g->annotators)
		return atw_err_nomem(err);
	for (size_t i = 0; i < words->n && r == ATW_OK; i++) {
		/* An empty word cancels those of the configuration. */
		if (!*words->v[i])
			continue;
		r = plugins_load(g, words->v[i], i < g->c->plugins_of_config, err);
	}
	for (size_t i = 0; i < g->n && r == ATW_OK; i++)
		if (g->v[i]->annotates && g->kinds & ATW_PLUGIN_ANNOTATOR) {
			g->annotators[g->nannotators++] = g->v[i]->annotator;
			plugins_add_inputs(&g->inputs, &g->v[i]->annotator.in);
		}
	if (r == ATW_OK && g->inputs.failed)
		r = atw_err_nomem(err);
	return r < 0 ? r : plugins_take_sources(g, err);
}

int plugins_begin(struct common *c, const struct command *cmd)
{
	struct atw_err err = { 0 };
	struct plugins *g;

	if (!c->plugin.n)
		return EXIT_COMPLETE;
	g = calloc(1, sizeof(*g));
	if (!g)
		return print_nomem();
	g->c = c;
	g->cmd = cmd;
	g->kinds = cmd->common & OPT_COMMON_PLUGINS ? UINT32_MAX :
		   ATW_PLUGIN_SOURCE | ATW_PLUGIN_TARGET |
		   (cmd->common & OPT_COMMON_ROWS ? ATW_PLUGIN_SINK : 0);
	g->host = (struct atw_host){
		.size = sizeof(g->host), .abi = ATW_PLUGIN_ABI, .version = atw_version(),
		.error = plugins_error, .warn = plugins_warn, .row = plugins_row,
		.note = plugins_note, .incomplete = plugins_incomplete,
		.write = plugin_stream_write,
	};
	c->plugins = g;
	if (plugins_begin_all(g, &err) < 0)
		return print_error(&err);
	c->inputs = g->inputs.data;
	if (g->sources.n)
		c->sources = &g->sources;
	return EXIT_COMPLETE;
}

void plugins_end(struct common *c)
{
	struct plugins *g = c->plugins;

	for (size_t i = g ? g->n : 0; i-- > 0;) {
		plugin_stop(g->v[i]);
		free(g->v[i]);
	}
	if (g) {
		buf_deinit(&g->inputs);
		free(g->annotators);
		free(g->source);
		free(g->v);
		free(g);
	}
	c->plugins = NULL;
	c->inputs = NULL;
	c->sources = NULL;
}

const struct plugin_report *plugins_report(const struct common *c, const char *name,
					   const struct plugin **plugin)
{
	const struct plugins *g = c->plugins;

	for (size_t i = 0; g && i < g->n; i++)
		for (size_t k = 0; k < g->v[i]->nreports; k++)
			if (!strcmp(g->v[i]->report[k].of.name, name)) {
				*plugin = g->v[i];
				return &g->v[i]->report[k];
			}
	return NULL;
}

/* ---- lists ---- */

static int plugins_is_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 3 && !strcmp(e->d_name + n - 3, ".so");
}

static int plugins_look(const char *path, bool trusted, plugins_file_fn *fn, void *arg)
{
	struct plugin_file f;
	struct atw_err why = { 0 };
	int r = plugin_file_open(path, trusted, &f, &why), status;

	status = fn(arg, path, &f.note, r < 0 ? &why : NULL);
	plugin_file_close(&f);
	return status;
}

static int plugins_each_of(const char *folder, bool trusted, plugins_file_fn *fn, void *arg,
			   struct atw_err *err)
{
	struct dirent **v = NULL;
	int n = scandir(folder, &v, plugins_is_file, alphasort), r = ATW_OK;

	for (int i = 0; i < n; i++) {
		struct buf path = { 0 };

		buf_printf(&path, "%s/%s", folder, v[i]->d_name);
		if (r == ATW_OK)
			r = path.failed ? atw_err_nomem(err)
					: plugins_look(path.data, trusted, fn, arg);
		buf_deinit(&path);
		free(v[i]);
	}
	free(v);
	return r;
}

int plugins_each(const struct common *c, plugins_file_fn *fn, void *arg, struct atw_err *err)
{
	char folder[4300];
	bool trusted;
	int r = ATW_OK;

	for (size_t i = 0; i < PLUGINS_FOLDERS && r == ATW_OK; i++)
		if (plugins_folder(c, i, folder, &trusted))
			r = plugins_each_of(folder, trusted, fn, arg, err);
	for (size_t i = 0; i < c->plugin.n && r == ATW_OK; i++) {
		_auto_free char *path = NULL;

		if (!plugins_is_path(c->plugin.v[i]))
			continue;
		path = strndup(c->plugin.v[i], plugins_word_len(c->plugin.v[i]));
		r = path ? plugins_look(path, getauxval(AT_SECURE), fn, arg) : atw_err_nomem(err);
	}
	return r;
}

/* ---- for shells ---- */

struct plugins_offer {
	const struct opt_list *words;
	enum plugins_which which;
	plugins_word_fn *fn;
	void *arg;
};

/* Is it one of those that are named, by name or by path? */
static bool plugins_offers(const struct plugins_offer *o, const char *name, const char *path)
{
	for (size_t i = 0; i < o->words->n; i++) {
		const char *word = o->words->v[i], *what = plugins_is_path(word) ? path : name;
		size_t len = plugins_word_len(word);

		if (strlen(what) == len && !memcmp(what, word, len))
			return true;
	}
	return false;
}

static int plugins_offer_file(void *arg, const char *path, const struct plugin_note *note,
			      const struct atw_err *why)
{
	const struct plugins_offer *o = arg;
	const char *list = o->which == PLUGINS_FORMATS ? note->formats : note->sources;
	char word[sizeof(note->formats)];
	size_t len;

	if (why || !plugins_offers(o, note->name, path))
		return ATW_OK;
	for (const char *s = list; *s; s += len + (s[len] == ',')) {
		len = strcspn(s, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, s);
		o->fn(o->arg, word);
	}
	return ATW_OK;
}

void plugins_each_name(const struct opt_list *words, enum plugins_which which, plugins_word_fn *fn,
		       void *arg)
{
	struct plugins_offer o = { words, which, fn, arg };
	const struct common c = { .plugin = *words };
	struct atw_err err = { 0 };

	plugins_each(&c, plugins_offer_file, &o, &err);
}
