/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - shared objects that add to the program: their files, checked before anything is
 * loaded, and what they have, checked before it is used. Of the program alone.
 */
#pragma once

#include "format/plugin_note.h"
#include "output/annotate.h"
#include "output/plugin_sink.h"

/* The file of a plugin. Zeroed, with fd -1: none. */
struct plugin_file {
	char *path;
	int fd;
	struct plugin_note note;
};

/*
 * Opens a file and checks it: a regular file, not a symbolic link; the file and its folder
 * belong to root or to this user and may be written by their owner alone (`trusted`: belong
 * to root); its note. Nothing of it runs. On failure ret->note has what could be read, and
 * the rest is empty.
 */
int plugin_file_open(const char *path, bool trusted, struct plugin_file *ret,
		     struct atw_err *err);
void plugin_file_close(struct plugin_file *f);

/* A report of a plugin, checked. */
struct plugin_report {
	struct atw_plugin_report of;
	struct plugin_columns in, out;
};

/* A source or a target of a plugin, checked. */
struct plugin_device {
	struct atw_plugin_source of;     /* of a target: name, help and flags alone */
	struct atw_plugin_target target; /* of a source: zero */
	const char *plugin;      /* its name */
	void *instance;
	const char *magic;       /* of the note: of all its sources */
};

struct plugin {
	char name[32];           /* that of its note */
	char magic[256];         /* likewise */
	const struct atw_host *host;
	struct atw_plugin of;    /* what it does not have is zero */
	void *instance;
	bool started;
	bool annotates;
	struct annotator annotator;
	struct plugin_report *report;
	size_t nreports, reports_cap;
	struct plugin_sink *sink;
	size_t nsinks, sinks_cap;
	struct plugin_device *device;
	size_t ndevices, devices_cap;
};

/*
 * Loads and starts it. `f` stays open as long as this process: the C library knows what it
 * loaded by the name /proc/self/fd/N.
 */
int plugin_load(struct plugin_file *f, const struct atw_host *host, const char *options,
		struct plugin *ret, struct atw_err *err);
/* Zeroed is accepted. Its code stays in memory. */
void plugin_stop(struct plugin *p);
