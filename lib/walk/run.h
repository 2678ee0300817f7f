/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - length of a run of equal entries of a table. */
#ifndef WALK_RUN_H
#define WALK_RUN_H

#include <stdint.h>

/*
 * The slot behind the last of the consecutive slots from i on that agree with slot i in
 * `mask`, at most `end`. `words` may be unaligned; slots i to end - 1 are read, i < end.
 */
uint32_t run_end(const void *words, unsigned word_size, uint32_t i, uint64_t mask,
		 uint32_t end);

#endif
