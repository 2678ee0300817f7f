/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outfile.h - output files: standard output, a device or pipe, or a regular file that is
 * renamed to its name when it is complete.
 */
#pragma once

#include <sys/types.h>

#include <atwalk/base.h>

struct outfile {
	int fd;
	bool owned;              /* fd is closed with it */
	char *path;              /* as typed by the user; NULL: standard output */
	char *final;             /* the final name; NULL: written directly */
	mode_t mode;             /* of a new file, before the umask */
	char *temp;              /* its temporary name; NULL: it has none yet */
};

/*
 * NULL and "-" are standard output. A signal handler may unlink ret->temp at any moment:
 * no other file is left behind then.
 */
int outfile_open(const char *path, struct outfile *ret, struct atw_err *err);
/*
 * The same for data that only root could read so far: a new file is only accessible to
 * its owner. An existing file keeps its mode, as with outfile_open().
 */
int outfile_open_private(const char *path, struct outfile *ret, struct atw_err *err);
/* The name for error messages. */
const char *outfile_name(const struct outfile *t);
/* Rename the file to its final name. */
int outfile_commit(struct outfile *t, struct atw_err *err);
/*
 * Commit several files, all or none: operations that are slow or may fail are done for
 * each of them before the first is renamed, and signals are blocked meanwhile.
 */
int outfile_commit_all(struct outfile *const *t, size_t n, struct atw_err *err);
/* Without a commit, no file is left behind. fd -1 is accepted. */
void outfile_close(struct outfile *t);
