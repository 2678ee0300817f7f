/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_slots.h - ranges of guest-physical memory, and where the process of the virtual machine
 * has them. Pure.
 */
#pragma once

#include <atwalk/base.h>

struct vmm_slot {
	uint64_t gpa, len;
	uint64_t address; /* in the process */
	bool read_only;   /* a ROM */
	bool guest_memfd; /* private pages are not in the process */
	bool late;        /* what is absent was not filled in yet, and is not zero */
};

enum { VMM_SLOTS = 512 };

/*
 * As a user types them: "GPA:HVA:LEN,...", addresses in hexadecimal, of whole pages of 4 KiB,
 * in any order. *ret is ascending by gpa and disjoint; to be freed. Errors are about
 * ATW_PARAM_LAYOUT.
 */
int vmm_slots_parse(const char *text, struct vmm_slot **ret, size_t *n, struct atw_err *err);
/* Sorts them by gpa. false: *ret of them begins in the one before it. */
bool vmm_slots_sort(struct vmm_slot *v, size_t n, size_t *ret);
/*
 * ATW_OK: every byte of them lies in readable memory of the process. `maps`: its
 * /proc/PID/maps. None of them may end past the last address.
 */
int vmm_slots_check(const struct vmm_slot *v, size_t n, struct atw_blob maps,
		    struct atw_err *err);
