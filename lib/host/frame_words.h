/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_words.h - words of /proc/kpageflags and similar files for very many frames at
 * once.
 */
#pragma once

#include "host/pace.h"

enum {
	FRAMES_MAX = 65536,      /* per batch */
	FRAMES_RUN = 4096,       /* per run: larger reads are not faster */
	FRAMES_DOWN = 1 << 15,   /* the first frame belongs to the last place */
};

/*
 * Work space: runs of frames that are consecutive in the order of their places or in
 * reverse order. Kernels allocate in reverse order for a process that requests one page
 * after the other.
 */
struct frames {
	uint64_t key[2][FRAMES_MAX];     /* first frame << 16 | its place */
	uint16_t more[FRAMES_MAX];       /* frames behind the first one, by its place;
					  * FRAMES_DOWN */
	uint64_t *sorted;
	size_t n;
	uint64_t buf[2 * FRAMES_RUN];
	struct pace *pace;               /* NULL: no rate limit */
};

/* Start a new batch. */
void frames_clear(struct frames *f);
/*
 * Frames `pfn` and up belong to places `place` and up: `n` of them, up to FRAMES_RUN.
 * Frames are less than 2^48, places less than FRAMES_MAX. Each place is added once, in
 * ascending order.
 */
static inline void frames_add(struct frames *f, uint64_t pfn, size_t place, size_t n)
{
	f->key[0][f->n++] = pfn << 16 | place;
	f->more[place] = (uint16_t)(n - 1);
}
/* The same, but their places are `place` and downwards. */
static inline void frames_add_down(struct frames *f, uint64_t pfn, size_t place, size_t n)
{
	f->key[0][f->n++] = pfn << 16 | place;
	f->more[place] = (uint16_t)((n - 1) | FRAMES_DOWN);
}
/* Sort what was added. */
void frames_sort(struct frames *f);
/*
 * Read the word of each frame from `fd` to ret[place]; `none` past the end of the file.
 * Frames with small gaps are read together.
 */
int frames_read(struct frames *f, int fd, const char *name, uint64_t none,
		uint64_t *ret, struct atw_err *err);
