// SPDX-License-Identifier: GPL-2.0-or-later
/* answers.c - translations and reports. */
#include "call.h"

#include <stdio.h>
#include <string.h>

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

struct translate_call {
	struct call call;
	uint64_t va;
	const struct atw_translation *t;
};

static int translate_run(struct call *call)
{
	struct translate_call *c = (struct translate_call *)call;

	return call_open_space(call) ?:
	       atw_translate(call->space, ATW_VA(c->va), &c->t, &call->err);
}

/* One address: what it leads to, and the path of entries. */
PyObject *source_translate(PyObject *self, PyObject *args)
{
	const struct atw_translation *t;
	PyObject *pid, *ret, *steps;
	struct translate_call *c;
	uint64_t va;
	char letters[5];
	bool kept;

	if (!PyArg_ParseTuple(args, "O&O", call_u64, &va, &pid))
		return NULL;
	c = call_create(NULL, (struct source *)self, sizeof(*c), translate_run);
	if (!c)
		return NULL;
	c->va = va;
	if (!call_set_process(&c->call, pid))
		return call_fail(&c->call);
	if (!call_run(&c->call, NULL))
		return NULL;
	if (c->call.r < 0)
		return call_raise(&c->call);
	t = c->t;
	kept = t->pa.u || t->state == ATW_STATE_PRESENT;
	atw_perms_letters(t->perms, letters);
	steps = translate_steps(t);
	/* What is present has at least one of them; of all else there are none. */
	ret = !steps ? NULL :
	      Py_BuildValue("(KNKszNN)", (unsigned long long)va,
			    kept ? PyLong_FromUnsignedLongLong(t->pa.u) : Py_BuildValue(""),
			    (unsigned long long)t->page_size, source_state(t->state),
			    t->perms ? letters : NULL,
			    t->nsteps ? PyLong_FromUnsignedLong(t->level) : Py_BuildValue(""),
			    steps);
	call_destroy(&c->call);
	return ret;
}

enum { TRANSLATE_BATCH = 8192 };

struct translate_many_call {
	struct call call;
	Py_buffer view;         /* .obj is NULL if there is none */
	atw_pa pa[TRANSLATE_BATCH];
	uint8_t state[TRANSLATE_BATCH];
};

static void translate_many_release(struct call *call)
{
	PyBuffer_Release(&((struct translate_many_call *)call)->view);
}

static void translate_many_add(struct translate_many_call *c, size_t i, size_t len,
			       const uint64_t *va)
{
	struct table *table = c->call.table;
	int32_t code[256];

	memset(code, -1, sizeof(code));
	table_copy(table, i, len, 0, va);
	for (size_t j = 0; j < len && !table->failed; j++) {
		uint8_t state = c->state[j];
		const char *name = source_state(state);

		if (code[state] < 0)
			code[state] = table_intern(table, 2, name, strlen(name));
		if (state == ATW_STATE_PRESENT)
			table_set_at(table, i + j, 1, c->pa[j].u);
		if (!table->failed)
			table_set_at(table, i + j, 2, (uint64_t)code[state]);
	}
}

static int translate_many_run(struct call *call)
{
	struct translate_many_call *c = (struct translate_many_call *)call;
	size_t n = (size_t)c->view.len / 8;
	int r = call_open_space(call);

	atomic_store(&call->all, n);
	for (size_t i = 0, len; i < n && !r && call_continues(call); i += len) {
		const uint64_t *va = (const uint64_t *)c->view.buf + i;

		len = n - i < TRANSLATE_BATCH ? n - i : TRANSLATE_BATCH;
		r = atw_translate_many(call->space, (const atw_va *)va, len, c->pa, c->state,
				       &call->err);
		if (!r && table_add_rows(call->table, len))
			translate_many_add(c, i, len, va);
	}
	return r;
}

/* Addresses in a buffer of 8-byte words. */
PyObject *source_translate_many(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(address, ADDRESS), TABLE_COLUMN(physical, ADDRESS),
		TABLE_WORDS(state, table_states),
	};
	PyObject *buffer, *pid, *progress;
	struct translate_many_call *c;
	const char *format;

	if (!PyArg_ParseTuple(args, "OOO", &buffer, &pid, &progress))
		return NULL;
	c = call_create(NULL, (struct source *)self, sizeof(*c), translate_many_run);
	if (!c)
		return NULL;
	c->call.release = translate_many_release;
	if (PyObject_GetBuffer(buffer, &c->view, PyBUF_FORMAT | PyBUF_ND) ||
	    !call_set_process(&c->call, pid) || !call_set_table(&c->call, head, 3))
		return call_fail(&c->call);
	format = c->view.format;
	if (c->view.itemsize != 8 || !format || !*format || !strchr("QqLl", *format) ||
	    format[1]) {
		PyErr_SetString(c->call.module->usage_error,
				"addresses are a buffer of 64-bit integers");
		return call_fail(&c->call);
	}
	return call_finish(&c->call, progress);
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
	case ATW_COLUMN_LETTERS:
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

static void report_set_letters(struct table *table, size_t i,
			       const struct atw_report_column *column, uint64_t bits)
{
	char text[65] = "";

	for (size_t bit = 0; bit < 64 && column->letters[bit]; bit++)
		text[bit] = bits >> bit & 1 ? column->letters[bit] : '-';
	table_set_text(table, i, text);
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
	case ATW_COLUMN_LETTERS:
		report_set_letters(table, i, column, cell->u);
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

	for (size_t i = 0; (column = atw_report_column(report, i)); i++) {
		struct table_column *added = table_add_column(table, column->name,
							      report_kind(column->type));

		if (!added)
			return false;
		/* Names are those of the library, which stays. */
		added->words = (struct table_words){ column->names, column->nnames,
						     column->letters, column->type };
	}
	return true;
}

struct report_call {
	struct call call;
	struct atw_report_opts opts;
	const char *name;
	struct atw_target **target;
	size_t n;
};

static void report_release(struct call *call)
{
	struct report_call *c = (struct report_call *)call;

	PyMem_Free(c->target);
}

static int report_run(struct call *call)
{
	struct report_call *c = (struct report_call *)call;
	struct atw_report *report = NULL;
	const struct atw_report_row *row;
	int r;

	r = atw_report_open(c->name, c->target, c->n, &c->opts, &report, &call->err);
	if (!r && !report_columns(call->table, report))
		call->table->failed = true;
	while (!r && !atomic_load(&call->stop) &&
	       !(r = atw_report_next(report, &row, &call->err))) {
		if (!table_add_rows(call->table, 1))
			break;
		for (uint32_t i = 0; i < row->ncells && i < call->table->ncolumns; i++)
			if (row->known >> i & 1)
				report_set(call->table, i, atw_report_column(report, i),
					   &row->cell[i]);
	}
	atw_report_close(report);
	return r;
}

/* Reserve the further sources. Returns false with an exception. */
static bool report_take(struct report_call *c, PyObject *others)
{
	Py_ssize_t n = PyTuple_Size(others);

	c->target = PyMem_Calloc((size_t)n + 1, sizeof(struct atw_target *));
	if (!c->target) {
		PyErr_NoMemory();
		return false;
	}
	Py_INCREF(others);
	c->call.others = others;
	c->target[c->n++] = c->call.source->target;
	for (; c->call.held < n; c->call.held++) {
		struct source *other = (struct source *)PyTuple_GetItem(others, c->call.held);

		if (!PyObject_TypeCheck((PyObject *)other, c->call.module->source)) {
			PyErr_SetString(PyExc_TypeError, "a report is of sources");
			return false;
		}
		if (!source_enter(other))
			return false;
		c->target[c->n++] = other->target;
	}
	return true;
}

/* Name, further sources of which it is a report, by, bare, addresses, progress. */
PyObject *source_report(PyObject *self, PyObject *args)
{
	PyObject *others, *progress, *name, *by;
	struct report_call *c;
	int bare, addresses;

	if (!PyArg_ParseTuple(args, "UO!OppO", &name, &PyTuple_Type, &others, &by, &bare,
			      &addresses, &progress))
		return NULL;
	if (by != Py_None && !PyUnicode_Check(by)) {
		PyErr_SetString(PyExc_TypeError, "by is a text or None");
		return NULL;
	}
	c = call_create(NULL, (struct source *)self, sizeof(*c), report_run);
	if (!c)
		return NULL;
	c->call.release = report_release;
	c->call.keep = PyTuple_Pack(2, name, by);
	c->opts.size = sizeof(c->opts);
	c->opts.bare = (uint32_t)bare;
	c->opts.addresses = (uint32_t)addresses;
	c->opts.progress = call_progress;
	c->opts.arg = c;
	c->name = c->call.keep ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	if (c->name && by != Py_None)
		c->opts.by = PyUnicode_AsUTF8AndSize(by, NULL);
	if (PyErr_Occurred() || !call_set_table(&c->call, NULL, 0) || !report_take(c, others))
		return call_fail(&c->call);
	return call_finish(&c->call, progress);
}
