/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf.h - a growing byte buffer. A failed allocation is remembered, so that a
 * sequence of appends needs one check at its end.
 */
#pragma once

#include <atwalk/base.h>

struct buf {
	char *data;              /* always NUL-terminated when not NULL */
	size_t len, cap;
	bool failed;             /* an append was lost because an allocation failed */
};

void buf_deinit(struct buf *b);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
/* Adds a text with its NUL; returns its offset. */
size_t buf_keep(struct buf *b, const void *data, size_t len);
void buf_printf(struct buf *b, const char *fmt, ...) ATW_PRINTF(2, 3);

/*
 * Grow an array so that it has room for `need` elements: doubles, checks for
 * overflow, leaves the old array alone on failure. false: no memory.
 */
bool array_reserve(void **array, size_t *cap, size_t need, size_t elem);
/* The same for one more element than `n`. */
#define ARRAY_ROOM(array, n, cap) \
	array_reserve((void **)&(array), &(cap), (n) + 1, sizeof(*(array)))
