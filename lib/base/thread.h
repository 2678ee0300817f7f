/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread.h - threads of the library: signals are for those of its caller. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* With all signals blocked but those that a thread causes itself. */
bool thread_start(pthread_t *ret, void *(*run)(void *arg), void *arg);
/*
 * Zeroes, for what a thread writes all the time: no line of the cache has anything of another.
 * To be freed with free(3); NULL: no memory.
 */
void *thread_memory(size_t bytes);
/*
 * The thread may run where the caller may, but not on this CPU, if that leaves it another.
 *
 * For one that helps the thread on this CPU, at once and whenever that one has moved. By
 * itself, Linux often wakes it there, although another CPU is idle: in a KVM guest
 * vcpu_is_preempted() is true of a CPU that is halted, so that available_idle_cpu() is false.
 * Both then share one CPU until the load is balanced, for 3 to 30 ms.
 */
void thread_keep_off(pthread_t id, int cpu);
