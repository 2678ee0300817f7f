/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - a source that Python has opened. */
#pragma once

#include "table.h"

#include <atwalk/atwalk.h>

struct source {
	PyObject_HEAD
	struct atw_target *target;
	bool busy;              /* a call runs */
	bool abandoned;         /* and was interrupted */
	bool closing;           /* as soon as that ends */
};

struct module *source_module(struct source *source);
/* Raise the exception for an error. Returns NULL. */
PyObject *source_raise(struct module *module, const struct atw_err *err, PyObject *rows);
/*
 * Reserve the source for a call; one that was interrupted is waited for. Returns false with
 * an exception.
 */
bool source_enter(struct source *source);
void source_leave(struct source *source);

/* Before tables are made. */
void walks_init(void);
PyObject *source_tasks(PyObject *self, PyObject *args);
PyObject *source_vmas(PyObject *self, PyObject *args);
PyObject *source_pages(PyObject *self, PyObject *args);
PyObject *source_frames(PyObject *self, PyObject *args);
PyObject *source_map(PyObject *self, PyObject *args);
PyObject *source_find(PyObject *self, PyObject *args);
PyObject *source_symbol(PyObject *self, PyObject *args);
PyObject *source_symbols(PyObject *self, PyObject *args);
PyObject *source_report(PyObject *self, PyObject *args);
PyObject *source_translate(PyObject *self, PyObject *args);
PyObject *source_translate_many(PyObject *self, PyObject *args);

/* Names of enum atw_state, as the column state has them. */
const char *source_state(uint32_t state);
