/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay PATH... - feed files to the fuzz target this is linked with, each
 * whole and cut in two; folders stand for the files in them. Says how many.
 */
#include <dirent.h>
#include <err.h>
#include <signal.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned files;
static const char *at;

/* A target that dies says what about; this says on which file. */
static void feed(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t len;

	if (!f || fstat(fileno(f), &st) < 0)
		err(2, "%s", path);
	len = (size_t)st.st_size;
	data = malloc(len + !len);
	if (!data || fread(data, 1, len, f) != len)
		err(2, "%s", path);
	fclose(f);
	at = path;
	LLVMFuzzerTestOneInput(data, len);
	/* Exact allocations, so that a read past the end is seen. */
	data = realloc(data, len / 2 + !(len / 2));
	LLVMFuzzerTestOneInput(data, len / 2);
	free(data);
	files++;
}

static void feed_all(const char *path)
{
	struct dirent **names;
	struct stat st;
	int n;

	if (stat(path, &st) < 0)
		err(2, "%s", path);
	if (!S_ISDIR(st.st_mode)) {
		feed(path);
		return;
	}
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		err(2, "%s", path);
	for (int i = 0; i < n; i++) {
		char name[4096];

		snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && !stat(name, &st) && S_ISREG(st.st_mode))
			feed(name);
		free(names[i]);
	}
	free(names);
}

static void on_abort(int sig)
{
	(void)sig;
	fprintf(stderr, "replay: while at %s\n", at);
	_exit(1);
}

int main(int argc, char **argv)
{
	signal(SIGABRT, on_abort);
	for (int i = 1; i < argc; i++)
		feed_all(argv[i]);
	printf("%u files\n", files);
	return 0;
}
