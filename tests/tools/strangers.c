/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strangers headless|shared|vfork NAME PAGES: a process with another thread that
 * continues after its main thread has ended; or a child created with CLONE_VM alone, or
 * as by vfork(2), which shares the address space. PAGES of it are written. Prints the
 * PID, the TID of the live thread (or the PID of the process that shares the memory),
 * and the address of the pages. The process is called NAME, and ends at the end of
 * standard input.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 65536 };

static const char *name;
static char *own;
static pid_t maker;

static void say(pid_t other)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "%d %d %p\n", (int)getpid(), (int)other, (void *)own);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1);
}

static void stay(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

/* The state stands behind the name, which has no bracket in it. */
static char state_of(pid_t tid)
{
	char path[64], text[512];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	return n ? strrchr(text, ')')[2] : 'X';
}

static void *second(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "second");
	while (state_of(getpid()) != 'Z')
		usleep(1000);
	say((pid_t)syscall(SYS_gettid));
	stay();
	_exit(0);
}

__attribute__((noreturn)) static void *third(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static int child(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	say(maker);
	stay();
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t len = argc == 4 ? (size_t)atoi(argv[3]) * 4096 : 0;
	char *stack = malloc(STACK);
	pthread_t t;
	int how;

	own = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!len || own == MAP_FAILED)
		return 1;
	madvise(own, len, MADV_NOHUGEPAGE);
	memset(own, 1, len);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name = argv[2];
	maker = getpid();
	if (!strcmp(argv[1], "headless")) {
		prctl(PR_SET_NAME, name);
		if (pthread_create(&t, NULL, second, NULL) || pthread_create(&t, NULL, third, NULL))
			return 1;
		pthread_exit(NULL);
	}
	prctl(PR_SET_NAME, "maker");
	/* This is vfork(2): the caller is blocked until the child ends. */
	how = CLONE_VM | SIGCHLD | (strcmp(argv[1], "vfork") ? 0 : CLONE_VFORK);
	return !stack || clone(child, stack + STACK, how, NULL) < 0 || wait(NULL) < 0;
}
