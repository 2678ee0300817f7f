/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thp.h - THP settings: of the system, and of a process by prctl(PR_SET_THP_DISABLE).
 */
#pragma once

#include "linux/process.h"

enum thp_when {
	THP_UNKNOWN,
	THP_NEVER,
	THP_ADVISED,             /* only with MADV_HUGEPAGE */
	THP_ALWAYS,
};

/* The deciding setting; files are below /sys/kernel/mm/transparent_hugepage. */
enum thp_knob {
	THP_BY_NONE,             /* not known */
	THP_BY_CONFIG,           /* the kernel has no transparent large pages */
	THP_BY_ENABLED,          /* enabled */
	THP_BY_SIZE_ENABLED,     /* hugepages-SIZEkB/enabled */
	THP_BY_SHMEM,            /* shmem_enabled */
	THP_BY_SHMEM_DENY,       /* shmem_enabled is deny: for mounts as well */
	THP_BY_SIZE_SHMEM,       /* hugepages-SIZEkB/shmem_enabled */
	THP_BY_MOUNT,            /* huge= of the mount */
	THP_KNOBS
};

/* Settings for one page size. */
struct thp_settings {
	enum thp_when anon;      /* anonymous memory */
	enum thp_when shmem;     /* shared memory without a mounted file system */
	/* The setting for files of every tmpfs, regardless of its mount options. */
	enum thp_when tmpfs;
	enum thp_knob anon_by, shmem_by;
};

/*
 * Settings of the running system; `root` is "" except in tests. `bytes`: size of a large
 * page that replaces a page table.
 */
void thp_of_system(const char *root, uint64_t bytes, struct thp_settings *ret);
/* Settings in a kernel's memory, as far as it has the symbols. */
void thp_of_kernel(struct atw_kernel *k, struct thp_settings *ret);
/* The setting of a process. */
enum thp_when thp_of_mm(struct atw_kernel *k, uint64_t mm);
/* Pure: mm->flags; `advised`: this kernel has PR_THP_DISABLE_EXCEPT_ADVISED. */
enum thp_when thp_of_mm_flags(uint64_t flags, bool advised);
