/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soles.h - frames with one mapping, and the address space that has it.
 *
 * Nearly all frames of a process are mapped once. For those a space number is enough: two
 * bytes a frame hold it until a second mapping is found. From then on they count
 * mappings, and the space that had the frame alone has it in a list. Large pages,
 * mappings that are counted separately, and frames that are mapped too often are in
 * struct counts.
 */
#ifndef TARGET_SOLES_H
#define TARGET_SOLES_H

#include "walk/counts.h"

enum {
	SOLES_COUNT = 0x8000,            /* and how many mappings */
	SOLES_MOST = 0x7ffe,             /* of these, and of spaces */
	SOLES_COUNTED = 0xffff,          /* in struct counts */
	SOLES_LEFT = 2,
	SOLES_BLOCK_BITS = 11,           /* frames of a block: two bytes each are a page */
	SOLES_BLOCK = 1 << SOLES_BLOCK_BITS,
};

/* A frame that a space had alone until another mapping was met. */
struct sole_former {
	uint32_t space, pfn;
};

struct soles {
	uint64_t frames;         /* below this one, a power of two; 0: none are noted */
	uint16_t *space;         /* of a frame: 1 + index, or one of these; 0: not met */
	uint8_t *met;            /* of a block: any? SOLES_LEFT: in struct counts as well */
	uint64_t *pages;         /* by space, of frames that it alone maps */
	struct sole_former *former;
	size_t n, cap;
	size_t *first;           /* by space and one more: in former[], once sorted */
	size_t spaces;
};

/* Of frames below `end`, at least. false: too many, or no memory; none are noted then. */
bool soles_init(struct soles *s, uint64_t end, size_t spaces);
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

/* What soles_add() does for a frame that has one mapping, or very many. */
bool soles_add_slowly(struct soles *s, struct counts *c, uint64_t pfn);

/* One more mapping of a frame that soles_take() did not take. false: no memory. */
static inline bool soles_add(struct soles *s, struct counts *c, uint64_t pfn)
{
	if (s->space[pfn] <= SOLES_COUNT || s->space[pfn] >= SOLES_COUNT + SOLES_MOST)
		return soles_add_slowly(s, c, pfn);
	s->space[pfn]++;
	return true;
}

/* Mappings of these frames are in struct counts from now on, those that were met too. */
bool soles_leave(struct soles *s, struct counts *c, uint64_t pfn, uint64_t pages);

/* How often a frame is mapped. */
static inline uint64_t soles_get(const struct soles *s, struct counts *c, uint64_t pfn)
{
	uint16_t u = pfn < s->frames ? s->space[pfn] : SOLES_COUNTED;

	if (!u || u == SOLES_COUNTED)
		return counts_get(c, pfn);
	return (u < SOLES_COUNT ? 1 : (uint64_t)u - SOLES_COUNT) +
	       (counts_may_be_large(c, pfn) ? counts_get(c, pfn) : 0);
}

/* The same, and of how many frames from pfn on, `most` at most, it is so. */
uint64_t soles_run(const struct soles *s, struct counts *c, uint64_t pfn, uint64_t most,
		   uint64_t *ret_same);

/* That frame will be asked for after a few others: only a hint. */
static inline void soles_soon(const struct soles *s, struct counts *c, uint64_t pfn)
{
	if (pfn < s->frames)
		__builtin_prefetch(&s->space[pfn], 1);
	else
		counts_soon(c, pfn);
}

/*
 * Once all mappings are met: frames that large pages cover are no space's alone, and those
 * of former[] are put in the order of their spaces. false: no memory.
 */
bool soles_sort(struct soles *s, struct counts *c);
/* Add all mappings that are not in struct counts to it, for those that ask no more. */
bool soles_count(const struct soles *s, struct counts *c);

/*
 * Frames from *at on that are not in struct counts, in their order, up to `most` of them,
 * and what soles.space has of each. Returns how many; 0: there are no more.
 */
size_t soles_next(const struct soles *s, uint64_t *at, uint64_t *pfn, uint16_t *space,
		  size_t most);
/* Are none of these frames in struct counts? Only if that is so of all around them. */
bool soles_have(const struct soles *s, uint64_t pfn, uint64_t pages);

#endif
