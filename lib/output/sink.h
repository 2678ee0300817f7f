/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - what a format is made of.
 *
 * Adding one is a file with a `const struct atw_sink_ops sink_NAME` and a line
 * in sinks.def. A sink writes to k->w and returns ATW_OK; whether the bytes
 * arrived, whoever calls it finds out.
 */
#ifndef OUTPUT_SINK_H
#define OUTPUT_SINK_H

#include <atwalk/record.h>

#include "base/buf.h"
#include "output/writer.h"

/* A column as a sink needs it. */
struct cell {
	const struct atw_column *col;
	size_t width;            /* plain */
	bool right;              /* plain: numbers stand on the right */
	struct buf lead;         /* what precedes each value: JSON's key */

	/*
	 * Neighbours mostly have the same flags, size and task, so the last
	 * value is kept in the form it was written in.
	 */
	bool known;              /* `form` is that of `last`, or of `raw` */
	uint64_t last;
	struct buf raw;          /* the last text, or the last value in words */
	struct buf form;
	size_t form_width;       /* plain */
};

struct atw_sink {
	const struct atw_sink_ops *ops;
	struct writer *w;
	const struct atw_schema *sc;     /* the chosen columns */
	struct cell *cell;               /* one each */
	uint64_t rows;                   /* before this one */
	enum atw_units units;
	unsigned page_shift;
	bool color;
	bool notes;                      /* set by begin: text may follow */
};

#define SINK(name) extern const struct atw_sink_ops sink_##name;
#include "output/sinks.def"
#undef SINK

/* Make a sink for that schema, and free it. Only what `ops` has is called. */
int sink_init(struct atw_sink *k, const struct atw_sink_ops *ops,
	      const struct atw_schema *sc, struct writer *w,
	      struct atw_err *err);
void sink_deinit(struct atw_sink *k);
/* By its name; fails with those there are. */
int sink_find(const char *format, const struct atw_sink_ops **ret,
	      struct atw_err *err);

/*
 * Is that the value whose form the cell has? If not, the form is emptied for
 * the new one's.
 */
static inline bool cell_has(struct cell *c, uint64_t u)
{
	if (c->known && c->last == u)
		return true;
	c->known = true;
	c->last = u;
	c->form.len = 0;
	return false;
}
bool cell_has_text(struct cell *c, const char *s);

static inline bool row_has(const struct atw_row *row, size_t i)
{
	return row->have >> i & 1;
}

/* A buffer without memory is an error of the output. */
void sink_check(struct atw_sink *k, const struct buf *b);
/* Write what the buffer holds. */
void sink_put(struct atw_sink *k, const struct buf *b);

/*
 * ENUM, FLAGS and LETTERS in words, what has no name as a number; before any
 * escaping. Lasts until the next call.
 */
const char *cell_words(struct cell *c, uint64_t u);
/* One of a set's words at a time, lowest bit first; false: no more. */
bool words_next(const struct atw_column *c, uint64_t *left, char number[24],
		const char **ret);

#endif
