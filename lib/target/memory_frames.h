/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_frames.h - use of frames of RAM, from their struct pages. */
#ifndef TARGET_MEMORY_FRAMES_H
#define TARGET_MEMORY_FRAMES_H

#include "target/provider.h"

/* The op `frames`. */
int walk_ram_frames(struct atw_memmap *map, unsigned page_shift, uint64_t first,
		    uint64_t last, provider_frames_fn *tell, void *arg,
		    struct atw_err *err);

#endif
