// SPDX-License-Identifier: GPL-2.0-or-later
/* answers.c - translations and reports. */
#include <stdio.h>
#include <string.h>

#include "source.h"

static PyObject *translate_steps(const struct atw_translation *t)
{
	PyObject *steps = PyTuple_New(t->nsteps);

	for (uint32_t i = 0; steps && i < t->nsteps; i++) {
		const struct atw_step *step = t->step[i];
		char letters[5];
		PyObject *tuple;

		atw_perms_letters(step->perms, letters);
		tuple = Py_BuildValue("(IIKKss)", step->level, step->index,
				      (unsigned long long)step->at.u,
				      (unsigned long long)step->word,
				      source_state(step->state), letters);
		if (!tuple || PyTuple_SetItem(steps, i, tuple))
			Py_CLEAR(steps);
	}
	return steps;
}

/* One address: what it leads to, and the path of entries. */
PyObject *source_translate(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	const struct atw_translation *t;
	struct atw_err err = { 0 };
	struct atw_space *space;
	PyObject *pid, *ret = NULL, *steps;
	unsigned long long va;
	char letters[5];
	int r;

	if (!PyArg_ParseTuple(args, "KO", &va, &pid) || !source_enter(source))
		return NULL;
	r = source_space(source, pid, &space, &err);
	if (r) {
		source_leave(source);
		return source_raise(source_module(source), &err, NULL);
	}
	Py_BEGIN_ALLOW_THREADS
	r = atw_translate(space, ATW_VA(va), &t, &err);
	Py_END_ALLOW_THREADS
	if (r < 0) {
		source_raise(source_module(source), &err, NULL);
	} else {
		bool kept = t->pa.u || t->state == ATW_STATE_PRESENT;

		atw_perms_letters(t->perms, letters);
		steps = translate_steps(t);
		if (steps)
			ret = Py_BuildValue("(KNKssNN)", va, kept ?
					    PyLong_FromUnsignedLongLong(t->pa.u) :
					    Py_BuildValue(""),
					    (unsigned long long)t->page_size,
					    source_state(t->state), letters, t->nsteps ?
					    PyLong_FromUnsignedLong(t->level) :
					    Py_BuildValue(""), steps);
	}
	atw_space_close(space);
	source_leave(source);
	return ret;
}

enum { TRANSLATE_BATCH = 8192 };

/* Addresses in a buffer of 8-byte words. */
PyObject *source_translate_many(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		{ "address", TABLE_ADDRESS }, { "physical", TABLE_ADDRESS },
		{ "state", TABLE_TEXT },
	};
	struct source *source = (struct source *)self;
	struct atw_err err = { 0 };
	struct atw_space *space;
	PyObject *buffer, *pid, *progress, *ret = NULL;
	struct gather gather;
	struct table *table;
	atw_pa *pa = NULL;
	uint8_t *state = NULL;
	Py_buffer view;
	size_t n;
	int r;

	if (!PyArg_ParseTuple(args, "OOO", &buffer, &pid, &progress) ||
	    PyObject_GetBuffer(buffer, &view, PyBUF_FORMAT | PyBUF_ND))
		return NULL;
	if (view.itemsize != 8 || !view.format || !strchr("QqLl", view.format[0]) ||
	    view.format[1]) {
		PyErr_SetString(source_module(source)->usage_error,
				"addresses are a buffer of 64-bit integers");
		goto release;
	}
	n = (size_t)view.len / 8;
	if (!source_enter(source))
		goto release;
	r = source_space(source, pid, &space, &err);
	if (r) {
		source_leave(source);
		source_raise(source_module(source), &err, NULL);
		goto release;
	}
	table = table_create(source_module(source), head, 3);
	pa = PyMem_Malloc(TRANSLATE_BATCH * sizeof(*pa));
	state = PyMem_Malloc(TRANSLATE_BATCH);
	if (!table || !pa || !state) {
		Py_XDECREF((PyObject *)table);
		PyErr_NoMemory();
		source_leave(source);
		goto close;
	}
	gather_begin(&gather, source, table, progress);
	for (size_t i = 0, len; i < n && !r && gather_go_on(&gather); i += len) {
		const uint64_t *va = (const uint64_t *)view.buf + i;
		int32_t code[256];

		len = n - i < TRANSLATE_BATCH ? n - i : TRANSLATE_BATCH;
		r = atw_translate_many(space, (const atw_va *)va, len, pa, state, &err);
		if (r || !table_add_rows(table, len))
			break;
		memset(code, -1, sizeof(code));
		for (size_t j = 0; j < len && !table->failed; j++) {
			const char *name = source_state(state[j]);

			if (code[state[j]] < 0)
				code[state[j]] = table_intern(table, 2, name, strlen(name));
			table_set_at(table, i + j, 0, va[j]);
			if (state[j] == ATW_STATE_PRESENT)
				table_set_at(table, i + j, 1, pa[j].u);
			if (!table->failed)
				table_set_at(table, i + j, 2, (uint64_t)code[state[j]]);
		}
	}
	ret = gather_end(&gather, r, &err);
close:
	PyMem_Free(pa);
	PyMem_Free(state);
	atw_space_close(space);
release:
	PyBuffer_Release(&view);
	return ret;
}

static enum table_kind report_kind(uint32_t type)
{
	switch (type) {
	case ATW_COLUMN_ADDRESS:
	case ATW_COLUMN_HEX:
		return TABLE_ADDRESS;
	case ATW_COLUMN_BYTES:
		return TABLE_BYTES;
	case ATW_COLUMN_ENUM:
	case ATW_COLUMN_FLAGS:
	case ATW_COLUMN_TEXT:
		return TABLE_TEXT;
	case ATW_COLUMN_MILLISECONDS:
		return TABLE_SECONDS;
	case ATW_COLUMN_CHANGE:
	case ATW_COLUMN_CHANGE_BYTES:
		return TABLE_CHANGE;
	default:
		return TABLE_NUMBER;
	}
}

static void report_set_flags(struct table *table, size_t i,
			     const struct atw_report_column *column, uint64_t flags)
{
	char text[2048] = "";
	size_t len = 0;

	for (uint32_t bit = 0; bit < 64; bit++) {
		const char *name = bit < column->nnames ? column->names[bit] : NULL;

		if (!(flags >> bit & 1) || len > sizeof(text) - 72)
			continue;
		len += (size_t)(name ? snprintf(text + len, 64, ",%s", name) :
				snprintf(text + len, 64, ",bit%u", (unsigned)bit));
	}
	table_set_text(table, i, len ? text + 1 : text);
}

static void report_set(struct table *table, size_t i, const struct atw_report_column *column,
		       const union atw_cell *cell)
{
	double seconds = (double)cell->u / 1000;
	uint64_t word = cell->u;

	switch (column->type) {
	case ATW_COLUMN_TEXT:
		table_set_text(table, i, cell->s);
		return;
	case ATW_COLUMN_ENUM:
		if (cell->u < column->nnames && column->names[cell->u])
			table_set_text(table, i, column->names[cell->u]);
		return;
	case ATW_COLUMN_FLAGS:
		report_set_flags(table, i, column, cell->u);
		return;
	case ATW_COLUMN_MILLISECONDS:
		memcpy(&word, &seconds, sizeof(word));
		break;
	default:
		break;
	}
	table_set(table, i, word);
}

static bool report_columns(struct table *table, struct atw_report *report)
{
	const struct atw_report_column *column;

	for (size_t i = 0; (column = atw_report_column(report, i)); i++)
		if (!table_add_column(table, column->name, report_kind(column->type)))
			return false;
	return true;
}

/* Name, further sources of which it is a report, by, bare, addresses, progress. */
PyObject *source_report(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self, *other;
	struct atw_report_opts opts = { .size = sizeof(opts) };
	struct atw_target **target;
	struct atw_report *report = NULL;
	const struct atw_report_row *row;
	PyObject *others, *progress, *ret = NULL;
	struct atw_err err = { 0 };
	struct gather gather;
	struct table *table;
	Py_ssize_t n, held = 0;
	int bare, addresses, r;
	const char *name;

	if (!PyArg_ParseTuple(args, "sO!zppO", &name, &PyTuple_Type, &others, &opts.by, &bare,
			      &addresses, &progress))
		return NULL;
	opts.bare = (uint32_t)bare;
	opts.addresses = (uint32_t)addresses;
	n = PyTuple_Size(others);
	target = PyMem_Calloc((size_t)n + 1, sizeof(*target));
	if (!target)
		return PyErr_NoMemory();
	if (!source_enter(source))
		goto out;
	target[0] = source->target;
	for (; held < n; held++) {
		other = (struct source *)PyTuple_GetItem(others, held);
		if (!PyObject_TypeCheck((PyObject *)other, source_module(source)->source))
			PyErr_SetString(PyExc_TypeError, "a report is of sources");
		if (PyErr_Occurred() || !source_enter(other)) {
			source_leave(source);
			goto out;
		}
		target[held + 1] = other->target;
	}
	table = table_create(source_module(source), NULL, 0);
	if (!table) {
		source_leave(source);
		goto out;
	}
	gather_begin(&gather, source, table, progress);
	r = atw_report_open(name, target, (size_t)n + 1, &opts, &report, &err);
	if (!r && !report_columns(table, report))
		table->failed = true;
	while (!r && gather_go_on(&gather) && !(r = atw_report_next(report, &row, &err))) {
		if (!table_add_rows(table, 1))
			break;
		for (uint32_t i = 0; i < row->ncells && i < table->ncolumns; i++)
			if (row->known >> i & 1)
				report_set(table, i, atw_report_column(report, i),
					   &row->cell[i]);
	}
	atw_report_close(report);
	ret = gather_end(&gather, r, &err);
out:
	for (Py_ssize_t i = 0; i < held; i++)
		source_leave((struct source *)PyTuple_GetItem(others, i));
	PyMem_Free(target);
	return ret;
}
