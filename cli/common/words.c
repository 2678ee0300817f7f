/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words.c - words of a command line that name files. */
#include <errno.h>
#include <sys/stat.h>

#include "command.h"

bool is_source_word(const char *word)
{
	struct stat st;

	/* A word with these characters is a path or a SOURCE that could not be opened. */
	return !strcmp(word, "live") || !strcmp(word, "-") || strpbrk(word, "/:.@") || !*word ||
	       !stat(word, &st) || (errno != ENOENT && errno != ENAMETOOLONG);
}

static bool words_is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev &&
	       st.st_ino == file->st_ino;
}

/* PATH, FORMAT:PATH and raw:PATH@ADDRESS name PATH. */
static bool words_names_file(const char *text, const struct stat *file)
{
	const char *colon = strchr(text, ':');
	char path[4096], *at;

	if (words_is_file(text, file) || (colon && words_is_file(colon + 1, file)))
		return true;
	if (!colon || strlen(colon + 1) >= sizeof(path))
		return false;
	snprintf(path, sizeof(path), "%s", colon + 1);
	at = strrchr(path, '@');
	if (at)
		*at = '\0';
	return at && words_is_file(path, file);
}

/* Never overwrite the source, even if -o names it. */
int check_output(const struct common *c, const char *name)
{
	struct stat st;
	bool same;

	if (c->output && !*c->output)
		return print_error(&(struct atw_err){
			.status = ATW_E_USAGE, .text = "--output: the file name is empty",
		});
	if (!c->output || stat(c->output, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_COMPLETE;
	same = words_names_file(name, &st);
	for (size_t i = 0; i < c->parts.n && !same; i++)
		same = words_names_file(c->parts.v[i], &st);
	return same ? print_error(&(struct atw_err){
		.status = ATW_E_USAGE, .text = "--output: this is the source itself",
	}) : EXIT_COMPLETE;
}
