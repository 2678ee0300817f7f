/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - the kernel log, and crash information from it and from kernel variables. */
#ifndef LINUX_LOG_H
#define LINUX_LOG_H

#include "format/printk.h"
#include "linux/kernel.h"

/*
 * The ring buffer, read on demand. VMCOREINFO or the kernel's types describe it.
 * ATW_E_UNSUPPORTED: an older kernel, or neither exists.
 */
int kernel_log(struct atw_kernel *k, struct printk_ring *ret, struct atw_err *err);
/*
 * Rank of a line as a crash message: 0 none, 1 an error, 2 the kernel's end; a later
 * stage has a higher rank. *ret: the start of the words.
 */
int log_is_crash(const char *line, const char **ret);

/* panic_cpu or crashing_cpu; ATW_E_NONE: no CPU has crashed. */
int kernel_crash_cpu(struct atw_kernel *k, unsigned *ret, struct atw_err *err);
/* The host name: uname -n. */
int kernel_node_name(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err);
/* Seconds since boot, and since 1970; 0: not known. */
struct kernel_clock {
	uint64_t up, now;
};
int kernel_clock(struct atw_kernel *k, struct kernel_clock *ret, struct atw_err *err);

#endif
