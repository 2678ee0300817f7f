/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm_layout.h - where the machines of QEMU place the guest's RAM, by their rules. Pure.
 */
#pragma once

#include "format/vmm_words.h"

struct vm_extent {
	uint64_t gpa, len; /* guest-physical */
	uint64_t offset;   /* in the RAM, of which NUMA nodes are successive parts */
};

struct vm_layout {
	struct vm_extent v[2]; /* ascending */
	size_t n;
	const char *machine; /* the type that was assumed: "q35" */
};

/*
 * `arch`: VMM_ARCH_X86_64, _ARM64 or _RISCV64. ATW_E_UNSUPPORTED: the rule of this
 * machine is not known.
 */
int vm_layout_of(enum vmm_arch arch, const struct vmm_words *w, struct vm_layout *ret,
		 struct atw_err *err);
/* Where most machines of it have their RAM begin. */
uint64_t vm_usual_base(enum vmm_arch arch);
