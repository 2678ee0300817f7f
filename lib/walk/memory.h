/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - words of a page table, borrowed from the source without a copy if it
 * supports that; otherwise the reason why they are missing.
 */
#pragma once

#include <stdint.h>

#include "walk/walk.h"
#include "base/bytes.h"
#include "source/mapped.h"
#include "paging/entry.h"

/* Why the bytes at `pa` are missing; `got` is the result of read or peek. */
enum mmu_loss memory_loss(struct atw_source *mem, atw_pa pa, ssize_t got);

/*
 * A pointer to the bytes if the source can lend them contiguously; without a call if
 * mapped.
 */
static inline const void *memory_lent(struct atw_source *mem, atw_pa pa,
				      size_t len, struct atw_err *err)
{
	const void *p;

	if (mem->ops->peek == mapped_peek)
		return mapped_at(mem->impl, pa, len);
	return mem->ops->peek && mem->ops->peek(mem, pa, len, &p, err) == (ssize_t)len
	       ? p : NULL;
}

/*
 * Up to `len` bytes at `pa`, copied to `scratch`: bytes that cannot be borrowed
 * contiguously may still be readable in parts. Returns the number of bytes; 0 with *loss
 * set if there are none.
 */
size_t memory_copied(struct atw_source *mem, atw_pa pa, size_t len, void *scratch,
		     enum mmu_loss *loss, struct atw_err *err);

/* The same, as a borrowed pointer if possible, else a pointer to the copy. */
static inline size_t memory_words(struct atw_source *mem, atw_pa pa, size_t len,
				  void *scratch, const void **ret,
				  enum mmu_loss *loss, struct atw_err *err)
{
	*ret = memory_lent(mem, pa, len, err);
	if (*ret)
		return len;
	*ret = scratch;
	return memory_copied(mem, pa, len, scratch, loss, err);
}

static inline uint64_t load_word(const void *words, unsigned word_size, size_t i)
{
	return word_size == 8 ? get_le64((const char *)words + 8 * i)
			      : get_le32((const char *)words + 4 * i);
}

/* ---- run.c: length of a run of equal entries of a table ---- */

/*
 * The slot behind the last of the consecutive slots from i on that agree with slot i in
 * `mask`, at most `end`. `words` may be unaligned; slots i to end - 1 are read, i < end.
 */
uint32_t run_end(const void *words, unsigned word_size, uint32_t i, uint64_t mask,
		 uint32_t end);

/* ---- sure.c ---- */

/*
 * Bit patterns of common page-table entries, for loops over very many words.
 *
 * The tables of a paging mode are evaluated once for each level. A word that matches a
 * pattern is of that kind whatever its other bits are; any other word must be decoded by
 * paging/entry.h.
 */

enum { SURE_PIECES = 2 };

/* Words of one kind on one level: certainly so if (word & mask) == value. */
struct sure {
	uint64_t mask, value;
	struct { uint64_t mask; uint8_t left; } piece[SURE_PIECES];     /* of the address */
};

/* A pattern that matches no word. */
#define SURE_NONE ((struct sure){ .mask = 0, .value = 1 })

/* false: no pattern exists. */
bool sure_find(const struct atw_paging *pg, unsigned level, enum atw_kind kind, struct sure *ret);

static inline bool sure_is(const struct sure *s, uint64_t word)
{
	return (word & s->mask) == s->value;
}

static inline uint64_t sure_address(const struct sure *s, uint64_t word)
{
	return (word & s->piece[0].mask) << s->piece[0].left |
	       (word & s->piece[1].mask) << s->piece[1].left;
}

/*
 * Where all leaves of a level that have no span have their address bits, whatever their
 * other bits are.
 */
struct leaf_bits {
	uint64_t mask[SURE_PIECES];
	uint8_t left[SURE_PIECES];
	bool all;                /* false: some leaves have bits elsewhere */
	bool spans;              /* some leaves have a span that replaces address bits */
};
struct leaf_bits leaf_bits_of(const struct atw_paging *pg, unsigned level);

static inline uint64_t leaf_bits_pa(const struct leaf_bits *b, uint64_t word)
{
	return (word & b->mask[0]) << b->left[0] | (word & b->mask[1]) << b->left[1];
}

/* Is that so for the leaves of a piece of a walk, of which this is the first? */
static inline bool leaf_bits_decide(const struct leaf_bits *b, const struct atw_paging *pg,
				    unsigned level, uint64_t word)
{
	return b->all && (!b->spans ||
			  atw_entry_span(pg, level, word) == pg->level[level].shift);
}

/* Are `n` words from the i-th on all 0? n is even. */
static inline bool words_blank(const void *words, unsigned word_size, size_t i, unsigned n)
{
	const char *at = (const char *)words + i * word_size;
	uint64_t any = 0;

	for (unsigned k = 0; k < n; k += 2)
		any |= get_le64(at + 4 * (size_t)k);
	for (unsigned k = n; word_size == 8 && k < 2 * n; k += 2)
		any |= get_le64(at + 4 * (size_t)k);
	return !any;
}
