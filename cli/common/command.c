/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.c - execution of one command: options, help and exit status. */
#include "command.h"

#include <signal.h>
#include <sys/stat.h>

#include "config.h"
#include "language.h"
#include "plugins.h"
#include "base/message.h"

void command_help(const struct command *cmd, const struct common *c)
{
	struct opt_set common[COMMON_SETS];

	printf(_("usage: atwalk %s [options]%s%s"), cmd->name, *cmd->args ? " " : "", cmd->args);
	printf("\n\n%s\n\n", message(cmd->about));
	if (cmd->options) {
		puts(_("options:"));
		options_help(&(struct opt_set){ .table = cmd->options }, 1, stdout);
		putchar('\n');
	}
	puts(_("common options:"));
	common_sets(cmd->common, NULL, common);
	options_help(common, COMMON_SETS, stdout);
	if (c)
		plugins_help(c);
}

bool is_help_word(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* Help and version are not written by a sink: check for write errors here. */
int command_written(void)
{
	struct atw_err err = { 0 };

	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_IO, "standard output: cannot write: %s", strerror(errno));
	return print_error(&err);
}

/*
 * A mapped file that shrinks loses its pages, and reading them raises SIGBUS. The program
 * cannot continue; report the reason.
 */
static const char *command_shrunk;       /* no message can be looked up in a handler */

static void command_on_sigbus(int sig)
{
	if (write(STDERR_FILENO, "atwalk: ", 8) < 0 ||
	    write(STDERR_FILENO, command_shrunk, strlen(command_shrunk)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(EXIT_SOURCE);
	_exit(EXIT_SOURCE);
}

void program_begin(void)
{
	hold_standard_files();
	language_begin();
	command_shrunk = _("a file became shorter while it was being read, or its disk failed");
	signal(SIGBUS, command_on_sigbus);
	signal(SIGXFSZ, SIG_IGN);        /* then it is an error text */
}

/* The name of the option that reads what -o names, or NULL. check_output() is for sources. */
static const char *command_reads_output(const struct command *cmd, const char *opts,
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
static int command_misused(const struct command *cmd, const char *late, const char *why)
{
	struct atw_err err = { 0 };

	if (!late)
		return usage_error(cmd->name, "%s", why);
	atw_err_set(&err, ATW_E_USAGE, "%s", why);
	atw_err_hint(&err, "the command goes first: atwalk %s [options] SOURCE", late);
	return print_error(&err);
}

/*
 * Is what the command says in English? Rows are the same in every language for programs,
 * and pages and pictures, which are passed on to others, have one language.
 */
static bool command_in_english(const struct command *cmd, const struct common *c)
{
	switch (c->format) {
	case FORMAT_PLAIN:
		return false;
	case FORMAT_HTML:
	case FORMAT_SVG:
	case FORMAT_PS:
	case FORMAT_PDF:
	case FORMAT_PNG:
		return true;
	default:
		return cmd->common & OPT_COMMON_SENTENCES;
	}
}

/* Options that mean something for what is written. */
static int command_check_tap(const struct command *cmd, const struct common *c)
{
	const char *given = c->output	? "--output"
			    : c->format	? "--format"
			    : c->columns ? "--columns"
			    : c->sort	? "--sort"
			    : c->group	? "--group"
			    : c->help	? "--help"
			    : c->version ? "--version"
					 : NULL;

	if (!given)
		return EXIT_COMPLETE;
	return usage_error(cmd->name, "%s cannot be used here: no rows are shown", given);
}

/* Loads what --plugin names, and finds the format that one of them has. Prints errors. */
static int command_start(const struct command *cmd, struct common *c)
{
	bool loads = cmd->common & (OPT_COMMON_PLUGINS | OPT_COMMON_PLUGIN_SOURCES);
	int status = loads ? plugins_begin(c, cmd) : EXIT_COMPLETE;

	return status ? status : plugins_choose_format(c, cmd);
}

int command_tap(const struct command *cmd, const struct common *of, const struct atw_tap *tap,
		const char *asked, int argc, char **argv)
{
	struct config none = {0};
	struct common c = {
		.config = &none, .behind = -1, .sources = of ? of->sources : NULL,
	};
	void *opts = calloc(1, cmd->opts_size);
	struct opt_set sets[1 + COMMON_SETS] = {{.table = cmd->options, .base = opts}};
	bool plain = language_is_plain();
	char why[256];
	int status;

	if (!opts)
		return print_nomem();
	common_sets(cmd->common, &c, sets + 1);
	if (!options_parse(cmd->name, sets, ARRAY_SIZE(sets), argc, argv, &argc, why,
			   sizeof(why)))
		status = usage_error(cmd->name, "%s", why);
	else
		status = command_check_tap(cmd, &c);
	/* Plain tables have remarks and sums behind them, which take time. */
	c.format = FORMAT_JSONL;
	c.tap = tap;
	c.asked = asked;
	language_plain(plain || command_in_english(cmd, &c));
	if (!status)
		status = command_start(cmd, &c);
	if (!status)
		status = cmd->run(&c, opts, argc, argv);
	language_plain(plain);
	plugins_end(&c);
	options_free(sets, ARRAY_SIZE(sets));
	free(opts);
	return status;
}

/* Formats of plugins are listed, where these can be loaded. */
static int command_help_with(const struct command *cmd, struct common *c)
{
	int loaded = command_start(cmd, c), written;

	command_help(cmd, c);
	written = command_written();
	plugins_end(c);
	return written ? written : loaded;
}

/* A value of an option is not looked at: none of them is "--". */
static int command_behind(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return -1;
}

/* What the command line says, behind what files say. */
static int command_parse(const struct command *cmd, const struct command_words *words,
			 struct config *config, struct common *c, void *opts,
			 const struct opt_set *sets, size_t nsets, int *argc, char **argv)
{
	const char *late = words->late ? words->late(*argc, argv) : NULL;
	int status = config_read(config, cmd, argc, argv);
	char why[256];

	if (!status)
		status = config_apply(config, cmd, sets, nsets, c);
	if (status)
		return status;
	c->plugins_of_config = c->plugin.n;
	c->behind = command_behind(*argc, argv);
	if (!options_parse(cmd->name, sets, nsets, *argc, argv, argc, why, sizeof(why)))
		return command_misused(cmd, late, why);
	if (cmd->common & OPT_COMMON_ADDRESSES && !(cmd->other_rows && cmd->other_rows(opts)))
		config_apply_rows(config, c);
	return EXIT_COMPLETE;
}

/* ---- --expect ---- */

/* "some" is any number but 0. */
static bool command_is_expected(const char *text, uint64_t rows, bool *ret)
{
	uint64_t n = 0;
	bool some = !strcmp(text, "some");

	if (!some && strcmp(text, "none") != 0 && !num_dec(text, strlen(text), &n))
		return false;
	*ret = some ? rows > 0 : rows == n;
	return true;
}

/*
 * Yes and no become whether the rows are as expected. Errors and answers in part stay what
 * they are, and so does a no without rows to count.
 */
static int command_expect(const char *text, const struct atw_output_sum *sum, int status)
{
	bool expected;

	if ((status != EXIT_COMPLETE && status != EXIT_NO) || !sum->outputs ||
	    !command_is_expected(text, sum->rows, &expected))
		return status;
	return expected ? EXIT_COMPLETE : EXIT_NO;
}

int command_run(const struct command *cmd, const struct command_words *words, int argc,
		char **argv)
{
	struct config config = {0};
	struct common c = { .suggest = words->suggest, .config = &config };
	void *opts = calloc(1, cmd->opts_size);
	struct opt_set sets[1 + COMMON_SETS] = { { .table = cmd->options, .base = opts } };
	struct atw_output_sum sum = { 0 };
	const char *input;
	bool expected;
	int status;

	if (!opts)
		return EXIT_SOURCE;
	common_sets(cmd->common, &c, sets + 1);
	status = command_parse(cmd, words, &config, &c, opts, sets, ARRAY_SIZE(sets), &argc, argv);
	if (status) {
		/* An error was printed. */
	} else if (c.version) {
		printf("atwalk %s\n", atw_version());
		status = command_written();
	} else if (c.help) {
		status = command_help_with(cmd, &c);
	} else if (words->check && argc && (status = words->check(argv[0]))) {
		/* It complained. */
	} else if (c.expect && !command_is_expected(c.expect, 0, &expected)) {
		status = usage_error(cmd->name, "--expect: '%.40s' is not some, none or a number",
					c.expect);
	} else if ((input = command_reads_output(cmd, opts, &c))) {
		status = usage_error(cmd->name, "--output: this is the input file of --%s", input);
	} else {
		c.sum = c.expect ? &sum : NULL;
		status = command_start(cmd, &c);
		if (!status) {
			language_plain(command_in_english(cmd, &c));
			diagnostics_of_options(sets, ARRAY_SIZE(sets));
			status = cmd->run(&c, opts, argc, argv);
			diagnostics_of_options(NULL, 0);
			language_plain(false);
		}
		if (c.expect)
			status = command_expect(c.expect, &sum, status);
		plugins_end(&c);
	}
	options_free(sets, ARRAY_SIZE(sets));
	free(opts);
	config_release(&config);
	return status;
}

/* ---- words of a command line that name files ---- */

bool is_source_word(const char *word)
{
	struct stat st;

	/* A word with these characters is a path or a SOURCE that could not be opened. */
	return !strcmp(word, "live") || !strcmp(word, "-") || strpbrk(word, "/:.@") || !*word ||
	       !stat(word, &st) || (errno != ENOENT && errno != ENAMETOOLONG);
}

static bool command_is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* PATH, FORMAT:PATH and raw:PATH@ADDRESS name PATH. */
static bool command_names_file(const char *text, const struct stat *file)
{
	const char *colon = strchr(text, ':');
	char path[4096], *at;

	if (command_is_file(text, file) || (colon && command_is_file(colon + 1, file)))
		return true;
	if (!colon || strlen(colon + 1) >= sizeof(path))
		return false;
	snprintf(path, sizeof(path), "%s", colon + 1);
	at = strrchr(path, '@');
	if (at)
		*at = '\0';
	return at && command_is_file(path, file);
}

/* Never overwrite the source, even if -o names it. */
int check_output(const struct common *c, const char *name)
{
	struct atw_err err = { 0 };
	struct stat st;
	bool same;

	if (c->output && !*c->output) {
		atw_err_set(&err, ATW_E_USAGE, "--output: the file name is empty");
		return print_error(&err);
	}
	if (!c->output || stat(c->output, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_COMPLETE;
	same = command_names_file(name, &st);
	for (size_t i = 0; i < c->parts.n && !same; i++)
		same = command_names_file(c->parts.v[i], &st);
	if (!same)
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_USAGE, "--output: this is the source itself");
	return print_error(&err);
}
