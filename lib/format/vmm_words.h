/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm_words.h - what the command line of a QEMU process says of the guest's memory:
 * qemu-system(1), -m, -machine, -object, -numa; and where its monitor is. Pure.
 */
#pragma once

#include <atwalk/base.h>

#include "format/vmm_secret.h"

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

/* A Unix socket that QEMU listens at without waiting there for a client. */
struct vmm_chardev {
	struct atw_blob id, path;
};

enum { VMM_BACKENDS = 128, VMM_CHARDEVS = 16 };

/* Texts lie in the command line. */
struct vmm_words {
	struct atw_blob machine; /* the type; empty: the default of the program */
	struct atw_blob backend; /* -machine memory-backend=ID; or empty */
	struct atw_blob name;    /* -name, or Proxmox's -id; or empty */
	uint64_t ram;            /* -m, or QEMU's default */
	uint64_t below_4g;       /* -machine max-ram-below-4g; 0: not given */
	/* A device adds memory that is not part of -m: pc-dimm, nvdimm, virtio-mem. */
	bool extra;
	enum vmm_secret secret; /* -object sev-guest, sev-snp-guest, tdx-guest */
	struct vmm_backend backends[VMM_BACKENDS];
	size_t nbackends;
	/* -numa node,memdev=ID, ascending by node. */
	struct atw_blob nodes[VMM_BACKENDS];
	uint64_t node_ids[VMM_BACKENDS];
	size_t nnodes;
	/* Paths of sockets of QMP monitors that clients may connect to. */
	struct atw_blob monitors[VMM_CHARDEVS];
	size_t nmonitors;
	struct vmm_chardev chardevs[VMM_CHARDEVS];
	size_t nchardevs;
	struct atw_blob controls[VMM_CHARDEVS]; /* chardevs that are QMP monitors */
	size_t ncontrols;
};

/* By the name of the program's file, of which the folder is ignored. */
enum vmm_arch vmm_arch_of(const char *path);

/* /proc/PID/cmdline: words that end with NUL. ATW_E_FORMAT, ATW_E_LIMIT. */
int vmm_words_parse(struct atw_blob cmdline, struct vmm_words *ret, struct atw_err *err);
/*
 * May clients connect to this path because it is that of a QMP monitor? Also true if the command
 * line does not have the path, since QEMU may have got the socket in another way.
 */
bool vmm_words_is_monitor(const struct vmm_words *w, struct atw_blob cmdline, const char *path);
/* Can the order of the NUMA nodes' memory not be derived from sizes alone? */
bool vmm_words_are_ambiguous(const struct vmm_words *w);
/* The backend with this id, or NULL. */
const struct vmm_backend *vmm_words_backend(const struct vmm_words *w,
					    struct atw_blob id);
