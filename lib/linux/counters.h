/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - memory counters of a kernel, by their names in /proc/meminfo, including
 * per-CPU deltas.
 */
#ifndef LINUX_COUNTERS_H
#define LINUX_COUNTERS_H

#include "linux/kernel.h"

/* `value`: KiB, as in that file; pages for HugePages_... and zoneinfo.count. */
typedef int counter_fn(void *arg, const char *key, uint64_t value, struct atw_err *err);

/*
 * Passes the known counters to `fn`; others are omitted. ATW_E_MISSING,
 * ATW_E_UNSUPPORTED: none is known. A result of `fn` below ATW_OK ends the call.
 */
int kernel_counters(struct atw_kernel *k, counter_fn *fn, void *arg, struct atw_err *err);

#endif
