/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own.h - what the parts of an extract share: processes, page tables, struct pages, and
 * what a running kernel had.
 */
#pragma once

#include "extract/extract.h"
#include "base/buf.h"
#include "linux/kernel.h"
#include "linux/spaces.h"
#include "walk/walk.h"
#include "base/table.h"
#include "source/source.h"

/* ---- marks.c: set of selected bytes of physical memory ---- */

/*
 * By pages of 4 KiB, each either complete or with a bit for every byte: reads of kernel
 * memory are mostly of a few scattered words, and the bytes around them remain private.
 */

enum { MARK_SHIFT = 12, MARK_PAGE = 1 << MARK_SHIFT, MARK_BITMAP = MARK_PAGE / 8 };

struct byte_mark {
	uint64_t nr;             /* physical address >> MARK_SHIFT */
	uint8_t *bytes;          /* a bit for each; NULL: all of them */
};

struct byte_marks {
	struct byte_mark *v;
	size_t n, cap;
	struct table by_nr;      /* 1 + index in v[] */
	bool failed;             /* an allocation failed */
};

void marks_deinit(struct byte_marks *m);
/* Failures are remembered in `failed`. */
void marks_add(struct byte_marks *m, uint64_t pa, uint64_t len);
/* Pages that must exist, without any of their bytes. */
void marks_room(struct byte_marks *m, uint64_t pa, uint64_t len);
/* Sort by address; nothing can be added after that. */
void marks_sort(struct byte_marks *m);
/* Zero the unmarked bytes among from..from + len of this page. */
void mark_clear(const struct byte_mark *m, unsigned from, uint8_t *bytes, unsigned len);
uint64_t marks_bytes(const struct byte_marks *m);

/* Set the bits of the bytes from..from + len of a page. */
void mark_bits(uint8_t map[MARK_BITMAP], unsigned from, unsigned len);
/* Keep only the bytes of page v[i] that are set in `have`; false: none is left. */
bool marks_limit(struct byte_marks *m, size_t i, const uint8_t have[MARK_BITMAP]);

/* ---- own.c ---- */

/* ---- tables.c: the page tables of address spaces, each table once ---- */

struct tables {
	struct byte_marks *marks;
	/*
	 * Tables are read without marking: for a running machine. Each space is walked
	 * again then, because a table of a process that ended may be another's by now;
	 * but tables visited while `shared` is set are visited once.
	 */
	bool reading, shared;
	struct table seen;       /* by address and level */
	uint64_t bytes, lost;
	void *scratch;           /* room for the largest table */
	bool failed;             /* an allocation failed */
};

void tables_deinit(struct tables *t);
/* All tables that both roots of the space lead to. ATW_E_LIMIT: those visited so far. */
int tables_add(struct tables *t, const struct mmu_space *sp, struct atw_err *err);

/* ---- own.c ---- */

struct extract {
	struct atw_kernel *k;
	struct kmem *m;
	struct byte_marks marks;
	struct tables tables;
	struct spaces spaces;
	struct buf notes;
	bool paused;             /* reads are not recorded now */
	size_t longest;          /* limit of a single recorded read; 0: none */
	struct atw_extract_stats st;
};

/* All data that is later queried about the kernel. */
void extract_facts(struct extract *x);
/* Tables of an address space. Fails only without memory; other failures are counted. */
int extract_space(struct extract *x, const struct mmu_space *sp, const char *name,
		  struct atw_err *err);
/* VMAs and tables of a process; failures likewise. */
int extract_process(struct extract *x, const struct owned_space *o, struct atw_err *err);
void extract_deinit(struct extract *x);

/* ---- pages.c: struct pages of mapped memory for an extract ---- */

/* Larger reads are whole sections of struct pages. */
enum { PAGES_LONGEST = 512 };

/*
 * Marks struct pages in the units in which they will be read. The caller marks other
 * reads that are needed to find them.
 */
int pages_add(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m,
	      struct atw_err *err);
/*
 * Marks the struct page from which the huge zero folio is recognized. Without a symbol
 * for it, it is looked for among the pages that processes map.
 */
void pages_add_zeroes(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m);

/* ---- moving.c: consistent read of a running machine for an extract ---- */

/*
 * Processes start, end and change while they are read. Those that exist in the first and
 * the last snapshot are read until the recorded bytes are complete, and the lists of
 * tasks are written as if there were no others.
 */

struct moving {
	struct atw_source *record, *replay;
	uint64_t bad_tasks;      /* unreadable ones; `first` is the first failure */
	struct atw_err first;
};

int moving_read(struct atw_kernel *k, struct moving *ret, struct atw_err *err);
void moving_deinit(struct moving *m);

/* ---- recorded.c: record and replay of reads of a running machine ---- */

/*
 * Record_open() wraps a source and keeps the last value of each byte that was read: a
 * reader of a running machine re-reads the pointers that it followed, and continues with
 * their new values. record_replay() is a source with these bytes that does not change.
 */

/* `below` is borrowed. */
int record_open(struct atw_source *below, struct atw_source **ret, struct atw_err *err);
/* To be closed before `s`, with atw_source_close(). */
int record_replay(struct atw_source *s, struct atw_source **ret, struct atw_err *err);
/* NULL is accepted. */
void record_close(struct atw_source *s);

/* Results of a replay for bytes that were not recorded. */
enum record_missing {
	RECORD_NOTHING,          /* missing */
	RECORD_FILL,             /* read now, and recorded */
	RECORD_ZERO,             /* zero, in pages with recorded bytes */
};
void record_missing(struct atw_source *replay, enum record_missing what);

/* Was a read not recorded because memory ran out? */
bool record_failed(const struct atw_source *s);
/* Record these bytes as read from there. */
void record_put(struct atw_source *s, uint64_t pa, const void *data, size_t len);
/* Remove bytes from the marks that were not recorded. Marks are sorted. */
void record_trim(const struct atw_source *s, struct byte_marks *m);

/* ---- core.c: marked memory as an ELF core file, written sequentially ---- */

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
