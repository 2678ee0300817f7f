/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vma_name.h - names of VMAs as in /proc/PID/maps: fs/proc/task_mmu.c. */
#ifndef LINUX_VMA_NAME_H
#define LINUX_VMA_NAME_H

#include "base/table.h"
#include "linux/process.h"
#include "linux/members.h"

/* Cached name of a file that several VMAs map. */
struct named_file {
	uint64_t mnt, dentry, inode;
	uint64_t mark[4];        /* identifies the dentry */
	uint64_t ino;
	uint32_t major, minor;
	char *name;
};

/*
 * Cache of file names of all processes for one snapshot: a file that is renamed meanwhile
 * keeps its old name.
 */
struct named_files {
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

#endif
