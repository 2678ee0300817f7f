/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmem_ahead.h - read-ahead of structs of a running kernel, many in one read.
 *
 * Each read of such a source is a system call. Structs that will be needed are added and
 * read together; kmem_ahead_hold() then does what kmem_hold() does, without a read. The
 * caller is responsible for the validity of the copies.
 */
#ifndef LINUX_KMEM_AHEAD_H
#define LINUX_KMEM_AHEAD_H

#include "linux/kmem.h"

struct kmem_ahead;
/* NULL: no memory. */
struct kmem_ahead *kmem_ahead_create(struct kmem *m);
/* NULL is accepted. */
void kmem_ahead_destroy(struct kmem_ahead *a);

/* Add `len` bytes at `va` to the next read. Ignored if there is no room. */
void kmem_ahead_add(struct kmem_ahead *a, uint64_t va, size_t len);
/* Read all that were added since the last call. */
void kmem_ahead_read(struct kmem_ahead *a);
/* The copy of the item with this address, or NULL; valid until kmem_ahead_forget(). */
const void *kmem_ahead_find(const struct kmem_ahead *a, uint64_t va, size_t len);
/* kmem_hold() with that copy; false: there is none. */
bool kmem_ahead_hold(const struct kmem_ahead *a, uint64_t va, size_t len);
/* Re-read the first `n` items: are they unchanged? */
bool kmem_ahead_same(struct kmem_ahead *a, unsigned n);
void kmem_ahead_forget(struct kmem_ahead *a);

#endif
