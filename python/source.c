// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - the Python type of a source: open, close, symbols, memory, captures. */
#include "call.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	static const struct timespec slice = { .tv_nsec = 10000000 };

	while (source->busy && source->abandoned && !source->closing) {
		Py_BEGIN_ALLOW_THREADS
		nanosleep(&slice, NULL);
		Py_END_ALLOW_THREADS
		if (PyErr_CheckSignals())
			return false;
	}
	if (source->busy || !source->target || source->closing) {
		PyErr_SetString(source_module(source)->usage_error,
				source->busy && !source->closing ?
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
	source->abandoned = false;
	if (source->closing) {
		atw_target_close(source->target);
		source->target = NULL;
		source->closing = false;
	}
}

struct open_call {
	struct call call;
	struct atw_open_opts opts;
	const char *path;
	struct atw_target *target;
};

static int open_run(struct call *call)
{
	struct open_call *c = (struct open_call *)call;

	return atw_target_open(c->path, &c->opts, &c->target, &call->err);
}

static void open_release(struct call *call)
{
	atw_target_close(((struct open_call *)call)->target);
}

/* A text of a tuple; NULL: None. */
static const char *source_word(PyObject *words, Py_ssize_t i)
{
	PyObject *word = PyTuple_GetItem(words, i);

	return word == Py_None ? NULL : PyUnicode_AsUTF8AndSize(word, NULL);
}

/* A converter: *ret is what the options have, in which 0 is no CPU. */
static int source_cpu(PyObject *object, void *ret)
{
	uint32_t *plus_one = ret;

	if (!call_u32(object, plus_one))
		return 0;
	if (++*plus_one)
		return 1;
	PyErr_SetString(PyExc_OverflowError, "there is no CPU of this number");
	return 0;
}

static PyObject *source_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static const char *const known[] = { "path", "kernel", "paging", "paging_ext",
					     "root", "cpu", "rate", "layout", NULL };
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	PyObject *path = NULL, *kernel = NULL, *words;
	const char *paging = NULL, *ext = NULL, *layout = NULL;
	uint64_t root = 0, rate = 0;
	uint32_t cpu_plus_one = 0;
	struct source *source;
	struct open_call *c;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O&zzO&O&O&z", (char **)known,
					 PyUnicode_FSConverter, &path, PyUnicode_FSConverter,
					 &kernel, &paging, &ext, call_u64, &root, source_cpu,
					 &cpu_plus_one, call_u64, &rate, &layout))
		goto fail;
	/* The words of the call outlive its arguments. */
	words = Py_BuildValue("(OOzzz)", path, kernel ? kernel : Py_None, paging, ext,
			      layout);
	if (!words)
		goto fail;
	c = call_create(PyType_GetModuleState(type), NULL, sizeof(*c), open_run);
	if (!c) {
		Py_DECREF(words);
		goto fail;
	}
	c->call.release = open_release;
	c->call.keep = words;
	c->path = PyBytes_AsString(path);
	c->opts = (struct atw_open_opts){
		.size = sizeof(c->opts),
		.kernel_file = kernel ? PyBytes_AsString(kernel) : NULL,
		.paging = source_word(words, 2), .paging_ext = source_word(words, 3),
		.root = root, .max_rate = rate, .cpu_plus_one = cpu_plus_one,
		.layout = source_word(words, 4),
	};
	Py_DECREF(path);
	Py_XDECREF(kernel);
	if (!call_run(&c->call, NULL))
		return NULL;
	if (c->call.r)
		return call_raise(&c->call);
	source = (struct source *)alloc(type, 0);
	if (source) {
		source->target = c->target;
		c->target = NULL;
	}
	call_destroy(&c->call);
	return (PyObject *)source;
fail:
	Py_XDECREF(path);
	Py_XDECREF(kernel);
	return NULL;
}

static void source_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	atw_target_close(((struct source *)self)->target);
	release(self);
	Py_DECREF(type);
}

/* An interrupted call still uses it: it is closed when that ends. */
static PyObject *source_close(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;

	if (source->target && !source->closing) {
		if (!(source->busy && source->abandoned) && !source_enter(source))
			return NULL;
		source->closing = true;
		if (!source->abandoned)
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

struct read_call {
	struct call call;
	bool virtual;
	uint64_t at;
	char *buf;
	Py_ssize_t len, done;
};

static void read_release(struct call *call)
{
	PyMem_Free(((struct read_call *)call)->buf);
}

/* Fewer bytes than asked for have a reason, which is the error. */
static int read_run(struct call *call)
{
	struct read_call *c = (struct read_call *)call;
	int r = c->virtual ? call_open_space(call) : ATW_OK;
	ssize_t n;

	if (r < 0)
		return r;
	n = c->virtual ? atw_space_read(call->space, ATW_VA(c->at), c->buf, (size_t)c->len,
					&call->err) :
			 atw_target_read(call->source->target, ATW_PA(c->at), c->buf,
					 (size_t)c->len, &call->err);
	c->done = n < 0 ? 0 : n;
	return n < 0 ? (int)n : ATW_OK;
}

/* Physical memory, or with a process (or None) that of an address space. */
static PyObject *source_read(PyObject *self, PyObject *args)
{
	PyObject *pid = NULL, *ret;
	struct read_call *c;
	Py_ssize_t len;
	uint64_t at;

	if (!PyArg_ParseTuple(args, "O&n|O", call_u64, &at, &len, &pid))
		return NULL;
	if (len < 1) {
		PyErr_SetString(source_module((struct source *)self)->usage_error,
				"a length is 1 or more");
		return NULL;
	}
	c = call_create(NULL, (struct source *)self, sizeof(*c), read_run);
	if (!c)
		return NULL;
	c->call.release = read_release;
	c->virtual = pid != NULL;
	c->at = at;
	c->len = len;
	c->buf = PyMem_Malloc((size_t)len);
	if (!c->buf)
		PyErr_NoMemory();
	if (!c->buf || (pid && !call_set_process(&c->call, pid)))
		return call_fail(&c->call);
	if (!call_run(&c->call, NULL))
		return NULL;
	if (c->call.r < 0)
		return call_raise(&c->call);
	ret = PyBytes_FromStringAndSize(c->buf, c->done);
	if (ret && c->done < len) {
		c->call.err.status = ATW_E_PARTIAL;
		source_raise(c->call.module, &c->call.err, ret);
		Py_CLEAR(ret);
	}
	call_destroy(&c->call);
	return ret;
}

struct capture_call {
	struct call call;
	struct atw_capture_opts opts;
	int fd;
};

static int capture_run(struct call *call)
{
	struct capture_call *c = (struct capture_call *)call;

	return atw_capture_write(call->source->target, &c->opts, c->fd, &call->err);
}

static void capture_release(struct call *call)
{
	close(((struct capture_call *)call)->fd);
}

static PyObject *source_capture(PyObject *self, PyObject *args)
{
	int fd, frames, threads;
	struct capture_call *c;
	PyObject *progress;
	uint32_t level, pid;

	if (!PyArg_ParseTuple(args, "iO&ppO&O", &fd, call_u32, &level, &frames, &threads,
			      call_u32, &pid, &progress))
		return NULL;
	c = call_create(NULL, (struct source *)self, sizeof(*c), capture_run);
	if (!c)
		return NULL;
	c->opts = (struct atw_capture_opts){
		.size = sizeof(c->opts), .level = level, .pid = pid,
		.frames = (uint32_t)frames, .threads = (uint32_t)threads,
		.progress = call_progress, .arg = c,
	};
	/* Of its own: an interrupted call still writes when the caller has closed the other. */
	c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (c->fd < 0) {
		PyErr_SetFromErrno(PyExc_OSError);
		return call_fail(&c->call);
	}
	c->call.release = capture_release;
	if (!call_run(&c->call, progress))
		return NULL;
	if (c->call.r < 0)
		return call_raise(&c->call);
	call_destroy(&c->call);
	Py_RETURN_NONE;
}

static PyMethodDef source_methods[] = {
	{ "close", source_close, METH_NOARGS, NULL },
	{ "info", source_info, METH_NOARGS, NULL },
	{ "symbols", source_symbols, METH_VARARGS, NULL },
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
