/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - entry point of atwalk(1): selection of the command, and its help. */
#include <limits.h>

#include "common/complete.h"
#include "programs.h"
#include "unknown.h"
#include "base/message.h"

static const struct command *const commands[] = {
	&cmd_walk, &cmd_map, &cmd_info, &cmd_ps, &cmd_find, &cmd_lines, &cmd_rd, &cmd_search,
	&cmd_extract, &cmd_pages, &cmd_annotate, &cmd_collect, &cmd_export, &cmd_diff, &cmd_report,
	&cmd_check, &cmd_audit, &cmd_sql, &cmd_kmap, &cmd_vms, &cmd_probe, &cmd_plugins,
};

const struct command *command_at(size_t i)
{
	return i < sizeof(commands) / sizeof(commands[0]) ? commands[i] : NULL;
}

static void main_usage(FILE *out)
{
	struct opt_set common[COMMON_SETS];

	fputs(_("usage: atwalk [options] SOURCE ADDRESS...     translate addresses\n"
	      "       atwalk COMMAND [options] SOURCE [...]\n\n"
	      "SOURCE: live (the running kernel), qemu:PID or kvm:PID (a running\n"
	      "        guest), a dump (ELF core, kdump-compressed, LiME, AVML), a capture,\n"
	      "        FORMAT:PATH, or raw:PATH@LOAD-ADDRESS.\n"
	      "ADDRESS: hexadecimal, SYMBOL, A-B or A+LENGTH.\n\n"
	      "commands:\n"), out);
	for (size_t i = 0; command_at(i); i++)
		fprintf(out, "  %-8s %s\n", command_at(i)->name,
			message(command_at(i)->summary));
	fputs(_("\ncommon options:\n"), out);
	common_sets(UINT_MAX, NULL, common);
	options_help(common, COMMON_SETS, out);
	fputs(_("\n`atwalk COMMAND --help` lists the options of a command and the common ones it takes.\n"
	      "Exit status: 0 complete, 1 not mapped or none found, 2 wrong usage,\n"
	      "3 source unusable, 4 result incomplete.\n"),
	      out);
}

static const struct command *main_find_command(const char *name)
{
	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->name, name))
			return command_at(i);
	return NULL;
}

static int main_check_first(const char *word)
{
	return is_unknown(word) ? unknown_command(word) : EXIT_COMPLETE;
}

static const struct command_words words = { .suggest = suggest_command };
/* For a command line without a command, which is walk. */
static const struct command_words first_words = {
	.suggest = suggest_command,
	.late = unknown_late,
	.check = main_check_first,
};

/* Words behind an external command are completed by its program. */
static int main_complete(int argc, char **argv)
{
	static char word[] = COMPLETE_WORD;
	static const struct complete_program self = { .at = command_at, .usual = &cmd_walk };
	const struct command *cmd = argc > 1 ? main_find_command(argv[0]) : NULL;
	char *own = argv[0];

	if (!cmd || cmd->run)
		return complete_run(&self, argc, argv);
	/* argv[-1] is the word in front of what was typed. */
	argv[-1] = own;
	argv[0] = word;
	return external_run(cmd, argv - 1);
}

/* Is the program called by this name? */
static bool main_is_called(const char *self, const char *name)
{
	const char *slash = self ? strrchr(self, '/') : NULL;

	return self && !strcmp(slash ? slash + 1 : self, name);
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	char path[4096];

	cost_start();
	program_begin();
	programs_begin(main_find_command);
	if (main_is_called(argv[0], "ptexplore")) {
		int status = ptexplore_main(argc, argv), written = command_written();

		return written ? written : status;
	}
	if (argc < 2) {
		main_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], COMPLETE_WORD))
		return main_complete(argc - 2, argv + 2);
	if (is_help_word(argv[1]) || !strcmp(argv[1], "help")) {
		cmd = argc > 2 ? main_find_command(argv[2]) : NULL;
		if (argc > 2 && !cmd)
			return unknown_command(argv[2]);
		if (cmd && !cmd->run)
			return external_help(cmd, argc > 3 ? argv[3] : NULL);
		if (cmd)
			command_help(cmd, NULL);
		else
			main_usage(stdout);
		return command_written();
	}
	cmd = main_find_command(argv[1]);
	if (cmd && !cmd->run)
		return external_run(cmd, argv + 1);
	if (cmd == &cmd_sql)
		external_keep(argv + 1);
	if (cmd)
		return command_run(cmd, &words, argc - 2, argv + 2);
	/* Do not parse its options as those of walk. */
	if (argv[1][0] != '-' && is_unknown(argv[1]))
		return programs_find(argv[1], path, sizeof(path))
			       ? external_run_path(path, argv + 1)
			       : unknown_command(argv[1]);
	return command_run(&cmd_walk, &first_words, argc - 1, argv + 1);
}
