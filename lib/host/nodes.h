/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - NUMA node of physical memory from /sys of the running kernel: of each memory
 * block, or the only node; and its zones.
 */
#pragma once

#include <atwalk/base.h>

struct sys_nodes {
	bool one;                /* there is only one, regardless of `at` */
	uint32_t id;
	uint64_t block;          /* bytes of each; 0: not known */
	uint32_t *at;            /* node + 1 of each block; 0: none, or several */
	size_t n, cap;
};

/* `root` is "" except in tests. false: not known. */
bool sys_nodes_read(const char *root, struct sys_nodes *ret);
void sys_nodes_deinit(struct sys_nodes *n);
/*
 * Node of the memory at this address; with a single node, the caller must know that it is
 * memory.
 */
bool sys_nodes_find(const struct sys_nodes *n, uint64_t pa, uint32_t *ret);

/*
 * The CPUs of each node that is online, range by range. Returns what `fn` returns if that
 * is not ATW_OK.
 */
int sys_nodes_cpus(const char *root,
		   int (*fn)(void *arg, uint32_t node, uint64_t first, uint64_t last,
			     struct atw_err *err),
		   void *arg, struct atw_err *err);

/* Bytes of a block; 0: not known. */
uint64_t sys_block_bytes(const char *root);
/* Is block number `i` offline? false if there is no such block. */
bool sys_block_is_offline(const char *root, uint64_t i);

/* ---- zones.c ---- */

/*
 * Frames for which the running kernel has not initialised a struct page yet.
 *
 * Some kernels delay that until the memory is needed, from the beginning of a node's
 * highest zone on. Such frames are counted in MemTotal and MemFree, but not as managed by
 * a zone; /proc/kpageflags has 0 for them, as for the kernel's own.
 */

/* Frames first..end-1. */
struct sys_late_range {
	uint64_t first, end;
};

struct sys_late {
	struct sys_late_range *v;
	size_t n, cap;
};

/*
 * Candidates for such frames: the ends of zones. Memory reserved at boot is not managed
 * either, so preceding frames may be among these. n is 0 if all frames have a struct
 * page, or if this is not known. `root` is "" except in tests.
 */
void sys_late_read(const char *root, uint64_t page, struct sys_late *ret);
void sys_late_deinit(struct sys_late *l);
bool sys_late_has(const struct sys_late *l, uint64_t pfn);

/*
 * Zones of each node, by the frames that they span, holes included. Spans can overlap:
 * memory that was plugged in may lie in the middle of another zone.
 */
struct zone_span {
	uint64_t first, end;     /* frames */
	uint32_t node;
	char name[16];           /* "DMA32", "Normal" */
};

struct zone_spans {
	struct zone_span *v;
	size_t n, cap;
};

/* From /proc/zoneinfo; n is 0 if it cannot be read. `root` is "" except in tests. */
void sys_zones_read(const char *root, struct zone_spans *ret);
/* false: no memory. */
bool zone_spans_add(struct zone_spans *z, const struct zone_span *span);
void zone_spans_deinit(struct zone_spans *z);
/*
 * The zone of a frame; NULL: none spans it, or several do. `node`: NULL: not known.
 * *last becomes the last frame for which this is valid, if that is before it.
 */
const char *zone_spans_find(const struct zone_spans *z, uint64_t pfn, const uint32_t *node,
			    uint64_t *last);
