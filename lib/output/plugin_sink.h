/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_sink.h - formats of output that plugins have, as sinks of the pipeline. */
#pragma once

#include <atwalk/plugin.h>
#include "output/sink.h"

/* The sink of a plugin, checked. */
struct plugin_sink {
	struct atw_sink_ops ops; /* first, so that it leads to the rest: for the pipeline */
	const char *plugin;      /* its name */
	void *instance;
	struct atw_plugin_sink of;
};

/* Sets the operations of one whose other members are set. */
void plugin_sink_init(struct plugin_sink *s);
/* What a plugin calls to write: see struct atw_host. */
int plugin_stream_write(struct atw_plugin_stream *to, const void *data, size_t len,
			struct atw_err *err);
