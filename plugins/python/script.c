/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - the plugin python: a script, and what its classes say of themselves. */
#include "script.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { SCRIPT_LONGEST = 16 << 20 };

const char *script_keep(PyObject *list, PyObject *text)
{
	PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
	const char *ret = bytes && !PyList_Append(list, bytes) ? PyBytes_AsString(bytes) : NULL;

	Py_XDECREF(bytes);
	return ret;
}

/* ---- errors ---- */

/* The line of the script at which it was raised; 0: not known. */
static long script_line(PyObject *trace)
{
	long line = 0;

	Py_XINCREF(trace);
	while (trace && trace != Py_None) {
		PyObject *number = PyObject_GetAttrString(trace, "tb_lineno"), *next;

		if (number)
			line = PyLong_AsLong(number);
		Py_XDECREF(number);
		next = PyObject_GetAttrString(trace, "tb_next");
		Py_DECREF(trace);
		trace = next;
	}
	Py_XDECREF(trace);
	PyErr_Clear();
	return line;
}

static void script_text(PyObject *text, char *ret, size_t len)
{
	PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;

	snprintf(ret, len, "%s", bytes ? PyBytes_AsString(bytes) : "?");
	/* A sentence is one line. */
	for (char *s = ret; *s; s++)
		if (*s == '\n')
			*s = ' ';
	Py_XDECREF(bytes);
	PyErr_Clear();
}

int script_error(const struct script *s, struct atw_err *err)
{
	PyObject *type = NULL, *value = NULL, *trace = NULL, *name, *said;
	char kind[80], text[300], where[40] = "";
	bool syntax;
	long line;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	syntax = type && PyErr_GivenExceptionMatches(type, PyExc_SyntaxError);
	name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
	said = value ? PyObject_Str(value) : NULL;
	script_text(name, kind, sizeof(kind));
	script_text(said, text, sizeof(text));
	line = syntax ? 0 : script_line(trace);
	if (line > 0)
		snprintf(where, sizeof(where), "line %ld: ", line);
	Py_XDECREF(name);
	Py_XDECREF(said);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	return s->host->error(err, ATW_E_DAMAGED, "%s: %s%s%s%s", s->path, where, kind,
			      *text ? ": " : "", text);
}

/* ---- classes ---- */

static const struct {
	const char *word;
	enum atw_column_type type;
} script_types[] = {
	{ "address", ATW_COLUMN_ADDRESS }, { "hex", ATW_COLUMN_HEX }, { "bytes", ATW_COLUMN_BYTES },
	{ "count", ATW_COLUMN_COUNT }, { "pages", ATW_COLUMN_PAGES }, { "text", ATW_COLUMN_TEXT },
	{ "milliseconds", ATW_COLUMN_MILLISECONDS }, { "change", ATW_COLUMN_CHANGE },
	{ "change_bytes", ATW_COLUMN_CHANGE_BYTES },
};

/* An attribute of a class, or NULL without an error if it has none. */
static PyObject *script_attribute(PyObject *class, const char *name)
{
	PyObject *v = PyObject_GetAttrString(class, name);

	if (!v && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Clear();
	return v;
}

/* A list of names. false: a Python error is set. */
static bool script_inputs(struct script *s, struct script_class *c, const char *list, uint32_t flags)
{
	PyObject *names = script_attribute(c->class, list), *each, *name;

	if (!names)
		return !PyErr_Occurred();
	each = PyObject_GetIter(names);
	while (each && (name = PyIter_Next(each))) {
		struct atw_plugin_column *col = &c->in[c->nin];

		if (c->nin == ATW_PLUGIN_COLUMNS)
			PyErr_Format(PyExc_ValueError, "more than %d columns", ATW_PLUGIN_COLUMNS);
		else
			*col = (struct atw_plugin_column){
				.size = sizeof(*col), .name = script_keep(s->texts, name), .flags = flags,
			};
		Py_DECREF(name);
		if (PyErr_Occurred())
			break;
		c->inputs[c->nin++] = col;
	}
	Py_XDECREF(each);
	Py_DECREF(names);
	return !PyErr_Occurred();
}

/* "count", or ("count", "help") */
static bool script_column(struct script *s, struct atw_plugin_column *col, PyObject *name,
			  PyObject *what)
{
	bool pair = PyTuple_Check(what) && PyTuple_Size(what) == 2;
	const char *type;

	col->size = sizeof(*col);
	col->name = script_keep(s->texts, name);
	if (pair)
		col->help = script_keep(s->texts, PyTuple_GetItem(what, 1));
	type = PyErr_Occurred() ? NULL : script_keep(s->texts, pair ? PyTuple_GetItem(what, 0) : what);
	for (size_t i = 0; type && i < sizeof(script_types) / sizeof(script_types[0]); i++)
		if (!strcmp(type, script_types[i].word))
			col->type = script_types[i].type;
	if (type && !col->type)
		PyErr_Format(PyExc_ValueError,
			     "column '%s': unknown type '%s'; known: address, hex, bytes, count, pages, text, milliseconds, change, change_bytes",
			     col->name, type);
	return !PyErr_Occurred();
}

static bool script_columns(struct script *s, struct script_class *c)
{
	PyObject *dict = PyObject_GetAttrString(c->class, "columns"), *name, *what;
	Py_ssize_t at = 0;

	if (dict && !PyDict_Check(dict))
		PyErr_SetString(PyExc_TypeError, "columns is not a dict");
	while (!PyErr_Occurred() && dict && PyDict_Next(dict, &at, &name, &what)) {
		if (c->nout == ATW_PLUGIN_COLUMNS)
			PyErr_Format(PyExc_ValueError, "more than %d columns", ATW_PLUGIN_COLUMNS);
		else if (script_column(s, &c->out[c->nout], name, what)) {
			c->outputs[c->nout] = &c->out[c->nout];
			c->nout++;
		}
	}
	Py_XDECREF(dict);
	return !PyErr_Occurred();
}

/* A borrowed class becomes one of the script. */
static bool script_class(struct script *s, PyObject *class, struct script_class *c)
{
	Py_INCREF(class);
	c->class = class;
	return script_inputs(s, c, "inputs", 0) &&
	       script_inputs(s, c, "optional", ATW_INPUT_OPTIONAL) && script_columns(s, c);
}

static const char *script_word(struct script *s, PyObject *class, const char *name, bool must)
{
	PyObject *v = must ? PyObject_GetAttrString(class, name) : script_attribute(class, name);
	const char *ret = v ? script_keep(s->texts, v) : NULL;

	Py_XDECREF(v);
	return ret;
}

/* "report nodes": words with blanks between them. */
static bool script_from(struct script *s, struct script_class *c)
{
	const char *text = script_word(s, c->class, "source", false);
	size_t n = 0;

	while (text && n < SCRIPT_WORDS && *text) {
		size_t len = strcspn(text, " ");
		PyObject *word = PyUnicode_FromStringAndSize(text, (Py_ssize_t)len);

		if (len && word)
			c->from[n++] = script_keep(s->texts, word);
		Py_XDECREF(word);
		text += len + (text[len] == ' ');
	}
	return !PyErr_Occurred();
}

static bool script_add_report(struct script *s, PyObject *class)
{
	struct script_class *c = &s->report[s->nreports];

	if (s->nreports == SCRIPT_REPORTS) {
		PyErr_Format(PyExc_ValueError, "more than %d reports", SCRIPT_REPORTS);
		return false;
	}
	if (!script_class(s, class, c) || !script_from(s, c))
		return false;
	c->report = script_report;
	c->report.name = script_word(s, class, "name", true);
	c->report.help = PyErr_Occurred() ? NULL : script_word(s, class, "help", false);
	c->report.from = c->from[0] ? c->from : NULL;
	c->report.inputs = c->inputs;
	c->report.columns = c->outputs;
	s->nreports += !PyErr_Occurred();
	return !PyErr_Occurred();
}

/* `annotator`, a class, and `reports`, a list of them. */
static bool script_classes(struct script *s)
{
	PyObject *annotator = script_attribute(s->module, "annotator"), *reports, *each = NULL, *one;

	if (annotator && script_class(s, annotator, &s->annotator)) {
		s->of = script_annotator;
		s->of.inputs = s->annotator.inputs;
		s->of.columns = s->annotator.outputs;
		s->annotates = true;
	}
	Py_XDECREF(annotator);
	reports = PyErr_Occurred() ? NULL : script_attribute(s->module, "reports");
	if (reports)
		each = PyObject_GetIter(reports);
	while (each && !PyErr_Occurred() && (one = PyIter_Next(each))) {
		script_add_report(s, one);
		Py_DECREF(one);
	}
	Py_XDECREF(each);
	Py_XDECREF(reports);
	if (!PyErr_Occurred() && !s->annotates && !s->nreports)
		PyErr_SetString(PyExc_AttributeError, "there is neither annotator nor reports");
	return !PyErr_Occurred();
}

/* ---- the script ---- */

static char *script_read(const struct script *s, struct atw_err *err)
{
	FILE *f = fopen(s->path, "re");
	char *text = f ? malloc(SCRIPT_LONGEST) : NULL;
	size_t n = text ? fread(text, 1, SCRIPT_LONGEST, f) : 0;

	if (!f || ferror(f))
		s->host->error(err, ATW_E_MISSING, "cannot read %s: %s", s->path, strerror(errno));
	else if (!text)
		s->host->error(err, ATW_E_NOMEM, "out of memory");
	else if (n == SCRIPT_LONGEST || memchr(text, 0, n))
		s->host->error(err, ATW_E_FORMAT, "%s: it is not a script", s->path);
	else
		text[n] = '\0';
	if (f && (!text || ferror(f) || n == SCRIPT_LONGEST || memchr(text, 0, n))) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* Output of the script must not be among the rows. */
static bool script_move_output(void)
{
	PyObject *to = PySys_GetObject("stderr");

	return !to || !PySys_SetObject("stdout", to);
}

static bool script_run(struct script *s, const char *text)
{
	PyObject *code = Py_CompileString(text, s->path, Py_file_input), *dict, *ret = NULL;

	s->module = code ? PyModule_New("__atwalk__") : NULL;
	dict = s->module ? PyModule_GetDict(s->module) : NULL;
	if (dict && !PyDict_SetItemString(dict, "__builtins__", PyEval_GetBuiltins()))
		ret = PyEval_EvalCode(code, dict, dict);
	Py_XDECREF(code);
	Py_XDECREF(ret);
	return ret;
}

/* Extensions of Python expect its symbols among those of the program. */
static void script_publish(void)
{
	Dl_info of;

	if (dladdr((void *)(uintptr_t)Py_InitializeEx, &of) && of.dli_fname)
		dlopen(of.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static void script_stop(void *instance)
{
	struct script *s = instance;

	for (size_t i = 0; i < SCRIPT_REPORTS; i++)
		Py_CLEAR(s->report[i].class);
	Py_CLEAR(s->annotator.class);
	Py_CLEAR(s->module);
	Py_CLEAR(s->texts);
	free(s->path);
	free(s);
}

static int script_start(const struct atw_host *host, const char *options, void **ret,
			struct atw_err *err)
{
	struct script *s;
	char *text;
	bool good;

	if (!options || !*options)
		return host->error(err, ATW_E_USAGE, "the script is missing: python:FILE");
	if (getauxval(AT_SECURE))
		return host->error(err, ATW_E_PERM,
				   "no script is run: this program has more rights than its caller");
	s = calloc(1, sizeof(*s));
	if (!s)
		return host->error(err, ATW_E_NOMEM, "out of memory");
	s->host = host;
	s->path = strdup(options);
	text = s->path ? script_read(s, err) : NULL;
	if (!text) {
		bool nomem = !s->path;

		free(s->path);
		free(s);
		return nomem ? host->error(err, ATW_E_NOMEM, "out of memory") : ATW_E_MISSING;
	}
	script_publish();
	/* Without its signal handlers. */
	Py_InitializeEx(0);
	s->texts = PyList_New(0);
	good = s->texts && script_move_output() && script_run(s, text) && script_classes(s);
	free(text);
	if (!good) {
		int r = script_error(s, err);

		script_stop(s);
		return r;
	}
	*ret = s;
	return ATW_OK;
}

static const struct atw_annotator *script_get_annotator(void *instance)
{
	const struct script *s = instance;

	return s->annotates ? &s->of : NULL;
}

static const struct atw_plugin_report *script_get_report(void *instance, uint32_t i)
{
	const struct script *s = instance;

	return i < s->nreports ? &s->report[i].report : NULL;
}

ATW_PLUGIN("python", "1", ATW_PLUGIN_ANNOTATOR | ATW_PLUGIN_REPORT,
	   "annotators and reports written in Python: python:FILE",
	   .start = script_start, .stop = script_stop, .annotator = script_get_annotator,
	   .report = script_get_report);
