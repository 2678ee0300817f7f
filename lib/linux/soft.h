/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soft.h - swap types and offsets as in /proc/PID/pagemap, and software bits of present
 * entries.
 */
#pragma once

#include "linux/linux.h"

/* Selects build options by the functions that the kernel has. */
void soft_configured(struct atw_soft_abi *abi, const char *release,
		     bool (*has)(void *arg, const char *name), void *arg);
/*
 * Software bits of present user entries; 0: not available. `special`, in the lowest
 * tables only: vm_normal_page() returns NULL for it: a zero page, or mapped by PFN.
 */
struct soft_bits {
	uint64_t soft_dirty, uffd_wp, special;
};
struct soft_bits soft_page_bits(const struct atw_soft_abi *abi);
/* As rmap_kept_fn, of a struct atw_soft_abi. Returns an enum atw_soft. */
uint8_t soft_kept(const void *abi, const struct mmu_space *sp, const struct mmu_seen *s,
		  uint64_t *ret_pa);
struct atw_soft_word soft_swap(const struct atw_soft_abi *abi, const struct atw_paging *pg,
			       unsigned type, uint64_t offset);
