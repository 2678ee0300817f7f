/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - bytes of a range of virtual or physical addresses, in order, with the places
 * where there are none.
 */
#pragma once

#include "target/provider.h"
#include "target/target.h"

struct content_piece {
	uint64_t at, len;        /* address, of the kind that was asked for; bytes */
	uint64_t pa;             /* with `have_pa` */
	const uint8_t *data;     /* PAGE_PRESENT: until the next call; NULL: `zero` */
	uint8_t state;           /* enum page_state; PAGE_PROTNONE is PAGE_PRESENT here */
	bool have_pa;
	bool zero;               /* PAGE_PRESENT: all of it is known to be zero */
	bool repeat;             /* the memory before it is mapped again: not read */
};

struct content;

/*
 * Of first..last: virtual addresses of `space`, or physical ones if it is NULL. Both are
 * borrowed. `absent`: what is not mapped at all is returned as well.
 */
int content_open(struct target *t, const struct mmu_space *space, uint64_t first,
		 uint64_t last, bool absent, struct content **ret, struct atw_err *err);
/*
 * Pieces do not overlap. ATW_END after the last. ATW_E_LIMIT: the rest of the page tables is
 * not read. Of a running machine bytes are read after the tables: they may have become
 * another process's in between.
 */
int content_next(struct content *c, struct content_piece *ret, struct atw_err *err);
/* Why the last PAGE_DAMAGED piece cannot be read. */
const struct atw_err *content_error(const struct content *c);
void content_close(struct content *c);
