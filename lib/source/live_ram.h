/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_ram.h - ranges of RAM of the running kernel, and the place of its VMCOREINFO. */
#pragma once

#include "source/extents.h"

/*
 * The ranges of RAM: from /proc/iomem, which shows addresses to privileged users only,
 * else from the firmware's own map. Device memory must never be read, since a read can
 * have side effects in a device; so without a map there is no source.
 */
int live_ram(struct extents *ret, struct atw_err *err);

/* Where VMCOREINFO's note lies: /sys/kernel/vmcoreinfo. */
int live_note_place(uint64_t *ret_pa, uint64_t *ret_len, struct atw_err *err);
