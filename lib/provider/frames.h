/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - /proc/kpageflags and its like: a word for each page frame, for very
 * many frames at once.
 */
#ifndef PROVIDER_FRAMES_H
#define PROVIDER_FRAMES_H

#include <atwalk/base.h>

enum { FRAMES_MAX = 65536 };      /* asked for at once */

/* Work space, and what frames_sort() leaves there. */
struct frames {
	uint64_t key[2][FRAMES_MAX];     /* frame << 16 | place */
	uint64_t *sorted;
	size_t n;
	uint64_t buf[FRAMES_MAX];
};

/*
 * Put the first `n` frames in order. They are less than 2^48; places are those
 * in pfn[], where UINT64_MAX stands for none.
 */
void frames_sort(struct frames *f, const uint64_t *pfn, size_t n);
/*
 * Read the word of each of them from `fd` to ret[place]; `none` where the file
 * has ended. Neighbours that lie a few frames apart are one read.
 */
int frames_read(struct frames *f, int fd, const char *name, uint64_t none,
		uint64_t *ret, struct atw_err *err);

#endif
