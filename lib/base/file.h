/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - a whole file, mapped read-only. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <atwalk/base.h>

struct file {
	char *path;              /* as the user wrote it */
	struct atw_blob map;     /* all of it */
};

/*
 * Map a regular file or block device. Refuses directories, empty files and
 * what cannot be mapped (pipes: source/open.c spools those) with a sentence
 * that says which.
 */
int file_open(const char *path, struct file *ret, struct atw_err *err);
/* Fine on a zeroed struct. */
void file_close(struct file *f);

#endif
