/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extents.h - map from physical addresses to places in a file.
 *
 * Built once from ranges in any order, which may overlap; then asked for every
 * table of every walk, so the last answer is tried first.
 */
#pragma once

#include "base/overlay.h"
#include "source/source.h"

/* `kind`: ATW_DATA, ATW_ZERO or ATW_EXCLUDED. After extents_build(): sorted, disjoint. */
struct extents {
	struct extent *v;
	size_t n, cap;
	const struct extent *hot;    /* the last hit */
};

void extents_deinit(struct extents *x);

/*
 * Note a range; one of 0 bytes is ignored. ATW_E_DAMAGED when it reaches past
 * the last 64-bit address.
 */
int extents_add(struct extents *x, uint64_t start, uint64_t len, uint64_t off,
		enum atw_extent_kind kind, struct atw_err *err);
/*
 * Sort, settle overlaps and merge. Where ranges overlap, data and zeroes win over
 * excluded memory, and among equals the one that was added first.
 */
int extents_build(struct extents *x, struct atw_err *err);

/* For extents_find() only: the extent that holds pa, or NULL. */
const struct extent *extents_search(struct extents *x, uint64_t pa);

static inline const struct extent *extents_find(struct extents *x, uint64_t pa)
{
	/* One comparison: an address below the start wraps to a large one. */
	if (__builtin_expect(pa - x->hot->start < x->hot->len, 1))
		return x->hot;
	return extents_search(x, pa);
}

/* What struct atw_source_ops.extent answers. */
int extents_extent(struct extents *x, atw_pa pa, struct atw_extent *ret);
/* How many bytes of this kind there are. */
uint64_t extents_total(const struct extents *x, enum atw_extent_kind kind);
