// SPDX-License-Identifier: GPL-2.0-or-later
/* arrow.c - tables as Arrow streams; the buffers are those of the table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* The three structs of the Arrow C data and stream interfaces, which are an ABI. */
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

enum { ARROW_NULLABLE = 2 };

/* A child may be moved out of its parent, so each array keeps the table alive. */
struct arrow_owner {
	PyObject *table;
	const void *buffer[3];
};

static void arrow_drop(PyObject *object)
{
	PyGILState_STATE state = PyGILState_Ensure();

	Py_DECREF(object);
	PyGILState_Release(state);
}

static PyObject *arrow_take(struct table *table)
{
	PyGILState_STATE state = PyGILState_Ensure();

	Py_INCREF((PyObject *)table);
	PyGILState_Release(state);
	return (PyObject *)table;
}

static void arrow_release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
		struct ArrowSchema *child = schema->children[i];

		if (child && child->release)
			child->release(child);
		free(child);
	}
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	free(schema->children);
	free(schema->private_data);
	schema->release = NULL;
}

static int arrow_schema_init(struct ArrowSchema *ret, const char *format, const char *name)
{
	char *copy = strdup(name);

	*ret = (struct ArrowSchema){ .format = format, .name = copy, .flags = ARROW_NULLABLE,
				     .private_data = copy };
	if (!copy)
		return ENOMEM;
	ret->release = arrow_release_schema;
	return 0;
}

static const char *arrow_format(enum table_kind kind)
{
	switch (kind) {
	case TABLE_CHANGE:
		return "l";
	case TABLE_SECONDS:
		return "g";
	case TABLE_TEXT:
		return "i";
	default:
		return "L";
	}
}

static int arrow_child_schema(struct ArrowSchema *ret, const struct table_column *column)
{
	if (arrow_schema_init(ret, arrow_format(column->kind), column->name))
		return ENOMEM;
	if (column->kind != TABLE_TEXT)
		return 0;
	ret->dictionary = calloc(1, sizeof(*ret->dictionary));
	if (!ret->dictionary || arrow_schema_init(ret->dictionary, "u", ""))
		return ENOMEM;
	return 0;
}

static int arrow_schema(const struct table *table, struct ArrowSchema *ret)
{
	struct ArrowSchema schema;
	int r = arrow_schema_init(&schema, "+s", "");

	if (r)
		return r;
	schema.flags = 0;
	schema.children = calloc(table->ncolumns + 1, sizeof(*schema.children));
	if (schema.children)
		schema.n_children = (int64_t)table->ncolumns;
	for (size_t i = 0; schema.children && i < table->ncolumns; i++) {
		schema.children[i] = calloc(1, sizeof(**schema.children));
		if (!schema.children[i] ||
		    arrow_child_schema(schema.children[i], &table->column[i]))
			goto nomem;
	}
	if (schema.children) {
		*ret = schema;
		return 0;
	}
nomem:
	schema.release(&schema);
	return ENOMEM;
}

static void arrow_release_array(struct ArrowArray *array)
{
	struct arrow_owner *owner = array->private_data;

	for (int64_t i = 0; array->children && i < array->n_children; i++) {
		struct ArrowArray *child = array->children[i];

		if (child && child->release)
			child->release(child);
		free(child);
	}
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	free(array->children);
	arrow_drop(owner->table);
	free(owner);
	array->release = NULL;
}

static struct arrow_owner *arrow_array_init(struct ArrowArray *ret, struct table *table,
					    size_t length)
{
	struct arrow_owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->table = arrow_take(table);
	*ret = (struct ArrowArray){ .length = (int64_t)length, .buffers = owner->buffer,
				    .private_data = owner, .release = arrow_release_array };
	return owner;
}

/* The texts of a column one after the other; made once, since tables do not change. */
static int arrow_join(struct table_column *column)
{
	size_t total = 0;

	if (column->offset)
		return 0;
	for (size_t i = 0; i < column->ntext; i++)
		total += column->text[i].len;
	if (total > INT32_MAX)
		return EOVERFLOW;
	column->joined = malloc(total + 1);
	column->offset = malloc((column->ntext + 1) * sizeof(*column->offset));
	if (!column->joined || !column->offset) {
		free(column->joined);
		free(column->offset);
		column->joined = NULL;
		column->offset = NULL;
		return ENOMEM;
	}
	total = 0;
	for (size_t i = 0; i < column->ntext; i++) {
		column->offset[i] = (int32_t)total;
		memcpy(column->joined + total, column->text[i].bytes, column->text[i].len);
		total += column->text[i].len;
	}
	column->offset[column->ntext] = (int32_t)total;
	return 0;
}

static int arrow_child_array(struct ArrowArray *ret, struct table *table,
			     struct table_column *column)
{
	struct arrow_owner *owner = arrow_array_init(ret, table, table->rows);
	int r;

	if (!owner)
		return ENOMEM;
	ret->n_buffers = 2;
	ret->null_count = (int64_t)column->nulls;
	owner->buffer[0] = column->nulls ? column->valid : NULL;
	owner->buffer[1] = column->data;
	if (column->kind != TABLE_TEXT)
		return 0;
	r = arrow_join(column);
	if (r)
		return r;
	ret->dictionary = calloc(1, sizeof(*ret->dictionary));
	if (!ret->dictionary)
		return ENOMEM;
	owner = arrow_array_init(ret->dictionary, table, column->ntext);
	if (!owner)
		return ENOMEM;
	ret->dictionary->n_buffers = 3;
	owner->buffer[1] = column->offset;
	owner->buffer[2] = column->joined;
	return 0;
}

static int arrow_array(struct table *table, struct ArrowArray *ret)
{
	struct ArrowArray array;
	int r = ENOMEM;

	if (!arrow_array_init(&array, table, table->rows))
		return ENOMEM;
	array.n_buffers = 1;
	array.children = calloc(table->ncolumns + 1, sizeof(*array.children));
	if (!array.children)
		goto fail;
	array.n_children = (int64_t)table->ncolumns;
	for (size_t i = 0; i < table->ncolumns; i++) {
		array.children[i] = calloc(1, sizeof(**array.children));
		r = array.children[i] ? arrow_child_array(array.children[i], table,
							  &table->column[i]) : ENOMEM;
		if (r)
			goto fail;
	}
	*ret = array;
	return 0;
fail:
	array.release(&array);
	return r;
}

struct arrow_stream {
	PyObject *table;
	bool done;
};

static int arrow_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct arrow_stream *s = stream->private_data;

	return arrow_schema((struct table *)s->table, ret);
}

/* All rows are one batch. */
static int arrow_get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct arrow_stream *s = stream->private_data;
	int r;

	if (s->done) {
		*ret = (struct ArrowArray){ 0 };
		return 0;
	}
	r = arrow_array((struct table *)s->table, ret);
	s->done = r == 0;
	return r;
}

static const char *arrow_last_error(struct ArrowArrayStream *stream)
{
	return "not enough memory, or more than 2 GiB of text in a column";
}

static void arrow_release_stream(struct ArrowArrayStream *stream)
{
	struct arrow_stream *s = stream->private_data;

	arrow_drop(s->table);
	free(s);
	stream->release = NULL;
}

static void arrow_end_stream(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

static void arrow_end_schema(PyObject *capsule)
{
	struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

	if (schema && schema->release)
		schema->release(schema);
	free(schema);
}

PyObject *table_arrow_stream(PyObject *self, PyObject *args)
{
	struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
	struct arrow_stream *s = calloc(1, sizeof(*s));
	PyObject *capsule = NULL;

	if (stream && s)
		capsule = PyCapsule_New(stream, "arrow_array_stream", arrow_end_stream);
	else
		PyErr_NoMemory();
	if (!capsule) {
		free(stream);
		free(s);
		return NULL;
	}
	Py_INCREF(self);
	s->table = self;
	*stream = (struct ArrowArrayStream){ arrow_get_schema, arrow_get_next,
					     arrow_last_error, arrow_release_stream, s };
	return capsule;
}

PyObject *table_arrow_schema(PyObject *self, PyObject *args)
{
	struct ArrowSchema *schema = calloc(1, sizeof(*schema));
	PyObject *capsule;

	if (!schema || arrow_schema((struct table *)self, schema)) {
		free(schema);
		return PyErr_NoMemory();
	}
	capsule = PyCapsule_New(schema, "arrow_schema", arrow_end_schema);
	if (!capsule) {
		schema->release(schema);
		free(schema);
	}
	return capsule;
}
