/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vma_name.h - what /proc/PID/maps calls an area: fs/proc/task_mmu.c. */
#ifndef LINUX_VMA_NAME_H
#define LINUX_VMA_NAME_H

#include "linux/process.h"

#include "linux/members.h"

/* A file that several areas map, named once. */
struct named_file {
	uint64_t mnt, dentry, inode;
	uint64_t mark[4];        /* of the dentry: another one has others */
	uint64_t ino;
	uint32_t major, minor;
	char *name;
};

/*
 * Files of all processes, for the time of one look: what is renamed meanwhile keeps its
 * old name.
 */
struct named_files {
	struct named_file *v;    /* a hash table by dentry */
	size_t n, slots;
	uint64_t found;          /* hits of the table */
	uint32_t backing;        /* as in struct names */
};
void named_files_deinit(struct named_files *f);
/*
 * The path of a file, if it was named before and is the same. false: it was not, or `f` is
 * NULL.
 */
bool named_before_at(struct named_files *f, const struct members *v, uint64_t file, char *buf,
		     size_t len);

/* What is the same for all areas of an mm. */
struct names {
	struct members v;
	unsigned page_shift;
	bool wide_heap;          /* before 6.6; see names.c */
	uint32_t backing;        /* f_mode of a file that stands for another's */
	uint64_t brk, start_brk, start_stack, vdso;
	uint32_t steps;          /* that paths may still take, all together */
	struct named_files *files;       /* borrowed; NULL: none are kept */
};

/* `release`: of the kernel, as 1000 * 6 + 12; 0: not known. */
void names_init(struct names *ret, struct members v, uint64_t mm,
		unsigned page_shift, unsigned release);
/*
 * The file of an area will be named: announce what is read of it, and once that was read
 * ahead, of its dentry.
 */
void names_soon_file(const struct members *v, uint64_t file);
void names_soon_dentry(const struct members *v, uint64_t file);
/*
 * File and name of an area with known addresses and flags. What was read before a
 * failure is filled in.
 */
int names_fill(struct names *n, struct atw_area *a, struct atw_err *err);

#endif
