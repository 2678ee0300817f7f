/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_memory.h - what the kernel gives first: frames of small free blocks, and of the lists
 * that each CPU has. While a process holds them, others get frames that follow each other.
 */
#pragma once

#include "live_process.h"

/* Blocks below the size of a large page. */
enum { MEMORY_ORDERS = 9 };

/* Of all lines of a file that begin with `name` behind blanks: the numbers behind it. */
static inline uint64_t memory_listed(const char *path, const char *name)
{
	FILE *f = fopen(path, "re");
	uint64_t sum = 0, n;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line + strspn(line, " "), name, strlen(name)) &&
		    sscanf(line + strspn(line, " ") + strlen(name), "%" SCNu64, &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

static inline uint64_t memory_in_small_blocks(void)
{
	FILE *f = fopen("/proc/buddyinfo", "re");
	uint64_t pages = memory_listed("/proc/zoneinfo", "count:"), n;
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

/* false: less than `spare` bytes would be left. */
static inline bool memory_take(uint64_t spare, struct process *ret)
{
	uint64_t bytes = memory_in_small_blocks() & ~(MIB - 1);

	if (bytes + spare > memory_listed("/proc/meminfo", "MemAvailable:") * 1024)
		return false;
	*ret = process_start(shape_dense, bytes, 0);
	return true;
}
