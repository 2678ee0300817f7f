/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - guests with memory that only the kernel of their host can find: kvm:PID, kvm:NAME
 * and kvm:SOCKET of this machine, kvm:PID@SOURCE of the machine that SOURCE is of.
 */
#pragma once

#include "linux/kvm.h"
#include "source/source.h"

struct source_format;

/* What follows "kvm:"; NULL: the SOURCE does not begin so. */
const char *guest_word(const char *name);
/* SOURCE in kvm:PID@SOURCE; NULL: the guest is one of this machine, or none. */
const char *guest_host(const char *name);
/*
 * Reads the host's kernel for that, unless a layout was given. Of this machine, it is closed
 * again. `given->parts`: of the host, which is of no format `other`. Errors name the source.
 */
int guest_open(const char *name, const struct atw_source_spec *given,
	       const struct source_format *other, struct atw_source **ret,
	       struct atw_err *err);

/* ---- the host of a guest ---- */

/* The process of a guest in the kernel of its host; of this machine, by its number in this
 * PID namespace. ATW_E_MISSING: there is none. */
int guest_process(struct atw_kernel *k, uint32_t pid, struct lnx_task *ret, struct atw_err *err);

/* The RAM of a guest of this machine by the memory slots of KVM. */
int guest_by_slots(uint32_t pid, struct vmm *ret, struct atw_err *err);

/* ---- guest_proof.c ---- */

enum { GUEST_REMARK = 400 };
/*
 * atw_kernel_open(). Where the RAM of a guest was found by the rule of its machine, the kernel
 * has to prove that; else it is found in another way, which `remark` says. ATW_E_DAMAGED:
 * the rule is wrong, and there is no other way.
 */
int guest_kernel_open(struct atw_source *s, const struct atw_kernel_opts *o,
		      struct atw_kernel **ret, char remark[GUEST_REMARK], struct atw_err *err);

/* ---- guest_hosted.c ---- */

/* The guest of process `pid` in the memory of its host, which it takes over if it succeeds. */
int guest_hosted_open(struct atw_source *host, uint32_t pid, const char *host_name,
		      struct atw_source **ret, struct atw_err *err);
