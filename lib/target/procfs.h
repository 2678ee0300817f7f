/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs.h - processes and swap, read from /proc of the running kernel. */
#pragma once

#include <atwalk/base.h>

#include "linux/linux.h"
#include "linux/page.h"
#include "base/buf.h"
#include "host/pace.h"

/* First words of /proc/PID/stat. */
struct proc_stat {
	char name[17];
	bool kernel;             /* a kernel thread, or one that has ended */
	bool headless;           /* the main thread has ended, others may go on */
	uint32_t thread;         /* /proc/thread describes its memory: its own number, or
	                          * that of a thread of a headless process, which is not
	                          * marked `kernel` then */
	uint64_t start;          /* start time, since PIDs are reused. 0: not known */
};

/* ATW_E_MISSING: there is no process `pid`; ATW_E_FORMAT: not such a line. */
int proc_stat(uint32_t pid, struct proc_stat *ret, struct atw_err *err);
/* The fields of that file, as proc_pid_stat(5) numbers them. */
enum {
	F_PPID = 4, F_FLAGS = 9, F_MINOR, F_CHILD_MINOR, F_MAJOR, F_CHILD_MAJOR, F_USER, F_SYSTEM,
	F_THREADS = 20, F_START = 22, F_CODE = 26, F_CODE_END, F_STACK, F_CPU = 39,
	F_DATA = 45, F_DATA_END, F_BRK, FIELDS,
};
enum { PF_KTHREAD = 0x200000 };  /* of F_FLAGS; include/linux/sched.h */
/*
 * Pure: the number before the name, the name, and the fields from F_PPID on as far as they
 * are numbers from 0 on; those that are not are 0, and F_FLAGS must be one. Returns the
 * number of the first field that is missing; 0: it is not such a line.
 */
unsigned proc_stat_fields(struct atw_blob text, struct atw_blob *number,
			  struct atw_blob *name, uint64_t v[FIELDS]);
/* Pure: the text of that file. */
int proc_stat_parse(struct atw_blob text, struct proc_stat *ret);
/* The process that a number is of, be it of a thread. */
int proc_tgid(uint32_t pid, uint32_t *ret, struct atw_err *err);
/* Every process, in the order of their numbers; ATW_END past the last. */
int proc_pids(uint32_t **ret, size_t *n, struct atw_err *err);
/* Likewise of its threads. */
int proc_tids(uint32_t pid, uint32_t **ret, size_t *n, struct atw_err *err);
/* May its areas and pages be read? By proc_stat's `thread`. */
int proc_allowed(uint32_t thread, struct atw_err *err);
/* Has it an area with any of first..last? ATW_END: no; ATW_E_MISSING: it has ended. */
int proc_maps(uint32_t pid, uint64_t first, uint64_t last, struct atw_err *err);
/* Is frame 0 what /proc/PID/pagemap shows instead of frame numbers? */
bool proc_hides_frames(void);
/*
 * From dee3d0bef2b0 (6.10) to 81401cebfc15 (7.2) /proc/kpageflags sets KSM for every
 * anonymous page. Is it set for a new page of this process, which ksmd cannot have merged
 * yet?
 */
bool proc_ksm_is_broken(int kpageflags);
/* Is it a page of zeroes, according to that file? */
bool proc_is_zero(uint64_t pfn);
/* Has KSM merged nothing? */
bool proc_ksm_is_unused(void);
/* A word of that file without flags that it sets by accident. */
uint64_t proc_true_flags(bool ksm_broken, bool ksm_unused, uint64_t word);
/* Does this kernel have PAGEMAP_SCAN? */
bool proc_scans(void);
/* The swap device of a type; they are listed in that order. */
int proc_swap(unsigned type, struct atw_swap *ret);
bool proc_has_swap(void);
/* How types of swap are used; `mode` as the machine has it. */
void proc_soft_abi(const struct atw_paging *mode, struct pace *pace,
		   struct atw_soft_abi *ret);
/*
 * A mode of this machine with its page size, and with the addresses that processes can
 * have; the widest one if that cannot be found out. NULL: none known.
 */
const struct atw_paging *proc_paging(void);
/* How to be allowed all of it. */
void proc_hint(struct atw_err *err);

/* ---- shared_mm.c ---- */

/*
 * Processes that have one address space together: CLONE_VM, vfork(2).
 */

/*
 * Of each process the first one in the list that has its memory: itself, mostly.
 * Of those that we may not compare nothing is known, and each is itself.
 */
int share_find(const uint32_t *pid, size_t n, size_t *ret, struct atw_err *err);
