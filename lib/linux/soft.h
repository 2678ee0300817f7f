/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soft.h - swap types and offsets by themselves, as /proc/PID/pagemap has them; and
 * what pages that are there have in the bits of software.
 */
#ifndef LINUX_SOFT_H
#define LINUX_SOFT_H

#include "linux/linux.h"

/* What a kernel was built with, by the functions it has. */
void soft_configured(struct atw_soft_abi *abi, const char *release,
		     bool (*has)(void *arg, const char *name), void *arg);
/*
 * Bits in which it notes these of a page of user space that is there; 0: nowhere.
 * `special`, of the lowest tables alone: vm_normal_page() has none for it, which is of
 * zeroes or mapped by its frame number.
 */
struct soft_bits {
	uint64_t soft_dirty, uffd_wp, special;
};
struct soft_bits soft_page_bits(const struct atw_soft_abi *abi);
struct atw_soft_word soft_swap(const struct atw_soft_abi *abi, const struct atw_paging *pg,
			       unsigned type, uint64_t offset);

#endif
