/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm.h - the RAM of a guest in the process that runs it: of QEMU by /proc alone, of any
 * other by the memory slots that KVM has of it.
 */
#pragma once

#include <atwalk/base.h>

#include "format/vm_layout.h"
#include "format/vmm_secret.h"
#include "format/vmm_slots.h"
#include "host/process_memory.h"

struct vmm_piece {
	uint64_t gpa, len; /* guest-physical */
	const struct process_area *area;
	uint64_t start; /* of the piece in the process */
	bool late;      /* what is absent is not zero: it comes later, or others have it */
};

/* Of pieces in ascending order: the one with that address, or the first behind it, or NULL. */
const struct vmm_piece *vmm_piece_from(const struct vmm_piece *v, size_t n, uint64_t gpa);
/* The address in the process, and back. ATW_E_MISSING: no piece has it. */
int vmm_piece_outside(const struct vmm_piece *v, size_t n, uint64_t gpa, uint64_t *ret);
int vmm_piece_inside(const struct vmm_piece *v, size_t n, uint64_t va, atw_pa *ret,
		     uint64_t *ret_len);

/* How the guest's RAM was found in the process. */
enum vmm_way {
	VMM_BY_RULE,   /* of QEMU's machine */
	VMM_BY_SLOTS,  /* memory slots of KVM */
	VMM_BY_LAYOUT, /* as the user typed it */
	VMM_BY_MONITOR,
};

struct vmm {
	uint32_t pid;
	enum vmm_arch arch; /* X86_64, ARM64 or RISCV64 */
	enum vmm_way way;
	char machine[32];   /* "q35"; empty: not known */
	uint64_t ram;
	bool extra;         /* as in vmm_words.h */
	struct vmm_privacy privacy;
	char remark[320];   /* why its monitor was of no use; empty: it was, or not needed */
	struct process_memory *memory;
	struct process_area *area;
	size_t nareas;
	struct vmm_piece *piece; /* ascending */
	size_t npieces;
};

/* How to find the RAM. */
struct vmm_how {
	const char *layout; /* as vmm_slots_parse() takes it; NULL: none */
	const char *socket; /* that the user named; NULL: none */
};

/*
 * A guest of QEMU. Without a layout its RAM is found by the rule of its machine; where the user
 * named the socket of a monitor, or where the rule does not suffice, by its monitor.
 * ATW_E_FORMAT: it is not QEMU; ATW_E_MISSING: there is no such process, or its RAM was
 * not found.
 */
int vmm_open(uint32_t pid, const struct vmm_how *how, struct vmm *ret, struct atw_err *err);
/* The same by the monitor on its command line alone. ATW_E_MISSING: it is of no use. */
int vmm_open_monitor(uint32_t pid, struct vmm *ret, struct atw_err *err);
/* Are all pieces the same? */
bool vmm_same_pieces(const struct vmm *a, const struct vmm *b);
/* A guest of this machine's architecture and of any program, by such a layout. */
int vmm_open_layout(uint32_t pid, const char *layout, struct vmm *ret, struct atw_err *err);
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
