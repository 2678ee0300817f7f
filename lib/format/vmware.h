/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmware.h - the state of a suspended VMware guest (.vmss) or of a snapshot (.vmsn): groups
 * of named values. Pure.
 */
#pragma once

#include <atwalk/base.h>

enum { VMWARE_REGIONS = 64, VMWARE_CPUS = 256, VMWARE_CRS = 5 };

/* Pages of memory, and where they lie in the file of the memory. */
struct vmware_region {
	uint64_t page, file_page, pages;
	uint8_t have;            /* a bit for each of the three */
};

struct vmware_state {
	struct vmware_region region[VMWARE_REGIONS];
	uint64_t nregions;       /* as the file says; 0: the memory is one piece */
	bool have_memory;        /* in this file, not in a .vmem beside it */
	uint64_t memory, memory_len;
	uint64_t cr[VMWARE_CPUS][VMWARE_CRS];
	uint8_t have_cr[VMWARE_CPUS]; /* bit N: cr[][N] */
	size_t ncpus;
};

bool vmware_probe(struct atw_blob head);
int vmware_parse(struct atw_blob file, struct vmware_state *ret, struct atw_err *err);
