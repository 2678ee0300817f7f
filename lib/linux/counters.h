/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - what a kernel counts of its memory, by the names of /proc/meminfo, with
 * what CPUs have not added to the sums yet.
 */
#ifndef LINUX_COUNTERS_H
#define LINUX_COUNTERS_H

#include "linux/kernel.h"

/* `value`: KiB, as there; of HugePages_... and zoneinfo.count pages. */
typedef int counter_fn(void *arg, const char *key, uint64_t value, struct atw_err *err);

/*
 * Passes the counters that are known to `fn`; the others are left out. ATW_E_MISSING,
 * ATW_E_UNSUPPORTED: none is known. A result of `fn` below ATW_OK ends the call.
 */
int kernel_counters(struct atw_kernel *k, counter_fn *fn, void *arg, struct atw_err *err);

#endif
