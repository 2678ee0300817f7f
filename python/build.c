// SPDX-License-Identifier: GPL-2.0-or-later
/* build.c - tables of rows that Python has. */
#include "table.h"

/* Returns false with an exception. */
static bool build_cell(struct table *table, size_t i, PyObject *cell)
{
	union {
		double d;
		uint64_t u;
	} word;
	const char *text;
	Py_ssize_t len;
	int32_t at;

	if (cell == Py_None)
		return true;
	switch (table->column[i].kind) {
	case TABLE_TEXT:
		text = PyUnicode_AsUTF8AndSize(cell, &len);
		if (!text)
			return false;
		at = table_intern(table, i, text, (size_t)len);
		if (at >= 0)
			table_set(table, i, (uint64_t)at);
		return true;
	case TABLE_SECONDS:
		word.d = PyFloat_AsDouble(cell);
		break;
	case TABLE_CHANGE:
		word.u = (uint64_t)PyLong_AsLongLong(cell);
		break;
	default:
		word.u = PyLong_AsUnsignedLongLong(cell);
		break;
	}
	if (PyErr_Occurred())
		return false;
	table_set(table, i, word.u);
	return true;
}

static bool build_row(struct table *table, PyObject *row)
{
	if (!PyTuple_Check(row) || (size_t)PyTuple_Size(row) != table->ncolumns) {
		PyErr_SetString(PyExc_TypeError, "a row is a tuple with a cell for each column");
		return false;
	}
	if (!table_add_rows(table, 1))
		return true;
	for (size_t i = 0; i < table->ncolumns; i++)
		if (!build_cell(table, i, PyTuple_GetItem(row, (Py_ssize_t)i)))
			return false;
	return true;
}

static bool build_columns(struct table *table, PyObject *columns)
{
	Py_ssize_t n = PyTuple_Size(columns);

	for (Py_ssize_t i = 0; i < n; i++) {
		const char *name;
		int kind;

		if (!PyArg_ParseTuple(PyTuple_GetItem(columns, i), "sC", &name, &kind))
			return false;
		if (!table_add_column(table, name, (enum table_kind)kind)) {
			table->failed = true;
			return true;
		}
	}
	return true;
}

/* Pairs of name and kind, in a tuple, and an iterable of tuples. */
PyObject *table_build(PyObject *self, PyObject *args)
{
	PyObject *columns, *rows, *iterator, *row;
	struct table *table;
	bool good;

	if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &columns, &rows))
		return NULL;
	table = table_create(PyModule_GetState(self), NULL, 0);
	if (!table)
		return NULL;
	good = build_columns(table, columns);
	iterator = good ? PyObject_GetIter(rows) : NULL;
	while (iterator && good && !table->failed && (row = PyIter_Next(iterator))) {
		good = build_row(table, row);
		Py_DECREF(row);
	}
	Py_XDECREF(iterator);
	if (table->failed)
		PyErr_NoMemory();
	if (PyErr_Occurred())
		Py_CLEAR(table);
	return (PyObject *)table;
}
