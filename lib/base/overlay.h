/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overlay.h - ranges that may overlap, cut so that each address is in one of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OVERLAY_ORDERS ((UINT64_C(1) << 48) - 1)

struct extent {
	uint64_t start, len;     /* addresses, none beyond 2^64; len is not 0 */
	uint64_t off;            /* `placed`: where its bytes lie */
	uint64_t kind : 8;       /* the caller's */
	uint64_t placed : 1;     /* it wins over those that are not */
	uint64_t order : 48;     /* and else the lowest wins; up to OVERLAY_ORDERS */
};

/*
 * Sort the array, cut what overlaps, and merge neighbours of one kind. A new array takes
 * its place. false: no memory; it is only sorted then.
 */
bool overlay(struct extent **v, size_t *n, size_t *cap);
