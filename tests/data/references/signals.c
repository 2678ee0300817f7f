/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.c - references around signals: lines[0] is read once at an address that faults
 * first, lines[1] is written once by each of ten handlers, lines[2] once before a signal
 * that is ignored; a child that is forked writes lines[3], which is not the program's. It
 * returns 0.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 8, LINES = 512 };

volatile uint64_t lines[LINES][WORDS] __attribute__((aligned(4096)));
static int failed;

static void fault(int sig)
{
	(void)sig;
	failed |= mprotect((void *)lines, sizeof(lines), PROT_READ | PROT_WRITE);
}

static void user(int sig)
{
	lines[1][0] = (uint64_t)sig;
}

int main(void)
{
	int status = 1;

	signal(SIGSEGV, fault);
	signal(SIGUSR1, user);
	signal(SIGUSR2, SIG_IGN);
	failed |= mprotect((void *)lines, sizeof(lines), PROT_NONE);
	(void)lines[0][0];
	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);
	lines[2][0] = 1;
	raise(SIGUSR2);
	raise(SIGWINCH);
	if (!fork()) {
		lines[3][0] = 1;
		_exit(7);
	}
	wait(&status);
	return failed || WEXITSTATUS(status) != 7;
}
