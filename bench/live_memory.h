/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_memory.h - frames that the kernel allocates first: of small free blocks and of per-CPU
 * lists. While a process holds them, other processes get contiguous frames.
 */
#pragma once

#include "live_process.h"
#include "resident.h"

/* Blocks below the size of a large page. */
enum { MEMORY_ORDERS = 9 };

static inline uint64_t memory_in_small_blocks(void)
{
	FILE *f = fopen("/proc/buddyinfo", "re");
	long listed = resident_field("/proc/zoneinfo", "count:", NULL);
	uint64_t pages = listed > 0 ? (uint64_t)listed : 0, n;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "zone");
		int len = 0;

		if (!at || sscanf(at, "zone %*s%n", &len))
			continue;
		for (unsigned order = 0; order < MEMORY_ORDERS; order++) {
			at += len;
			if (sscanf(at, "%" SCNu64 "%n", &n, &len) != 1)
				break;
			pages += n << order;
		}
	}
	if (f)
		fclose(f);
	return pages * PAGE;
}

/* Starts a process that holds them. false: less than `spare` bytes would be left. */
static inline bool memory_take(uint64_t spare, struct process *ret)
{
	long kib = resident_field("/proc/meminfo", "MemAvailable:", NULL);
	uint64_t bytes = memory_in_small_blocks() & ~(MIB - 1);

	if (kib < 0 || bytes + spare > (uint64_t)kib * 1024)
		return false;
	*ret = process_start(shape_dense, bytes, 0);
	return true;
}
