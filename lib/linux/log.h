/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - the kernel's log, and what it and the kernel's variables say of a crash. */
#ifndef LINUX_LOG_H
#define LINUX_LOG_H

#include "format/printk.h"
#include "linux/kernel.h"

/*
 * The ring buffer, read as it is asked for. VMCOREINFO describes it, or the kernel's
 * types. ATW_E_UNSUPPORTED: an older kernel, or neither is there.
 */
int kernel_log(struct atw_kernel *k, struct printk_ring *ret, struct atw_err *err);
/*
 * What a line says of a crash, lower is said before higher: 0 nothing, 1 that
 * something went wrong, 2 that the kernel gave up. *ret: where the words begin.
 */
int log_is_crash(const char *line, const char **ret);

/* panic_cpu or crashing_cpu; ATW_E_NONE: no CPU has crashed. */
int kernel_crash_cpu(struct atw_kernel *k, unsigned *ret, struct atw_err *err);
/* The name of the machine: uname -n. */
int kernel_node_name(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err);
/* Seconds since boot, and since 1970; what is not known is 0. */
struct kernel_clock {
	uint64_t up, now;
};
int kernel_clock(struct atw_kernel *k, struct kernel_clock *ret, struct atw_err *err);

#endif
