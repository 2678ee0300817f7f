/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soles.h - frames with one mapping, and the address space that has it.
 *
 * Nearly all frames of a process are mapped once. Of those the number is enough: two bytes
 * a frame name the space until a second mapping is met. From then on the frame is shared,
 * its mappings are in struct counts, and the space that had it alone has it in a list.
 */
#ifndef PROVIDER_SOLES_H
#define PROVIDER_SOLES_H

#include "walk/counts.h"

enum {
	SOLES_SHARED = UINT16_MAX,
	SOLES_SPACES = UINT16_MAX - 1,   /* at most */
	SOLES_BLOCK_BITS = 11,           /* frames of a block: two bytes each are a page */
	SOLES_BLOCK = 1 << SOLES_BLOCK_BITS,
};

/* A frame that a space had alone until another mapping was met. */
struct sole_former {
	uint32_t space, pfn;
};

struct soles {
	uint64_t frames;         /* below this one; 0: frames are not told apart so */
	uint16_t *space;         /* of a frame: 1 + index, or SOLES_SHARED; 0: not met */
	uint8_t *met;            /* of a block: is there any? */
	uint64_t *pages;         /* by space, of frames that it alone maps */
	struct sole_former *former;
	size_t n, cap;
	size_t *first;           /* by space and one more: in former[], once sorted */
	size_t spaces;
};

/* false: too many, or no memory; nothing is told apart then. */
bool soles_init(struct soles *s, uint64_t frames, size_t spaces);
void soles_deinit(struct soles *s);

/* Before any other access: what is read first is given memory in a second page fault. */
static inline void soles_meet(struct soles *s, uint64_t pfn)
{
	uint64_t block = pfn >> SOLES_BLOCK_BITS;

	if (!s->met[block]) {
		s->met[block] = 1;
		*(volatile uint16_t *)&s->space[block << SOLES_BLOCK_BITS] = 0;
	}
}

/* The first mapping of a frame below s->frames, of that space? Then it is noted. */
static inline bool soles_take(struct soles *s, uint64_t pfn, size_t space)
{
	soles_meet(s, pfn);
	if (s->space[pfn])
		return false;
	s->space[pfn] = (uint16_t)(space + 1);
	return true;
}

/* What soles_share() does for a frame that is not shared yet. */
bool soles_share_first(struct soles *s, struct counts *c, uint64_t pfn);

/* Mappings of the frame are counted from now on, the one that was noted too. */
static inline bool soles_share(struct soles *s, struct counts *c, uint64_t pfn)
{
	if (pfn >= s->frames)
		return true;
	soles_meet(s, pfn);
	return s->space[pfn] == SOLES_SHARED || soles_share_first(s, c, pfn);
}

/* By space, once all mappings are met. false: no memory. */
bool soles_sort(struct soles *s);
/* Count what was only noted, for those that ask for the mappings of a frame. */
bool soles_count(const struct soles *s, struct counts *c);

/*
 * Frames from *at on that a space has alone, in their order, up to `most` of them, and of
 * which space each is. Returns how many; 0: there are no more.
 */
size_t soles_next(const struct soles *s, uint64_t *at, uint64_t *pfn, uint16_t *space,
		  size_t most);

#endif
