/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm.h - virtual machines of KVM in the kernel that runs them: where the guest's RAM lies in
 * its process. No interface of Linux has it.
 */
#pragma once

#include "host/vmm.h"
#include "linux/process.h"

/*
 * The memory slots of the virtual machine that a process has, ascending by guest-physical
 * address, as malloc() has them: those of a guest's RAM, and of its ROMs.
 *
 * ATW_E_MISSING: it has no virtual machine. ATW_E_UNSUPPORTED: it has several, or the kernel's
 * types do not describe KVM.
 */
int kvm_slots(struct atw_kernel *k, const struct lnx_task *t, struct vmm_slot **ret, size_t *n,
	      struct atw_err *err);
