/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin.c - loading of plugins, and checks of what they have. */
#include "host/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/message.h"

/*
 * Reports, formats and sources of one plugin, and words that a report reads from; more is a
 * mistake.
 */
enum {
	PLUGIN_REPORTS = 64, PLUGIN_SINKS = 16, PLUGIN_SOURCES = 32, PLUGIN_WORDS = 16,
	PLUGIN_LONGEST = 4096,
};

/*
 * A struct of the plugin, which states its size and may be older or newer: what it lacks is
 * zero, and what this program does not know must be zero. `least`: what each has.
 */
static int plugin_copy(const void *from, size_t least, size_t known, void *ret, const char *what,
		       struct atw_err *err)
{
	const char *p = from;
	size_t size;

	if (!from)
		return atw_err_set(err, ATW_E_DAMAGED, "it has a %s that is NULL", what);
	memcpy(&size, from, sizeof(size));
	if (size < least || size > PLUGIN_LONGEST)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "it states %zu bytes as the size of a struct %s, which has %zu",
				   size, what, known);
	for (size_t i = known; i < size; i++)
		if (p[i])
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "it uses byte %zu of struct %s: it needs a newer atwalk", i, what);
	memset(ret, 0, known);
	memcpy(ret, from, size < known ? size : known);
	return ATW_OK;
}

/* The struct up to a member of it. */
#define UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define COPY(from, type, member, ret, err) \
	plugin_copy(from, UP_TO(struct type, member), sizeof(struct type), ret, #type, err)

static int plugin_lacks(const char *what, const char *member, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_DAMAGED, "its struct %s has no `%s`", what, member);
}

/* ---- columns ---- */

static bool plugin_names_are_valid(const struct atw_plugin_column *c)
{
	bool words = c->type == ATW_COLUMN_ENUM || c->type == ATW_COLUMN_FLAGS;

	return words ? c->names && c->nnames && (c->type == ATW_COLUMN_ENUM || c->nnames <= 64)
		     : !c->names && !c->nnames;
}

static int plugin_check_column(const struct atw_plugin_column *c, bool added,
			       struct atw_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if (!c->name || !*c->name || c->name[strspn(c->name, letters)] || strlen(c->name) > 40)
		return atw_err_set(err, ATW_E_DAMAGED, "'%.40s' is not a name of a column",
				   c->name ? c->name : "");
	if (c->type > ATW_COLUMN_CHANGE_BYTES || (added && !c->type))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "column '%s' has an unknown type (%u)",
				   c->name, c->type);
	if (c->flags & ~(added ? 0u : ATW_INPUT_OPTIONAL))
		return atw_err_set(err, ATW_E_UNSUPPORTED, "column '%s' has an unknown flag (0x%x)",
				   c->name, c->flags);
	if (added && !plugin_names_are_valid(c))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "column '%s' has names that do not fit its type", c->name);
	return ATW_OK;
}

static int plugin_columns_copy(const struct atw_plugin_column *const *from, bool added,
			       struct plugin_columns *ret, struct atw_err *err)
{
	int r = ATW_OK;

	ret->n = 0;
	for (size_t i = 0; from && from[i] && r == ATW_OK; i++) {
		if (i == ATW_PLUGIN_COLUMNS)
			return atw_err_set(err, ATW_E_DAMAGED, "it has more than %d columns",
					   ATW_PLUGIN_COLUMNS);
		r = COPY(from[i], atw_plugin_column, flags, &ret->v[i], err) ?:
		    plugin_check_column(&ret->v[i], added, err);
		for (size_t k = 0; k < i && r == ATW_OK; k++)
			if (!strcmp(ret->v[k].name, ret->v[i].name))
				r = atw_err_set(err, ATW_E_DAMAGED, "it has two columns '%s'",
						ret->v[i].name);
		ret->n = i + 1;
	}
	if (r == ATW_OK && added && !ret->n)
		r = atw_err_set(err, ATW_E_DAMAGED, "it adds no column");
	return r;
}

/* ---- what it has ---- */

static int plugin_get_annotator(struct plugin *p, struct atw_err *err)
{
	struct annotator *a = &p->annotator;
	const struct atw_annotator *from;
	int r;

	from = p->of.annotator ? p->of.annotator(p->instance) : NULL;
	if (!from)
		return ATW_OK;
	r = COPY(from, atw_annotator, rows, &a->of, err);
	if (r == ATW_OK && !a->of.rows)
		r = plugin_lacks("atw_annotator", "rows", err);
	r = r ?: plugin_columns_copy(a->of.inputs, false, &a->in, err) ?:
	    plugin_columns_copy(a->of.columns, true, &a->out, err);
	a->plugin = p->name;
	a->instance = p->instance;
	p->annotates = r == ATW_OK;
	return r;
}

static int plugin_check_report(struct plugin_report *d, struct atw_err *err)
{
	size_t n = 0;

	if (!d->of.name || !plugin_name_is_valid(d->of.name))
		return atw_err_set(err, ATW_E_DAMAGED, "'%.40s' is not a name of a report",
				   d->of.name ? d->of.name : "");
	if (!d->of.finish)
		return plugin_lacks("atw_plugin_report", "finish", err);
	if (d->of.from && !d->of.rows)
		return plugin_lacks("atw_plugin_report", "rows", err);
	while (d->of.from && d->of.from[n] && n < PLUGIN_WORDS)
		n++;
	if (d->of.from && (!n || n == PLUGIN_WORDS))
		return atw_err_set(err, ATW_E_DAMAGED, "report '%s' reads from no command", d->of.name);
	return plugin_columns_copy(d->of.inputs, false, &d->in, err) ?:
	       plugin_columns_copy(d->of.columns, true, &d->out, err);
}

static int plugin_get_reports(struct plugin *p, struct atw_err *err)
{
	const struct atw_plugin_report *from;
	int r = ATW_OK;

	while (r == ATW_OK && p->of.report &&
	       (from = p->of.report(p->instance, (uint32_t)p->nreports))) {
		struct plugin_report *d;

		if (p->nreports == PLUGIN_REPORTS)
			return atw_err_set(err, ATW_E_DAMAGED, "it has more than %d reports",
					   PLUGIN_REPORTS);
		if (!ARRAY_ROOM(p->report, p->nreports, p->reports_cap))
			return atw_err_nomem(err);
		d = &p->report[p->nreports];
		*d = (struct plugin_report){ 0 };
		r = COPY(from, atw_plugin_report, finish, &d->of, err) ?: plugin_check_report(d, err);
		p->nreports += r == ATW_OK;
	}
	return r;
}

static int plugin_check_sink(const struct plugin_sink *s, const char *formats,
			     struct atw_err *err)
{
	if (!s->of.name || !plugin_name_is_valid(s->of.name))
		return atw_err_set(err, ATW_E_DAMAGED, "'%.40s' is not a name of a format",
				   s->of.name ? s->of.name : "");
	if (s->of.flags & ~(uint32_t)ATW_SINK_BINARY || s->of.reserved)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "format '%.40s' has an unknown flag (0x%x): it needs a newer atwalk",
				   s->of.name, s->of.flags);
	if (!s->of.begin || !s->of.rows)
		return plugin_lacks("atw_plugin_sink", s->of.begin ? "rows" : "begin", err);
	if (!plugin_list_has(formats, s->of.name))
		return atw_err_set(err, ATW_E_DAMAGED, "its note does not have the format '%.40s'",
				   s->of.name);
	return ATW_OK;
}

static int plugin_get_sinks(struct plugin *p, const char *formats, struct atw_err *err)
{
	const struct atw_plugin_sink *from;
	int r = ATW_OK;

	while (r == ATW_OK && p->of.sink &&
	       (from = p->of.sink(p->instance, (uint32_t)p->nsinks))) {
		struct plugin_sink *s;

		if (p->nsinks == PLUGIN_SINKS)
			return atw_err_set(err, ATW_E_DAMAGED, "it has more than %d formats",
					   PLUGIN_SINKS);
		if (!ARRAY_ROOM(p->sink, p->nsinks, p->sinks_cap))
			return atw_err_nomem(err);
		s = &p->sink[p->nsinks];
		*s = (struct plugin_sink){ .plugin = p->name, .instance = p->instance };
		r = COPY(from, atw_plugin_sink, end, &s->of, err) ?:
		    plugin_check_sink(s, formats, err);
		if (r == ATW_OK)
			plugin_sink_init(s);
		p->nsinks += r == ATW_OK;
	}
	return r;
}

static int plugin_check_device(const struct plugin_device *d, const char *sources, bool target,
			       struct atw_err *err)
{
	const struct atw_plugin_source *s = &d->of;

	if (!s->name || !plugin_name_is_valid(s->name))
		return atw_err_set(err, ATW_E_DAMAGED, target ? "'%.40s' is not a name of a target"
				   : "'%.40s' is not a name of a source", s->name ? s->name : "");
	if (s->flags & ~(uint32_t)ATW_SOURCE_FILE || s->reserved)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   target ? "target '%.40s' has an unknown flag (0x%x): it needs a newer atwalk"
				   : "source '%.40s' has an unknown flag (0x%x): it needs a newer atwalk",
				   s->name, s->flags);
	if (!plugin_list_has(sources, s->name))
		return atw_err_set(err, ATW_E_DAMAGED,
				   target ? "its note does not have the target '%.40s'"
				   : "its note does not have the source '%.40s'", s->name);
	return ATW_OK;
}

static int plugin_take_source(struct plugin_device *d, const void *from, const char *sources,
			      struct atw_err *err)
{
	const struct atw_plugin_source *s = &d->of;
	int r = COPY(from, atw_plugin_source, read, &d->of, err);

	if (r == ATW_OK && (!s->open || !s->extent || !s->read))
		r = plugin_lacks("atw_plugin_source", !s->open ? "open" :
				 !s->extent ? "extent" : "read", err);
	return r ?: plugin_check_device(d, sources, false, err);
}

static int plugin_take_target(struct plugin_device *d, const void *from, const char *sources,
			      struct atw_err *err)
{
	const struct atw_plugin_target *t = &d->target;
	int r = COPY(from, atw_plugin_target, pages, &d->target, err);

	if (r == ATW_OK && (!t->open || !t->task || !t->area || !t->pages))
		r = plugin_lacks("atw_plugin_target", !t->open ? "open" : !t->task ? "task" :
				 !t->area ? "area" : "pages", err);
	d->of = (struct atw_plugin_source){
		.size = sizeof(d->of), .name = t->name, .help = t->help, .flags = t->flags,
		.reserved = t->reserved,
	};
	return r ?: plugin_check_device(d, sources, true, err);
}

typedef const void *plugin_device_fn(const struct plugin *p, uint32_t i);
typedef int plugin_take_fn(struct plugin_device *d, const void *from, const char *sources,
			   struct atw_err *err);

static const void *plugin_source_at(const struct plugin *p, uint32_t i)
{
	return p->of.source ? p->of.source(p->instance, i) : NULL;
}

static const void *plugin_target_at(const struct plugin *p, uint32_t i)
{
	return p->of.target ? p->of.target(p->instance, i) : NULL;
}

/* Appends them. */
static int plugin_get_devices(struct plugin *p, plugin_device_fn *at, plugin_take_fn *take,
			      const char *sources, struct atw_err *err)
{
	const void *from;
	int r = ATW_OK;

	for (uint32_t i = 0; r == ATW_OK && (from = at(p, i)); i++) {
		struct plugin_device *d;

		if (p->ndevices == PLUGIN_SOURCES)
			return atw_err_set(err, ATW_E_DAMAGED,
					   "it has more than %d sources and targets", PLUGIN_SOURCES);
		if (!ARRAY_ROOM(p->device, p->ndevices, p->devices_cap))
			return atw_err_nomem(err);
		d = &p->device[p->ndevices];
		*d = (struct plugin_device){ .plugin = p->name, .instance = p->instance,
					     .magic = p->magic };
		r = take(d, from, sources, err);
		p->ndevices += r == ATW_OK;
	}
	return r;
}

/* ---- loading ---- */

#if HAVE_PLUGINS

/* What the C library says begins with the name that it was given. */
static const char *plugin_reason(const char *name)
{
	const char *why = dlerror();

	if (!why)
		return _("the C library gives no reason");
	if (text_begins(why, name) && text_begins(why + strlen(name), ": "))
		why += strlen(name) + 2;
	return why;
}

static int plugin_check(const struct atw_plugin *from, const struct plugin_note *n,
			struct plugin *p, struct atw_err *err)
{
	int r;

	if (from->size != n->size || from->abi != n->abi)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "its atwalk_plugin (version %u, %zu bytes) contradicts its note (version %u, %u bytes)",
				   from->abi, from->size, n->abi, n->size);
	r = COPY(from, atw_plugin, stop, &p->of, err);
	if (r < 0)
		return r;
	if (p->of.flags)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it has unknown flags (0x%x): it needs a newer atwalk", p->of.flags);
	return p->of.start ? ATW_OK : plugin_lacks("atw_plugin", "start", err);
}

static int plugin_open(struct plugin_file *f, const struct atw_host *host, struct plugin *p,
		       struct atw_err *err)
{
	char path[64];
	void *handle, *symbol;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	/* From here on the file stays open. */
	if (handle)
		f->fd = -1;
	else
		return atw_err_set(err, ATW_E_FORMAT, "cannot load it: %s", plugin_reason(path));
	symbol = dlsym(handle, "atwalk_plugin");
	if (!symbol)
		return atw_err_set(err, ATW_E_DAMAGED, "cannot load it: %s", plugin_reason(path));
	p->host = host;
	snprintf(p->name, sizeof(p->name), "%s", f->note.name);
	snprintf(p->magic, sizeof(p->magic), "%s", f->note.magic);
	return plugin_check(symbol, &f->note, p, err);
}
#else
static int plugin_open(struct plugin_file *f, const struct atw_host *host, struct plugin *p,
		       struct atw_err *err)
{
	return atw_err_set(err, ATW_E_UNSUPPORTED, "this program is static and loads no plugins");
}
#endif

int plugin_load(struct plugin_file *f, const struct atw_host *host, const char *options,
		struct plugin *ret, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r;

	*ret = (struct plugin){ 0 };
	r = plugin_open(f, host, ret, &why);
	if (r == ATW_OK) {
		ret->instance = NULL;
		r = ret->of.start(host, options, &ret->instance, &why);
		ret->started = r == ATW_OK;
		if (r != ATW_OK)
			return atw_err_give(err, batch_result(r, ret->name, &why), &why);
	}
	r = r ?: plugin_get_annotator(ret, &why) ?: plugin_get_reports(ret, &why) ?:
	    plugin_get_sinks(ret, f->note.formats, &why) ?:
	    plugin_get_devices(ret, plugin_source_at, plugin_take_source, f->note.sources, &why) ?:
	    plugin_get_devices(ret, plugin_target_at, plugin_take_target, f->note.sources, &why);
	if (r == ATW_OK && !ret->annotates && !ret->nreports && !ret->nsinks && !ret->ndevices)
		r = atw_err_set(&why, ATW_E_DAMAGED, "it has nothing to use");
	if (r < 0)
		plugin_stop(ret);
	return atw_err_give(err, r, &why);
}

void plugin_stop(struct plugin *p)
{
	if (p->started && p->of.stop)
		p->of.stop(p->instance);
	free(p->report);
	free(p->sink);
	free(p->device);
	*p = (struct plugin){ 0 };
}
