/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_command.c - a program that is run until it is about to end. */
#include "check_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command.h"

/* In the child: waits until it is traced. What fails is sent to the parent. */
static void check_command_exec(int go, int failed, char **argv)
{
	char c;
	int e;

	if (read(go, &c, 1) != 1)
		_exit(127);
	/* program_begin() changed them, and execve(2) keeps what is ignored. */
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], argv);
	e = errno;
	if (write(failed, &e, sizeof(e)) != (ssize_t)sizeof(e))
		_exit(126);
	_exit(127);
}

/* Signals are passed on, except for the mark; true: it is stopped there, or at its end.
 */
static bool check_command_wait(struct check_command *x)
{
	int status;

	for (;;) {
		pid_t got = waitpid(x->pid, &status, __WALL);
		int sig, event;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status)) {
			x->pid = 0;
			x->ended = got < 0 ? 0 : status;
			return false;
		}
		event = status >> 16;
		sig = WSTOPSIG(status);
		x->ends = event == PTRACE_EVENT_EXIT;
		if (x->ends || (!event && sig == x->mark))
			return true;
		if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
			ptrace(PTRACE_LISTEN, x->pid, NULL, NULL);
		else
			ptrace(PTRACE_CONT, x->pid, NULL,
			       (void *)(intptr_t)(event ? 0 : sig));
	}
}

static int check_command_fail(struct check_command *x, const char *what, int e)
{
	struct atw_err err = {0};

	atw_err_set(&err, ATW_E_USAGE, "cannot %s %s: %s", what, x->name, strerror(e));
	if (x->pid) {
		kill(x->pid, SIGKILL);
		waitpid(x->pid, &x->ended, __WALL);
		x->pid = 0;
	}
	return print_error(&err);
}

/* The child has the other ends. */
static int check_command_trace(struct check_command *x, int go, int failed)
{
	const long options = PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
	int e = 0;

	if (ptrace(PTRACE_SEIZE, x->pid, NULL, (void *)options) < 0)
		return check_command_fail(x, "trace", errno);
	if (write(go, "", 1) != 1)
		return check_command_fail(x, "start", errno);
	/* A successful execve(2) closes it. */
	if (read(failed, &e, sizeof(e)) == (ssize_t)sizeof(e))
		return check_command_fail(x, "execute", e);
	return EXIT_COMPLETE;
}

int check_command_run(struct check_command *ret, char **argv, int mark)
{
	int go[2], failed[2], status;

	*ret = (struct check_command){.name = argv[0], .mark = mark};
	if (pipe2(go, O_CLOEXEC) < 0)
		return check_command_fail(ret, "start", errno);
	if (pipe2(failed, O_CLOEXEC) < 0) {
		status = check_command_fail(ret, "start", errno);
		close(go[0]);
		close(go[1]);
		return status;
	}
	ret->pid = fork();
	if (!ret->pid) {
		close(go[1]);
		close(failed[0]);
		check_command_exec(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	if (ret->pid < 0) {
		ret->pid = 0;
		status = check_command_fail(ret, "start", errno);
	} else {
		status = check_command_trace(ret, go[1], failed[0]);
	}
	close(go[1]);
	close(failed[0]);
	if (status || (check_command_wait(ret) && (!mark || !ret->ends)))
		return status;
	print_incomplete("%s ended before %s", ret->name,
		      mark ? "it was sent the signal of --at" : "it could be checked");
	return EXIT_PARTIAL;
}

int check_command_end(struct check_command *x, int status)
{
	if (x->pid)
		do
			ptrace(PTRACE_CONT, x->pid, NULL, NULL);
		while (check_command_wait(x));
	if (WIFSIGNALED(x->ended))
		print_incomplete("%s was killed by signal %d", x->name, WTERMSIG(x->ended));
	else if (WIFEXITED(x->ended) && WEXITSTATUS(x->ended))
		print_incomplete("%s ended with status %d", x->name, WEXITSTATUS(x->ended));
	else
		return status;
	return status == EXIT_COMPLETE || status == EXIT_PARTIAL ? EXIT_NO : status;
}
