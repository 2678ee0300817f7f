/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_process.h - processes that run virtual machines, and their cost, by /proc alone:
 * command line and status are readable by all, the rest by those that may trace.
 */
#pragma once

#include <atwalk/base.h>

#include "format/vmm_words.h"

enum vmm_kind {
	VMM_NONE, /* not a process of a virtual machine */
	VMM_QEMU,
	VMM_FIRECRACKER,
	VMM_CLOUD_HYPERVISOR,
	VMM_CROSVM,
	VMM_KVM, /* another program, which holds a virtual machine of KVM */
	VMM_KINDS,
};

enum vmm_known {
	VMM_HAS_RAM = 1,
	VMM_HAS_RESIDENT = 2,
	VMM_HAS_SWAPPED = 4,
	VMM_HAS_LARGE = 8,
};

struct vmm_process {
	uint32_t pid;
	enum vmm_kind kind;
	enum vmm_arch arch;
	char program[64]; /* name of its file */
	char name[128];   /* of the guest; or empty */
	uint32_t have;    /* enum vmm_known */
	uint64_t ram;     /* bytes, as on the command line */
	/* Bytes of the process: Rss with hugetlb pages; Swap; large pages of these. */
	uint64_t resident, swapped, large;
	struct atw_err why_ram, why_cost; /* status < 0: why these are not known */
};

/* That of this machine, which the guests of KVM have. */
enum vmm_arch vmm_host_arch(void);
/* "qemu" */
const char *vmm_kind_name(enum vmm_kind kind);
/* "qemu:PID", else "kvm:PID": the SOURCE that is its guest. */
void vmm_process_source(const struct vmm_process *p, char ret[32]);
/*
 * Kind, program, architecture and name. ATW_END: it is no process of a virtual machine;
 * ATW_E_MISSING: it has ended.
 */
int vmm_process_identify(uint32_t pid, struct vmm_process *ret, struct atw_err *err);
/*
 * The same of a process that runs a virtual machine, by the path of its program and its command
 * line as /proc has it; `host`: the architecture of its host.
 */
void vmm_process_set(struct vmm_process *p, const char *program, enum vmm_arch host,
		     struct atw_blob cmdline);
/* Has it a virtual machine of KVM, as far as may be seen? */
bool vmm_process_has_kvm(uint32_t pid);
/* Has it a userfaultfd? QEMU, Firecracker and cloud-hypervisor keep it as long as they use it. */
bool vmm_process_has_userfaultfd(uint32_t pid);
/* Fills in what is known of its memory. */
void vmm_process_measure(struct vmm_process *p);

/*
 * A process by its number, the name of its guest, or the path of a Unix socket that it listens
 * at (it has a slash); by the latter two of QEMU alone unless `any`. The socket is not
 * connected to, since a monitor serves one client at a time. ATW_E_MISSING: there is none;
 * ATW_E_USAGE: it is no such word, or there are several, which the sentence lists.
 */
int vmm_process_find(const char *word, bool any, uint32_t *ret, struct atw_err *err);
