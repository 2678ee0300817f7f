/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * members.h - access to members of kernel structs by their offsets in this kernel.
 */
#ifndef LINUX_MEMBERS_H
#define LINUX_MEMBERS_H

#include "linux/kmem.h"
#include "linux/needs.h"

/* All borrowed. */
struct members {
	struct kmem *m;
	const struct needs *n;
	struct kmem_ahead *ahead;        /* NULL: no read-ahead */
};

static inline bool member_have(const struct members *v, enum need_member id)
{
	return v->n->member[id] != NEED_NONE;
}

/* The address of a member; ATW_E_UNSUPPORTED if this kernel lacks it. */
int member_at(const struct members *v, uint64_t base, enum need_member id,
	    uint64_t *ret, struct atw_err *err);
/*
 * The value of a member: of 1, 2, 4 or 8 bytes, zero-extended; of any other size the
 * first 8 bytes, which for a list are the link to the next element.
 */
int member_get(const struct members *v, uint64_t base, enum need_member id,
	     uint64_t *ret, struct atw_err *err);

/* These members of the struct will be held: kmem_ahead_add() if there is v->ahead. */
void members_soon(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
/*
 * kmem_hold() of the range that contains those members that this kernel has; nothing if
 * it exceeds a page. Data that were read ahead are not read again.
 */
void members_hold(const struct members *v, uint64_t base, const enum need_member *id, size_t n);
static inline void members_release(const struct members *v)
{
	kmem_release(v->m);
}

#endif
