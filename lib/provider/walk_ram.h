/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_ram.h - use of frames of RAM, from their struct pages. */
#ifndef PROVIDER_WALK_RAM_H
#define PROVIDER_WALK_RAM_H

#include "provider/provider.h"

/* The op `frames`. */
int walk_ram_frames(struct atw_memmap *map, unsigned page_shift, uint64_t first,
		    uint64_t last, provider_frames_fn *tell, void *arg,
		    struct atw_err *err);

#endif
