/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm.h - the RAM of a guest in the process that runs it: of QEMU by /proc alone, of any
 * other by the memory slots that KVM has of it.
 */
#pragma once

#include <atwalk/base.h>

#include "format/vm_layout.h"
#include "host/process_memory.h"

/* A range of guest-physical memory that KVM finds in the process. */
struct vmm_slot {
	uint64_t gpa, len;
	uint64_t address; /* in the process */
	bool read_only;   /* a ROM */
	bool guest_memfd; /* private pages are not in the process */
	bool late;        /* what is absent was not filled in yet, and is not zero */
};

struct vmm_piece {
	uint64_t gpa, len; /* guest-physical */
	const struct process_area *area;
	uint64_t start; /* of the piece in the process */
	bool late;      /* as of a slot */
};

struct vmm {
	uint32_t pid;
	enum vmm_arch arch; /* X86_64, ARM64 or RISCV64 */
	char machine[32];   /* "q35"; empty: by slots */
	uint64_t ram;
	bool extra, encrypted; /* as in vmm_words.h */
	bool private;       /* a slot has private pages, which are not read */
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
/*
 * A guest of this machine's architecture, by its slots, ascending by gpa. Parts of them that
 * the process does not map are no memory.
 */
int vmm_open_slots(uint32_t pid, const struct vmm_slot *slot, size_t n, struct vmm *ret,
		   struct atw_err *err);
/*
 * "guest-PID-START": a process and when it began, so that no later one has the same name.
 * Empty: it has ended.
 */
void vmm_instance(uint32_t pid, char *ret, size_t len);
/* A zeroed struct is accepted. */
void vmm_close(struct vmm *v);
