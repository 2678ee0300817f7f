/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmem_ahead.h - structs of a running kernel that will be held, many in one read.
 *
 * Each read of such a source is a system call. Structs that will be needed are announced
 * and read together; kmem_ahead_hold() then does what kmem_hold() does, without a read.
 * The caller decides for how long the copies are good, and has to prove it.
 */
#ifndef LINUX_KMEM_AHEAD_H
#define LINUX_KMEM_AHEAD_H

#include "linux/kmem.h"

struct kmem_ahead;
/* NULL: no memory. */
struct kmem_ahead *kmem_ahead_create(struct kmem *m);
/* NULL is fine. */
void kmem_ahead_destroy(struct kmem_ahead *a);

/* `len` bytes at `va` will be needed. Nothing is done where there is no room for them. */
void kmem_ahead_add(struct kmem_ahead *a, uint64_t va, size_t len);
/* Read all that were added since the last time. */
void kmem_ahead_read(struct kmem_ahead *a);
/* The copy of what was added with this address, or NULL; good until kmem_ahead_forget(). */
const void *kmem_ahead_find(const struct kmem_ahead *a, uint64_t va, size_t len);
/* kmem_hold() of that copy; false: there is none. */
bool kmem_ahead_hold(const struct kmem_ahead *a, uint64_t va, size_t len);
/* Read the first `n` that were added once more: are they as they were? */
bool kmem_ahead_same(struct kmem_ahead *a, unsigned n);
void kmem_ahead_forget(struct kmem_ahead *a);

#endif
