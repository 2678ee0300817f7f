// SPDX-License-Identifier: GPL-2.0-or-later
/* call.c - calls of the library, each in a thread of its own. */
#include "call.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { CALL_SLICE = 40000000 };  /* nanoseconds between looks for signals */

/* Held while a thread that was left alone takes the GIL. */
static pthread_mutex_t call_exit_lock = PTHREAD_MUTEX_INITIALIZER;
static bool call_exited;

PyObject *call_exit(PyObject *self, PyObject *args)
{
	Py_BEGIN_ALLOW_THREADS
	pthread_mutex_lock(&call_exit_lock);
	call_exited = true;
	pthread_mutex_unlock(&call_exit_lock);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static bool call_init(struct call *call)
{
	pthread_condattr_t attr;
	bool ok;

	if (pthread_mutex_init(&call->lock, NULL))
		return false;
	pthread_condattr_init(&attr);
	ok = !pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) &&
	     !pthread_cond_init(&call->end, &attr);
	pthread_condattr_destroy(&attr);
	if (!ok)
		pthread_mutex_destroy(&call->lock);
	return ok;
}

void *call_create(struct module *module, struct source *source, size_t size,
		  int (*run)(struct call *call))
{
	struct call *call;

	if (source && !source_enter(source))
		return NULL;
	call = calloc(1, size);
	if (!call || !call_init(call)) {
		free(call);
		if (source)
			source_leave(source);
		return PyErr_NoMemory();
	}
	call->run = run;
	call->module = source ? source_module(source) : module;
	call->source = source;
	call->subject.size = sizeof(call->subject);
	Py_XINCREF((PyObject *)source);
	return call;
}

void call_destroy(struct call *call)
{
	if (!call)
		return;
	if (call->release)
		call->release(call);
	atw_space_close(call->space);
	for (Py_ssize_t i = 0; i < call->held; i++)
		source_leave((struct source *)PyTuple_GetItem(call->others, i));
	if (call->source)
		source_leave(call->source);
	Py_XDECREF((PyObject *)call->table);
	Py_XDECREF(call->others);
	Py_XDECREF(call->keep);
	Py_XDECREF((PyObject *)call->source);
	pthread_cond_destroy(&call->end);
	pthread_mutex_destroy(&call->lock);
	free(call);
}

PyObject *call_fail(struct call *call)
{
	call_destroy(call);
	return NULL;
}

PyObject *call_raise(struct call *call)
{
	source_raise(call->module, &call->err, (PyObject *)call->table);
	return call_fail(call);
}

bool call_set_table(struct call *call, const struct table_head *head, size_t n)
{
	call->table = table_create(call->module, head, n);
	return call->table;
}

bool call_set_process(struct call *call, PyObject *pid)
{
	if (pid == Py_None)
		return true;
	call->of_process = true;
	if (PyUnicode_Check(pid)) {
		if (PyUnicode_FSConverter(pid, &call->keep)) {
			call->subject.comm = PyBytes_AsString(call->keep);
			return true;
		}
	} else {
		unsigned long n = PyLong_AsUnsignedLong(pid);

		if (!PyErr_Occurred() && n && n <= UINT32_MAX) {
			call->subject.pid = (uint32_t)n;
			return true;
		}
	}
	PyErr_SetString(call->module->usage_error, "a process is a number from 1 or a name");
	return false;
}

int call_u64(PyObject *object, void *ret)
{
	PyObject *number = PyNumber_Index(object);
	unsigned long long u = number ? PyLong_AsUnsignedLongLong(number) : 0;

	Py_XDECREF(number);
	if (PyErr_Occurred())
		return 0;
	*(uint64_t *)ret = u;
	return 1;
}

int call_u32(PyObject *object, void *ret)
{
	uint64_t u;

	if (!call_u64(object, &u))
		return 0;
	if (u > UINT32_MAX) {
		PyErr_SetString(PyExc_OverflowError, "the number has more than 32 bits");
		return 0;
	}
	*(uint32_t *)ret = (uint32_t)u;
	return 1;
}

/* ---- in the thread ---- */

int call_open_space(struct call *call)
{
	return atw_space_open(call->source->target, call->of_process ? &call->subject : NULL,
			      &call->space, &call->err);
}

bool call_continues(struct call *call)
{
	if (call->table) {
		if (call->table->failed)
			return false;
		atomic_store_explicit(&call->done, call->table->rows, memory_order_relaxed);
	}
	return !atomic_load_explicit(&call->stop, memory_order_relaxed);
}

bool call_progress(void *arg, uint64_t done, uint64_t all)
{
	struct call *call = arg;

	atomic_store_explicit(&call->done, done, memory_order_relaxed);
	atomic_store_explicit(&call->all, all, memory_order_relaxed);
	return !atomic_load_explicit(&call->stop, memory_order_relaxed);
}

/* The one that waited for this call has an exception and is gone. */
static void call_end_alone(struct call *call)
{
	pthread_mutex_lock(&call_exit_lock);
	if (!call_exited) {
		PyGILState_STATE state = PyGILState_Ensure();

		call_destroy(call);
		PyGILState_Release(state);
	}
	pthread_mutex_unlock(&call_exit_lock);
}

static void *call_thread(void *arg)
{
	struct call *call = arg;
	bool alone;

	call->r = call->run(call);
	pthread_mutex_lock(&call->lock);
	call->ended = true;
	alone = call->abandoned;
	pthread_cond_signal(&call->end);
	pthread_mutex_unlock(&call->lock);
	if (alone)
		call_end_alone(call);
	return NULL;
}

/* ---- the one that waits ---- */

/* Signals are for Python's threads, but for those that a thread causes itself. */
static bool call_start(struct call *call)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	sigset_t all, were;
	int r;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &were);
	r = pthread_create(&call->thread, NULL, call_thread, call);
	pthread_sigmask(SIG_SETMASK, &were, NULL);
	return !r;
}

/* Waits for a slice, without the GIL. Returns whether the call has ended. */
static bool call_wait(struct call *call)
{
	struct timespec until;
	bool ended;
	int r = 0;

	Py_BEGIN_ALLOW_THREADS
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += CALL_SLICE;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&call->lock);
	while (!call->ended && !r)
		r = pthread_cond_timedwait(&call->end, &call->lock, &until);
	ended = call->ended;
	pthread_mutex_unlock(&call->lock);
	Py_END_ALLOW_THREADS
	return ended;
}

/* Signals and progress. Returns false with an exception. */
static bool call_look(struct call *call, PyObject *progress)
{
	uint64_t done = atomic_load(&call->done), all = atomic_load(&call->all);
	PyObject *answer;

	if (PyErr_CheckSignals())
		return false;
	if (!progress || progress == Py_None)
		return true;
	answer = all ? PyObject_CallFunction(progress, "KK", (unsigned long long)done,
					     (unsigned long long)all) :
		       PyObject_CallFunction(progress, "KO", (unsigned long long)done, Py_None);
	Py_XDECREF(answer);
	return answer;
}

/* With the GIL, so that the thread cannot release the call meanwhile. */
static bool call_abandon(struct call *call)
{
	bool ended;

	pthread_mutex_lock(&call->lock);
	ended = call->ended;
	call->abandoned = !ended;
	if (!ended) {
		pthread_detach(call->thread);
		for (Py_ssize_t i = 0; i < call->held; i++)
			((struct source *)PyTuple_GetItem(call->others, i))->abandoned = true;
		if (call->source)
			call->source->abandoned = true;
	}
	pthread_mutex_unlock(&call->lock);
	return !ended;
}

bool call_run(struct call *call, PyObject *progress)
{
	bool good = true;

	if (!call_start(call)) {
		PyErr_SetString(PyExc_RuntimeError, "cannot start a thread");
		call_destroy(call);
		return false;
	}
	while (!call_wait(call) && good) {
		good = call_look(call, progress);
		if (good)
			continue;
		atomic_store(&call->stop, true);
		if (!call_wait(call) && call_abandon(call))
			return false;
		break;
	}
	pthread_join(call->thread, NULL);
	if (good)
		return true;
	call_destroy(call);
	return false;
}

PyObject *call_finish(struct call *call, PyObject *progress)
{
	PyObject *ret = NULL;

	if (!call_run(call, progress))
		return NULL;
	if (call->table->failed)
		PyErr_NoMemory();
	else if (call->r < 0)
		return call_raise(call);
	else {
		ret = (PyObject *)call->table;
		Py_INCREF(ret);
	}
	call_destroy(call);
	return ret;
}
