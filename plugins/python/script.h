/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.h - annotators and reports that are classes of a script in Python. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atwalk/plugin.h>

enum { SCRIPT_REPORTS = 16, SCRIPT_WORDS = 15 };

/* What a class says it reads and adds. */
struct script_class {
	PyObject *class;
	struct atw_plugin_column in[ATW_PLUGIN_COLUMNS], out[ATW_PLUGIN_COLUMNS];
	const struct atw_plugin_column *inputs[ATW_PLUGIN_COLUMNS + 1], *outputs[ATW_PLUGIN_COLUMNS + 1];
	size_t nin, nout;
	const char *from[SCRIPT_WORDS + 1];
	struct atw_plugin_report report;
};

struct script {
	const struct atw_host *host;
	char *path;
	PyObject *module;
	PyObject *texts;         /* list of bytes that C points to */
	struct script_class annotator;
	struct atw_annotator of;
	bool annotates;
	struct script_class report[SCRIPT_REPORTS];
	size_t nreports;
};

/* A listing, with an instance of the class. */
struct script_state {
	const struct script *script;
	const struct script_class *of;
	PyObject *object;
	PyObject *kept;          /* list of bytes that cells point to */
	const struct atw_plugin_column *inputs[ATW_PLUGIN_COLUMNS];
};

/* ---- script.c ---- */

/* A text that stays valid as long as `list` has it; NULL: a Python error is set. */
const char *script_keep(PyObject *list, PyObject *text);
/* The Python error as an error of the plugin. */
int script_error(const struct script *s, struct atw_err *err);

/* ---- values.c: between batches and lists ---- */

/* A dict with a list for each column. NULL: a Python error is set. */
PyObject *values_of_batch(const struct script_state *x, const struct atw_batch *b);
/* false: a Python error is set. None is n/a; *known is whether it is none of that. */
bool values_cell(PyObject *value, const struct atw_plugin_column *col, PyObject *kept,
		 union atw_cell *ret, bool *known);

/* ---- rows.c ---- */

extern const struct atw_annotator script_annotator;
extern const struct atw_plugin_report script_report;
