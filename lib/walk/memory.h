/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - words of a page table, borrowed from the source without a copy if it
 * supports that; otherwise the reason why they are missing.
 */
#ifndef WALK_MEMORY_H
#define WALK_MEMORY_H

#include <stdint.h>

#include "walk/walk.h"
#include "base/bytes.h"
#include "source/mapped.h"

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

#endif
