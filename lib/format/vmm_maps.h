/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm_maps.h - RAM of a guest among the mappings of its QEMU process. Pure. */
#pragma once

#include "format/procmaps.h"

/*
 * Mappings in `maps` of exactly `size` bytes that may be a RAM block, in descending
 * order: QEMU maps its blocks top down. What touches and is alike counts as one. `smaps`:
 * the text is of /proc/PID/smaps, and those without the flag "dc" are left out: QEMU sets
 * MADV_DONTFORK on RAM. Returns how many there are; the first `max` are in `v`.
 */
size_t vmm_maps_find(struct atw_blob maps, bool smaps, uint64_t size,
		     struct procmaps_area *v, size_t max);
/* The `max` largest mappings that may be one, in descending order of size; how many. */
size_t vmm_maps_largest(struct atw_blob maps, struct procmaps_area *v, size_t max);
/* The next mapping of smaps that userfaultfd fills in on demand (flag "um"). */
bool vmm_maps_next_late(struct atw_blob smaps, size_t *pos, struct procmaps_area *ret);
