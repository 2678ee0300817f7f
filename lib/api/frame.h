/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - facts of a frame in the words of the public API. */
#ifndef API_FRAME_H
#define API_FRAME_H

#include <atwalk/process.h>

#include "target/provider.h"

/* `ret` points into `facts`. */
void api_frame_set(struct atw_frame *ret, uint64_t pa, unsigned page_shift,
		   const struct frame_facts *facts);

#endif
