/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_kinds.h - kind of each frame, read once even if many processes map it.
 *
 * Few combinations of flags and orders occur, so a frame has the number of one, in two
 * bytes; blocks of frames exist where one of them was asked for.
 */
#ifndef TARGET_FRAME_KINDS_H
#define TARGET_FRAME_KINDS_H

#include "base/table.h"
#include "linux/memmap_origin.h"

enum { KINDS_BLOCK_BITS = 11, KINDS_BLOCK = 1 << KINDS_BLOCK_BITS };

struct kinds {
	struct table blocks;             /* ids of frames, by frame / KINDS_BLOCK */
	uint64_t nr;
	uint16_t *last;                  /* the block met last, and its number */
	struct page_origin *kind;        /* by id; that of 0 and 1 is unknown */
	size_t nkinds, kinds_cap;
	uint64_t asked;                  /* frames */
	uint64_t read;                   /* of these, read */
};

void kinds_deinit(struct kinds *k);
/* The number of a kind; 0: there is no memory, or no number, for it. */
uint16_t kinds_number(struct kinds *k, const struct page_origin *o);
/* false: no memory. */
bool kinds_ask(struct kinds *k, uint64_t pfn);
/* These frames are of that kind. false: no memory. */
bool kinds_put(struct kinds *k, uint64_t pfn, uint64_t n, uint16_t kind);
/* Of all that were asked for and not read. */
int kinds_read(struct kinds *k, struct atw_memmap *m, struct atw_err *err);
/* Index in k->kind; 0: that frame was not asked for. */
unsigned kinds_find(struct kinds *k, uint64_t pfn);

/* The same, and of how many frames from pfn on, `most` at most, it is so. */
unsigned kinds_run(struct kinds *k, uint64_t pfn, uint64_t most, uint64_t *ret_same);

static inline unsigned kinds_get(struct kinds *k, uint64_t pfn)
{
	if (k->last && k->nr == pfn / KINDS_BLOCK)
		return k->last[pfn % KINDS_BLOCK];
	return kinds_find(k, pfn);
}

#endif
