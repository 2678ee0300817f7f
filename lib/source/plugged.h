/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugged.h - sources and targets of plugins, as kinds of source. */
#pragma once

#include "host/plugin.h"
#include "source/source.h"

struct plugin_source {
	struct atw_source_ops ops;       /* first, so that it leads to the rest */
	const struct plugin_device *of;
};

/* Kinds of source besides those of the program. */
struct added_sources {
	const struct plugin_source *v;
	size_t n;
};

void plugin_source_init(struct plugin_source *ret, const struct plugin_device *of);
/* Does its note recognize the file by these first bytes? The plugin is not called. */
bool plugin_source_knows(const struct plugin_source *s, struct atw_blob head);
/* The target, if it is one: it has no memory, and lib/target opens it. `kind`: NULL is fine. */
const struct plugin_device *plugin_source_target(const struct atw_source_ops *kind);
static inline bool plugin_source_is_file(const struct plugin_source *s)
{
	return s->of->of.flags & ATW_SOURCE_FILE;
}
