/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scan.h - search for VMCOREINFO texts in memory. */
#ifndef LINUX_SCAN_H
#define LINUX_SCAN_H

#include "linux/linux.h"

#include "linux/meter.h"

/* A candidate: `text` is valid during the call only. Non-zero ends the scan. */
typedef int scan_fn(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at);

/*
 * Pass every VMCOREINFO text in memory to fn, in ascending order. RAM also contains stale
 * copies and the format string itself: fn must validate them. *unreadable is increased by
 * the number of pages that cannot be read.
 */
int scan_vmcoreinfo(struct atw_source *mem, struct meter *meter, scan_fn *fn, void *arg,
		    uint64_t *unreadable);

#endif
