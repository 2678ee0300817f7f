/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins_sources.c - sources of physical memory that plugins have. */
#include <fcntl.h>

#include "format/plugin_magic.h"
#include "plugins.h"
#include "target/target.h"

/* Does a SOURCE of the program begin with this name and a colon? */
static bool plugins_source_is_own(const char *name)
{
	const struct atw_source_ops *k;

	for (size_t i = 0; (k = atw_source_kind(i)); i++)
		if (!strcmp(k->name, name))
			return true;
	return !strcmp(target_capture_format.name, name);
}

/* The plugin that has a source of this name; NULL: none. */
static const struct plugin *plugins_source_owner(const struct plugins *g, const char *name)
{
	for (size_t i = 0; g && i < g->n; i++)
		for (size_t k = 0; k < g->v[i]->ndevices; k++)
			if (!strcmp(g->v[i]->device[k].of.name, name))
				return g->v[i];
	return NULL;
}

static const char *plugins_source_name(const struct plugin *p, size_t i)
{
	return i < p->ndevices ? p->device[i].of.name : NULL;
}

int plugins_check_sources(const struct plugins *g, const struct plugin *p, struct atw_err *err)
{
	static const struct plugins_names sources = { plugins_source_name, plugins_source_is_own };
	const struct plugin *other;
	const char *name = plugins_clash(g, p, &sources, &other);

	if (!name)
		return ATW_OK;
	return other ? atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it has the source '%.40s', which plugin %s has", name, other->name)
		     : atw_err_set(err, ATW_E_UNSUPPORTED,
				   "it has the source '%.40s', which atwalk has itself", name);
}

int plugins_take_sources(struct plugins *g, struct atw_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->v[i]->ndevices;
	if (!n)
		return ATW_OK;
	g->source = calloc(n, sizeof(*g->source));
	if (!g->source)
		return atw_err_nomem(err);
	n = 0;
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->v[i]->ndevices; k++)
			plugin_source_init(&g->source[n++], &g->v[i]->device[k]);
	g->sources = (struct added_sources){ g->source, n };
	return ATW_OK;
}

/* ---- hints ---- */

enum { PLUGINS_HEAD = 64 * 1024 };

struct plugins_hint {
	const struct common *c;
	const char *name;        /* SOURCE as it was typed */
	const char *head;        /* its first bytes, if it is a file */
	size_t len;
	char plugin[32];         /* that reads it; empty: none */
};

static int plugins_hint_file(void *arg, const char *path, const struct plugin_note *note,
			     const struct atw_err *why)
{
	struct plugins_hint *h = arg;
	char source[32];
	size_t len;

	if (why || h->plugin[0])
		return ATW_OK;
	for (const char *s = note->sources; *s && !h->plugin[0]; s += len + (s[len] == ',')) {
		len = strcspn(s, ",");
		snprintf(source, sizeof(source), "%.*s", (int)len, s);
		if (plugins_source_owner(h->c->plugins, source))
			continue;
		if ((!strncmp(h->name, source, len) && h->name[len] == ':') ||
		    (h->len && plugin_magic_matches(note->magic, source,
						    (struct atw_blob){ h->head, h->len })))
			snprintf(h->plugin, sizeof(h->plugin), "%s", note->name);
	}
	return ATW_OK;
}

void plugins_hint_source(const struct common *c, const char *name, struct atw_err *err)
{
	_auto_fd int fd = err->status == ATW_E_FORMAT ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	_auto_free char *head = fd < 0 ? NULL : malloc(PLUGINS_HEAD);
	ssize_t n = head ? pread(fd, head, PLUGINS_HEAD, 0) : 0;
	struct plugins_hint h = { .c = c, .name = name, .head = head, .len = n > 0 ? (size_t)n : 0 };
	struct atw_err none = { 0 };

	if ((err->status != ATW_E_FORMAT && err->status != ATW_E_MISSING) ||
	    (err->status == ATW_E_MISSING && !strchr(name, ':')))
		return;
	plugins_each(c, plugins_hint_file, &h, &none);
	if (h.plugin[0])
		atw_err_hint(err, "the plugin that reads such sources: --plugin %s", h.plugin);
}
