/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cached.h - files in the page cache, mapped or not: each frame of it leads to the
 * address_space of its file, and this to the inode; and to the cgroup that it is charged to.
 */
#pragma once

#include "linux/page.h"

/* ---- cached.c: pages by address_space, cgroup and NUMA node ---- */

struct cached_files;
/* NULL: no memory. */
struct cached_files *cached_create(void);
/* NULL is accepted. */
void cached_destroy(struct cached_files *c);

/*
 * Adds `n` frames from pfn on, for which atw_memmap_kind() has just returned the same:
 * pages of files or of shared memory.
 */
int cached_add(struct cached_files *c, struct atw_memmap *m, uint64_t pfn, uint64_t n, bool dirty,
	       struct atw_err *err);

/* Pages of a file on one node that are charged to one cgroup. */
struct cached_file {
	uint32_t major, minor;
	uint64_t inode;
	const char *name;        /* its path; NULL: it has none, or that is not known */
	const char *cgroup;      /* its path; NULL: they are charged to none, or that is not known */
	uint64_t pages, dirty;
	bool has_node;
	uint32_t node;
};
typedef int cached_fn(void *arg, const struct cached_file *f, struct atw_err *err);
/*
 * Passes all of them to `fn`, by device, inode, cgroup and node. The first failure of `fn` ends it.
 * *lost: pages whose inode could not be read. ATW_E_UNSUPPORTED: none can be.
 */
int cached_each(struct cached_files *c, struct atw_memmap *m, cached_fn *fn, void *arg,
		uint64_t *lost, struct atw_err *err);

/* ---- cached_inode.c: from an address_space to its file ---- */

struct cached_reader;
int cached_reader_open(struct atw_kernel *k, struct cached_reader **ret, struct atw_err *err);
/* NULL is accepted. */
void cached_reader_close(struct cached_reader *c);
/* Those of these will be needed next. */
enum { CACHED_SOON = 192 };      /* structs of so many fit into a read-ahead */
void cached_reader_soon(struct cached_reader *c, const uint64_t mapping[CACHED_SOON], size_t n);
/*
 * Device, inode and name, which is valid until the next call. false: it is no address_space
 * (any more), or cannot be read.
 */
bool cached_reader_file(struct cached_reader *c, uint64_t mapping, struct cached_file *ret);
