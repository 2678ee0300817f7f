// SPDX-License-Identifier: GPL-2.0-or-later
/* notes.c - the notes of an extract. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "extract/own.h"
#include "format/elf.h"
#include "linux/tasks.h"

/*
 * QEMU's note (target/i386/arch_dump.c): the control registers are the last member but
 * one.
 */
bool core_qemu_note(struct atw_source *mem, uint64_t cpu, uint8_t note[CORE_QEMU_NOTE])
{
	const uint32_t head[2] = { 1, CORE_QEMU_NOTE };
	bool any = false;

	memset(note, 0, CORE_QEMU_NOTE);
	memcpy(note, head, sizeof(head));
	for (unsigned i = 0; i < 5; i++) {
		char key[40];
		uint64_t cr;

		/* CR2 is the address of a page fault, which walks do not need. */
		if (i == 2)
			continue;
		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr%u", cpu, i);
		if (atw_fact_u64(mem, key, &cr) != ATW_OK)
			continue;
		memcpy(note + 392 + 8 * i, &cr, 8);
		any = true;
	}
	return any;
}

/* General registers are omitted: they may hold data of any process. */
static void notes_cpu(struct atw_source *mem, struct buf *notes)
{
	static const uint8_t zero[4096];
	uint64_t n = 0;
	uint8_t note[CORE_QEMU_NOTE];

	atw_fact_u64(mem, "cpus", &n);
	for (uint64_t i = 0; i < n; i++) {
		struct atw_blob b;
		char key[40];

		snprintf(key, sizeof(key), "cpu%" PRIu64 ".prstatus", i);
		if (atw_fact(mem, key, &b) == ATW_OK)
			core_note(notes, "CORE", NT_PRSTATUS, zero,
				  b.len < sizeof(zero) ? b.len : sizeof(zero));
	}
	for (uint64_t i = 0; i < n; i++)
		if (core_qemu_note(mem, i, note))
			core_note(notes, "QEMU", 0, note, sizeof(note));
}

/*
 * Data that is needed to open the extract, if VMCOREINFO and registers lack it or it
 * could only be found by a search.
 */
static void notes_opening(struct atw_kernel *k, struct buf *notes)
{
	const struct mmu_space *sp = &k->own;
	struct atw_paging usual = *atw_paging_find(sp->paging.name);
	struct mmu_root root = sp->high.have ? sp->high : sp->low;
	uint64_t init_task;
	int isolated = mm_kernel_isolated(k);
	uint64_t cpus;
	char text[256];
	int n = snprintf(text, sizeof(text), "NUMBER(root)=0x%" PRIx64 "\nPAGING=%s\n"
			 "NUMBER(ignore)=0x%" PRIx64 "\n", root.pa.u, sp->paging.name,
			 sp->paging.ignore);

	/* There are no notes of the CPUs of a running machine. */
	if (atw_fact_u64(k->mem, "cpus", &cpus) == ATW_OK)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "NUMBER(cpus)=%" PRIu64 "\n", cpus);
	/* It is seen from the page behind the kernel's root, which has other data if off. */
	if (isolated >= 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "NUMBER(isolated)=%d\n", isolated);
	if (kernel_init_task(k, &init_task, NULL) == ATW_OK)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "SYMBOL(init_task)=%" PRIx64 "\n", init_task);
	/*
	 * A mode with extensions has no name of its own; a difference in padding only
	 * costs a note.
	 */
	usual.ignore = sp->paging.ignore;
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (!memcmp(&usual, &sp->paging, sizeof(usual)))
		core_note(notes, "atwalk", ELF_NT_OPENING, text, (size_t)n);
}

void core_notes(struct atw_kernel *k, struct buf *notes)
{
	static const char about[] =
		"extract: page tables and what the kernel says of its tasks; "
		"all else in these pages was left out and reads as zero\n";

	notes_cpu(k->mem, notes);
	if (k->have_vi)
		core_note(notes, "VMCOREINFO", 0, k->vi.text, k->vi.len);
	core_note(notes, "atwalk", ELF_NT_EXTRACT, about, sizeof(about) - 1);
	notes_opening(k, notes);
}

uint16_t core_machine(const struct atw_paging *pg)
{
	static const struct { const char *mode; uint16_t elf; } known[] = {
		{ "x86_64", EM_X86_64 }, { "i386", EM_386 }, { "arm64", EM_AARCH64 },
		{ "arm", EM_ARM }, { "riscv", EM_RISCV },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(pg->name, known[i].mode, strlen(known[i].mode)))
			return known[i].elf;
	return EM_NONE;
}
