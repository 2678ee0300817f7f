/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_notes.h - CPU registers in the ELF notes of a dump. The n-th note of a kind is the
 * n-th CPU's.
 */
#pragma once

#include "format/elf.h"

/* Linux ends at 8192 CPUs: a number far from that is not one of CPUs. */
enum { CPUS_MAX = 1 << 16 };

struct cpu_notes {
	struct cpu_note { struct elf_note prstatus, qemu; } *cpu;
	size_t n, cap;
	size_t nprstatus, nqemu;         /* notes seen */
};

void cpu_notes_deinit(struct cpu_notes *c);
/* Keep the note if it is about a CPU. ATW_E_NOMEM. */
int cpu_notes_take(struct cpu_notes *c, const struct elf_note *n);
/* "cpuN.prstatus", "cpuN.cr0" .cr2 .cr3 .cr4 (x86 under QEMU). */
int cpu_notes_fact(const struct cpu_notes *c, const char *key, struct atw_blob *ret);
