/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINUX_CPUS_H
#define LINUX_CPUS_H

#include "linux/process.h"

/* The task that is on a CPU: its number, its process's and its name; 0 is idle. */
int cpu_task(struct atw_kernel *k, unsigned cpu, struct lnx_task *ret, struct atw_err *err);

#endif
