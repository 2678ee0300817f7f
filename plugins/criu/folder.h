/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.h - a folder of images: its files, and lists that others refer to. */
#pragma once

#include "base/file.h"
#include "image.h"

struct folder_run {
	uint64_t start, end;     /* addresses */
};

/* Pages, ascending and disjoint. */
struct folder_runs {
	struct folder_run *v;
	size_t n, cap;
};

struct folder {
	const char *path;        /* borrowed */
	struct file tree;        /* pstree.img */
	struct file files_image, memfd_image;
	struct image_file *file; /* by id */
	size_t nfiles, files_cap;
	struct image_memfd *memfd;       /* by inode */
	size_t nmemfds, memfds_cap;
};

/* Opens pstree.img and reads the lists of files. *ret must be closed even after a failure. */
int folder_open(const char *path, struct folder *ret, struct atw_err *err);
void folder_close(struct folder *f);
/*
 * An image, at its first entry. ATW_E_MISSING: there is no such file. Errors begin with its
 * name.
 */
int folder_image(const struct folder *f, const char *name, enum image_magic magic,
		 struct file *file, struct image_reader *ret, struct atw_err *err);
/* Its first entry, which it must have. */
int folder_first(const struct folder *f, const char *name, enum image_magic magic,
		 struct file *file, struct proto *ret, struct atw_err *err);
/* A sentence about the entry that was read last. */
int folder_wrong(const char *name, const struct image_reader *m, const char *what, struct atw_err *err);
/* NULL: the images do not have it. */
const struct image_file *folder_file(const struct folder *f, uint64_t id);
const struct image_memfd *folder_memfd(const struct folder *f, uint64_t inode);
/* Pages of a pagemap, into *ret, which is emptied before. */
int folder_runs(const struct folder *f, const char *name, uint64_t page, struct folder_runs *ret,
		struct atw_err *err);
