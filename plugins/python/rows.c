/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.c - batches passed to the instances of classes. */
#include "script.h"

#include <stdlib.h>
#include <string.h>

static void rows_end(void *state)
{
	struct script_state *x = state;

	Py_CLEAR(x->object);
	Py_CLEAR(x->kept);
	free(x);
}

static int rows_begin(const struct script *s, const struct script_class *of,
		      const struct atw_listing *l, void **ret, struct atw_err *err)
{
	struct script_state *x = calloc(1, sizeof(*x));

	if (!x)
		return s->host->error(err, ATW_E_NOMEM, "out of memory");
	x->script = s;
	x->of = of;
	for (size_t i = 0; i < of->nin && i < l->ninputs; i++)
		x->inputs[i] = l->inputs[i];
	x->kept = PyList_New(0);
	x->object = x->kept ? PyObject_CallNoArgs(of->class) : NULL;
	if (!x->object) {
		rows_end(x);
		return script_error(s, err);
	}
	*ret = x;
	return ATW_OK;
}

/* What the method `rows` returned; a new reference, or NULL. */
static PyObject *rows_call(struct script_state *x, const struct atw_batch *b)
{
	PyObject *batch = values_of_batch(x, b), *method, *ret = NULL;

	/* Texts of the batch before are no longer used. */
	if (PyList_SetSlice(x->kept, 0, PyList_Size(x->kept), NULL))
		Py_CLEAR(batch);
	if (!batch)
		return NULL;
	method = PyObject_GetAttrString(x->object, "rows");
	if (method)
		ret = PyObject_CallFunctionObjArgs(method, batch, NULL);
	Py_XDECREF(method);
	Py_DECREF(batch);
	return ret;
}

/* ---- annotators ---- */

static int rows_script_begin(void *instance, const struct atw_listing *l, void **ret,
			     struct atw_err *err)
{
	const struct script *s = instance;

	return rows_begin(s, &s->annotator, l, ret, err);
}

/* A list of a value for each row. false: a Python error is set. */
static bool rows_take(struct script_state *x, PyObject *list, const struct atw_batch *b, size_t at)
{
	const struct atw_plugin_column *col = &x->of->out[at];
	Py_ssize_t n = PySequence_Size(list);

	if (n < 0)
		return false;
	if (n != (Py_ssize_t)b->nrows) {
		PyErr_Format(PyExc_ValueError, "column '%s' has %zd values, and there are %u rows",
			     col->name, n, (unsigned)b->nrows);
		return false;
	}
	for (uint32_t i = 0; i < b->nrows; i++) {
		PyObject *v = PySequence_GetItem(list, i);
		bool known = false;
		bool good = v && values_cell(v, col, x->kept, &b->out[at][i], &known);

		Py_XDECREF(v);
		if (!good)
			return false;
		if (known)
			b->out_known[at][i / 64] |= UINT64_C(1) << i % 64;
	}
	return true;
}

static int rows_script_annotate(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct script_state *x = state;
	PyObject *got = rows_call(x, b);
	bool good = got;

	for (size_t i = 0; good && i < x->of->nout; i++) {
		PyObject *list = PyMapping_GetItemString(got, x->of->out[i].name);

		good = list && rows_take(x, list, b, i);
		Py_XDECREF(list);
	}
	Py_XDECREF(got);
	return good ? ATW_OK : script_error(x->script, err);
}

const struct atw_annotator script_annotator = {
	.size = sizeof(script_annotator), .begin = rows_script_begin, .rows = rows_script_annotate,
	.end = rows_end,
};

/* ---- reports ---- */

static int rows_report_begin(void *instance, const struct atw_listing *l, void **ret,
			     struct atw_err *err)
{
	const struct script *s = instance;

	for (size_t i = 0; i < s->nreports; i++)
		if (!strcmp(s->report[i].report.name, l->name))
			return rows_begin(s, &s->report[i], l, ret, err);
	return s->host->error(err, ATW_E_USAGE, "there is no report '%s'", l->name);
}

static int rows_report_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct script_state *x = state;
	PyObject *got = rows_call(x, b);

	if (!got)
		return script_error(x->script, err);
	Py_DECREF(got);
	return ATW_OK;
}

/* A row is a dict. false: a Python error is set, or *r is an error of the host. */
static bool rows_emit(struct script_state *x, PyObject *row, struct atw_plugin_output *out,
		      int *r, struct atw_err *err)
{
	union atw_cell cell[ATW_PLUGIN_COLUMNS] = { 0 };
	uint64_t bits = 0;

	for (size_t i = 0; i < x->of->nout; i++) {
		PyObject *v = PyMapping_GetItemString(row, x->of->out[i].name);
		bool known = false;
		bool good = v && values_cell(v, &x->of->out[i], x->kept, &cell[i], &known);

		Py_XDECREF(v);
		if (!good)
			return false;
		bits |= (uint64_t)known << i;
	}
	*r = x->script->host->row(out, cell, bits, err);
	return *r == ATW_OK && !PyList_SetSlice(x->kept, 0, PyList_Size(x->kept), NULL);
}

static int rows_report_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	struct script_state *x = state;
	PyObject *method = PyObject_GetAttrString(x->object, "finish");
	PyObject *got = method ? PyObject_CallNoArgs(method) : NULL;
	PyObject *each = got ? PyObject_GetIter(got) : NULL, *row;
	bool good = each;
	int r = ATW_OK;

	while (good && (row = PyIter_Next(each))) {
		good = rows_emit(x, row, out, &r, err);
		Py_DECREF(row);
	}
	if (PyErr_Occurred())
		good = false;
	Py_XDECREF(each);
	Py_XDECREF(got);
	Py_XDECREF(method);
	if (r != ATW_OK)
		return r;
	return good ? ATW_OK : script_error(x->script, err);
}

const struct atw_plugin_report script_report = {
	.size = sizeof(script_report), .begin = rows_report_begin, .rows = rows_report_rows,
	.finish = rows_report_finish, .end = rows_end,
};
