/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call.h - calls of the library, each in a thread of its own.
 *
 * The library does not return until it has an answer, and Python handles signals in its main
 * thread. That one therefore waits, for signals and for progress, while another makes the
 * call. An exception ends the wait within 80 ms: a call that has not stopped by then owns what
 * it uses, and releases it when it ends.
 */
#pragma once

#include "source.h"

#include <pthread.h>
#include <stdatomic.h>

/* First member of the struct of each kind of call. */
struct call {
	/* In the thread, without the GIL: returns a status of the library. */
	int (*run)(struct call *call);
	/* With the GIL: releases what the kind has; NULL: nothing. */
	void (*release)(struct call *call);
	struct module *module;
	struct source *source;           /* NULL: it is being opened */
	PyObject *others;                /* tuple of further sources, or NULL */
	Py_ssize_t held;                 /* so many of them are reserved */
	struct table *table;             /* of the rows, or NULL */
	PyObject *keep;                  /* object whose memory is used */
	struct atw_subject subject;
	bool of_process;                 /* else of the kernel */
	struct atw_space *space;         /* of call_open_space() */
	struct atw_err err;
	int r;
	atomic_bool stop;
	_Atomic uint64_t done, all;      /* for progress; all = 0: not known */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool ended, abandoned;           /* under the lock */
};

/*
 * A call of `size` bytes, which reserves the source; NULL with an exception. Without a
 * source, `module` is given.
 */
void *call_create(struct module *module, struct source *source, size_t size,
		  int (*run)(struct call *call));
/* Make its table. Returns false with an exception. */
bool call_set_table(struct call *call, const struct table_head *head, size_t n);
/* The address space: None (the kernel), a number or a name. Returns false with an exception. */
bool call_set_process(struct call *call, PyObject *pid);
/*
 * Converters, for O& of PyArg_ParseTuple(): *ret is a uint64_t or a uint32_t. K and I would
 * wrap what does not fit, so that another address than the caller's is looked up; these
 * return 0 with OverflowError.
 */
int call_u64(PyObject *object, void *ret);
int call_u32(PyObject *object, void *ret);
/* Run it. Returns false with an exception, and the call is no longer the caller's. */
bool call_run(struct call *call, PyObject *progress);
/* Release it and its sources; NULL is accepted. */
void call_destroy(struct call *call);
/* Run it; returns its table, or NULL with an exception. In each case destroys the call. */
PyObject *call_finish(struct call *call, PyObject *progress);
/* Destroy it. Returns NULL, for callers that set an exception. */
PyObject *call_fail(struct call *call);
/* The same after a failure of the library. */
PyObject *call_raise(struct call *call);

/* ---- in the thread ---- */

int call_open_space(struct call *call);
/* Returns false if the call has to stop. Counts rows. */
bool call_continues(struct call *call);
/* The same of a step that is no row; atw_progress_fn, and the argument is the call. */
bool call_progress(void *arg, uint64_t done, uint64_t all);

/* Before Python ends: threads that are still there no longer touch its objects. */
PyObject *call_exit(PyObject *self, PyObject *args);
