/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - a whole file, mapped read-only. */
#pragma once

#include <atwalk/base.h>

struct file {
	char *path;              /* as the user wrote it */
	struct atw_blob map;     /* all of it */
};

/*
 * Map a regular file or block device. Directories, empty files and files that cannot be
 * mapped are refused with an error that states which (pipes are spooled by
 * source/open.c).
 */
int file_open(const char *path, struct file *ret, struct atw_err *err);
/* A zeroed struct is accepted. */
void file_close(struct file *f);

/* A hole of a sparse file: it reads as zeroes. */
struct file_hole {
	uint64_t start, end;     /* bytes of the file */
};

struct file_holes {
	struct file_hole *v;     /* ascending, disjoint */
	size_t n;
};

/*
 * Holes in [start, end) of at least `min` bytes; only the first ones if there are very
 * many. None if the file system does not report holes. ATW_E_NOMEM. To be freed by
 * file_holes_deinit().
 */
int file_holes_find(const struct file *f, uint64_t start, uint64_t end, uint64_t min,
		    struct file_holes *ret, struct atw_err *err);
void file_holes_deinit(struct file_holes *h);
/* Index of the first hole that ends behind `at`, or h->n. */
size_t file_holes_from(const struct file_holes *h, uint64_t at);
/* Total size of the holes in bytes. */
uint64_t file_holes_total(const struct file_holes *h);
