/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_backing.h - pages that the host has of a guest: large, merged or of zeroes, and on which
 * of its NUMA nodes; by pagemap and /proc/kpageflags of the process that runs the guest.
 */
#pragma once

#include <atwalk/base.h>

#include "format/capture.h"
#include "source/source.h"

/*
 * Of a page that is in memory. `scanned`: the categories of PAGEMAP_SCAN are known; `flags`: its
 * word of kpageflags, with KSM corrected, or NULL. Pure.
 */
enum capture_host guest_page_host(bool scanned, uint64_t categories, const uint64_t *flags);

struct guest_backing;

/* What cannot be read is not known, and no error. NULL: no memory. */
struct guest_backing *guest_backing_open(uint32_t pid);
/* NULL is accepted. */
void guest_backing_close(struct guest_backing *g);

/* A page that is in memory: sets host, and node if that is known. */
struct guest_page {
	enum capture_host host;
	uint32_t has; /* CAPTURE_F_NODE */
	uint32_t node;
};
/* For how many bytes from `va` on, `len` at most, it holds. */
uint64_t guest_backing_look(struct guest_backing *g, uint64_t va, uint64_t len,
			    struct guest_page *ret);

/* ---- a guest's memory, by its own addresses ---- */

struct guest_memory {
	struct atw_source *source;       /* of the op `outside` */
	struct guest_backing *backing;   /* opened when it is needed */
};
/* Closes the backing alone. */
void guest_memory_deinit(struct guest_memory *m);
/* What the host has of the byte at `pa`, and for how many of `len` bytes it holds. */
uint64_t guest_memory_look(struct guest_memory *m, atw_pa pa, uint64_t len,
			   struct guest_page *ret);
