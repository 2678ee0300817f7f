/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_cpus.h - registers of CPUs in what follows the RAM of a migration stream: sections
 * of devices, and a description of them in JSON (VMDESCRIPTION), without which their
 * fields have no places. Pure.
 */
#pragma once

#include "format/vmm_words.h"

enum qemu_register {
	QEMU_CR0, QEMU_CR2, QEMU_CR3, QEMU_CR4, QEMU_EFER,   /* x86 */
	QEMU_SATP, QEMU_PRIV,                                /* riscv64 */
	QEMU_TTBR0, QEMU_TTBR1, QEMU_TCR, QEMU_MAIR, QEMU_SCTLR, /* arm64, of EL1 */
	QEMU_REGISTERS,
};

struct qemu_cpu {
	uint64_t reg[QEMU_REGISTERS];
	uint32_t have;           /* bit N: reg[N] is known */
};

/* As in "cpu0.cr3". */
const char *qemu_register_name(enum qemu_register r);

struct qemu_cpus {
	struct qemu_cpu *cpu;    /* by number; to be freed */
	size_t n;
	enum vmm_arch arch;      /* VMM_ARCH_UNKNOWN: the description is missing */
};

/*
 * `devices` is the stream behind the RAM. One without the description, or with one that does
 * not fit the sections, has no CPUs. ATW_E_NOMEM.
 */
int qemu_cpus_parse(struct atw_blob devices, struct qemu_cpus *ret);
