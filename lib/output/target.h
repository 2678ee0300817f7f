/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - where the bytes go: standard output, a device or pipe, or a file
 * that appears under its name only when it is complete.
 */
#ifndef OUTPUT_TARGET_H
#define OUTPUT_TARGET_H

#include <sys/types.h>

#include <atwalk/base.h>

struct target {
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
int target_open(const char *path, struct target *ret, struct atw_err *err);
/*
 * The same for what only root could see until now: a new file is its owner's alone.
 * One that is there keeps its mode, as with target_open().
 */
int target_open_private(const char *path, struct target *ret, struct atw_err *err);
/* What errors call it. */
const char *target_name(const struct target *t);
/* Put the file in its place. */
int target_commit(struct target *t, struct atw_err *err);
/*
 * Put several in theirs, all or none: what takes long or may fail is done for each of
 * them before the first gets its name, and no signal comes in between.
 */
int target_commit_all(struct target *const *t, size_t n, struct atw_err *err);
/* Without a commit, nothing is left behind. Fine on fd -1. */
void target_close(struct target *t);

#endif
