/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ending.h"

#include <stddef.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };
static void (*tidy_up)(void);

void ending_signals(sigset_t *ret)
{
	sigemptyset(ret);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(ret, signals[i]);
}

static void on_signal(int sig)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };

	tidy_up();
	sigaction(sig, &usual, NULL);
	raise(sig);              /* once this has returned */
}

/*
 * Not SA_RESETHAND: a signal that comes twice, as timeout(1) sends it, would find nobody
 * who catches it before the first has come to its handler.
 */
void ending_catch(void (*tidy)(void))
{
	struct sigaction sa = { .sa_handler = on_signal }, was;

	tidy_up = tidy;
	ending_signals(&sa.sa_mask);
	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}
