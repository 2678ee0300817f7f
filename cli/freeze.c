/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freeze.c - --freeze: the selected process is stopped while it is being read, or that which
 * runs the guest.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "atwalk.h"
#include "target/procfs.h"
#include "host/freeze.h"
#include "host/host.h"
#include "source/source.h"
#include "target/guest.h"
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
static int cli_freeze_check_reader(const struct session *o, uint32_t pid, const char *task)
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
		 proc_stat(pid, &proc, NULL) == ATW_OK ? proc.thread : 0);
	d = opendir(path);
	while (d && !reads && (e = readdir(d)))
		reads = cli_freeze_is_open(dirfd(d), e->d_name, pipe);
	if (d)
		closedir(d);
	if (!reads)
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_USAGE, "cannot stop process %" PRIu32 " (%s): it has the pipe open that atwalk writes to",
		    pid, task);
	atw_err_hint(&err, "use -o FILE to write elsewhere");
	return cli_freeze_failed(o, "--freeze", &err);
}

uint32_t freeze_process(const struct session *o)
{
	uint32_t pid = 0;
	uint64_t va;

	if (target_has(o->target, TARGET_MEMORY))
		atw_source_outside(o->target->source, ATW_PA(0), &pid, &va);
	return pid;
}

static int cli_freeze_stop(const struct common *c, const struct session *o, struct freeze *f,
			   uint32_t pid, const char *task)
{
	struct atw_err err = { 0 };
	int status = c->output ? EXIT_COMPLETE : cli_freeze_check_reader(o, pid, task);

	if (!status && freeze_stop(f, pid, &err) < 0)
		status = cli_freeze_failed(o, "--freeze", &err);
	return status;
}

int freeze(const struct common *c, struct session *o, const struct space_opts *space)
{
	struct atw_err err = { 0 };
	uint32_t vmm;
	int status;

	/* A guest is stopped when it is opened, but for --watch. */
	if (!space->freeze || (o->frozen && o->frozen->n))
		return EXIT_COMPLETE;
	/* PIDs of another host are those of other processes here. */
	if (guest_host(o->name)) {
		atw_err_set(&err, ATW_E_USAGE, "--freeze: %s runs in no process of this machine",
			    o->name);
		return print_error(&err);
	}
	vmm = freeze_process(o);
	if (!target_has(o->target, TARGET_RUNNING) && !vmm) {
		atw_err_set(&err, ATW_E_USAGE, "--freeze: %s is a %s, not a live source", o->name,
			    message(o->target->backend->noun));
		return print_error(&err);
	}
	if (!o->frozen)
		o->frozen = calloc(1, sizeof(*o->frozen));
	if (!o->frozen) {
		atw_err_nomem(&err);
		return cli_freeze_failed(o, "--freeze", &err);
	}
	o->print_frozen = c->verbose && !c->quiet;
	status = vmm ? EXIT_COMPLETE : check_number(o, space, "--freeze");
	/*
	 * Find the kernel first: that is slow and does not require the process to be
	 * stopped.
	 */
	if (!status && target_has(o->target, TARGET_TABLES))
		target_soft(o->target);
	if (!status)
		status = cli_freeze_stop(c, o, o->frozen, vmm ? vmm : (uint32_t)o->subject.pid,
					 vmm ? o->name : o->subject.task);
	/* Of a guest, all of it is stopped. */
	if (status || !o->subject.pid)
		return status;
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

/* ---- guests ---- */

static bool cli_freeze_is_guest(const char *name)
{
	return !strncmp(name, "qemu:", 5) || (guest_word(name) && !guest_host(name));
}

/*
 * Stops the process that runs the guest. What is found of the kernel before that is kept
 * for the session that reads (lib/linux/remember.c): a search takes longer than most reads.
 * So is the layout of its RAM in *layout, to be freed, if it is known by its monitor, which
 * does not answer while the process is stopped.
 */
static int cli_freeze_guest(const struct common *c, const char *name,
			    const struct space_opts *space, uint32_t caps, struct freeze *f,
			    char **layout)
{
	struct common quiet = *c;
	struct session s = { 0 };
	struct atw_blob text;
	int status;

	quiet.verbose = 0;
	quiet.quiet = true;
	status = open_session(&quiet, name, space, caps, &s);
	if (status)
		return status;
	target_soft(s.target);
	if (atw_fact(s.target->source, "layout", &text) == ATW_OK) {
		*layout = strndup(text.data, text.len);
		if (!*layout) {
			session_close(&s);
			return print_nomem();
		}
	}
	status = cli_freeze_stop(c, &s, f, freeze_process(&s), name);
	session_close(&s);
	return status;
}

static int cli_freeze_open_guest(const struct common *c, const char *name,
				 const struct space_opts *space, uint32_t caps,
				 struct session *ret)
{
	struct freeze *f = calloc(1, sizeof(*f));
	struct common *known = malloc(sizeof(*known));
	_auto_free char *layout = NULL;
	int status;

	if (!f || !known) {
		free(f);
		free(known);
		return print_nomem();
	}
	status = cli_freeze_guest(c, name, space, caps, f, &layout);
	if (!status) {
		*known = *c;
		known->layout = layout ? layout : c->layout;
		status = open_session(known, name, space, caps, ret);
		known->layout = c->layout;
	}
	if (status) {
		freeze_thaw(f);
		free(f);
		free(known);
		return status;
	}
	ret->frozen = f;
	ret->known = known;
	ret->print_frozen = c->verbose && !c->quiet;
	return EXIT_COMPLETE;
}

int open_to_freeze(const struct common *c, const char *name, const struct space_opts *space,
		   uint32_t caps, struct session *ret)
{
	return space->freeze && cli_freeze_is_guest(name)
		       ? cli_freeze_open_guest(c, name, space, caps, ret)
		       : open_session(c, name, space, caps, ret);
}

int open_frozen(const struct common *c, const char *name, const struct space_opts *space,
		uint32_t caps, struct session *ret)
{
	int status = open_to_freeze(c, name, space, caps, ret);

	if (status)
		return status;
	status = freeze(c, ret, space);
	if (status)
		session_close(ret);
	return status;
}
