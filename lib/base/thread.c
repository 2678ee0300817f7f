/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/thread.h"

#include <signal.h>

#include "base/cleanup.h"

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
