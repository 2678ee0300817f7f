// SPDX-License-Identifier: GPL-2.0-or-later
/* table_type.c - the Python types of tables and columns. */
#include <stdlib.h>

#include "table.h"

bool table_known(const struct table_column *column, size_t row)
{
	return column->valid[row / 8] >> (row & 7) & 1;
}

static PyObject *table_cell(const struct table_column *column, size_t row)
{
	int32_t at;

	if (!table_known(column, row))
		Py_RETURN_NONE;
	switch (column->kind) {
	case TABLE_CHANGE:
		return PyLong_FromLongLong(((int64_t *)column->data)[row]);
	case TABLE_SECONDS:
		return PyFloat_FromDouble(((double *)column->data)[row]);
	case TABLE_TEXT:
		at = ((int32_t *)column->data)[row];
		return PyUnicode_FromStringAndSize(column->text[at].bytes,
						   (Py_ssize_t)column->text[at].len);
	default:
		return PyLong_FromUnsignedLongLong(((uint64_t *)column->data)[row]);
	}
}

/* The type of an object is known, so its state is found without a lookup of names. */
struct module *table_module(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

static void table_free(PyObject *self)
{
	struct table *table = (struct table *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	for (size_t i = 0; i < table->ncolumns; i++) {
		struct table_column *column = &table->column[i];

		for (size_t j = 0; j < column->ntext; j++)
			free(column->text[j].bytes);
		free(column->text);
		free(column->slot);
		free(column->offset);
		free(column->joined);
		free(column->data);
		free(column->valid);
		free(column->name);
	}
	free(table->column);
	release(self);
	Py_DECREF(type);
}

static Py_ssize_t table_length(PyObject *self)
{
	return (Py_ssize_t)((struct table *)self)->rows;
}

static PyObject *table_row(PyObject *self, PyObject *args)
{
	struct table *table = (struct table *)self;
	Py_ssize_t row;
	PyObject *tuple;

	if (!PyArg_ParseTuple(args, "n", &row))
		return NULL;
	if (row < 0 || (size_t)row >= table->rows) {
		PyErr_SetString(PyExc_IndexError, "no such row");
		return NULL;
	}
	tuple = PyTuple_New((Py_ssize_t)table->ncolumns);
	for (size_t i = 0; tuple && i < table->ncolumns; i++) {
		PyObject *cell = table_cell(&table->column[i], (size_t)row);

		if (!cell || PyTuple_SetItem(tuple, (Py_ssize_t)i, cell)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

/* Name and kind of each column. */
static PyObject *table_columns(PyObject *self, PyObject *args)
{
	struct table *table = (struct table *)self;
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < table->ncolumns; i++) {
		PyObject *pair = Py_BuildValue("(sC)", table->column[i].name,
					       (int)table->column[i].kind);

		if (!pair || PyList_Append(list, pair))
			Py_CLEAR(list);
		Py_XDECREF(pair);
	}
	return list;
}

static PyObject *table_column_at(PyObject *self, PyObject *args)
{
	struct table *table = (struct table *)self;
	struct module *module = table_module(self);
	allocfunc alloc = PyType_GetSlot(module->column, Py_tp_alloc);
	struct column *column;
	Py_ssize_t i;

	if (!PyArg_ParseTuple(args, "n", &i))
		return NULL;
	if (i < 0 || (size_t)i >= table->ncolumns) {
		PyErr_SetString(PyExc_IndexError, "no such column");
		return NULL;
	}
	column = (struct column *)alloc(module->column, 0);
	if (column) {
		Py_INCREF(self);
		column->table = table;
		column->of = &table->column[i];
	}
	return (PyObject *)column;
}

bool table_copy_row(struct table *to, const struct table *from, size_t row)
{
	table_add_rows(to, 1);
	for (size_t i = 0; !to->failed && i < to->ncolumns; i++) {
		const struct table_column *column = &from->column[i];
		const struct table_text *text;
		int32_t at;

		if (!table_known(column, row))
			continue;
		if (column->kind != TABLE_TEXT) {
			table_set(to, i, ((uint64_t *)column->data)[row]);
			continue;
		}
		text = &column->text[((int32_t *)column->data)[row]];
		at = table_intern(to, i, text->bytes, text->len);
		if (at >= 0)
			table_set(to, i, (uint64_t)at);
	}
	return !to->failed;
}

struct table *table_like(struct table *from)
{
	struct table *to = table_create(table_module((PyObject *)from), NULL, 0);

	for (size_t i = 0; to && i < from->ncolumns; i++) {
		const struct table_column *column = &from->column[i];
		struct table_column *added = table_add_column(to, column->name, column->kind);

		if (added)
			added->words = column->words;
		else
			to->failed = true;
	}
	return to;
}

/* A table of some of the rows, in the order of a sequence of their numbers. */
static PyObject *table_take(PyObject *self, PyObject *args)
{
	struct table *from = (struct table *)self, *to;
	PyObject *rows, *iterator, *item;

	if (!PyArg_ParseTuple(args, "O", &rows))
		return NULL;
	to = table_like(from);
	if (!to)
		return NULL;
	iterator = PyObject_GetIter(rows);
	while (iterator && !to->failed && (item = PyIter_Next(iterator))) {
		size_t row = PyLong_AsSize_t(item);

		Py_DECREF(item);
		if (PyErr_Occurred())
			break;
		if (row >= from->rows) {
			PyErr_SetString(PyExc_IndexError, "no such row");
			break;
		}
		table_copy_row(to, from, row);
	}
	Py_XDECREF(iterator);
	if (to->failed)
		PyErr_NoMemory();
	if (PyErr_Occurred())
		Py_CLEAR(to);
	return (PyObject *)to;
}

static PyMethodDef table_methods[] = {
	{ "row", table_row, METH_VARARGS, NULL },
	{ "columns", table_columns, METH_NOARGS, NULL },
	{ "column", table_column_at, METH_VARARGS, NULL },
	{ "take", table_take, METH_VARARGS, NULL },
	{ "filter", table_filter, METH_VARARGS, NULL },
	{ "arrow_stream", table_arrow_stream, METH_NOARGS, NULL },
	{ "arrow_schema", table_arrow_schema, METH_NOARGS, NULL },
	{ 0 }
};

static PyType_Slot table_slots[] = {
	{ Py_tp_dealloc, table_free },
	{ Py_sq_length, table_length },
	{ Py_tp_methods, table_methods },
	{ 0 }
};

PyType_Spec table_spec = {
	.name = "atwalk._atwalk.Table", .basicsize = sizeof(struct table),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, .slots = table_slots,
};

static void column_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	Py_XDECREF((PyObject *)((struct column *)self)->table);
	release(self);
	Py_DECREF(type);
}

static Py_ssize_t column_length(PyObject *self)
{
	return (Py_ssize_t)((struct column *)self)->table->rows;
}

static PyObject *column_item(PyObject *self, Py_ssize_t row)
{
	struct column *column = (struct column *)self;

	if (row < 0 || (size_t)row >= column->table->rows) {
		PyErr_SetString(PyExc_IndexError, "no such row");
		return NULL;
	}
	return table_cell(column->of, (size_t)row);
}

/* Tables do not change once Python has them, so their memory can be lent. */
static int column_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column *column = (struct column *)self;
	struct table_column *of = column->of;
	size_t width = table_width(of);
	static char nothing[8], unsigned_words[] = "Q", signed_words[] = "q";
	static char doubles[] = "d", indices[] = "i";
	int r;

	if (of->nulls && !column->raw) {
		PyErr_Format(PyExc_BufferError, "column '%s' has %llu unknown values, which a "
			     "buffer cannot hold: use .data and .valid", of->name,
			     (unsigned long long)of->nulls);
		return -1;
	}
	r = PyBuffer_FillInfo(view, self, of->data ? of->data : nothing,
			      (Py_ssize_t)(column->table->rows * width), 1, flags);
	if (r)
		return r;
	view->itemsize = (Py_ssize_t)width;
	if (flags & PyBUF_FORMAT) {
		view->format = unsigned_words;
		if (of->kind == TABLE_CHANGE)
			view->format = signed_words;
		if (of->kind == TABLE_SECONDS)
			view->format = doubles;
		if (of->kind == TABLE_TEXT)
			view->format = indices;
	}
	if (flags & PyBUF_ND) {
		Py_ssize_t *shape = PyMem_Malloc(sizeof(*shape));

		if (!shape) {
			PyBuffer_Release(view);
			PyErr_NoMemory();
			return -1;
		}
		*shape = (Py_ssize_t)column->table->rows;
		view->shape = shape;
		view->internal = shape;
	}
	return 0;
}

static void column_releasebuffer(PyObject *self, Py_buffer *view)
{
	PyMem_Free(view->internal);
}

static PyObject *column_data(PyObject *self, void *closure)
{
	struct column *from = (struct column *)self, *raw;
	allocfunc alloc = PyType_GetSlot(Py_TYPE(self), Py_tp_alloc);
	PyObject *view;

	raw = (struct column *)alloc(Py_TYPE(self), 0);
	if (!raw)
		return NULL;
	Py_INCREF((PyObject *)from->table);
	raw->table = from->table;
	raw->of = from->of;
	raw->raw = true;
	view = PyMemoryView_FromObject((PyObject *)raw);
	Py_DECREF(raw);
	return view;
}

static PyObject *column_valid(PyObject *self, void *closure)
{
	struct column *column = (struct column *)self;

	return PyBytes_FromStringAndSize((char *)column->of->valid,
					 (Py_ssize_t)((column->table->rows + 7) / 8));
}

static PyObject *column_name(PyObject *self, void *closure)
{
	return PyUnicode_FromString(((struct column *)self)->of->name);
}

static PyObject *column_nulls(PyObject *self, void *closure)
{
	return PyLong_FromUnsignedLongLong(((struct column *)self)->of->nulls);
}

static PyObject *column_texts(PyObject *self, void *closure)
{
	struct table_column *of = ((struct column *)self)->of;
	PyObject *tuple = PyTuple_New((Py_ssize_t)of->ntext);

	for (size_t i = 0; tuple && i < of->ntext; i++) {
		PyObject *text = PyUnicode_FromStringAndSize(of->text[i].bytes,
							     (Py_ssize_t)of->text[i].len);

		if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)i, text))
			Py_CLEAR(tuple);
	}
	return tuple;
}

static PyGetSetDef column_properties[] = {
	{ "data", column_data, NULL,
	  "memoryview of the values; where they are unknown, it has no meaning", NULL },
	{ "valid", column_valid, NULL, "a bit for each row, LSB first: the value is known",
	  NULL },
	{ "name", column_name, NULL, NULL, NULL },
	{ "null_count", column_nulls, NULL, "number of unknown values", NULL },
	{ "texts", column_texts, NULL, "texts that the numbers in data stand for", NULL },
	{ 0 }
};

static PyType_Slot column_slots[] = {
	{ Py_tp_dealloc, column_free },
	{ Py_sq_length, column_length },
	{ Py_sq_item, column_item },
	{ Py_tp_getset, column_properties },
	{ Py_bf_getbuffer, column_getbuffer },
	{ Py_bf_releasebuffer, column_releasebuffer },
	{ 0 }
};

PyType_Spec column_spec = {
	.name = "atwalk.Column", .basicsize = sizeof(struct column),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, .slots = column_slots,
};
