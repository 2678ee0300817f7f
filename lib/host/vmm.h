/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm.h - the RAM of a guest in the process of its QEMU, by /proc alone. */
#ifndef HOST_VMM_H
#define HOST_VMM_H

#include <atwalk/base.h>

#include "format/vm_layout.h"
#include "host/process_memory.h"

struct vmm_piece {
	uint64_t gpa, len; /* guest-physical */
	const struct process_area *area;
	uint64_t start; /* of the piece in the process */
};

struct vmm {
	uint32_t pid;
	enum vmm_arch arch; /* X86_64, ARM64 or RISCV64 */
	char machine[32];   /* "q35" */
	uint64_t ram;
	bool extra, encrypted; /* as in vmm_words.h */
	struct process_memory *memory;
	struct process_area *area;
	size_t nareas;
	struct vmm_piece *piece; /* ascending */
	size_t npieces;
};

/*
 * ATW_E_FORMAT: it is not QEMU; ATW_E_MISSING: there is no such process, or its RAM was
 * not found.
 */
int vmm_open(uint32_t pid, struct vmm *ret, struct atw_err *err);
/* A zeroed struct is accepted. */
void vmm_close(struct vmm *v);

#endif
