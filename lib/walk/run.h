/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - how far the entries of a table say the same.
 */
#ifndef WALK_RUN_H
#define WALK_RUN_H

#include <stdint.h>

/*
 * The slot after the last of those from i on that agree with slot i in `mask`, at
 * most `end`. `words` may lie at any byte; slots i to end - 1 are read, i < end.
 */
uint32_t run_end(const void *words, unsigned word_size, uint32_t i, uint64_t mask,
		 uint32_t end);

#endif
