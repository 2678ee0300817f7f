/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ending.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "target/procfs.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };
static void (*tidy_up)(void), (*notify)(void);
static struct timespec first_signal; /* when the first came */

void ending_signals(sigset_t *ret)
{
	sigemptyset(ret);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(ret, signals[i]);
}

/* Is it a second signal, at least a second after the first? */
static bool ending_is_repeated(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!first_signal.tv_sec)
		first_signal = now;
	return now.tv_sec - first_signal.tv_sec > (now.tv_nsec < first_signal.tv_nsec);
}

static void ending_note_signal(int sig)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	int e = errno;

	/* SIGPIPE: the reader of the output is gone, and no orderly end is needed. */
	if (notify && sig != SIGPIPE && !ending_is_repeated()) {
		notify();
		errno = e;
		return;
	}
	if (tidy_up)
		tidy_up();
	sigaction(sig, &usual, NULL);
	raise(sig);              /* once this has returned */
}

/*
 * Not SA_RESETHAND: of two signals in a row, as timeout(1) sends them, the second would
 * kill the program before the handler of the first has started.
 */
static void ending_catch_one(int sig, int flags)
{
	struct sigaction sa = {.sa_handler = ending_note_signal, .sa_flags = flags}, was;

	ending_signals(&sa.sa_mask);
	if (!sigaction(sig, NULL, &was) && was.sa_handler != SIG_IGN)
		sigaction(sig, &sa, NULL);
}

static void ending_on_signal(int flags)
{
	for (size_t i = 0; i < SIGNALS; i++)
		ending_catch_one(signals[i], flags);
}

void ending_catch(void (*tidy)(void))
{
	notify = NULL;
	tidy_up = tidy;
	ending_on_signal(0);
	ending_catch_one(SIGPIPE, 0);
}

void ending_notify(void (*on_signal)(void))
{
	first_signal = (struct timespec){ 0 };
	notify = on_signal;
	ending_on_signal(SA_RESTART);
}

/* ---- processes that end ---- */

int pidfd_hold(uint64_t pid)
{
	uint32_t tgid;

	if (!pid || pid > UINT32_MAX || proc_tgid((uint32_t)pid, &tgid, NULL) != ATW_OK)
		return -1;
	return (int)syscall(SYS_pidfd_open, tgid, 0);
}

bool pidfd_has_ended(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}
