/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * still writer|runner [MEMORY] - a process that does nothing, with memory that each query of
 * docs/queries.md is about.
 *
 * The writer has a file in memory, of which it writes all pages; a page of rights rwx; a
 * stack that may be executed; a large page, if there is one; and a child that shares its
 * address space (clone(2) with CLONE_VM). The runner maps the file MEMORY, and may execute
 * it. Both reserve 64 MiB and touch one page of them. Prints the PID, that of the child and
 * the file's descriptor, and ends when its standard input does.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_LEN = 5 * PAGE, LARGE = 2 << 20, RESERVED = 64 << 20, STACK = 65536 };

static char *still_map(size_t len, int rights, int how, int fd)
{
	char *p = mmap(NULL, len, rights, how, fd, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void still_wait(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

static int still_child(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	still_wait();
	_exit(0);
}

/* All of the stack's area, so that it stays one. */
static void still_run_stack(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f)) {
		uintptr_t first, end;

		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &first, &end) == 2 &&
		    mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC))
			_exit(1);
	}
	if (f)
		fclose(f);
}

static int still_make(int *fd)
{
	static char stack[STACK];
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE;
	char *p;

	*fd = memfd_create("still", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, FILE_LEN))
		_exit(1);
	memset(still_map(FILE_LEN, rw, MAP_SHARED, *fd), 1, FILE_LEN);
	*still_map(PAGE, rw | PROT_EXEC, anonymous, -1) = 1;
	p = still_map(2 * LARGE, rw, anonymous, -1);
	p += LARGE - (uintptr_t)p % LARGE;
	madvise(p, LARGE, MADV_HUGEPAGE);
	memset(p, 1, LARGE);
	still_run_stack();
	return clone(still_child, stack + STACK, CLONE_VM | SIGCHLD, NULL);
}

int main(int argc, char **argv)
{
	bool writes = argc == 2 && !strcmp(argv[1], "writer");
	int fd = writes ? -1 : argc == 3 ? open(argv[2], O_RDWR | O_CLOEXEC) : -1;
	volatile const char *file;
	char line[100], *p;
	int child = 0, n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "still");
	p = still_map(RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	madvise(p, RESERVED, MADV_NOHUGEPAGE);
	*p = 1;
	if (writes) {
		child = still_make(&fd);
	} else {
		file = still_map(FILE_LEN, PROT_READ | PROT_EXEC, MAP_SHARED, fd);
		for (size_t i = 0; i < FILE_LEN; i += PAGE)
			(void)file[i];
	}
	n = snprintf(line, sizeof(line), "%d %d %d\n", (int)getpid(), child, fd);
	if (child < 0 || write(STDOUT_FILENO, line, (size_t)n) != n)
		return 1;
	still_wait();
	return 0;
}
