/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_command.c - a program that runs traced, and the moments of a look at it. */
#include "check_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "check_memory.h"
#include "check_tracees.h"
#include "common/command.h"

const char *const check_moment_words[CHECK_MOMENTS] = {
	[CHECK_AT_EXIT] = "exit",
	[CHECK_AT_USR1] = "usr1",
	[CHECK_AT_USR2] = "usr2",
	[CHECK_AT_PEAK] = "peak",
};

/* With PTRACE_O_TRACESYSGOOD. */
enum { CHECK_COMMAND_SYSCALL = SIGTRAP | 0x80 };

struct check_command_run {
	struct check_command *x;
	struct check_tracees all;
	pid_t pid;
	int status; /* of the looks */
	bool ended;
};

/* ---- looks ---- */

static bool check_command_wants(const struct check_command *x, enum check_moment at)
{
	return x->at >> at & 1;
}

static void check_command_look(struct check_command_run *c, pid_t pid,
			       enum check_moment at)
{
	struct check_tracee *first;
	uint64_t bytes;

	c->x->seen |= 1u << at;
	if (c->status)
		return;
	check_tracees_stop(&c->all);
	first = check_tracees_find(&c->all, pid);
	if (first && c->all.syscalls) {
		bytes = check_memory_of(pid);
		first->most = bytes > first->most ? bytes : first->most;
	}
	c->status = c->x->look(c->x->arg, pid, at);
}

/* It is about to have less memory than now. */
static void check_command_peak(struct check_command_run *c, pid_t pid)
{
	const struct check_tracee *first = check_tracees_find(&c->all, pid);

	if (first && check_memory_rises(pid, first->most))
		check_command_look(c, pid, CHECK_AT_PEAK);
}

/* ---- events ---- */

/* A thread or a process was started: what it shares with its parent is no peak. */
static void check_command_on_start(struct check_command_run *c, pid_t parent, int event)
{
	struct check_tracee *t = check_tracees_find(&c->all, parent);
	unsigned long tid;

	if (t)
		t->parked = event == PTRACE_EVENT_VFORK;
	if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &tid) < 0)
		return;
	t = check_tracees_add(&c->all, (pid_t)tid);
	/* It may have ended already, and its end was reported first. */
	if (t && !t->tgid)
		check_tracees_drop(&c->all, (pid_t)tid);
	else if (t && c->all.syscalls && t->tid == t->tgid)
		t->most = check_memory_of(t->tgid);
}

static void check_command_on_exec(struct check_command_run *c, pid_t pid)
{
	struct check_tracee *first = check_tracees_find(&c->all, pid);

	if (first)
		first->most = 0;
	check_tracees_drop_others(&c->all, pid);
}

static void check_command_on_exit(struct check_command_run *c,
				  const struct check_tracee *t)
{
	struct check_tracee *ends;

	if (t->tid == t->tgid && check_command_wants(c->x, CHECK_AT_EXIT))
		check_command_look(c, t->tgid, CHECK_AT_EXIT);
	else if (t->tid == t->tgid && c->all.syscalls)
		check_command_peak(c, t->tgid);
	/* The end of a first thread is reported behind that of all others. */
	ends = check_tracees_find(&c->all, t->tid);
	if (ends)
		ends->parked = true;
}

/* The signal to deliver. */
static int check_command_on_signal(struct check_command_run *c,
				   const struct check_tracee *t, int signal)
{
	enum check_moment at = signal == SIGUSR1 ? CHECK_AT_USR1 : CHECK_AT_USR2;

	if (signal == CHECK_COMMAND_SYSCALL) {
		if (check_memory_shrinks(t->tid))
			check_command_peak(c, t->tgid);
		return 0;
	}
	if ((signal != SIGUSR1 && signal != SIGUSR2) || !check_command_wants(c->x, at))
		return signal;
	check_command_look(c, t->tgid, at);
	return 0;
}

static void check_command_on_stop(struct check_command_run *c,
				  const struct check_tracee *t, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status), deliver = 0;

	if (t->tgid != c->pid && !c->x->children) {
		check_tracees_let_go(&c->all, t->tid);
		return;
	}
	switch (event) {
	case 0:
		deliver = check_command_on_signal(c, t, signal);
		break;
	case PTRACE_EVENT_STOP:
		if (signal != SIGTRAP) {
			check_tracees_park(&c->all, t->tid);
			return;
		}
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		check_command_on_start(c, t->tid, event);
		break;
	case PTRACE_EVENT_EXEC:
		check_command_on_exec(c, t->tid);
		break;
	case PTRACE_EVENT_EXIT:
		check_command_on_exit(c, t);
		break;
	default:
		break;
	}
	check_tracees_resume(&c->all, t->tid, deliver);
}

/* To the end of the program, or of all processes. */
static void check_command_follow(struct check_command_run *c)
{
	struct check_tracee t;
	int status;

	while ((c->x->children || !c->ended) &&
	       check_tracees_wait(&c->all, &t, &status)) {
		if (WIFSTOPPED(status)) {
			check_command_on_stop(c, &t, status);
			continue;
		}
		check_tracees_drop(&c->all, t.tid);
		if (t.tid != c->pid)
			continue;
		c->ended = true;
		c->x->ended = status;
	}
}

/* ---- start ---- */

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

/* `fmt` has room for the program and the reason. */
static int check_command_fail(struct check_command_run *c, const char *fmt, int e)
{
	struct atw_err err = {0};

	atw_err_set(&err, ATW_E_USAGE, fmt, c->x->name, strerror(e));
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		/* It stops once more where it is traced: on its way out. */
		while (waitpid(c->pid, &c->x->ended, __WALL) == c->pid &&
		       WIFSTOPPED(c->x->ended))
			ptrace(PTRACE_CONT, c->pid, NULL, NULL);
		c->x->ended = 0;
	}
	return print_error(&err);
}

/* It is stopped behind its execve(2). The child has the other ends. */
static int check_command_trace(struct check_command_run *c, int go, int failed)
{
	const long options =
		PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
		PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD |
		(c->x->children ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
					  PTRACE_O_TRACEVFORKDONE
				: 0);
	int e = 0;

	if (ptrace(PTRACE_SEIZE, c->pid, NULL, (void *)options) < 0)
		return check_command_fail(c, "cannot trace %s: %s", errno);
	if (!check_tracees_add(&c->all, c->pid))
		return check_command_fail(c, "cannot trace %s: %s", ENOMEM);
	if (write(go, "", 1) != 1)
		return check_command_fail(c, "cannot start %s: %s", errno);
	/* A successful execve(2) closes it. */
	if (read(failed, &e, sizeof(e)) == (ssize_t)sizeof(e))
		return check_command_fail(c, "cannot execute %s: %s", e);
	return EXIT_COMPLETE;
}

static int check_command_start(struct check_command_run *c, char **argv)
{
	int go[2], failed[2], status;

	if (pipe2(go, O_CLOEXEC) < 0)
		return check_command_fail(c, "cannot start %s: %s", errno);
	if (pipe2(failed, O_CLOEXEC) < 0) {
		status = check_command_fail(c, "cannot start %s: %s", errno);
		close(go[0]);
		close(go[1]);
		return status;
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		close(failed[0]);
		check_command_exec(go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	status = c->pid < 0 ? check_command_fail(c, "cannot start %s: %s", errno)
			    : check_command_trace(c, go[1], failed[0]);
	close(go[1]);
	close(failed[0]);
	return status;
}

static int check_command_missed(const struct check_command *x)
{
	int status = EXIT_COMPLETE;

	for (enum check_moment at = 0; at < CHECK_AT_PEAK; at++) {
		if (!check_command_wants(x, at) || x->seen >> at & 1)
			continue;
		if (at == CHECK_AT_EXIT)
			print_incomplete("%s ended before it could be checked", x->name);
		else
			print_incomplete("%s ended without the signal of --at %s",
					 x->name, check_moment_words[at]);
		status = EXIT_PARTIAL;
	}
	return status;
}

int check_command_run(struct check_command *x, char **argv)
{
	struct check_command_run c = {.x = x};
	int status;

	x->name = argv[0];
	x->seen = 0;
	x->ended = 0;
	c.all.syscalls = check_command_wants(x, CHECK_AT_PEAK);
	status = check_command_start(&c, argv);
	if (!status) {
		check_command_follow(&c);
		status = c.status ? c.status : check_command_missed(x);
	}
	check_tracees_release(&c.all);
	return status;
}

int check_command_end(const struct check_command *x, int status)
{
	if (WIFSIGNALED(x->ended))
		print_incomplete("%s was killed by signal %d", x->name, WTERMSIG(x->ended));
	else if (WIFEXITED(x->ended) && WEXITSTATUS(x->ended))
		print_incomplete("%s ended with status %d", x->name, WEXITSTATUS(x->ended));
	else
		return status;
	return status == EXIT_COMPLETE || status == EXIT_PARTIAL ? EXIT_NO : status;
}
