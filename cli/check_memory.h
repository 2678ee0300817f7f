/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_memory.h - whether a traced process has more memory than at its last look. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is the thread, which is stopped, about to enter a system call that releases memory? */
bool check_memory_shrinks(pid_t tid);
/* Bytes of the process that are of no file: in memory or in swap. 0: not known. */
uint64_t check_memory_of(pid_t tgid);
/* Does it have clearly more than that? */
bool check_memory_rises(pid_t tgid, uint64_t most);
