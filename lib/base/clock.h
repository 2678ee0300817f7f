/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - elapsed time, independent of changes of the system's date. */
#pragma once

#include <stdint.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

/* ns of CLOCK_MONOTONIC */
static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}
