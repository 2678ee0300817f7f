/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random.h - the same numbers on every machine (splitmix64). */
#pragma once

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* For tests that need no seed of their own. */
static inline uint64_t random_any(void)
{
	static uint64_t state = 1;

	return random_next(&state);
}

/* A number below n. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(state) * n >> 64);
}
