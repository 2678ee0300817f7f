/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spool.h - a file in memory for what cannot be mapped: pipes, and packed files. */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include <atwalk/base.h>

/* What was unpacked, with holes for pages of zeroes. */
struct spool {
	int fd;
	uint64_t len;
};

/* ATW_E_IO. */
int spool_open(struct spool *ret, struct atw_err *err);
int spool_add(struct spool *s, const void *data, size_t len, struct atw_err *err);
/* The file has all of it now; the descriptor is the caller's. */
int spool_end(struct spool *s, int *ret, struct atw_err *err);
/* After a failure; fine after spool_end(). */
void spool_close(struct spool *s);

/* What is packed from offset `at` of a file on, or copied if it is not. */
int spool_unpacked(int fd, uint64_t at, int *ret, struct atw_err *err);

#endif
