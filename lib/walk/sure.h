/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sure.h - bit patterns of common page-table entries, for loops over very many words.
 *
 * The tables of a paging mode are evaluated once for each level. A word that matches a
 * pattern is of that kind whatever its other bits are; any other word must be decoded by
 * paging/entry.h.
 */
#ifndef WALK_SURE_H
#define WALK_SURE_H

#include "paging/entry.h"

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

#endif
