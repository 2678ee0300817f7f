/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - a table's words out of a source, without a copy where it lends
 * them, and the reason where it has none.
 */
#ifndef WALK_MEMORY_H
#define WALK_MEMORY_H

#include <atwalk/walk.h>

#include "base/bytes.h"

/* Why the bytes at `pa` are not to be had, after read or peek said `got`. */
enum atw_loss memory_loss(struct atw_source *mem, atw_pa pa, ssize_t got);

/*
 * Up to `len` bytes at `pa`: a borrowed pointer, or a copy in `scratch`.
 * Returns how many, 0 with *loss set when there are none.
 */
size_t memory_words(struct atw_source *mem, atw_pa pa, size_t len,
		    void *scratch, const void **ret, enum atw_loss *loss,
		    struct atw_err *err);

static inline uint64_t load_word(const void *words, unsigned word_size, size_t i)
{
	return word_size == 8 ? get_le64((const char *)words + 8 * i)
			      : get_le32((const char *)words + 4 * i);
}

#endif
