/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - marked memory as an ELF core file, written sequentially.
 */
#ifndef EXTRACT_CORE_H
#define EXTRACT_CORE_H

#include "extract/extract.h"

#include "base/buf.h"
#include "extract/marks.h"
#include "linux/kernel.h"

/* A note: name, type and contents; they are padded. */
void core_note(struct buf *notes, const char *name, uint32_t type, const void *desc,
	       size_t len);

/*
 * QEMU's note of one CPU, with its control registers except CR2, and no other registers.
 * false: the source has no control registers.
 */
enum { CORE_QEMU_NOTE = 440 };
bool core_qemu_note(struct atw_source *mem, uint64_t cpu, uint8_t note[CORE_QEMU_NOTE]);

/* All notes of an extract: CPUs without general registers, VMCOREINFO, description. */
void core_notes(struct atw_kernel *k, struct buf *notes);
/* e_machine */
uint16_t core_machine(const struct atw_paging *pg);

/*
 * Memory of the source that is not marked is described as left out: a segment's size in
 * memory is larger than in the file. `marks` are sorted. Fills in pages, runs and bytes
 * of `stats`.
 */
int core_write(struct atw_source *mem, const struct byte_marks *marks, uint16_t machine,
	       const struct buf *notes, atw_extract_write *fn, void *arg,
	       struct atw_extract_stats *stats, struct atw_err *err);

#endif
