/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_ranges.h - which memory is in the files of Firecracker and cloud-hypervisor, which hold
 * ranges of it one behind the other. Pure.
 */
#pragma once

#include "format/vmm_words.h"

enum { VMM_RANGES = 64 };

struct vmm_range {
	uint64_t gpa, len;
};

/* The state file of Firecracker, by its magic; VMM_ARCH_UNKNOWN: it is none. */
enum vmm_arch firecracker_state_arch(struct atw_blob head);
/* Of a guest with so much RAM; returns how many. */
size_t firecracker_ranges(enum vmm_arch arch, uint64_t ram, struct vmm_range v[VMM_RANGES]);

/* cloud-hypervisor's state.json: "memory_ranges". */
int cloud_hypervisor_ranges(struct atw_blob json, struct vmm_range v[VMM_RANGES], size_t *ret,
			    struct atw_err *err);
