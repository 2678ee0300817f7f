/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pidfd.h - a process held by a pidfd: the kernel reports its end, of a zombie as well.
 * Its PID may be reused soon.
 */
#ifndef CLI_PIDFD_H
#define CLI_PIDFD_H

#include <stdbool.h>
#include <stdint.h>

/* Of the process, if `pid` is a thread of it; to be closed. -1: there is none. */
int pidfd_hold(uint64_t pid);
/* Readable when it has ended; -1 never does. */
bool pidfd_has_ended(int fd);

#endif
