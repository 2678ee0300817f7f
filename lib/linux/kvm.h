/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm.h - virtual machines of KVM in the kernel that runs them: where the guest's RAM lies in
 * its process, and the page tables of guest-physical addresses. No interface of Linux has them.
 */
#pragma once

#include "host/vmm.h"
#include "linux/needs.h"
#include "linux/process.h"

/* ---- kvm_machine.c ---- */

/*
 * The struct kvm of the virtual machine that a process has. ATW_E_NONE: it has none.
 * ATW_E_UNSUPPORTED: it has several, or the kernel's types do not describe KVM.
 */
int kvm_machine(struct atw_kernel *k, const struct lnx_task *t, uint64_t *ret,
		struct atw_err *err);
struct members;
/*
 * kernel_access() for FOR_GUESTS or FOR_STAGE2: where KVM is a module, types that the kernel
 * lacks are those of the module.
 */
int kvm_access(struct atw_kernel *k, enum need_for f, struct members *ret, struct atw_err *err);

/* ---- kvm.c ---- */

/*
 * The memory slots of that machine, ascending by guest-physical address, as malloc() has
 * them: those of a guest's RAM, and of its ROMs. Failures of kvm_machine(); ATW_E_MISSING:
 * it has no memory yet.
 */
int kvm_slots(struct atw_kernel *k, const struct lnx_task *t, struct vmm_slot **ret, size_t *n,
	      struct atw_err *err);

/* ---- kvm_private.c ---- */

/* What of that machine the host cannot read. `slot`: of it, by kvm_slots(). */
int kvm_privacy(struct atw_kernel *k, const struct lnx_task *t, const struct vmm_slot *slot,
		size_t n, struct vmm_privacy *ret, struct atw_err *err);

/* ---- kvm_stage2.c ---- */

enum kvm_stage2_kind {
	KVM_STAGE2_TABLES,       /* of guest-physical addresses */
	KVM_STAGE2_NONE,         /* no CPU of the machine has tables: it has not run */
	KVM_STAGE2_EMPTY,        /* tables without an entry, perhaps of unknown depth */
	KVM_STAGE2_SHADOW,       /* of the guest's virtual addresses: no EPT or NPT is used */
};

struct kvm_stage2 {
	enum kvm_stage2_kind kind;
	struct mmu_space space;  /* TABLES */
};

/* `slot`: of the machine, which decide where leaves may lie. */
int kvm_stage2(struct atw_kernel *k, uint64_t machine, const struct vmm_slot *slot, size_t n,
	       struct kvm_stage2 *ret, struct atw_err *err);
/* "none", "empty", "shadow"; of tables the name of their paging mode. */
const char *kvm_stage2_word(const struct kvm_stage2 *s);
