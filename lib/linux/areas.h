/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas.h - iterator over the VMAs of an mm_struct. */
#pragma once

#include <atwalk/base.h>

#include "linux/process.h"
#include "linux/kernel.h"
#include "base/table.h"

/* ---- maple.c ---- */

/*
 * A node of a maple tree (Linux, include/linux/maple_tree.h) as bytes. Pure;
 * pointers in it are not followed.
 */

enum { MAPLE_NODE_MAX = 256 };   /* bytes; also its maximal alignment */

/* Layout of one type of node. */
struct maple_shape {
	uint16_t pivot, slot;    /* offsets */
	uint16_t slots;          /* number; there is one pivot less. 0: no such type */
};

enum maple_type { MAPLE_LEAF, MAPLE_RANGE, MAPLE_ARANGE, MAPLE_TYPES };

/* Layout of maple trees of this kernel. */
struct maple_layout {
	uint32_t size;           /* of a node */
	uint8_t number[MAPLE_TYPES];     /* number of each type in a pointer to a node */
	struct maple_shape shape[MAPLE_TYPES];
};

/* Are the sizes valid, and the members inside of the node? */
bool maple_layout_good(const struct maple_layout *l);

/* Is the root entry a node, and not the only element? */
bool maple_is_root(uint64_t entry);
/* Is the entry of a leaf, or of a tree without nodes, a pointer and not a mark? */
bool maple_is_pointer(uint64_t entry);
/* The address of a node; its type, or MAPLE_TYPES if that is unknown. */
uint64_t maple_node(uint64_t entry);
enum maple_type maple_type_of(const struct maple_layout *l, uint64_t entry);

/* The range of a slot; inclusive. */
struct maple_slot {
	uint64_t first, last, entry;
};

/*
 * Slot i of a node that covers first..last; to be called from 0 on with the previous slot
 * in *prev: ATW_OK, ATW_END after the last, ATW_E_DAMAGED if pivots descend or leave the
 * range of the node.
 */
int maple_slot(const struct maple_layout *l, enum maple_type type,
	       const void *node, uint64_t first, uint64_t last, unsigned i,
	       const struct maple_slot *prev, struct maple_slot *ret);

/* ---- areas.c ---- */

struct named_files;

/* VMAs of an mm through `v`; `release` as in vma_name.h. */
int areas_open_at(struct members v, uint64_t mm, unsigned page_shift,
		  unsigned release, struct atw_areas **ret, struct atw_err *err);

/* atw_areas_open() with a cache of file names that is shared by several iterators. */
int areas_open_named(struct atw_kernel *k, uint64_t mm, struct named_files *files,
		     struct atw_areas **ret, struct atw_err *err);

/* atw_areas_open() for addresses, flags and rights alone: nothing is read of files. */
int areas_open_unnamed(struct atw_kernel *k, uint64_t mm, struct atw_areas **ret,
		       struct atw_err *err);

/*
 * Before the first is read: those that end at `from` or before it are passed, as long as they
 * can be read, and nothing of their files is.
 */
void areas_begin_at(struct atw_areas *a, uint64_t from);

/*
 * Total size of all VMAs of an mm (total_vm), which the kernel counts. ATW_E_UNSUPPORTED:
 * the member is not known.
 */
int areas_size(struct atw_kernel *k, uint64_t mm, uint64_t *ret);

/* ---- areas_ahead.c ---- */

/*
 * Read-ahead of VMAs of a running process: several leaves of the maple
 * tree at once.
 */

/*
 * Read the leaves below the node that `entry` points to, or that node if it is a leaf,
 * and the members of their VMAs that the iterator needs; `named`: and of their files. The
 * node has `bytes` and covers first..last. VMAs that end before `from` are skipped, and
 * everything that was read ahead before is discarded. false: a leaf changed meanwhile, so
 * nothing is valid.
 */
bool areas_ahead(const struct members *v, const struct maple_layout *l, uint64_t entry,
		 const void *bytes, uint64_t first, uint64_t last, uint64_t from, bool named);
/* members_hold() of the members of a vm_area_struct. */
void area_hold(const struct members *v, uint64_t vma);

/* ---- vma_name.c: names of VMAs as in /proc/PID/maps: fs/proc/task_mmu.c ---- */

/* Cached name of a file that several VMAs map. */
struct named_file {
	uint64_t mnt, dentry, inode;
	uint64_t mark[4];        /* identifies the dentry */
	uint64_t ino;
	uint32_t major, minor;
	char *name;
};

/* Name of a special mapping: [vdso], [vvar]. */
struct named_special {
	uint64_t ops, special;   /* addresses of the VMA's operations and private data */
	char name[64];
};

/*
 * memcg.c: path of the cgroup that has this kernfs_node as its folder, as in /proc/PID/cgroup.
 * false: it cannot be read, or does not fit.
 */
bool cgroup_path(const struct members *v, uint64_t node, char *buf, size_t len);

/* Path of the cgroup that memory of the tasks of a css_set is charged to. */
struct named_set {
	uint64_t at;
	char *path;              /* NULL: nothing is kept here */
};
enum { NAMED_SETS = 64 };

/*
 * Cache of names of all processes for one snapshot of a running machine: a file that is
 * renamed meanwhile keeps its old name.
 */

struct named_files {
	struct kmem_ahead *ahead;        /* of task_info.c; NULL: none so far */
	struct named_set set[NAMED_SETS];
	struct named_special special[8];
	unsigned nspecial;
	struct named_file *v;
	size_t n, cap;
	struct table table;      /* 1 + index, by dentry and mount */
	uint64_t found;          /* hits of the table */
	uint32_t backing;        /* as in struct names */
};
void named_files_deinit(struct named_files *f);
/*
 * The path of a file, if it is in the cache and unchanged. false: it is not, or `f` is
 * NULL.
 */
bool named_before_at(struct named_files *f, const struct members *v, uint64_t file, char *buf,
		     size_t len);

/* Data common to all VMAs of an mm. */
struct names {
	struct members v;
	unsigned page_shift;
	bool wide_heap;          /* before 6.6; see vma_name.c */
	uint32_t backing;        /* f_mode of a backing file */
	uint64_t brk, start_brk, start_stack, vdso;
	uint32_t steps;          /* remaining budget for paths */
	struct named_files *files;       /* borrowed; NULL: no cache */
};

/* `release`: of the kernel, as 1000 * 6 + 12; 0: not known. */
void names_init(struct names *ret, struct members v, uint64_t mm,
		unsigned page_shift, unsigned release);
/*
 * The file of a VMA will be named: add it to the read-ahead and, once it was read, its
 * dentry.
 */
void names_soon_file(const struct members *v, uint64_t file);
void names_soon_dentry(const struct members *v, uint64_t file);
/*
 * File and name of a VMA with known addresses and flags. On failure, what was read before
 * is filled in.
 */
int names_fill(struct names *n, struct atw_area *a, struct atw_err *err);

/* ---- dentry_path.c: the path of an open file: fs/d_path.c ---- */

/*
 * The result of d_path() for a reader with the root of the mount namespace. `mnt` and
 * `dentry` are the members of a struct path.
 */
int path_read(const struct members *v, uint64_t mnt, uint64_t dentry,
	      char *ret, size_t len, struct atw_err *err);
/* For very many paths: each component decrements *steps; ATW_E_LIMIT at 0. */
int path_read_within(const struct members *v, uint64_t mnt, uint64_t dentry,
		     uint32_t *steps, char *ret, size_t len, struct atw_err *err);
