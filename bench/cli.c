/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli ATWALK DUMP... - what the program costs as a user runs it.
 *
 * Times are by the wall clock, from fork to exit, standard output to /dev/null.
 * "cold" drops the dump from the page cache before every run.
 */
#include "measure.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resident.h"

enum { MAX_ARGS = 8 };

struct command {
	const char *name;
	const char *argv[MAX_ARGS];      /* after the program; "DUMP" is the dump */
	bool cold;
};

static const struct command commands[] = {
	{ "atwalk --version, a process and no more", { "--version" }, false },
	{ "atwalk DUMP _stext", { "DUMP", "_stext" }, false },
	{ "atwalk DUMP _stext, cold", { "DUMP", "_stext" }, true },
	{ "atwalk map DUMP", { "map", "DUMP" }, false },
	{ "atwalk map DUMP, cold", { "map", "DUMP" }, true },
	{ "atwalk map --all --format csv DUMP", { "map", "--all", "--format", "csv", "DUMP" }, false },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]), ALL_ROWS = COMMANDS - 1 };

static double wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static pid_t start(const char *program, const struct command *c, const char *dump,
		   int out, bool traced)
{
	const char *argv[MAX_ARGS + 2] = { program };
	pid_t pid;

	for (size_t i = 0; i < MAX_ARGS && c->argv[i]; i++)
		argv[i + 1] = strcmp(c->argv[i], "DUMP") ? c->argv[i] : dump;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		if (dup2(out, 1) < 0 || (traced && ptrace(PTRACE_TRACEME, 0, 0, 0)))
			_exit(126);
		execv(program, (char *const *)argv);
		_exit(127);
	}
	return pid;
}

static void finish(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", what);
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
	finish(start(program, c, dump, null, false), c->name);
	return wall_ms() - t;
}

static uint64_t count_rows(const char *program, const char *dump)
{
	static char buf[1 << 16];
	uint64_t lines = 0;
	int fd[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		err(1, "pipe");
	pid = start(program, &commands[ALL_ROWS], dump, fd[1], false);
	close(fd[1]);
	while ((n = read(fd[0], buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += buf[i] == '\n';
	close(fd[0]);
	finish(pid, commands[ALL_ROWS].name);
	return lines - 1;                /* the names of the columns */
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

static void measure(const char *program, const char *dump, int null)
{
	static double ms[COMMANDS][ROUNDS];
	uint64_t rows = count_rows(program, dump);

	printf("\n%s\n", dump);
	heading("as a program, ms", "");
	/* The cold ones come last, for they leave it cold. */
	for (int cold = 0; cold < 2; cold++)
		for (int r = -1; r < ROUNDS; r++)
			for (size_t i = 0; i < COMMANDS; i++) {
				double t;

				if (commands[i].cold != cold)
					continue;
				t = run(program, &commands[i], dump, null);
				if (r >= 0)
					ms[i][r] = t;
			}
	for (size_t i = 0; i < COMMANDS; i++) {
		double mid = median(ms[i], ROUNDS);

		row(commands[i].name, mid, ms[i][0], 0, 0);
	}
	printf("  %-44s %9.0f %9.0f\n", "its rows, thousands a second",
	       (double)rows / median(ms[ALL_ROWS], ROUNDS), (double)rows / ms[ALL_ROWS][0]);

	heading("peak memory above the mapped file, MiB", NULL);
	for (size_t i = 1; i < COMMANDS; i++) {
		double mib;

		if (commands[i].cold)
			continue;
		mib = peak(program, &commands[i], dump, null);
		if (mib < 0)
			printf("  %-44s could not be measured\n", commands[i].name);
		else
			figure(commands[i].name, mib, 20);
	}
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (argc < 3 || null < 0)
		errx(2, "usage: cli ATWALK DUMP...");
	for (int i = 2; i < argc; i++)
		measure(argv[1], argv[i], null);
	return 0;
}
