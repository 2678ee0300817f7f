/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void *thread_memory(size_t bytes)
{
	enum { LINES = 128 };    /* two, as some CPUs fetch them */
	size_t n = (bytes + LINES - 1) / LINES * LINES;
	void *p = aligned_alloc(LINES, n);

	return p ? memset(p, 0, n) : NULL;
}

bool thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
				   SIGPIPE };
	sigset_t all, were;
	bool started;

	sigfillset(&all);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &were);
	started = !pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &were, NULL);
	return started;
}
