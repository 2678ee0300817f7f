/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.h - the machine as its kernel knows it: RAM, memory counters, slab caches, log. */
#pragma once

#include "host/nodes.h"
#include "linux/kernel.h"
#include "source/extents.h"
#include "linux/process.h"
#include "format/capture.h"
#include "format/printk.h"

/*
 * The ranges that /proc/iomem lists as System RAM, from the kernel's tree of resources, or
 * of a running guest without symbols for data all of its RAM. ATW_E_MISSING: the tree cannot
 * be found, or has no such range.
 */
int kernel_ram(struct atw_kernel *k, struct extents *ret, struct atw_err *err);
/*
 * ram_proof.c: is all memory of the kernel where the source has some? Of memory from `above` on
 * nothing is known. `nodes`: the source joins several pieces, so those of NUMA nodes are
 * compared. ATW_OK: nothing disagrees; ATW_E_DAMAGED and others: what does.
 */
int kernel_prove_ram(struct atw_kernel *k, uint64_t above, bool nodes, struct atw_err *err);
/* MemTotal of /proc/meminfo, in pages. */
int kernel_ram_pages(struct atw_kernel *k, uint64_t *ret, struct atw_err *err);

/* ---- node.c ---- */

/* The zones of all nodes, from their pglist_data; n is 0 if they are not known. */
void kernel_zones(struct atw_kernel *k, struct zone_spans *ret);

/* ---- counters.c ---- */

/*
 * Memory counters of a kernel, by their names in /proc/meminfo, including
 * per-CPU deltas.
 */

/* `value`: KiB, as in that file; pages for HugePages_... and zoneinfo.count. */
typedef int counter_fn(void *arg, const char *key, uint64_t value, struct atw_err *err);

/*
 * Passes the known counters to `fn`; others are omitted. ATW_E_MISSING,
 * ATW_E_UNSUPPORTED: none is known. A result of `fn` below ATW_OK ends the call.
 */
int kernel_counters(struct atw_kernel *k, counter_fn *fn, void *arg, struct atw_err *err);

/* ---- slab_caches.c: statistics of the kernel's slab caches ---- */

struct slab_cache {
	char name[64];
	struct capture_slab slab;
};

typedef int slab_cache_fn(void *arg, const struct slab_cache *c, struct atw_err *err);

/* All caches in the kernel's order. A failure of `emit` ends the listing. */
int slab_caches(struct atw_kernel *k, slab_cache_fn *emit, void *arg,
		struct atw_err *err);

/* ---- log.c ---- */

/*
 * The kernel log, and crash information from it and from kernel variables.
 */

/*
 * The ring buffer, read on demand. VMCOREINFO or the kernel's types describe it.
 * ATW_E_UNSUPPORTED: an older kernel, or neither exists.
 */
int kernel_log(struct atw_kernel *k, struct printk_ring *ret, struct atw_err *err);
/*
 * Rank of a line as a crash message: 0 none, 1 an error, 2 the kernel's end; a later
 * stage has a higher rank. *ret: the start of the words.
 */
int log_is_crash(const char *line, const char **ret);

/* panic_cpu or crashing_cpu; ATW_E_NONE: no CPU has crashed. */
int kernel_crash_cpu(struct atw_kernel *k, unsigned *ret, struct atw_err *err);
/* The host name: uname -n. */
int kernel_node_name(struct atw_kernel *k, char *buf, size_t len, struct atw_err *err);
/* Seconds since boot, and since 1970; 0: not known. */
struct kernel_clock {
	uint64_t up, now;
};
int kernel_clock(struct atw_kernel *k, struct kernel_clock *ret, struct atw_err *err);
