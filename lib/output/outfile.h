/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outfile.h - where the bytes go: standard output, a device or pipe, or a file
 * that appears under its name only when it is complete.
 */
#ifndef OUTPUT_OUTFILE_H
#define OUTPUT_OUTFILE_H

#include <sys/types.h>

#include <atwalk/base.h>

struct outfile {
	int fd;
	bool owned;              /* fd is ours to close */
	char *path;              /* as the user wrote it; NULL: standard output */
	char *final;             /* the file's name; NULL: written directly */
	mode_t mode;             /* of a file that is new, before the umask */
	char *temp;              /* its name until then; NULL: it has none yet */
};

/*
 * NULL and "-" are standard output. A handler of signals may take away what ret->temp
 * names, at any moment: no other file is left behind then.
 */
int outfile_open(const char *path, struct outfile *ret, struct atw_err *err);
/*
 * The same for what only root could see until now: a new file is its owner's alone.
 * One that is there keeps its mode, as with outfile_open().
 */
int outfile_open_private(const char *path, struct outfile *ret, struct atw_err *err);
/* What errors call it. */
const char *outfile_name(const struct outfile *t);
/* Put the file in its place. */
int outfile_commit(struct outfile *t, struct atw_err *err);
/*
 * Put several in theirs, all or none: what takes long or may fail is done for each of
 * them before the first gets its name, and no signal comes in between.
 */
int outfile_commit_all(struct outfile *const *t, size_t n, struct atw_err *err);
/* Without a commit, nothing is left behind. Fine on fd -1. */
void outfile_close(struct outfile *t);

#endif
