/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_words.h - /proc/kpageflags and its like: a word for each page frame, for very
 * many frames at once.
 */
#ifndef HOST_FRAME_WORDS_H
#define HOST_FRAME_WORDS_H

#include "host/pace.h"

enum {
	FRAMES_MAX = 65536,      /* asked for at once */
	FRAMES_RUN = 4096,       /* in a run: more at once is read no faster */
	FRAMES_DOWN = 1 << 15,   /* the first frame is that of the last place */
};

/*
 * Work space: runs of frames that are consecutive in the order of their places or in
 * reverse order. Kernels allocate in reverse order for a process that requests one page
 * after the other.
 */
struct frames {
	uint64_t key[2][FRAMES_MAX];     /* first frame << 16 | its place */
	uint16_t more[FRAMES_MAX];       /* frames behind the first, by its place; FRAMES_DOWN */
	uint64_t *sorted;
	size_t n;
	uint64_t buf[2 * FRAMES_RUN];
	struct pace *pace;               /* NULL: none */
};

/* Forget all of them. */
void frames_clear(struct frames *f);
/*
 * Frames `pfn` and so on belong to places `place` and so on: `n` of them, up to
 * FRAMES_RUN. Frames are less than 2^48, places less than FRAMES_MAX. Each place
 * is added once, in order.
 */
static inline void frames_add(struct frames *f, uint64_t pfn, size_t place, size_t n)
{
	f->key[0][f->n++] = pfn << 16 | place;
	f->more[place] = (uint16_t)(n - 1);
}
/* Likewise, but their places are `place` and those before it. */
static inline void frames_add_down(struct frames *f, uint64_t pfn, size_t place, size_t n)
{
	f->key[0][f->n++] = pfn << 16 | place;
	f->more[place] = (uint16_t)((n - 1) | FRAMES_DOWN);
}
/* Put in order what was added. */
void frames_sort(struct frames *f);
/*
 * Read the word of each of them from `fd` to ret[place]; `none` where the file
 * has ended. Neighbours that lie a few frames apart are one read.
 */
int frames_read(struct frames *f, int fd, const char *name, uint64_t none,
		uint64_t *ret, struct atw_err *err);

#endif
