// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - the Python type of a source: open, close, symbols, memory, captures. */
#include <string.h>
#include <time.h>

#include "source.h"

struct module *source_module(struct source *source)
{
	return PyType_GetModuleState(Py_TYPE((PyObject *)source));
}

static PyObject *source_exception(struct module *module, int status)
{
	switch (status) {
	case ATW_E_USAGE:
		return module->usage_error;
	case ATW_E_NONE:
		return module->error;
	case ATW_E_PARTIAL:
	case ATW_E_LIMIT:
		return module->partial_error;
	default:
		return module->source_error;
	}
}

PyObject *source_raise(struct module *module, const struct atw_err *err, PyObject *rows)
{
	PyObject *type, *text, *hint, *exception;

	if (err->status == ATW_E_NOMEM)
		return PyErr_NoMemory();
	type = source_exception(module, err->status);
	text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "backslashreplace");
	hint = PyUnicode_DecodeUTF8(err->hint, (Py_ssize_t)strlen(err->hint), "backslashreplace");
	exception = text && hint ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
	if (exception && !PyObject_SetAttrString(exception, "hint", hint) &&
	    (type != module->partial_error ||
	     (!PyObject_SetAttrString(exception, "rows", rows ? rows : Py_None) &&
	      !PyObject_SetAttrString(exception, "lost", text))))
		PyErr_SetObject(type, exception);
	Py_XDECREF(exception);
	Py_XDECREF(text);
	Py_XDECREF(hint);
	return NULL;
}

bool source_enter(struct source *source)
{
	if (source->busy || !source->target) {
		PyErr_SetString(source_module(source)->usage_error, source->busy ?
				"the source is in use by another thread" :
				"the source is closed");
		return false;
	}
	source->busy = true;
	return true;
}

void source_leave(struct source *source)
{
	source->busy = false;
}

int source_space(struct source *source, PyObject *pid, struct atw_space **ret,
		 struct atw_err *err)
{
	struct atw_subject subject = { .size = sizeof(subject) };
	PyObject *name = NULL;
	int r;

	if (pid != Py_None && PyUnicode_Check(pid)) {
		if (!PyUnicode_FSConverter(pid, &name))
			goto usage;
		subject.comm = PyBytes_AsString(name);
	} else if (pid != Py_None) {
		unsigned long n = PyLong_AsUnsignedLong(pid);

		if (PyErr_Occurred() || !n || n > UINT32_MAX)
			goto usage;
		subject.pid = (uint32_t)n;
	}
	Py_BEGIN_ALLOW_THREADS
	r = atw_space_open(source->target, pid == Py_None ? NULL : &subject, ret, err);
	Py_END_ALLOW_THREADS
	Py_XDECREF(name);
	return r;
usage:
	PyErr_Clear();
	return atw_err_set(err, ATW_E_USAGE, "a process is a number from 1 or a name");
}

static uint64_t gather_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

enum { GATHER_SLICE = 20000000 };

bool gather_begin(struct gather *gather, struct source *source, struct table *table,
		  PyObject *progress)
{
	*gather = (struct gather){ .source = source, .table = table, .progress = progress,
				   .next = gather_now() + GATHER_SLICE };
	gather->thread = PyEval_SaveThread();
	return true;
}

bool gather_go_on(struct gather *gather)
{
	PyObject *answer = NULL;
	uint64_t now;

	if (gather->table->failed)
		return false;
	now = gather_now();
	if (now < gather->next)
		return true;
	PyEval_RestoreThread(gather->thread);
	gather->stop = PyErr_CheckSignals() != 0;
	if (!gather->stop && gather->progress && gather->progress != Py_None) {
		answer = PyObject_CallFunction(gather->progress, "nO",
					       (Py_ssize_t)gather->table->rows, Py_None);
		gather->stop = !answer;
		Py_XDECREF(answer);
	}
	gather->thread = PyEval_SaveThread();
	gather->next = gather_now() + GATHER_SLICE;
	return !gather->stop;
}

PyObject *gather_end(struct gather *gather, int r, const struct atw_err *err)
{
	struct table *table = gather->table;

	PyEval_RestoreThread(gather->thread);
	source_leave(gather->source);
	if (!gather->stop && table->failed)
		PyErr_NoMemory();
	else if (!gather->stop && r < 0)
		source_raise(source_module(gather->source), err, (PyObject *)table);
	else if (!gather->stop)
		return (PyObject *)table;
	Py_DECREF(table);
	return NULL;
}

static PyObject *source_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static const char *const known[] = { "path", "kernel", "paging", "paging_ext",
					     "root", "cpu", "rate", NULL };
	struct atw_open_opts opts = { .size = sizeof(opts) };
	struct module *module = PyType_GetModuleState(type);
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	unsigned long long root = 0, rate = 0;
	PyObject *path = NULL, *kernel = NULL;
	struct atw_target *target = NULL;
	struct source *source = NULL;
	struct atw_err err = { 0 };
	int cpu = -1, r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O&zzKiK", (char **)known,
					 PyUnicode_FSConverter, &path, PyUnicode_FSConverter,
					 &kernel, &opts.paging, &opts.paging_ext, &root, &cpu,
					 &rate))
		goto out;
	opts.kernel_file = kernel ? PyBytes_AsString(kernel) : NULL;
	opts.root = root;
	opts.max_rate = rate;
	opts.cpu_plus_one = (uint32_t)(cpu + 1);
	Py_BEGIN_ALLOW_THREADS
	r = atw_target_open(PyBytes_AsString(path), &opts, &target, &err);
	Py_END_ALLOW_THREADS
	if (r) {
		source_raise(module, &err, NULL);
		goto out;
	}
	source = (struct source *)alloc(type, 0);
	if (!source) {
		atw_target_close(target);
		goto out;
	}
	source->target = target;
out:
	Py_XDECREF(path);
	Py_XDECREF(kernel);
	return (PyObject *)source;
}

static void source_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	atw_target_close(((struct source *)self)->target);
	release(self);
	Py_DECREF(type);
}

static PyObject *source_close(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;

	if (source->target) {
		if (!source_enter(source))
			return NULL;
		atw_target_close(source->target);
		source->target = NULL;
		source_leave(source);
	}
	Py_RETURN_NONE;
}

static PyObject *source_info(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	const struct atw_target_info *info;
	PyObject *ret;

	if (!source_enter(source))
		return NULL;
	info = atw_target_get_info(source->target);
	ret = Py_BuildValue("(ssszzzKI)", info->source, info->kind, info->format,
			    info->release[0] ? info->release : NULL,
			    info->paging[0] ? info->paging : NULL,
			    info->defect[0] ? info->defect : NULL,
			    (unsigned long long)info->page_size,
			    (unsigned)atw_target_caps(source->target));
	source_leave(source);
	return ret;
}

/* By name, or by an address in it. */
static PyObject *source_symbol(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	const struct atw_symbol *symbol;
	struct atw_err err = { 0 };
	unsigned long long va = 0;
	PyObject *what, *ret = NULL;
	const char *name = NULL;
	int r;

	if (!PyArg_ParseTuple(args, "O", &what))
		return NULL;
	if (PyUnicode_Check(what))
		name = PyUnicode_AsUTF8AndSize(what, NULL);
	else
		va = PyLong_AsUnsignedLongLong(what);
	if (PyErr_Occurred() || !source_enter(source))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	r = name ? atw_symbol_find(source->target, name, &symbol, &err) :
		   atw_symbol_at(source->target, ATW_VA(va), &symbol, &err);
	Py_END_ALLOW_THREADS
	if (r < 0) {
		source_raise(source_module(source), &err, NULL);
	} else {
		char type[2] = { (char)symbol->type };

		ret = Py_BuildValue("(sKNz)", symbol->name, (unsigned long long)symbol->va.u,
				    symbol->bytes ?
				    PyLong_FromUnsignedLongLong(symbol->bytes) :
				    Py_BuildValue(""), symbol->type ? type : NULL);
	}
	source_leave(source);
	return ret;
}

/* Reads until there is a reason to stop. Returns the number of bytes; err has the reason. */
static Py_ssize_t source_fill(struct source *source, struct atw_space *space, uint64_t at,
			      char *buf, Py_ssize_t len, struct atw_err *err)
{
	Py_ssize_t done = 0;

	Py_BEGIN_ALLOW_THREADS
	while (done < len) {
		uint64_t from = at + (uint64_t)done;
		size_t left = (size_t)(len - done);
		ssize_t n = space ?
			atw_space_read(space, ATW_VA(from), buf + done, left, err) :
			atw_target_read(source->target, ATW_PA(from), buf + done, left, err);

		if (n <= 0)
			break;
		done += n;
	}
	Py_END_ALLOW_THREADS
	return done;
}

/* Physical memory, or with a process (or None) that of an address space. */
static PyObject *source_read(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	struct module *module = source_module(source);
	struct atw_space *space = NULL;
	struct atw_err err = { 0 };
	unsigned long long at;
	PyObject *pid = NULL, *ret = NULL;
	Py_ssize_t len, n;
	char *buf;

	if (!PyArg_ParseTuple(args, "Kn|O", &at, &len, &pid))
		return NULL;
	if (len < 1) {
		PyErr_SetString(module->usage_error, "a length is 1 or more");
		return NULL;
	}
	buf = PyMem_Malloc((size_t)len);
	if (!buf)
		return PyErr_NoMemory();
	if (!source_enter(source)) {
		PyMem_Free(buf);
		return NULL;
	}
	if (pid && source_space(source, pid, &space, &err)) {
		source_raise(module, &err, NULL);
	} else {
		n = source_fill(source, space, at, buf, len, &err);
		ret = n ? PyBytes_FromStringAndSize(buf, n) : NULL;
		if (n < len && (ret || !PyErr_Occurred())) {
			if (n)
				err.status = ATW_E_PARTIAL;
			source_raise(module, &err, ret);
			Py_CLEAR(ret);
		}
	}
	atw_space_close(space);
	source_leave(source);
	PyMem_Free(buf);
	return ret;
}

static PyObject *source_capture(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	struct atw_capture_opts opts = { .size = sizeof(opts) };
	unsigned level, pid;
	struct atw_err err = { 0 };
	int fd, frames, threads, r;

	if (!PyArg_ParseTuple(args, "iIppI", &fd, &level, &frames, &threads, &pid) ||
	    !source_enter(source))
		return NULL;
	opts.level = level;
	opts.pid = pid;
	opts.frames = (uint32_t)frames;
	opts.threads = (uint32_t)threads;
	Py_BEGIN_ALLOW_THREADS
	r = atw_capture_write(source->target, &opts, fd, &err);
	Py_END_ALLOW_THREADS
	source_leave(source);
	if (r < 0)
		return source_raise(source_module(source), &err, NULL);
	Py_RETURN_NONE;
}

static PyMethodDef source_methods[] = {
	{ "close", source_close, METH_NOARGS, NULL },
	{ "info", source_info, METH_NOARGS, NULL },
	{ "symbol", source_symbol, METH_VARARGS, NULL },
	{ "read", source_read, METH_VARARGS, NULL },
	{ "capture", source_capture, METH_VARARGS, NULL },
	{ "tasks", source_tasks, METH_VARARGS, NULL },
	{ "vmas", source_vmas, METH_VARARGS, NULL },
	{ "pages", source_pages, METH_VARARGS, NULL },
	{ "frames", source_frames, METH_VARARGS, NULL },
	{ "map", source_map, METH_VARARGS, NULL },
	{ "find", source_find, METH_VARARGS, NULL },
	{ "report", source_report, METH_VARARGS, NULL },
	{ "translate", source_translate, METH_VARARGS, NULL },
	{ "translate_many", source_translate_many, METH_VARARGS, NULL },
	{ 0 }
};

static PyType_Slot source_slots[] = {
	{ Py_tp_new, source_new },
	{ Py_tp_dealloc, source_free },
	{ Py_tp_methods, source_methods },
	{ 0 }
};

PyType_Spec source_spec = {
	.name = "atwalk._atwalk.Source", .basicsize = sizeof(struct source),
	.flags = Py_TPFLAGS_DEFAULT, .slots = source_slots,
};
