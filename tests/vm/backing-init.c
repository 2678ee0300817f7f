// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * backing-init.c - /init of the guests of `backing`: takes 1 GiB and frees it, then prints
 * MemFree of /proc/meminfo again and again, and the KiB in the lists of CPUs, which it lacks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAKEN (1UL << 30)

static void die(const char *what)
{
	printf("FAILED %s\n", what);
	fflush(stdout);
	for (;;)
		pause();
}

static char text[65536];

static void read_text(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n, len = 0;

	while (fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = 0;
}

int main(void)
{
	int fd = open("/balloon.ko", O_RDONLY);

	mkdir("/proc", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL))
		die("proc");
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die("balloon");
	close(fd);
	unlink("/balloon.ko");
	if (!fork()) {
		char *p = mmap(NULL, TAKEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			die("memory");
		for (size_t i = 0; i < TAKEN; i += 4096)
			p[i] = 1;
		_exit(0);
	}
	wait(NULL);
	for (;;) {
		unsigned long free_kib = 0, pages = 0;
		char *at;

		read_text("/proc/meminfo");
		at = strstr(text, "MemFree:");
		if (!at || sscanf(at, "MemFree: %lu", &free_kib) != 1)
			die("MemFree");
		read_text("/proc/zoneinfo");
		for (at = text; (at = strstr(at, " count: ")); at += 8)
			pages += strtoul(at + 8, NULL, 10);
		printf("MemFree %lu lists %lu\n", free_kib, pages * 4);
		fflush(stdout);
		usleep(500000);
	}
}
