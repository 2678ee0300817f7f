/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ahead.h - row buffer for column auto-sizing: the first rows of a table, and the texts
 * between them. Later rows are streamed.
 */
#ifndef OUTPUT_AHEAD_H
#define OUTPUT_AHEAD_H

#include "record/record.h"

#include "base/buf.h"

enum { AHEAD_ROWS = 4096, AHEAD_BYTES = 4 << 20 };

struct ahead {
	struct buf kept;
	size_t rows, at;                 /* at: offset of the next row to be emitted */
};

void ahead_deinit(struct ahead *a);
/* A failure remains in a->kept. The row's texts are copied. */
void ahead_row(struct ahead *a, const struct atw_schema *sc, const struct atw_row *row);
void ahead_text(struct ahead *a, const char *text, size_t len);
static inline bool ahead_full(const struct ahead *a)
{
	return a->rows >= AHEAD_ROWS || a->kept.len >= AHEAD_BYTES;
}

/*
 * The buffered rows in order. Values go to `v`; all of it is valid until the next row is
 * added.
 */
struct ahead_thing {
	bool is_row;
	struct atw_row row;
	const char *text;
	size_t len;
};
bool ahead_next(struct ahead *a, const struct atw_schema *sc, union atw_value *v,
		struct ahead_thing *ret);

#endif
