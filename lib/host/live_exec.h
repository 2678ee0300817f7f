/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_exec.h - execve(2) and new processes of a process, by perf_event_open(2). */
#pragma once

#include <sys/types.h>

#include <atwalk/base.h>

struct live_exec;

/* pid: a process that has one thread so far; those that it will start are included. */
int live_exec_open(struct live_exec **ret, pid_t pid, struct atw_err *err);
/* NULL is accepted. */
void live_exec_close(struct live_exec *x);
/* Read what came; to be called often enough that the buffers do not overflow. */
void live_exec_read(struct live_exec *x);
/* So far. Records that were lost can be of any kind. */
bool live_exec_happened(const struct live_exec *x);
uint64_t live_exec_children(const struct live_exec *x);
uint64_t live_exec_lost(const struct live_exec *x);
