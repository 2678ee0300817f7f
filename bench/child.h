/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.h - programs and parts of this one that run as processes of their own. */
#pragma once

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline pid_t child_fork(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	return pid;
}

static inline void child_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		err(1, "pipe");
}

static inline int child_null(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "/dev/null");
	return fd;
}

/* In a child: becomes `argv`, with these as its standard files; -1: as they are. */
static inline _Noreturn void child_become(const char *const *argv, int in, int out, int error)
{
	const int file[3] = { in, out, error };

	for (int i = 0; i < 3; i++)
		if (file[i] >= 0 && dup2(file[i], i) < 0)
			_exit(126);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

static inline pid_t child_run(const char *const *argv, int in, int out, int error)
{
	pid_t pid = child_fork();

	if (!pid)
		child_become(argv, in, out, error);
	return pid;
}

/* Waits for its end, and ends this program unless its status is 0, or the one allowed. */
static inline struct rusage child_end_of(pid_t pid, const char *what, int allowed)
{
	struct rusage use;
	int status;

	if (wait4(pid, &status, 0, &use) != pid || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) && WEXITSTATUS(status) != allowed))
		errx(1, "%s failed", what);
	return use;
}

static inline struct rusage child_end(pid_t pid, const char *what)
{
	return child_end_of(pid, what, 0);
}

/* Runs `argv`, and counts the lines of its standard output. */
static inline uint64_t child_lines(const char *const *argv, const char *what, int error,
				   struct rusage *ret)
{
	static char buf[1 << 16];
	uint64_t lines = 0;
	int fd[2];
	ssize_t n;
	pid_t pid;

	child_pipe(fd);
	pid = child_run(argv, -1, fd[1], error);
	close(fd[1]);
	while ((n = read(fd[0], buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += buf[i] == '\n';
	close(fd[0]);
	*ret = child_end(pid, what);
	return lines;
}

/* CPU time, and the wall clock: ms. */
static inline double child_cpu(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

static inline double wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
