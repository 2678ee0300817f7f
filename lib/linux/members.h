/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - members of the kernel's structs, by where they are in this kernel.
 */
#ifndef LINUX_MEMBERS_H
#define LINUX_MEMBERS_H

#include "linux/kmem_ahead.h"
#include "linux/needs.h"

/* All borrowed. */
struct members {
	struct kmem *m;
	const struct needs *n;
	struct kmem_ahead *ahead;        /* NULL: nothing is read ahead */
};

static inline bool member_have(const struct members *v, enum need_member id)
{
	return v->n->member[id] != NEED_NONE;
}

/* Where a member lies; ATW_E_UNSUPPORTED if this kernel has none. */
int member_at(const struct members *v, uint64_t base, enum need_member id,
	    uint64_t *ret, struct atw_err *err);
/*
 * Its value: a number of 1, 2, 4 or 8 bytes, zero-extended; the first 8 bytes
 * of anything else, which of a list is the link to the next.
 */
int member_get(const struct members *v, uint64_t base, enum need_member id,
	     uint64_t *ret, struct atw_err *err);

/* These members of the struct will be held: kmem_ahead_add(), where there is v->ahead. */
void members_soon(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
/*
 * kmem_hold() of those members of a struct that this kernel has, and of what lies between
 * them; nothing if that is more than a page. What was read ahead is not read again.
 */
void members_hold(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
static inline void members_release(const struct members *v)
{
	kmem_release(v->m);
}

#endif
