/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look_list.h - the frames of small pages, out of very many entries of page tables.
 *
 * What is mapped has no pattern, so a branch for each entry would mostly go the wrong way.
 */
#ifndef TARGET_LOOK_LIST_H
#define TARGET_LOOK_LIST_H

#include <atwalk/base.h>

enum { LIST_STRIDE = 8 };        /* entries that are looked at together */

/* Entries of 8 bytes that are small pages, if (word & mask) == value. */
struct look_small {
	uint64_t mask, value;
	uint64_t address;        /* bits of the frame, which moves right by so many */
	unsigned right;
};

/*
 * Frames of the entries, as long as all of a stride are small pages or 0; `to` has room
 * for all of them and a stride more. Returns how many entries were looked at, and in
 * *listed how many frames there are.
 */
typedef uint32_t look_list_fn(const struct look_small *s, const void *words, uint32_t n,
			      uint32_t *to, uint32_t *listed);
look_list_fn look_list_plain;
/* The fastest that this CPU can run. */
look_list_fn *look_list_best(void);

#endif
