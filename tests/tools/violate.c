/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * violate WORD...: a program to check policies with; it does what the words stand for, in
 * this order, and ends.
 *
 *	take=N      map and touch N pages more, from 0x100000000000 on
 *	drop        unmap all of these
 *	wx          map and touch a writable and executable page, at 0x110000000000
 *	file        make a memory file of one page
 *	alias=MODE  map and touch it: w writable and shared at 0x120000000000, or
 *	            x executable at 0x130000000000
 *	heap=N      N bytes more of heap, in small pages, touched
 *	mark=N      raise signal N in this thread; thread=N: in another one
 *	churn=N     N times: three threads begin and end threads, while SIGUSR1 is sent
 *	fork ... end    a process of its own does what stands between, and is waited for
 *	stay ... end    the same; it stays until the program gets to the word `over`
 *	spawn       run true(1) by posix_spawn(3): its memory is ours until it runs
 *	exec        run the rest of the words in this program, executed once more
 *	say=TEXT    a line on standard output
 *	hold        wait for the end of standard input
 */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static size_t taken;
static int file = -1, staying[2] = {-1, -1};

static char *map(unsigned long at, size_t size, int rights, int flags, int fd)
{
	char *p = mmap((void *)at, size, rights, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (p != (void *)at)
		err(1, "mmap at %lx", at);
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

static void take(size_t pages)
{
	char *p = map(0x100000000000 + taken * PAGE, pages * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (size_t i = 0; i < pages; i++)
		p[i * PAGE] = 1;
	taken += pages;
}

static void make_file(void)
{
	file = memfd_create("alias", 0);
	if (file < 0 || ftruncate(file, PAGE))
		err(1, "memfd_create");
}

static void alias(char mode)
{
	volatile char *p;

	if (mode == 'w') {
		p = map(0x120000000000, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file);
		*p = 1;
	} else {
		p = map(0x130000000000, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file);
		(void)*p;
	}
}

static void grow_heap(size_t size)
{
	char *p = sbrk(0), *from = p + (-(unsigned long)p & (PAGE - 1));

	if (sbrk((long)(size + (size_t)(from - p))) == (void *)-1)
		err(1, "sbrk");
	madvise(from, size, MADV_NOHUGEPAGE);
	memset(from, 1, size);
}

static void *send(void *signal)
{
	raise(*(int *)signal);
	return NULL;
}

static void mark_thread(int signal)
{
	pthread_t t;

	if (pthread_create(&t, NULL, send, &signal))
		errx(1, "pthread_create");
	pthread_join(t, NULL);
}

static void *nothing(void *arg)
{
	return arg;
}

static void *begin_threads(void *arg)
{
	pthread_t t;

	for (int i = 0; i < 50; i++)
		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
	return arg;
}

static void churn(size_t times)
{
	pthread_t t[3];

	for (size_t i = 0; i < times; i++) {
		for (size_t k = 0; k < 3; k++)
			if (pthread_create(&t[k], NULL, begin_threads, NULL))
				errx(1, "pthread_create");
		kill(getpid(), SIGUSR1);
		for (size_t k = 0; k < 3; k++)
			pthread_join(t[k], NULL);
	}
}

static void spawn(void)
{
	static char name[] = "true";
	char *argv[] = {name, NULL};
	pid_t pid;

	if (posix_spawnp(&pid, name, NULL, NULL, argv, argv + 1))
		errx(1, "posix_spawnp");
	waitpid(pid, NULL, 0);
}

/* Behind `end`: in the child there is nothing more to do. */
static char **start(char **w, int stays)
{
	int ready[2];
	char c;
	pid_t pid;

	if (pipe(ready) || (stays && pipe(staying)))
		err(1, "pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (stays)
			close(staying[1]);
		staying[1] = ready[1];
		return w;
	}
	close(ready[1]);
	if (stays) {
		close(staying[0]);
		staying[0] = -1;
		if (read(ready[0], &c, 1) != 1)
			errx(1, "the process that was to stay did not");
	} else {
		waitpid(pid, NULL, 0);
	}
	while (*w && strcmp(*w, "end"))
		w++;
	return *w ? w + 1 : w;
}

/* The end of a process that stays, or of one that does not. */
static void end(void)
{
	char c;

	if (staying[0] >= 0 && write(staying[1], "", 1) == 1)
		while (read(staying[0], &c, 1) > 0)
			;
	_exit(0);
}

int main(int argc, char **argv)
{
	char **w = argv + 1, c;

	(void)argc;
	while (*w) {
		const char *word = *w++, *value = strchr(word, '=');
		size_t len = value ? (size_t)(value++ - word) : strlen(word);
		size_t n = value ? strtoul(value, NULL, 0) : 0;

		if (!strncmp(word, "take", len))
			take(n);
		else if (!strncmp(word, "drop", len))
			munmap((void *)0x100000000000, taken * PAGE), taken = 0;
		else if (!strncmp(word, "wx", len))
			*map(0x110000000000, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1) = 1;
		else if (!strncmp(word, "file", len))
			make_file();
		else if (!strncmp(word, "alias", len))
			alias(*value);
		else if (!strncmp(word, "heap", len))
			grow_heap(n);
		else if (!strncmp(word, "mark", len))
			raise((int)n);
		else if (!strncmp(word, "thread", len))
			mark_thread((int)n);
		else if (!strncmp(word, "churn", len))
			churn(n);
		else if (!strncmp(word, "spawn", len))
			spawn();
		else if (!strncmp(word, "fork", len))
			w = start(w, 0);
		else if (!strncmp(word, "stay", len))
			w = start(w, 1);
		else if (!strncmp(word, "end", len))
			end();
		else if (!strncmp(word, "over", len))
			close(staying[1]);
		else if (!strncmp(word, "exec", len))
			execv("/proc/self/exe", w - 1);
		else if (!strncmp(word, "say", len))
			puts(value), fflush(stdout);
		else if (!strncmp(word, "hold", len))
			while (read(0, &c, 1) > 0)
				;
		else
			errx(2, "%s?", word);
	}
	return 0;
}
