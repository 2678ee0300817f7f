/* SPDX-License-Identifier: GPL-2.0-or-later */
/* freeze.c - --freeze: the selected process is stopped while it is being read. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "atwalk.h"
#include "target/procfs.h"
#include "host/freeze.h"
#include "host/host.h"
#include "base/message.h"

static int cli_freeze_failed(const struct session *o, const char *option,
			     struct atw_err *err)
{
	atw_err_wrap(err, "%s: %s", o->name, option);
	return print_error(err);
}

/* The kernel's list of tasks has PIDs of the initial namespace. */
int check_number(const struct session *o, const struct space_opts *space, const char *option)
{
	struct atw_err err = { 0 };

	if (!space->task || target_has(o->target, TARGET_OUR_PIDS) || host_first_pid_namespace())
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_UNSUPPORTED,
		    "cannot be combined with --task in a PID namespace: PIDs differ");
	atw_err_hint(&err, "use --pid N, or live:pagemap, which has the PIDs of this namespace");
	return cli_freeze_failed(o, option, &err);
}

int choose_again(struct session *o, const struct space_opts *space)
{
	struct space_opts again = *space;

	again.task = NULL;
	again.pid = (struct opt_number){ true, o->subject.pid };
	return select_process(o, &again);
}

/* Is descriptor `n` of this /proc/PID/fd the pipe, opened for reading? */
static bool cli_freeze_is_open(int dir, const char *n, const char *pipe)
{
	char link[256];
	ssize_t len = readlinkat(dir, n, link, sizeof(link) - 1);
	struct stat st;

	if (len < 0)
		return false;
	link[len] = '\0';
	/* The mode of the link is the mode that the file was opened with: proc(5). */
	return !strcmp(link, pipe) && !fstatat(dir, n, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_mode & S_IRUSR;
}

/* A stopped process cannot read our output, and the pipe would fill up. */
static int cli_freeze_check_reader(const struct session *o)
{
	char path[48], pipe[256];
	struct atw_err err = { 0 };
	struct proc_stat proc;
	struct dirent *e;
	struct stat st;
	bool reads = false;
	ssize_t len;
	DIR *d;

	if (fstat(STDOUT_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
		return EXIT_COMPLETE;
	len = readlink("/proc/self/fd/1", pipe, sizeof(pipe) - 1);
	if (len < 0)
		return EXIT_COMPLETE;
	pipe[len] = '\0';
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd",
		 proc_stat((uint32_t)o->subject.pid, &proc, NULL) == ATW_OK ? proc.thread : 0);
	d = opendir(path);
	while (d && !reads && (e = readdir(d)))
		reads = cli_freeze_is_open(dirfd(d), e->d_name, pipe);
	if (d)
		closedir(d);
	if (!reads)
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_USAGE, "cannot stop process %" PRIu64 " (%s): it has the pipe open that atwalk writes to",
		    o->subject.pid, o->subject.task);
	atw_err_hint(&err, "use -o FILE to write elsewhere");
	return cli_freeze_failed(o, "--freeze", &err);
}

int freeze(const struct common *c, struct session *o, const struct space_opts *space)
{
	struct atw_err err = { 0 };
	int status;

	if (!space->freeze)
		return EXIT_COMPLETE;
	if (!target_has(o->target, TARGET_RUNNING)) {
		atw_err_set(&err, ATW_E_USAGE, "--freeze: %s is a %s, not a live source", o->name,
			    message(o->target->backend->noun));
		return print_error(&err);
	}
	status = check_number(o, space, "--freeze");
	if (!status && !c->output)
		status = cli_freeze_check_reader(o);
	if (status)
		return status;
	if (!o->frozen)
		o->frozen = calloc(1, sizeof(*o->frozen));
	if (!o->frozen) {
		atw_err_nomem(&err);
		return cli_freeze_failed(o, "--freeze", &err);
	}
	/*
	 * Find the kernel first: that is slow and does not require the process to be
	 * stopped.
	 */
	if (target_has(o->target, TARGET_TABLES))
		target_soft(o->target);
	o->print_frozen = c->verbose && !c->quiet;
	if (freeze_stop(o->frozen, (uint32_t)o->subject.pid, &err) < 0)
		return cli_freeze_failed(o, "--freeze", &err);
	status = choose_again(o, space);
	if (status)
		thaw(o);
	return status;
}

void thaw(const struct session *o)
{
	const struct common c = { 0 };
	struct freeze *f = o->frozen;

	if (!f || !f->n)
		return;
	freeze_thaw(f);
	if (o->print_frozen)
		print_warning(&c, "%s: process %" PRIu32 " was stopped for %.3f ms, with %zu thread%s",
			      o->name, f->pid, (double)f->ns / 1e6, f->threads,
			      f->threads == 1 ? "" : "s");
}

int open_frozen(const struct common *c, const char *name, const struct space_opts *space,
		uint32_t caps, struct session *ret)
{
	int status = open_session(c, name, space, caps, ret);

	if (status)
		return status;
	status = freeze(c, ret, space);
	if (status)
		session_close(ret);
	return status;
}
