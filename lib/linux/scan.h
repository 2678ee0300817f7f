/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scan.h - VMCOREINFO texts that lie in memory. */
#ifndef LINUX_SCAN_H
#define LINUX_SCAN_H

#include "linux/linux.h"

#include "linux/meter.h"

/* One candidate: `text` is good for the call only. Non-zero ends the scan. */
typedef int scan_fn(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at);

/*
 * Offer every VMCOREINFO text in memory to fn, lowest address first. RAM also
 * holds stale copies and the format string itself: validating is fn's job.
 * *unreadable grows by the pages that are there and could not be read.
 */
int scan_vmcoreinfo(struct atw_source *mem, struct meter *meter, scan_fn *fn, void *arg,
		    uint64_t *unreadable);

#endif
