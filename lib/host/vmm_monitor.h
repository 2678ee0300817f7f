/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_monitor.h - where a QEMU process has the RAM of its guest, by its monitor (QMP). It serves
 * one client at a time, so the wait for it is short. Commands that change the guest, or whether
 * it runs, are not used; nor is gpa2hpa, which writes to the page.
 */
#pragma once

#include <atwalk/base.h>

#include "format/vmm_slots.h"

/*
 * *ret: ascending and disjoint, to be freed; whether the process has that memory is not checked.
 * `named`: the user named the socket; else `path` is as process `pid` sees it, which has to be
 * the process that listens there.
 */
int vmm_monitor_slots(uint32_t pid, const char *path, bool named, struct vmm_slot **ret, size_t *n,
		      struct atw_err *err);
