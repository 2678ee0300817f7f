/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * external.c - commands in separate programs: NAME is atwalk-NAME in the folder of atwalk,
 * where the program of the same build is.
 */
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

int external_query(const struct command *cmd, const char *option, const char *word, char *ret,
		   size_t len, struct atw_err *err)
{
	char path[4096];
	char *argv[] = { path, (char *)option, (char *)word, NULL };
	int out[2], r = external_find(cmd->name, path, sizeof(path), err);
	ssize_t n;
	pid_t pid;

	if (r < 0)
		return r;
	if (pipe(out) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		/* Its answer is a value here. */
		if (language_is_plain())
			setenv("LC_ALL", "C", 1);
		execv(path, argv);
		_exit(EXIT_SOURCE);
	}
	close(out[1]);
	n = pid < 0 ? 0 : io_read(out[0], ret, len - 1);
	close(out[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0 ? ATW_OK : atw_err_set(err, ATW_E_IO, "%s printed no reply", path);
}
