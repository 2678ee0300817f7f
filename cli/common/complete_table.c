/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete_table.c - what a shell offers for a program that has one table of options. */
#include "complete.h"

#include <dirent.h>

#include "base/message.h"

void complete_put(const struct complete_word *w, const char *word, const char *help)
{
	if (!strncmp(word, w->cur, strlen(w->cur)))
		printf("%.*s%s\t%s\n", w->before_len, w->before, word, help ? message(help) : "");
}

void complete_put_pids(const struct complete_word *w)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && (e = readdir(proc)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
			complete_put(w, e->d_name, NULL);
	if (proc)
		closedir(proc);
}

void complete_put_files(void)
{
	puts(":files");
}

bool complete_takes_file(const char *arg)
{
	static const char *const files[] = { "FILE", "FOLDER", "PATH", "VMLINUX", "TO" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(arg, files[i]))
			return true;
	return false;
}

int complete_join(int argc, char **argv)
{
	static char empty[1];
	int n = 0;

	for (int i = 0; i < argc; i++) {
		bool sign = !strcmp(argv[i], "=") && n && argv[n - 1][0] == '-';

		if (!sign)
			argv[n++] = argv[i];
		else if (i == argc - 1)
			argv[n++] = empty;
	}
	return n;
}

/* "--pid", "-o", and where one dash is enough "-pid"; `len` bytes of it. */
static const struct opt *complete_table_find(const struct complete_table *t, const char *word,
					     size_t len)
{
	bool two = len > 2 && word[0] == '-' && word[1] == '-';
	const char *name = word + (two ? 2 : 1);

	if (len < 2 || word[0] != '-')
		return NULL;
	len -= two ? 2 : 1;
	for (const struct opt *o = t->options; o->name; o++)
		if (two || t->one_dash ? strlen(o->name) == len && !memcmp(o->name, name, len)
				       : len == 1 && o->letter == *name)
			return o;
	return NULL;
}

static void complete_table_value(const struct complete_word *w, const struct opt *o)
{
	if (!strcmp(o->name, "pid"))
		complete_put_pids(w);
	if (complete_takes_file(o->arg))
		complete_put_files();
}

static void complete_table_options(const struct complete_table *t, const struct complete_word *w)
{
	const char *dashes = t->one_dash && strncmp(w->cur, "--", 2) != 0 ? "-" : "--";
	char word[64];

	for (const struct opt *o = t->options; o->name; o++) {
		snprintf(word, sizeof(word), "%s%s", dashes, o->name);
		complete_put(w, word, o->help);
	}
}

void complete_table_run(const struct complete_table *t, int argc, char **argv)
{
	const struct opt *o = NULL;
	struct complete_word w;
	const char *value;
	int operands = 0;

	argc = complete_join(argc, argv);
	if (argc < 1)
		return;
	w = (struct complete_word){ .before = argv[argc - 1], .cur = argv[argc - 1] };
	/* In the end, the option that the word is the value of. */
	for (int i = 0; i < argc - 1; i++) {
		bool is_value = o != NULL;

		o = is_value ? NULL : complete_table_find(t, argv[i], strlen(argv[i]));
		o = o && o->arg ? o : NULL;
		operands += !is_value && argv[i][0] != '-';
	}
	value = *w.cur == '-' ? strchr(w.cur, '=') : NULL;
	if (value) {
		o = complete_table_find(t, w.cur, (size_t)(value - w.cur));
		w.before_len = (int)(value + 1 - w.before);
		w.cur = value + 1;
	}
	if (o && o->arg)
		complete_table_value(&w, o);
	else if (*w.cur == '-' && !value)
		complete_table_options(t, &w);
	else if (!value && !operands && t->file)
		complete_put_files();
}
