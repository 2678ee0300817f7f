// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - symbols of the kernel: one, or all as a table. */
#include "call.h"

struct symbol_call {
	struct call call;
	const char *name;       /* NULL: by an address in it */
	uint64_t va;
	const struct atw_symbol *symbol;
};

static int symbol_run(struct call *call)
{
	struct symbol_call *c = (struct symbol_call *)call;
	struct atw_target *target = call->source->target;

	return c->name ? atw_symbol_find(target, c->name, &c->symbol, &call->err) :
			 atw_symbol_at(target, ATW_VA(c->va), &c->symbol, &call->err);
}

PyObject *source_symbol(PyObject *self, PyObject *args)
{
	unsigned long long va = 0;
	PyObject *what, *ret;
	const char *name = NULL;
	struct symbol_call *c;
	char type[2] = "";

	if (!PyArg_ParseTuple(args, "O", &what))
		return NULL;
	if (PyUnicode_Check(what))
		name = PyUnicode_AsUTF8AndSize(what, NULL);
	else
		va = PyLong_AsUnsignedLongLong(what);
	if (PyErr_Occurred())
		return NULL;
	c = call_create(NULL, (struct source *)self, sizeof(*c), symbol_run);
	if (!c)
		return NULL;
	Py_INCREF(what);
	c->call.keep = what;
	c->name = name;
	c->va = va;
	if (!call_run(&c->call, NULL))
		return NULL;
	if (c->call.r < 0)
		return call_raise(&c->call);
	type[0] = (char)c->symbol->type;
	ret = Py_BuildValue("(sKNz)", c->symbol->name, (unsigned long long)c->symbol->va.u,
			    c->symbol->bytes ? PyLong_FromUnsignedLongLong(c->symbol->bytes) :
					       Py_BuildValue(""), *type ? type : NULL);
	call_destroy(&c->call);
	return ret;
}

static int symbols_run(struct call *call)
{
	struct atw_symbols *symbols = NULL;
	const struct atw_symbol *symbol;
	int r;

	r = atw_symbols_open(call->source->target, &symbols, &call->err);
	while (!r && call_continues(call) &&
	       !(r = atw_symbols_next(symbols, &symbol, &call->err))) {
		const char type[2] = { (char)symbol->type };

		if (!table_add_rows(call->table, 1))
			break;
		table_set(call->table, 0, symbol->va.u);
		if (symbol->bytes)
			table_set(call->table, 1, symbol->bytes);
		if (*type)
			table_set_text(call->table, 2, type);
		table_set_text(call->table, 3, symbol->name);
	}
	atw_symbols_close(symbols);
	return r;
}

PyObject *source_symbols(PyObject *self, PyObject *args)
{
	static const struct table_head head[] = {
		TABLE_COLUMN(address, ADDRESS), TABLE_COLUMN(size, BYTES), TABLE_COLUMN(type, TEXT),
		TABLE_COLUMN(symbol, TEXT),
	};
	PyObject *progress;
	struct call *call;

	if (!PyArg_ParseTuple(args, "O", &progress))
		return NULL;
	call = call_create(NULL, (struct source *)self, sizeof(*call), symbols_run);
	if (!call)
		return NULL;
	if (!call_set_table(call, head, sizeof(head) / sizeof(head[0])))
		return call_fail(call);
	return call_finish(call, progress);
}
