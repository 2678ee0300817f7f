// SPDX-License-Identifier: GPL-2.0-or-later
/* module.c - the extension behind the Python package atwalk. */
#include "call.h"

static PyObject *module_reports(PyObject *self, PyObject *args)
{
	PyObject *list = PyList_New(0);
	const char *name, *title;

	for (size_t i = 0; list && (name = atw_report_name(i, &title)); i++) {
		PyObject *pair = Py_BuildValue("(ss)", name, title);

		if (!pair || PyList_Append(list, pair))
			Py_CLEAR(list);
		Py_XDECREF(pair);
	}
	return list;
}

static PyObject *module_version(PyObject *self, PyObject *args)
{
	return PyUnicode_FromString(atw_version());
}

static PyMethodDef module_methods[] = {
	{ "reports", module_reports, METH_NOARGS, NULL },
	{ "table", table_build, METH_VARARGS, NULL },
	{ "version", module_version, METH_NOARGS, NULL },
	{ "exit", call_exit, METH_NOARGS, NULL },
	{ 0 }
};

static PyTypeObject *module_type(PyObject *self, PyType_Spec *spec, const char *name)
{
	PyObject *type = PyType_FromModuleAndSpec(self, spec, NULL);

	if (type && PyModule_AddObjectRef(self, name, type))
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

/* Exceptions are as exit statuses of atwalk(1). */
static PyObject *module_error(PyObject *self, const char *name, PyObject *base, long status)
{
	PyObject *number = PyLong_FromLong(status), *dict = PyDict_New(), *type = NULL;
	PyObject *hint = PyUnicode_FromString("");
	PyObject *full = PyUnicode_FromFormat("atwalk.%s", name);

	if (number && dict && hint && full && !PyDict_SetItemString(dict, "hint", hint) &&
	    !PyDict_SetItemString(dict, "exit_status", number))
		type = PyErr_NewException(PyUnicode_AsUTF8AndSize(full, NULL), base, dict);
	if (type && PyModule_AddObjectRef(self, name, type))
		Py_CLEAR(type);
	Py_XDECREF(number);
	Py_XDECREF(dict);
	Py_XDECREF(hint);
	Py_XDECREF(full);
	return type;
}

static int module_exec(PyObject *self)
{
	struct module *module = PyModule_GetState(self);

	walks_init();
	module->error = module_error(self, "Error", PyExc_Exception, 1);
	if (!module->error)
		return -1;
	module->usage_error = module_error(self, "UsageError", module->error, 2);
	module->source_error = module_error(self, "SourceError", module->error, 3);
	module->partial_error = module_error(self, "PartialError", module->error, 4);
	module->table = module_type(self, &table_spec, "Table");
	module->column = module_type(self, &column_spec, "Column");
	module->source = module_type(self, &source_spec, "Source");
	return module->usage_error && module->source_error && module->partial_error &&
	       module->table && module->column && module->source ? 0 : -1;
}

static int module_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct module *module = PyModule_GetState(self);

	if (!module)
		return 0;
	Py_VISIT(module->table);
	Py_VISIT(module->column);
	Py_VISIT(module->source);
	Py_VISIT(module->error);
	Py_VISIT(module->usage_error);
	Py_VISIT(module->source_error);
	Py_VISIT(module->partial_error);
	return 0;
}

static int module_clear(PyObject *self)
{
	struct module *module = PyModule_GetState(self);

	if (!module)
		return 0;
	Py_CLEAR(module->table);
	Py_CLEAR(module->column);
	Py_CLEAR(module->source);
	Py_CLEAR(module->error);
	Py_CLEAR(module->usage_error);
	Py_CLEAR(module->source_error);
	Py_CLEAR(module->partial_error);
	return 0;
}

static PyModuleDef_Slot module_slots[] = {
	{ Py_mod_exec, module_exec },
	{ 0 }
};

static struct PyModuleDef module_def = {
	PyModuleDef_HEAD_INIT, .m_name = "_atwalk", .m_size = sizeof(struct module),
	.m_methods = module_methods, .m_slots = module_slots, .m_traverse = module_traverse,
	.m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__atwalk(void);
PyMODINIT_FUNC PyInit__atwalk(void)
{
	return PyModuleDef_Init(&module_def);
}
