/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_words.h - what the command line of a QEMU process says of the guest's memory:
 * qemu-system(1), -m, -machine, -object, -numa. Pure.
 */
#pragma once

#include <atwalk/base.h>

enum vmm_arch {
	VMM_ARCH_UNKNOWN, /* no name of QEMU's system emulator */
	VMM_ARCH_HOST,    /* kvm, qemu-kvm: that of the host */
	VMM_ARCH_OTHER,   /* of an architecture that is not supported */
	VMM_ARCH_X86_64,
	VMM_ARCH_ARM64,
	VMM_ARCH_RISCV64,
};

/* -object memory-backend-KIND */
struct vmm_backend {
	struct atw_blob id;
	uint64_t size; /* bytes; 0: not given */
};

enum { VMM_BACKENDS = 128 };

/* Texts lie in the command line. */
struct vmm_words {
	struct atw_blob machine; /* the type; empty: the default of the program */
	struct atw_blob backend; /* -machine memory-backend=ID; or empty */
	struct atw_blob name;    /* -name, or Proxmox's -id; or empty */
	uint64_t ram;            /* -m, or QEMU's default */
	uint64_t below_4g;       /* -machine max-ram-below-4g; 0: not given */
	/* A device adds memory that is not part of -m: pc-dimm, nvdimm, virtio-mem. */
	bool extra;
	bool encrypted; /* -object sev-guest, tdx-guest, ... */
	struct vmm_backend backends[VMM_BACKENDS];
	size_t nbackends;
	/* -numa node,memdev=ID, ascending by node. */
	struct atw_blob nodes[VMM_BACKENDS];
	uint64_t node_ids[VMM_BACKENDS];
	size_t nnodes;
};

/* By the name of the program's file, of which the folder is ignored. */
enum vmm_arch vmm_arch_of(const char *path);

/* /proc/PID/cmdline: words that end with NUL. ATW_E_FORMAT, ATW_E_LIMIT. */
int vmm_words_parse(struct atw_blob cmdline, struct vmm_words *ret, struct atw_err *err);
/* The backend with this id, or NULL. */
const struct vmm_backend *vmm_words_backend(const struct vmm_words *w,
					    struct atw_blob id);
