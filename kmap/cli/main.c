/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - entry point of atwalk-kmap(1), kernel memory access patterns. `atwalk kmap`
 * executes it, and messages use that name.
 */
#include "kmap.h"
#include "cli/common/complete.h"
#include "host/caps.h"
#include "host/live_watch.h"
#include "base/message.h"

static const struct command *const commands[] = {
	&kmap_record, &kmap_ctl, &kmap_show, &kmap_report, &kmap_diff, &kmap_convert,
	&kmap_sql, NULL,
};

static const struct command *main_command_at(size_t i)
{
	return commands[i];
}

/* The last word of a command name: "show" of "kmap show". */
static const char *main_own_name(const struct command *cmd)
{
	return strrchr(cmd->name, ' ') + 1;
}

static const struct command *kmap_cli_main_find_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(main_own_name(commands[i]), word))
			return commands[i];
	return NULL;
}

/* Of the command `word`; of all if it is NULL or none of them. Returns the exit status. */
static int main_show_help(const char *word)
{
	const struct command *cmd = word ? kmap_cli_main_find_command(word) : NULL;

	if (cmd) {
		command_help(cmd, NULL);
		return command_written();
	}
	puts(_("usage: atwalk kmap COMMAND [options] FILE\n\n"
	     "A KMAP (atwalk-kmap(5)) lists the objects that a kernel allocated, with the number\n"
	     "of reads and writes of each by each instruction. The KMAPs of all versions of\n"
	     "Memorizer can be read.\n"));
	for (size_t i = 0; commands[i]; i++)
		printf("  %-8s %s\n", main_own_name(commands[i]),
		       message(commands[i]->summary));
	puts(_("\n`atwalk kmap COMMAND --help` lists the options of a command."));
	return command_written();
}

static int main_unknown_command(const char *word)
{
	char known[128] = "";

	for (size_t i = 0; commands[i]; i++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
			 main_own_name(commands[i]));
	}
	return word ? usage_error("kmap", "kmap: unknown command '%s'; known: %s", word, known)
		    : usage_error("kmap", "kmap: COMMAND is missing: %s", known);
}

/* Nothing here takes a SOURCE. */
static const struct command_words words = { 0 };

/*
 * Can accesses to the running kernel be sampled by breakpoints? `atwalk probe` runs this
 * program instead of checking its own process, because capabilities belong to a program
 * file. The output is four lines: yes or no, the number of words that can be watched or the
 * reason, a hint, and a command; the last two may be empty.
 */
static int main_breakpoints(void)
{
	struct live_watch *w = NULL;
	struct atw_err err = { 0 };
	unsigned n;

	if (live_watch_open(&w, 0, &n, &err) == ATW_OK) {
		printf("yes\n%u\n\n\n", n);
	} else {
		if (err.status == ATW_E_PERM)
			host_hint_setcap(&err, "cap_sys_admin");
		printf("no\n%s\n%s\n%s\n", err.text, err.hint,
		       err.command ? err.hint + err.command : "");
	}
	live_watch_close(w);
	return command_written();
}

static int main_recognize_record(void *arg, const struct kmap_record *rec, struct atw_err *err)
{
	/* An object suffices for the version: there is no need to read on. */
	return rec->kind == KMAP_OBJECT ? ATW_E_LIMIT : ATW_OK;
}

/* Is the file a KMAP? `atwalk sql` runs this program for an answer of one word. */
static int main_recognize(const char *file)
{
	const struct kmap_sink sink = { .record = main_recognize_record };
	struct kmap_summary summary = { 0 };
	struct atw_err err = { 0 };

	kmap_read(file, NULL, &sink, &summary, &err);
	puts(summary.version != KMAP_UNKNOWN || summary.ours ? "yes" : "no");
	return command_written();
}

int main(int argc, char **argv)
{
	const struct command *cmd = argc > 1 ? kmap_cli_main_find_command(argv[1]) : NULL;

	static const struct complete_program self = { .at = main_command_at };

	program_begin();
	if (cmd)
		return command_run(cmd, &words, argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], COMPLETE_WORD))
		return complete_run(&self, argc - 2, argv + 2);
	if (argc > 1 && is_help_word(argv[1]))
		return main_show_help(argc > 2 ? argv[2] : NULL);
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("atwalk-kmap %s\n", atw_version());
		return command_written();
	}
	if (argc == 2 && !strcmp(argv[1], "--breakpoints"))
		return main_breakpoints();
	if (argc == 3 && !strcmp(argv[1], "--recognize"))
		return main_recognize(argv[2]);
	return main_unknown_command(argc > 1 ? argv[1] : NULL);
}
