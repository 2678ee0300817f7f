/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /init of guests that are recorded (see record): processes that do what is known, and
 * then what the kernel itself counted of its allocations, on the console.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE	"/sys/kernel/tracing/"

enum { FILES = 20 };

/* A child that opens FILES files and nothing else, one after the other. */
static void child(unsigned n)
{
	char name[64];

	snprintf(name, sizeof(name), "opens-%u", n);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(name, sizeof(name), "/tmp/%u.%d", n, i);
		fd = open(name, O_CREAT | O_RDWR, 0600);
		if (fd < 0 || write(fd, name, sizeof(name)) < 0)
			_exit(1);
		close(fd);
		unlink(name);
	}
	_exit(0);
}

static void show(const char *what, const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		printf("truth %s %s", what, line);
	if (f)
		fclose(f);
}

static void show_symbols(void)
{
	static const char *const names[] = { " _text\n", " __kmalloc\n", " kfree\n", " vfs_open\n" };
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strstr(line, names[i]))
				printf("truth symbol %s", line);
	if (f)
		fclose(f);
}

static void put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0) {
		if (write(fd, value, strlen(value)) < 0)
			perror(path);
		close(fd);
	}
}

static unsigned children(void)
{
	char line[2048], *at;
	FILE *f;
	unsigned n = 20;

	f = fopen("/proc/cmdline", "r");
	if (f && fgets(line, sizeof(line), f) && (at = strstr(line, "kmap.children=")))
		n = (unsigned)atoi(at + 14);
	if (f)
		fclose(f);
	return n;
}

int main(void)
{
	char path[128];

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("tracefs", TRACE, "tracefs", 0, NULL);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	put("/proc/sys/kernel/kptr_restrict", "0");
	for (unsigned i = 0, n = children(); i < n; i++) {
		pid_t pid = fork();
		int status = 1;

		if (!pid)
			child(i);
		waitpid(pid, &status, 0);
		printf("truth child %u %d %d\n", i, (int)pid, status);
	}
	put(TRACE "tracing_on", "0");
	for (int cpu = 0; cpu < 64; cpu++) {
		snprintf(path, sizeof(path), TRACE "per_cpu/cpu%d/stats", cpu);
		show("stats", path);
	}
	show_symbols();
	puts("truth end");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
