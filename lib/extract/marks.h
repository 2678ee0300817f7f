/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - set of selected bytes of physical memory.
 *
 * By pages of 4 KiB, each either complete or with a bit for every byte: reads of kernel
 * memory are mostly of a few scattered words, and the bytes around them remain private.
 */
#ifndef EXTRACT_MARKS_H
#define EXTRACT_MARKS_H

#include "base/table.h"

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

#endif
