/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - tables of typed columns, which Python, NumPy and Arrow read in place. */
#pragma once

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* What the values of a column are; each decides the format of buffer and Arrow. */
enum table_kind {
	TABLE_ADDRESS = 'x',    /* uint64_t, shown in hexadecimal */
	TABLE_NUMBER = 'Q',     /* uint64_t */
	TABLE_BYTES = 'b',      /* uint64_t, a size */
	TABLE_CHANGE = 'q',     /* int64_t */
	TABLE_SECONDS = 'd',    /* double */
	TABLE_TEXT = 'i',       /* int32_t: index into the texts of the column */
};

/* What the texts of a column are made of, for filters. Constants: they are not copied. */
struct table_words {
	const char *const *names;        /* NULL: any text */
	uint32_t n;
	const char *letters;             /* one for each name, "rwxu", or NULL */
	uint32_t type;                   /* enum atw_column_type; 0: by the kind */
};

struct table_text {
	char *bytes;            /* valid UTF-8 */
	size_t len;
};

struct table_column {
	char *name;
	enum table_kind kind;
	struct table_words words;
	void *data;             /* 8 bytes a row; 4 for text */
	uint8_t *valid;         /* a bit a row, LSB first */
	uint64_t nulls;
	struct table_text *text;
	size_t ntext, text_room;
	int32_t *slot;          /* hash table of texts: index + 1, or 0 */
	size_t nslots;
	int32_t *offset;        /* for Arrow: ntext + 1 offsets into joined */
	char *joined;
};

/* What the columns of a listing are, as a constant. */
struct table_head {
	const char *name;
	enum table_kind kind;
	const struct table_words *words;         /* or NULL */
};

#define TABLE_COLUMN(n, k) { .name = #n, .kind = TABLE_##k }
#define TABLE_WORDS(n, w) { .name = #n, .kind = TABLE_TEXT, .words = &(w) }

struct table {
	PyObject_HEAD
	struct table_column *column;
	size_t ncolumns;
	size_t rows, room;
	bool failed;            /* out of memory: the table is of no use */
};

struct column {
	PyObject_HEAD
	struct table *table;
	struct table_column *of;
	bool raw;               /* values of unknown cells are given out as 0 */
};

/* What types and functions share. */
struct module {
	PyTypeObject *table, *column, *source;
	PyObject *error, *usage_error, *source_error, *partial_error;
};

struct table *table_create(struct module *module, const struct table_head *head, size_t n);
/* The functions below need no GIL. */
struct table_column *table_add_column(struct table *table, const char *name,
				      enum table_kind kind);
/* Make a row of unknown cells. Returns false if memory is not enough. */
bool table_add_rows(struct table *table, size_t n);
void table_set(struct table *table, size_t column, uint64_t value);
void table_set_at(struct table *table, size_t row, size_t column, uint64_t value);
/* The same of n rows: value, value + step, ... (texts: without step), or n words of 8 bytes. */
void table_fill(struct table *table, size_t row, size_t n, size_t column, uint64_t value,
		uint64_t step);
void table_copy(struct table *table, size_t row, size_t n, size_t column, const void *words);
void table_set_text(struct table *table, size_t column, const char *text);
/* Index of a text in its column; -1: out of memory. */
int32_t table_intern(struct table *table, size_t column, const char *text, size_t len);
/* Names of enum atw_state, and of rights. */
extern const struct table_words table_states, table_rights;
size_t table_width(const struct table_column *column);

bool table_known(const struct table_column *column, size_t row);

/* ---- with the GIL ---- */

struct module *table_module(PyObject *self);
/* A table without rows, with the columns of another. NULL with an exception. */
struct table *table_like(struct table *from);
/* Of table_like(). Returns false if memory is not enough. */
bool table_copy_row(struct table *to, const struct table *from, size_t row);

PyObject *table_build(PyObject *self, PyObject *args);
PyObject *table_filter(PyObject *self, PyObject *args);
PyObject *table_arrow_stream(PyObject *self, PyObject *args);
PyObject *table_arrow_schema(PyObject *self, PyObject *args);

extern PyType_Spec table_spec, column_spec, source_spec;
