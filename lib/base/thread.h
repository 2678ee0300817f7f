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
