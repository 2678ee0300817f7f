/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * badtext COPY - a process that uses memory as it should not: it has written to its own
 * code, as text relocations do, and runs code of a library that was deleted meanwhile,
 * a copy of this program at COPY. Says "ready", and waits for its end.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, GONE = 2 };          /* pages of the deleted one that it touches */

/* A page of code that has nothing else. */
__attribute__((aligned(PAGE), noinline)) static int code(int x)
{
	return x + 1;
}
__attribute__((aligned(PAGE), noinline)) static int behind(int x)
{
	return x - 1;
}

static void relocate(void)
{
	volatile uint8_t *p = (volatile uint8_t *)(uintptr_t)code;

	if (mprotect((void *)(uintptr_t)p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "mprotect");
	/* The same as before, and a page of its own all the same. */
	p[0] = p[0];
	if (mprotect((void *)(uintptr_t)p, PAGE, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
}

static void keep_deleted(const char *copy)
{
	static char buf[GONE * PAGE];
	volatile char *p;
	ssize_t n;
	int in = open("/proc/self/exe", O_RDONLY), out = open(copy, O_RDWR | O_CREAT, 0700);

	if (in < 0 || out < 0)
		err(1, "%s", copy);
	n = read(in, buf, sizeof(buf));
	if (n != sizeof(buf) || write(out, buf, sizeof(buf)) != n)
		err(1, "%s", copy);
	p = mmap(NULL, sizeof(buf), PROT_READ | PROT_EXEC, MAP_PRIVATE, out, 0);
	if (p == MAP_FAILED)
		err(1, "%s", copy);
	for (int i = 0; i < GONE; i++)
		(void)p[i * PAGE];
	if (unlink(copy))
		err(1, "%s", copy);
	close(in);
	close(out);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: badtext COPY");
	relocate();
	keep_deleted(argv[1]);
	if (code(1) + behind(1) != 2)
		errx(1, "its code is another now");
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
