/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - interface of the output formats.
 *
 * To add one: a file with a `const struct atw_sink_ops sink_NAME` and a line in
 * sinks.def. A sink writes to k->w and returns ATW_OK; its caller checks whether writing
 * succeeded.
 */
#ifndef OUTPUT_SINK_H
#define OUTPUT_SINK_H

#include "record/record.h"

#include "base/buf.h"
#include "output/writer.h"

/*
 * Neighbours mostly have the same size and task, and few different flags, so the
 * last values are kept in the form they were written in: one, and of sets, which
 * take longest to spell out, several.
 */
struct form {
	bool known;              /* `text` is that of `value`, or of cell.raw */
	uint64_t value;
	struct buf text;         /* plain: with the blanks around it */
};
#define FORMS_OF_FLAGS 64        /* a power of two */

/* A column as a sink needs it. */
struct cell {
	const struct atw_column *col;
	enum atw_type type;      /* the column's */
	bool last;               /* of them all */
	size_t width;            /* plain */
	size_t widest;           /* plain: of the rows that were measured */
	bool right;              /* plain: numbers stand on the right */
	struct buf lead;         /* JSON: the key before each value; plain: n/a; HTML: a block */
	size_t field, field_len; /* HTML: the last field in `lead` that is not a repetition */
	struct form *forms, *form;       /* all, and that of this row */
	unsigned hash_shift;     /* 64: there is but one */
	struct buf raw;          /* the last text, or the last value in words */
};

struct atw_sink {
	const struct atw_sink_ops *ops;
	struct writer *w;
	const struct atw_schema *sc;     /* the chosen columns */
	struct cell *cell;               /* one each */
	uint64_t rows;                   /* before this one */
	enum atw_units units;
	unsigned page_shift;
	bool color, bare;
	bool page_units, ahead;          /* as in struct atw_output_opts */
	bool notes;                      /* set by begin: text may follow */
	/* Likewise: where it goes in this format, before the end; NULL: behind it. */
	void (*put_notes)(struct atw_sink *k, const char *text);
};

#define SINK(name) extern const struct atw_sink_ops sink_##name;
#include "output/sinks.def"
#undef SINK

/* Make a sink for that schema, and free it. Only what `ops` has is called. */
int sink_init(struct atw_sink *k, const struct atw_sink_ops *ops,
	      const struct atw_schema *sc, struct writer *w,
	      struct atw_err *err);
void sink_deinit(struct atw_sink *k);
/*
 * As atw_output_open(), for a part of what goes to `fd`, which stays the caller's,
 * by a sink that need not be in the list; o->format is not looked at, and o->path
 * only says what errors call it.
 */
int output_open_part(const struct atw_output_opts *o, const struct atw_schema *sc,
		     const struct atw_sink_ops *ops, int fd, struct atw_output **ret,
		     struct atw_err *err);
/*
 * Whole but for its name, which outfile_commit_all() gives *ret, the output's own; then it
 * can only be closed.
 */
struct outfile;
int output_ready(struct atw_output *out, struct outfile **ret, struct atw_err *err);
/* By its name; fails with those there are. */
int sink_find(const char *format, const struct atw_sink_ops **ret,
	      struct atw_err *err);

/*
 * Is the value's form still there? If not, it is emptied for the new one's.
 * Either way c->form is where it is, or belongs.
 */
static inline bool cell_has(struct cell *c, uint64_t u)
{
	struct form *f = c->forms;

	if (c->hash_shift < 64)
		f += u * UINT64_C(0x9e3779b97f4a7c15) >> c->hash_shift;
	c->form = f;
	if (f->known && f->value == u)
		return true;
	f->known = true;
	f->value = u;
	f->text.len = 0;
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
 * For people: BYTES in k->units, CHANGE and CHANGE_BYTES with their sign. Where
 * they end; at most 32 characters, with no NUL behind.
 */
char *sink_bytes(const struct atw_sink *k, char *p, uint64_t u);
/* PAGES: a number, or in k->units where k->page_units says so. */
char *sink_pages(const struct atw_sink *k, char *p, uint64_t u);
char *sink_change(const struct atw_sink *k, enum atw_type type, char *p, uint64_t u);

/*
 * ENUM, FLAGS and LETTERS in words, what has no name as a number; before any
 * escaping. Lasts until the next call.
 */
const char *cell_words(struct cell *c, uint64_t u);
/* One of a set's words at a time, lowest bit first; false: no more. */
bool words_next(const struct atw_column *c, uint64_t *left, char number[24],
		const char **ret);

#endif
