/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rss.h - counters of the resident pages of many mm_structs of a running kernel.
 *
 * Since 6.2 each is a percpu_counter, and its sum is exact. Pages of hugetlbfs, zero
 * pages and pages that are mapped by PFN are not counted.
 */
#pragma once

#include "linux/linux.h"

enum rss_kind { RSS_ANON, RSS_SHMEM, RSS_FILE, RSS_KINDS };

struct rss {
	uint64_t pages[RSS_KINDS];
	bool known;
};

/*
 * Of `n` mm_structs; 0: of none. Values of one moment are not guaranteed. ATW_E_UNSUPPORTED:
 * this kernel has no such counters.
 */
int rss_read(struct atw_kernel *k, const uint64_t *mm, size_t n, struct rss *ret,
	     struct atw_err *err);
