/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli ATWALK DUMP... [-k DUMP] - what the program costs as a user runs it.
 * What follows -k is a dump of a whole kernel with very many mapped pages.
 *
 * Times are by the wall clock, from fork to exit, standard output to /dev/null.
 * "cold" drops the dump from the page cache before every run.
 */
#include "child.h"
#include "measure.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "resident.h"

enum { MAX_ARGS = 8 };

struct command {
	const char *name;
	const char *argv[MAX_ARGS];      /* after the program; "DUMP" is the dump */
	bool cold;
	double target;                   /* ms; 0: none */
};

static const struct command commands[] = {
	{ "atwalk --version, a process and no more", { "--version" }, false, 0 },
	{ "atwalk DUMP _stext", { "DUMP", "_stext" }, false, 0 },
	{ "atwalk DUMP _stext, cold", { "DUMP", "_stext" }, true, 0 },
	{ "atwalk map DUMP", { "map", "DUMP" }, false, 0 },
	{ "atwalk map DUMP, cold", { "map", "DUMP" }, true, 0 },
	{ "atwalk map --all --format csv DUMP", { "map", "--all", "--format", "csv", "DUMP" }, false, 0 },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]), ALL_ROWS = COMMANDS - 1 };

/* Of a dump that holds a kernel with its symbols, types, tasks and pages. */
static const struct command kernels[] = {
	{ "atwalk DUMP init_task", { "DUMP", "init_task" }, false, 0 },
	{ "atwalk ps DUMP", { "ps", "DUMP" }, false, 0 },
	{ "atwalk map --pid 1 DUMP", { "map", "--pid", "1", "DUMP" }, false, 0 },
	{ "atwalk find DUMP 1000000", { "find", "DUMP", "1000000" }, false, 0 },
	{ "atwalk pages --format csv DUMP", { "pages", "--format", "csv", "DUMP" }, false, 0 },
	{ "atwalk pages DUMP", { "pages", "DUMP" }, false, 150 },
	{ "atwalk ps DUMP, cold", { "ps", "DUMP" }, true, 0 },
	{ "atwalk DUMP init_task, cold", { "DUMP", "init_task" }, true, 50 },
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]), PAGES = 5 };

static void arguments(const char *program, const struct command *c, const char *dump,
		      const char *ret[MAX_ARGS + 2])
{
	size_t n = 0;

	ret[0] = program;
	for (; n < MAX_ARGS && c->argv[n]; n++)
		ret[n + 1] = strcmp(c->argv[n], "DUMP") ? c->argv[n] : dump;
	ret[n + 1] = NULL;
}

static pid_t start(const char *program, const struct command *c, const char *dump,
		   int out, bool traced)
{
	const char *argv[MAX_ARGS + 2];
	pid_t pid;

	arguments(program, c, dump, argv);
	pid = child_fork();
	if (!pid) {
		if (traced && ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(126);
		child_become(argv, -1, out, -1);
	}
	return pid;
}

static double run(const char *program, const struct command *c, const char *dump, int null)
{
	double t;

	if (c->cold) {
		int fd = open(dump, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			err(1, "%s", dump);
		close(fd);
	}
	t = wall_ms();
	child_end(start(program, c, dump, null, false), c->name);
	return wall_ms() - t;
}

static uint64_t count_rows(const char *program, const struct command *c, const char *dump)
{
	const char *argv[MAX_ARGS + 2];
	struct rusage use;

	arguments(program, c, dump, argv);
	return child_lines(argv, c->name, -1, &use) - 1; /* the names of the columns */
}

static bool unmaps(pid_t pid)
{
	struct __ptrace_syscall_info i;

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(i), &i) > 0 &&
	       i.op == PTRACE_SYSCALL_INFO_ENTRY && i.entry.nr == SYS_munmap;
}

/*
 * MiB above the dump's own pages, or less than 0. The program unmaps the dump
 * before it exits, so those pages are counted when it is about to.
 */
static double peak(const char *program, const struct command *c, const char *dump, int null)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT;
	pid_t pid = start(program, c, dump, null, true);
	struct resident max = { 0 }, now;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status), event = status >> 16;

		if ((event || (sig == (SIGTRAP | 0x80) && unmaps(pid))) &&
		    resident(pid, dump, &now)) {
			if (now.peak > max.peak)
				max.peak = now.peak;
			if (now.file > max.file)
				max.file = now.file;
		}
		if (sig == SIGTRAP && !event)    /* execve() is through */
			ptrace(PTRACE_SETOPTIONS, pid, 0, options);
		if (sig == SIGTRAP || sig == (SIGTRAP | 0x80))
			sig = 0;
		ptrace(PTRACE_SYSCALL, pid, 0, sig);
	}
	return max.peak ? (double)(max.peak - max.file) / 1024 : -1;
}

/* Rounds of all, the cold ones last, for they leave the dump cold. */
static void time_all(const char *program, const char *dump, int null,
		     const struct command *c, size_t n, double ms[][ROUNDS])
{
	for (int cold = 0; cold < 2; cold++)
		for (int r = -1; r < ROUNDS; r++)
			for (size_t i = 0; i < n; i++) {
				double t;

				if (c[i].cold != cold)
					continue;
				t = run(program, &c[i], dump, null);
				if (r >= 0)
					ms[i][r] = t;
			}
	for (size_t i = 0; i < n; i++) {
		double mid = median(ms[i], ROUNDS);

		row(c[i].name, mid, ms[i][0], 0, c[i].target);
	}
}

static void memory_of_all(const char *program, const char *dump, int null,
			  const struct command *c, size_t n, double target)
{
	heading("peak memory above the mapped file, MiB", NULL);
	for (size_t i = 0; i < n; i++) {
		double mib;

		if (c[i].cold || !strcmp(c[i].argv[0], "--version"))
			continue;
		mib = peak(program, &c[i], dump, null);
		if (mib < 0)
			printf("  %-44s could not be measured\n", c[i].name);
		else
			figure(c[i].name, mib, target);
	}
}

static void rate(const char *name, uint64_t rows, const double *ms)
{
	printf("  %-44s %9.0f %9.0f\n", name, (double)rows / ms[ROUNDS / 2],
	       (double)rows / ms[0]);
}

static void measure(const char *program, const char *dump, int null)
{
	static double ms[COMMANDS][ROUNDS];
	uint64_t rows = count_rows(program, &commands[ALL_ROWS], dump);

	printf("\n%s\n", dump);
	heading("as a program, ms", "");
	time_all(program, dump, null, commands, COMMANDS, ms);
	rate("its rows, thousands a second", rows, ms[ALL_ROWS]);
	memory_of_all(program, dump, null, commands, COMMANDS, 20);
}

static void measure_kernel(const char *program, const char *dump, int null)
{
	static double ms[KERNELS][ROUNDS];
	uint64_t rows = count_rows(program, &kernels[PAGES - 1], dump);

	printf("\n%s\n", dump);
	heading("a whole kernel, ms", "");
	time_all(program, dump, null, kernels, KERNELS, ms);
	printf("  %-44s %9" PRIu64 "\n", "rows of pages", rows);
	rate("rows of pages in plain text, thousands a second", rows, ms[PAGES]);
	memory_of_all(program, dump, null, kernels, KERNELS, 0);
}

int main(int argc, char **argv)
{
	int null = child_null();

	if (argc < 3)
		errx(2, "usage: cli ATWALK DUMP... [-k DUMP]");
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], "-k") && i + 1 < argc)
			measure_kernel(argv[1], argv[++i], null);
		else
			measure(argv[1], argv[i], null);
	return 0;
}
