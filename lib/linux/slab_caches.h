/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slab_caches.h - statistics of the kernel's slab caches. */
#ifndef LINUX_SLAB_CACHES_H
#define LINUX_SLAB_CACHES_H

#include "linux/process.h"

#include "format/capture.h"

struct slab_cache {
	char name[64];
	struct capture_slab slab;
};

typedef int slab_cache_fn(void *arg, const struct slab_cache *c, struct atw_err *err);

/* All caches in the kernel's order. A failure of `emit` ends the listing. */
int slab_caches(struct atw_kernel *k, slab_cache_fn *emit, void *arg,
		struct atw_err *err);

#endif
