/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.c - from columns of a batch to lists of Python, and back. */
#include "script.h"

#include <string.h>

static PyObject *values_none(void)
{
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *values_text(const char *s)
{
	/* Names of tasks and files are bytes. */
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape");
}

/* The words of a set. */
static PyObject *values_flags(const struct atw_plugin_column *c, uint64_t set)
{
	PyObject *list = PyList_New(0);

	for (uint32_t i = 0; list && i < c->nnames && i < 64; i++) {
		PyObject *word;

		if (!(set >> i & 1) || !c->names[i])
			continue;
		word = values_text(c->names[i]);
		if (!word || PyList_Append(list, word))
			Py_CLEAR(list);
		Py_XDECREF(word);
	}
	return list;
}

static PyObject *values_value(const struct atw_plugin_column *c, const union atw_cell *cell)
{
	switch (c->type) {
	case ATW_COLUMN_TEXT:
		return values_text(cell->s);
	case ATW_COLUMN_CHANGE:
	case ATW_COLUMN_CHANGE_BYTES:
		return PyLong_FromLongLong(cell->i);
	case ATW_COLUMN_ENUM:
		if (cell->u < c->nnames && c->names[cell->u])
			return values_text(c->names[cell->u]);
		return values_none();
	case ATW_COLUMN_FLAGS:
		if (c->names)
			return values_flags(c, cell->u);
		return PyLong_FromUnsignedLongLong(cell->u);
	default:
		return PyLong_FromUnsignedLongLong(cell->u);
	}
}

static PyObject *values_column(const struct atw_plugin_column *c, const struct atw_batch *b, size_t at)
{
	PyObject *list = PyList_New(b->nrows);

	for (uint32_t i = 0; list && i < b->nrows; i++) {
		bool known = c && b->in[at] && b->in_known[at][i / 64] >> i % 64 & 1;
		PyObject *v = known ? values_value(c, &b->in[at][i]) : values_none();

		if (!v || PyList_SetItem(list, i, v))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *values_of_batch(const struct script_state *x, const struct atw_batch *b)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < x->of->nin; i++) {
		PyObject *list = values_column(x->inputs[i], b, i);

		if (!list || PyDict_SetItemString(dict, x->of->in[i].name, list))
			Py_CLEAR(dict);
		Py_XDECREF(list);
	}
	return dict;
}

bool values_cell(PyObject *value, const struct atw_plugin_column *col, PyObject *kept,
		 union atw_cell *ret, bool *known)
{
	*known = value != Py_None;
	if (!*known)
		return true;
	switch (col->type) {
	case ATW_COLUMN_TEXT:
		ret->s = script_keep(kept, value);
		return ret->s;
	case ATW_COLUMN_CHANGE:
	case ATW_COLUMN_CHANGE_BYTES:
		ret->i = PyLong_AsLongLong(value);
		return !PyErr_Occurred();
	default:
		ret->u = PyLong_AsUnsignedLongLong(value);
		return !PyErr_Occurred();
	}
}
