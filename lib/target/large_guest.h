/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large_guest.h - memory of a guest's processes by the sizes of both translations: the guest's
 * page, and the host's page below it, which is the most that a page of stage 2 can be.
 */
#pragma once

#include "target/guest_backing.h"

/* Bytes. A byte is in one of the first seven. */
struct large_guest_sum {
	uint64_t both;           /* large pages of guest and host, at congruent addresses */
	uint64_t apart;          /* large pages of the guest, at other addresses */
	uint64_t guest;          /* large pages of the guest on small ones of the host */
	uint64_t host;           /* small pages of the guest on large ones of the host */
	uint64_t neither;
	uint64_t out;            /* not in the host's memory */
	uint64_t unknown;
	uint64_t misaligned;     /* of all: addresses differ modulo a large page of the host */
	uint64_t on_large;       /* of all: on large pages of the host */
};

struct large_guest {
	struct guest_memory memory;
	uint64_t block;          /* bytes of a large page of the host */
	struct large_guest_sum sum;
};

/* false: the source is not a guest that is read from its host. */
bool large_guest_init(struct large_guest *g, struct atw_source *s);
void large_guest_deinit(struct large_guest *g);
/* Bytes of one page of the guest, which is a large one or not. */
void large_guest_add(struct large_guest *g, atw_pa pa, uint64_t len, bool is_large);
void large_guest_sum_add(struct large_guest_sum *to, const struct large_guest_sum *s);
