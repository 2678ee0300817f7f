/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus.h - tasks that run on CPUs. */
#ifndef LINUX_CPUS_H
#define LINUX_CPUS_H

#include "linux/process.h"

/* The current task of a CPU: its TID, PID and name; 0 is idle. */
int cpu_task(struct atw_kernel *k, unsigned cpu, struct lnx_task *ret, struct atw_err *err);

#endif
