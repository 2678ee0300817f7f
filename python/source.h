/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - a source that Python has opened, and how its rows become tables. */
#ifndef PYTHON_SOURCE_H
#define PYTHON_SOURCE_H

#include "table.h"

#include <atwalk/atwalk.h>

struct source {
	PyObject_HEAD
	struct atw_target *target;
	PyObject *path;
	bool busy;              /* a call runs without the GIL */
};

/* A walk without the GIL, which looks for signals every 20 ms. */
struct gather {
	struct source *source;
	struct table *table;
	PyObject *progress;
	PyThreadState *thread;
	uint64_t next;          /* nanoseconds */
	bool stop;              /* an exception is set */
};

struct module *source_module(struct source *source);
/* Raise the exception for an error. Returns NULL. */
PyObject *source_raise(struct module *module, const struct atw_err *err, PyObject *rows);
/* Reserve the source for this thread. Returns false with an exception. */
bool source_enter(struct source *source);
void source_leave(struct source *source);
/* Space of a process: pid is None (the kernel), a number, or a name. */
int source_space(struct source *source, PyObject *pid, struct atw_space **ret,
		 struct atw_err *err);

bool gather_begin(struct gather *gather, struct source *source, struct table *table,
		  PyObject *progress);
/* Returns false if the walk has to stop. */
bool gather_go_on(struct gather *gather);
/* The table, or NULL with an exception; r is what the cursor returned last. */
PyObject *gather_end(struct gather *gather, int r, const struct atw_err *err);

PyObject *source_tasks(PyObject *self, PyObject *args);
PyObject *source_vmas(PyObject *self, PyObject *args);
PyObject *source_pages(PyObject *self, PyObject *args);
PyObject *source_frames(PyObject *self, PyObject *args);
PyObject *source_map(PyObject *self, PyObject *args);
PyObject *source_find(PyObject *self, PyObject *args);
PyObject *source_report(PyObject *self, PyObject *args);
PyObject *source_translate(PyObject *self, PyObject *args);
PyObject *source_translate_many(PyObject *self, PyObject *args);

/* Names of enum atw_state, as the column state has them. */
const char *source_state(uint32_t state);

#endif
