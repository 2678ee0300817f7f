/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete.c - what a shell offers for a word of a command line. Options, their values and
 * the columns of a listing are taken from the tables that the commands themselves use.
 */
#include "complete.h"

#include "base/message.h"
#include "plugins.h"
#include "record/schema.h"

/* A command line in front of the word that is completed. */
struct complete {
	const struct complete_program *program;
	const struct command *cmd;
	struct opt_set sets[1 + COMMON_SETS];
	char **argv;             /* behind the name of the command */
	int argc;
	struct complete_word word;
};

static void complete_offer(const struct complete *k, const char *word, const char *help)
{
	complete_put(&k->word, word, help);
}

/* Everything up to `at` stays. */
static void complete_keep(struct complete *k, const char *at)
{
	k->word.before_len = (int)(at - k->word.before);
	k->word.cur = at;
}

/* ---- options ---- */

static const struct opt *complete_find(const struct complete *k, const char *name, size_t len,
				       char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(k->sets); i++)
		for (const struct opt *o = k->sets[i].refused ? NULL : k->sets[i].table;
		     o && o->name; o++)
			if (letter ? o->letter == letter
				   : strlen(o->name) == len && !memcmp(o->name, name, len))
				return o;
	return NULL;
}

/* The option that the word names, if it takes a value: "--pid" or "-o", not "--pid=1". */
static const struct opt *complete_valued(const struct complete *k, const char *word)
{
	const struct opt *o = NULL;

	if (!strncmp(word, "--", 2))
		o = complete_find(k, word + 2, strlen(word + 2), 0);
	else if (word[0] == '-' && word[1] && !word[2])
		o = complete_find(k, NULL, 0, word[1]);
	return o && o->arg ? o : NULL;
}

static void complete_options(const struct complete *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(k->sets); i++)
		for (const struct opt *o = k->sets[i].refused ? NULL : k->sets[i].table;
		     o && o->name; o++) {
			char word[64];

			snprintf(word, sizeof(word), "--%s", o->name);
			complete_offer(k, word, o->help);
		}
}

/* ---- columns, and the words of --filter ---- */

static void complete_schema_words(const struct complete *k, const struct atw_column *c)
{
	const struct atw_names *nm = c->names;

	for (size_t i = 0; column_has_words(c) && i < nm->n; i++)
		if (nm->name[i] && names_first(nm, i))
			complete_offer(k, nm->name[i], c->key);
}

struct complete_columns {
	const struct complete *k;
	bool words;
};

static void complete_on_schema(void *arg, const struct atw_schema *sc)
{
	const struct complete_columns *x = arg;

	for (size_t i = 0; i < sc->ncols; i++)
		complete_offer(x->k, sc->col[i].key, sc->col[i].help);
	for (size_t i = 0; x->words && i < sc->ncols; i++)
		complete_schema_words(x->k, &sc->col[i]);
}

/* Does the option only say where rows go, or how they look? */
static bool complete_is_about_output(const char *name)
{
	static const char *const names[] = {
		"output", "format", "columns", "sort", "group", "filter", "expect", "help",
		"version", "progress", "verbose", "color", "units",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Runs the command line, as far as it is typed, up to its first listing. */
static void complete_schema(const struct complete *k, bool words)
{
	struct complete_columns x = { .k = k, .words = words };
	char **argv = calloc((size_t)k->argc + 1, sizeof(*argv));
	int n = 0;

	for (int i = 0; argv && i < k->argc; i++) {
		char *word = k->argv[i];
		const struct opt *o = complete_valued(k, word);
		size_t len = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");
		const struct opt *named = o;
		bool drop;

		if (!named && len)
			named = complete_find(k, word + 2, len, 0);
		drop = named && complete_is_about_output(named->name);
		if (!drop)
			argv[n++] = word;
		if (o && i + 1 < k->argc && !drop)
			argv[n++] = k->argv[i + 1];
		i += o != NULL;
	}
	if (argv)
		command_columns(k->cmd, NULL, complete_on_schema, &x, n, argv);
	free(argv);
}

/* ---- values ---- */

static void complete_modes(const struct complete *k)
{
	const struct atw_paging *m;

	for (size_t i = 0; (m = atw_paging_at(i)); i++)
		complete_offer(k, m->name, NULL);
}

static void complete_on_format(void *arg, const char *word)
{
	complete_offer(arg, word, NULL);
}

static void complete_on_source(void *arg, const char *word)
{
	char with_colon[40];

	snprintf(with_colon, sizeof(with_colon), "%s:", word);
	complete_offer(arg, with_colon, N_("a source of a plugin"));
}

/* Names that the notes of plugins have, of those that stand in front of the word. */
static void complete_plugins(struct complete *k, enum plugins_which which, plugins_word_fn *fn)
{
	const struct opt *o = complete_find(k, "plugin", 6, 0);
	struct opt_list words = { 0 };
	struct opt_set set = { .table = o, .base = &words };
	struct opt list[2] = { { 0 } };
	char why[100];

	if (!o)
		return;
	list[0] = *o;
	list[0].at = 0;
	set.table = list;
	for (int i = 0; i < k->argc; i++)
		if (!strncmp(k->argv[i], "--plugin=", 9))
			options_store(list, &words, k->argv[i] + 9, why, sizeof(why));
		else if (!strcmp(k->argv[i], "--plugin") && i + 1 < k->argc)
			options_store(list, &words, k->argv[i + 1], why, sizeof(why));
	plugins_each_name(&words, which, fn, k);
	options_free(&set, 1);
}

/* Behind the last character of `ends` in the word. */
static void complete_element(struct complete *k, const char *ends)
{
	const char *at = k->word.cur;

	for (const char *s = k->word.cur; *s; s++)
		if (strchr(ends, *s))
			at = s + 1;
	complete_keep(k, at);
}

static void complete_value(struct complete *k, const struct opt *o)
{
	static const struct opt_choice split[] = {
		{ "rights", 0 }, { "page", 0 }, { "physical", 0 }, { "flags", 0 }, { 0 }
	};
	static const struct opt_choice extensions[] = {
		{ "thead", 0 }, { "svrsw60t59b", 0 }, { "lpa2", 0 }, { "ipa=", 0 }, { 0 }
	};
	const struct opt_choice *choices = o->choices;
	bool list = !strcmp(o->name, "columns") || !strcmp(o->name, "sort");
	bool filter = !strcmp(o->name, "filter");

	if (!strcmp(o->name, "split") || !strcmp(o->name, "pte-ext")) {
		choices = *o->name == 's' ? split : extensions;
		complete_element(k, ",");
	}
	for (; choices && choices->word; choices++)
		complete_offer(k, choices->word, NULL);
	if (!strcmp(o->name, "format"))
		complete_plugins(k, PLUGINS_FORMATS, complete_on_format);
	if (list || filter || !strcmp(o->name, "group")) {
		complete_element(k, filter ? " ()" : list ? ",+-" : "");
		complete_schema(k, filter);
	} else if (!strcmp(o->name, "pid")) {
		complete_put_pids(&k->word);
	} else if (!strcmp(o->name, "paging") || !strcmp(o->name, "paging-flags")) {
		complete_modes(k);
	}
	if (complete_takes_file(o->arg))
		complete_put_files();
}

/* ---- words that are no options ---- */

static const char *complete_own_name(const struct command *cmd)
{
	const char *blank = strrchr(cmd->name, ' ');

	return blank ? blank + 1 : cmd->name;
}

static void complete_commands(const struct complete *k)
{
	const struct command *cmd;

	for (size_t i = 0; (cmd = k->program->at(i)); i++)
		complete_offer(k, complete_own_name(cmd), cmd->summary);
	if (k->program->usual)
		complete_offer(k, "help", N_("show the options of a command"));
}

/*
 * Names that a command takes as its first operand: those that its help lists behind a line
 * NAME: or KIND:, each with what it means.
 */
static bool complete_names(struct complete *k)
{
	const char *s = k->cmd->about ? strstr(k->cmd->about, "NAME:\n") : NULL;
	bool any = false;

	if (!s && k->cmd->about)
		s = strstr(k->cmd->about, "KIND:\n");
	if (!s)
		return false;
	complete_element(k, ",");
	for (s = strchr(s, '\n') + 1; *s && *s != '\n'; s += strcspn(s, "\n"), s += *s == '\n') {
		char word[32], help[96];

		if (sscanf(s, "  %31[a-z-] %95[^\n]", word, help) == 2 && s[0] == ' ')
			complete_offer(k, word, help);
		any = true;
	}
	return any;
}

/* The number of operands in front of the word. */
static int complete_operands(const struct complete *k)
{
	int n = 0;

	for (int i = 0; i < k->argc; i++)
		if (k->argv[i][0] != '-')
			n++;
		else
			i += complete_valued(k, k->argv[i]) != NULL;
	return n;
}

static void complete_operand(struct complete *k)
{
	static const char *const live[] = { "live", "live:kcore", "live:bpf", "live:pagemap" };
	int at = complete_operands(k);
	bool source = strstr(k->cmd->args, "SOURCE");
	const char *word;

	if (!at && complete_names(k))
		return;
	if (k->cmd->operand && k->cmd->operand(at, 0)) {
		for (size_t i = 0; (word = k->cmd->operand(at, i)); i++)
			complete_offer(k, word, NULL);
		return;
	}
	at -= !strncmp(k->cmd->args, "NAME", 4);
	for (size_t i = 0; source && at <= 0 && i < ARRAY_SIZE(live); i++)
		complete_offer(k, live[i], N_("the running kernel"));
	if (source && at <= 0)
		complete_plugins(k, PLUGINS_SOURCES, complete_on_source);
	complete_put_files();
}

static const struct command *complete_find_command(const struct complete_program *p,
						   const char *word)
{
	const struct command *cmd;

	for (size_t i = 0; (cmd = p->at(i)); i++)
		if (!strcmp(complete_own_name(cmd), word))
			return cmd;
	return NULL;
}

int complete_run(const struct complete_program *p, int argc, char **argv)
{
	struct complete k = { .program = p, .argv = argv, .cmd = p->usual };
	const struct command *cmd = NULL;
	const struct opt *o = NULL;
	char *value;

	argc = complete_join(argc, argv);
	if (argc < 1)
		return EXIT_USAGE;
	k.word.before = k.word.cur = argv[argc - 1];
	k.argc = argc - 1;
	if (k.argc)
		cmd = complete_find_command(p, argv[0]);
	if (cmd) {
		k.cmd = cmd;
		k.argv++;
		k.argc--;
	} else if (!k.argc && *k.word.cur != '-') {
		complete_commands(&k);
	} else if (k.argc == 1 && !strcmp(argv[0], "help")) {
		complete_commands(&k);
		return command_written();
	}
	if (!k.cmd || !k.cmd->run)
		return command_written();
	k.sets[0] = (struct opt_set){ .table = k.cmd->options };
	common_sets(k.cmd->common, NULL, k.sets + 1);
	value = strncmp(k.word.cur, "--", 2) ? NULL : strchr(k.word.cur, '=');
	if (value) {
		o = complete_find(&k, k.word.cur + 2, (size_t)(value - k.word.cur - 2), 0);
		complete_keep(&k, value + 1);
	} else if (k.argc) {
		o = complete_valued(&k, k.argv[k.argc - 1]);
		k.argc -= o != NULL;
	}
	if (o && o->arg)
		complete_value(&k, o);
	else if (*k.word.cur == '-')
		complete_options(&k);
	else if (!value)
		complete_operand(&k);
	return command_written();
}
