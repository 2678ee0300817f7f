/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - selection of the command, its options, its help. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "common.h"
#include "kmap.h"
#include "unknown.h"

static const struct command *const commands[] = {
	&cmd_walk, &cmd_map, &cmd_info, &cmd_ps, &cmd_find, &cmd_extract, &cmd_pages,
	&cmd_collect, &cmd_report, &cmd_kmap, &cmd_probe,
};

const struct command *command_at(size_t i)
{
	return i < sizeof(commands) / sizeof(commands[0]) ? commands[i] : NULL;
}

static void usage(FILE *out)
{
	struct opt_set common[COMMON_SETS];

	fputs("usage: atwalk [options] SOURCE ADDRESS...     where is this address\n"
	      "       atwalk COMMAND [options] SOURCE [...]\n\n"
	      "SOURCE: live (the running kernel), a dump (ELF core, kdump-compressed, LiME,\n"
	      "        AVML), a capture, FORMAT:PATH, or raw:PATH@LOAD-ADDRESS.\n"
	      "ADDRESS: hexadecimal, SYMBOL, A-B or A+LENGTH.\n\n"
	      "commands:\n", out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  %-8s %s\n", command_at(i)->name, command_at(i)->summary);
	fputs("\ncommon options:\n", out);
	common_sets(UINT_MAX, NULL, common);
	options_help(common, COMMON_SETS, out);
	fputs("\n`atwalk COMMAND --help` shows a command's own, and which common ones it takes.\n"
	      "Exit status: 0 complete, 1 no, 2 wrong usage, 3 source unusable, 4 answered in part.\n",
	      out);
}

/* NULL: it is one by itself. */
static const struct command *const *subs_of(const struct command *cmd)
{
	return cmd == &cmd_kmap ? kmap_commands : NULL;
}

/* What is behind the last blank: "show" of "kmap show". */
static const char *own_name(const struct command *cmd)
{
	const char *space = strrchr(cmd->name, ' ');

	return space ? space + 1 : cmd->name;
}

static void command_help(const struct command *cmd)
{
	const struct command *const *subs = subs_of(cmd);
	struct opt_set common[COMMON_SETS];

	if (subs) {
		printf("usage: atwalk %s %s\n\n%s\n\n", cmd->name, cmd->args, cmd->about);
		for (size_t i = 0; subs[i]; i++)
			printf("  %-8s %s\n", own_name(subs[i]), subs[i]->summary);
		printf("\n`atwalk %s COMMAND --help` shows the options of each.\n", cmd->name);
		return;
	}
	printf("usage: atwalk %s [options]%s%s\n\n%s\n\n", cmd->name,
	       *cmd->args ? " " : "", cmd->args, cmd->about);
	if (cmd->options) {
		puts("options:");
		options_help(&(struct opt_set){ .table = cmd->options }, 1, stdout);
		putchar('\n');
	}
	puts("common options:");
	common_sets(cmd->common, NULL, common);
	options_help(common, COMMON_SETS, stdout);
}

/* Help and version go past the sinks, which notice a disk that is full. */
static int told(void)
{
	struct atw_err err = { 0 };

	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_IO, "standard output: cannot write: %s", strerror(errno));
	return complain(&err);
}

/*
 * A mapped file that shrinks takes its pages away under us. There is nothing
 * to go on with, but it can be said.
 */
static void on_sigbus(int sig)
{
	static const char text[] =
		"atwalk: a file became shorter while it was being read, or its disk failed\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_SOURCE);
	_exit(EXIT_SOURCE);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->name, name))
			return command_at(i);
	return NULL;
}

/* The name of the option that reads what -o names, or NULL. check_output() is for sources. */
static const char *reads_output(const struct command *cmd, const char *opts,
				const struct common *c)
{
	struct stat st, in;

	if (!c->output || stat(c->output, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	for (const struct opt *o = cmd->options; o && o->name; o++) {
		const void *at = opts + o->at;
		const struct opt_list *list = at;
		const char *const *text = at;
		bool many = o->kind == OPT_LIST;

		if (!o->arg || (strcmp(o->arg, "FILE") && strcmp(o->arg, "VMLINUX")))
			continue;
		for (size_t i = 0; i < (many ? list->n : 1); i++) {
			const char *path = many ? list->v[i] : *text;

			if (path && !stat(path, &in) && in.st_dev == st.st_dev &&
			    in.st_ino == st.st_ino)
				return o->name;
		}
	}
	return NULL;
}

/* An option that `cmd` does not take: perhaps one of a command that stands behind it. */
static int misused(const struct command *cmd, const char *late, const char *why)
{
	struct atw_err err = { 0 };

	if (!late)
		return complain_usage(cmd->name, "%s", why);
	atw_err_set(&err, ATW_E_USAGE, "%s", why);
	atw_err_hint(&err, "the command goes first: atwalk %s [options] SOURCE", late);
	return complain(&err);
}

/* `named`: the command was typed; without one it is walk. */
static int run(const struct command *cmd, bool named, int argc, char **argv)
{
	struct common c = { .suggest = suggest_command };
	void *opts = calloc(1, cmd->opts_size);
	struct opt_set sets[1 + COMMON_SETS] = { { .table = cmd->options, .base = opts } };
	const char *input;
	const char *late = named ? NULL : unknown_late(argc, argv);
	char why[256];
	int n, status;

	if (!opts)
		return EXIT_SOURCE;
	common_sets(cmd->common, &c, sets + 1);
	if (!options_parse(cmd->name, sets, ARRAY_SIZE(sets), argc, argv, &n, why, sizeof(why))) {
		status = misused(cmd, late, why);
	} else if (c.version) {
		printf("atwalk %s\n", atw_version());
		status = told();
	} else if (c.help) {
		command_help(cmd);
		status = told();
	} else if (!named && n && is_unknown(argv[0])) {
		status = complain_unknown(argv[0]);
	} else if ((input = reads_output(cmd, opts, &c))) {
		status = complain_usage(cmd->name, "--output: that is the file of --%s", input);
	} else {
		status = cmd->run(&c, opts, n, argv);
	}
	options_free(sets, ARRAY_SIZE(sets));
	free(opts);
	return status;
}

/* The one that the word behind it names. */
static const struct command *find_sub(const struct command *cmd, const char *word)
{
	const struct command *const *subs = subs_of(cmd);

	for (size_t i = 0; subs && word && subs[i]; i++)
		if (!strcmp(own_name(subs[i]), word))
			return subs[i];
	return NULL;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int run_sub(const struct command *cmd, int argc, char **argv)
{
	const struct command *const *subs = subs_of(cmd);
	const struct command *sub = find_sub(cmd, argc ? argv[0] : NULL);
	char known[128] = "";

	if (sub)
		return run(sub, true, argc - 1, argv + 1);
	if (argc && is_help(argv[0])) {
		command_help(cmd);
		return told();
	}
	for (size_t i = 0; subs[i]; i++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
			 own_name(subs[i]));
	}
	return argc ? complain_usage(cmd->name, "%s: there is no '%s'; known: %s", cmd->name,
				     argv[0], known)
		    : complain_usage(cmd->name, "%s: which of %s?", cmd->name, known);
}

/* Called by another name, it is that program. */
static bool is_called(const char *self, const char *name)
{
	const char *slash = self ? strrchr(self, '/') : NULL;

	return self && !strcmp(slash ? slash + 1 : self, name);
}

int main(int argc, char **argv)
{
	const struct command *cmd;

	cost_start();
	signal(SIGBUS, on_sigbus);
	signal(SIGXFSZ, SIG_IGN);        /* then it is an error text */
	hold_standard_files();
	if (is_called(argv[0], "ptexplore")) {
		int status = ptexplore_main(argc, argv), written = told();

		return written ? written : status;
	}
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (is_help(argv[1]) || !strcmp(argv[1], "help")) {
		cmd = argc > 2 ? find_command(argv[2]) : NULL;
		if (cmd && argc > 3 && find_sub(cmd, argv[3]))
			cmd = find_sub(cmd, argv[3]);
		if (argc > 2 && !cmd)
			return complain_unknown(argv[2]);
		if (cmd)
			command_help(cmd);
		else
			usage(stdout);
		return told();
	}
	cmd = find_command(argv[1]);
	if (cmd && subs_of(cmd))
		return run_sub(cmd, argc - 2, argv + 2);
	if (cmd)
		return run(cmd, true, argc - 2, argv + 2);
	/* Its options are not those of walk. */
	if (argv[1][0] != '-' && is_unknown(argv[1]))
		return complain_unknown(argv[1]);
	return run(&cmd_walk, false, argc - 1, argv + 1);
}
