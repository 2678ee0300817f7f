/* SPDX-License-Identifier: GPL-2.0-or-later */
/* introduce.h - kernel discovery: describes a kernel for the recorder. */
#pragma once

#include "linux/linux.h"

#include "kmap/lib/share.h"

/*
 * Objects that stand for all of their kind; before the recorder begins, and before a
 * kernel is known.
 */
void kmap_introduce_general(struct kshare *s);
/*
 * Its code and what it says of its types, and an object for each variable of the image:
 * as soon as it runs. ATW_E_MISSING, with what it is: nothing can be recorded without.
 */
int kmap_introduce(struct kshare *s, struct atw_kernel *k, struct atw_err *err);
/*
 * An object for each region of its space, and the location of struct pages, from which
 * the cache of an object is read: as soon as it gives memory away, and again when there
 * may be more to know. Where struct pages cannot be found caches have no names.
 */
int kmap_introduce_memory(struct kshare *s, struct atw_kernel *k, struct atw_err *err);
/*
 * The running kernel, of which nothing has to be followed: how RAM is mapped, what a
 * slab cache is, where it counts what it is inside of.
 */
int kmap_introduce_running(struct kshare *s, struct atw_kernel *k, struct atw_err *err);
