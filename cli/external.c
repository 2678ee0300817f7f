/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * external.c - commands in separate programs: NAME is atwalk-NAME in the folder of atwalk,
 * where the program of the same build is.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "atwalk.h"
#include "base/io.h"
#include "common/language.h"
#include "host/host.h"

const struct command cmd_kmap = {
	.name = "kmap", .summary = "record and analyze kernel memory accesses",
};

static int external_find(const char *name, char *ret, size_t len, struct atw_err *err)
{
	char own[3000];

	host_program_folder(own, sizeof(own));
	snprintf(ret, len, "%s/atwalk-%s", own, name);
	return !access(ret, F_OK)
		       ? ATW_OK
		       : atw_err_set(err, ATW_E_MISSING,
				     "cannot run '%s': there is no atwalk-%s in %s", name,
				     name, own);
}

static int external_exec(const char *path, char **argv)
{
	struct atw_err err = { 0 };

	execv(path, argv);
	atw_err_set(&err, ATW_E_IO, "cannot run %s: %s", path, strerror(errno));
	return print_error(&err);
}

int external_run_path(const char *path, char **argv)
{
	char own[4096];

	if (host_program_path(own, sizeof(own)))
		setenv("ATWALK", own, 1);
	argv[0] = (char *)(uintptr_t)path;
	return external_exec(path, argv);
}

int external_run(const struct command *cmd, char **argv)
{
	struct atw_err err = { 0 };
	char path[4096];

	if (external_find(cmd->name, path, sizeof(path), &err) < 0)
		return print_error(&err);
	argv[0] = strrchr(path, '/') + 1;
	return external_exec(path, argv);
}

static char **external_words;

/* Before options are parsed, which moves them. */
void external_keep(char **argv)
{
	struct command_args a = { 0 };

	for (; *argv; argv++)
		command_arg(&a, *argv);
	external_words = a.failed ? NULL : a.v;
}

int external_instead(const struct command *cmd)
{
	struct command_args a = { 0 };

	/* external_run() puts the program in place of the first. */
	command_arg(&a, cmd->name);
	for (char **word = external_words; word && *word; word++)
		command_arg(&a, *word);
	return a.failed || !external_words ? print_nomem() : external_run(cmd, a.v);
}

int external_help(const struct command *cmd, char *sub)
{
	char *argv[] = { NULL, (char *)"--help", sub, NULL };

	return external_run(cmd, argv);
}

/* Runs the program at `path`, with its standard output in a pipe: *ret. */
static int external_start(const char *path, char **argv, bool quiet, pid_t *ret_pid, int *ret,
			  struct atw_err *err)
{
	int out[2], none;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		none = quiet ? open("/dev/null", O_WRONLY) : -1;
		if (none >= 0)
			dup2(none, STDERR_FILENO);
		/* Its answer is a value here. */
		if (language_is_plain())
			setenv("LC_ALL", "C", 1);
		execv(path, argv);
		_exit(EXIT_SOURCE);
	}
	close(out[1]);
	if (pid < 0) {
		close(out[0]);
		return atw_err_set(err, ATW_E_IO, "cannot run %s: %s", path, strerror(errno));
	}
	*ret_pid = pid;
	*ret = out[0];
	return ATW_OK;
}

/* Returns the exit status. */
static int external_finish(pid_t pid, int fd)
{
	int status = 0;

	close(fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SOURCE;
}

int external_query(const struct command *cmd, const char *option, const char *word, char *ret,
		   size_t len, struct atw_err *err)
{
	char path[4096];
	char *argv[] = { path, (char *)option, (char *)word, NULL };
	int fd, r = external_find(cmd->name, path, sizeof(path), err);
	ssize_t n;
	pid_t pid;

	r = r < 0 ? r : external_start(path, argv, false, &pid, &fd, err);
	if (r < 0)
		return r;
	n = io_read(fd, ret, len - 1);
	external_finish(pid, fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0 ? ATW_OK : atw_err_set(err, ATW_E_IO, "%s printed no reply", path);
}

int external_lines(const struct command *cmd, char **argv, external_line_fn *fn, void *arg,
		   int *ret, struct atw_err *err)
{
	char path[4096], *line = NULL;
	int fd, copy, r = external_find(cmd->name, path, sizeof(path), err);
	size_t room = 0;
	ssize_t n;
	FILE *from;
	pid_t pid;

	r = r < 0 ? r : external_start(path, argv, diagnostics_are_silent(), &pid, &fd, err);
	if (r < 0)
		return r;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	from = copy < 0 ? NULL : fdopen(copy, "r");
	if (!from) {
		r = atw_err_set(err, ATW_E_IO, "%s: %s", path, strerror(errno));
		if (copy >= 0)
			close(copy);
	}
	while (r == ATW_OK && (n = getline(&line, &room, from)) > 0)
		r = fn(arg, (struct atw_blob){ line, (size_t)n }, err);
	free(line);
	if (from)
		fclose(from);
	*ret = external_finish(pid, fd);
	return r;
}
