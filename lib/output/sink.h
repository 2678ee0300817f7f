/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sink.h - interface of the output formats.
 *
 * To add one: a file with a `const struct atw_sink_ops sink_NAME` and a line in
 * sinks.def. A sink writes to k->w and returns ATW_OK; its caller checks whether writing
 * succeeded.
 */
#pragma once

#include "base/text.h"
#include "output/number.h"
#include "output/writer.h"
#include "record/record.h"

/*
 * Cache of formatted values: adjacent rows mostly have the same size and task, and few
 * different flags. One value per column, and several for sets, which take longest to
 * format.
 */
struct form {
	bool known;              /* `text` is that of `value`, or of cell.raw */
	uint64_t value;
	struct buf text;         /* plain: with its blanks */
};
#define FORMS_OF_FLAGS 64        /* a power of two */

/* State of a column in a sink. */
struct cell {
	const struct atw_column *col;
	enum atw_type type;      /* the column's */
	bool last;               /* the last column */
	size_t width;            /* plain */
	size_t widest;           /* plain: of the rows that were measured */
	bool right;              /* plain: right-aligned */
	struct buf lead;         /* JSON: the key of a value; plain: n/a; HTML: a block */
	size_t field, field_len; /* HTML: the last field in `lead` that is not a repetition */
	struct form *forms, *form;       /* the cache; its entry for this row */
	unsigned hash_shift;     /* 64: there is only one */
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
	bool page_units, ahead;          /* see struct atw_output_opts */
	uint32_t listing;                /* enum atw_listing_flag */
	bool notes;                      /* set by begin: text may follow */
	void *own;               /* of the format: set by begin, freed by drop */
	/* Set by begin: the place of notes before the end; NULL: behind it. */
	void (*put_notes)(struct atw_sink *k, const char *text);
};

#define SINK(name) extern const struct atw_sink_ops sink_##name;
#include "output/sinks.def"
#undef SINK

/* Create and destroy a sink for a schema. Only functions that `ops` has are called. */
int sink_init(struct atw_sink *k, const struct atw_sink_ops *ops,
	      const struct atw_schema *sc, struct writer *w,
	      struct atw_err *err);
void sink_deinit(struct atw_sink *k);
/*
 * As atw_output_open(), for a part of the output to `fd`, which remains owned by the
 * caller, by a sink that need not be in the list; o->format is ignored, and o->path is
 * only used in errors.
 */
int output_open_part(const struct atw_output_opts *o, const struct atw_schema *sc,
		     const struct atw_sink_ops *ops, int fd, struct atw_output **ret,
		     struct atw_err *err);
/*
 * Finished except for the rename, which outfile_commit_all() does for *ret, the output's
 * own file; after that it can only be closed.
 */
struct outfile;
int output_ready(struct atw_output *out, struct outfile **ret, struct atw_err *err);

/*
 * Is the formatted value in the cache? If not, its entry is cleared for the new one. In
 * both cases c->form is the entry.
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

/* Shown to the right in tables. */
static inline bool sink_is_number(enum atw_type type)
{
	return type == ATW_T_BYTES || type == ATW_T_COUNT || type == ATW_T_PAGES ||
	       type == ATW_T_SECONDS || type == ATW_T_LIST || type == ATW_T_CHANGE ||
	       type == ATW_T_CHANGE_BYTES;
}

static inline bool sink_is_hex(enum atw_type type)
{
	return type == ATW_T_VA || type == ATW_T_PA || type == ATW_T_HEX;
}

/*
 * A number as programs read it. Returns the end; at most NUMBER_MAX characters, without a
 * NUL. NULL: the type is one of texts or words.
 */
static inline char *sink_exact(enum atw_type type, char *p, const union atw_value *v)
{
	switch (type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		return put_hex(p, v->u);
	case ATW_T_BYTES:
	case ATW_T_COUNT:
	case ATW_T_PAGES:
		return put_dec(p, v->u);
	case ATW_T_LIST:
		return put_dec(p, v->list->n);
	case ATW_T_SECONDS:
		return put_seconds(p, v->u);
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		return put_signed(p, v->u);
	case ATW_T_TIME:
		return put_time(p, v->u);
	default:
		return NULL;
	}
}

/*
 * The same for people, at most 32 characters: BYTES in k->units, PAGES too if
 * k->page_units is set, CHANGE and CHANGE_BYTES with a sign.
 */
char *sink_plain_number(const struct atw_sink *k, enum atw_type type, char *p,
			const union atw_value *v);

/*
 * ENUM, FLAGS and LETTERS as words, unnamed values as a number; not escaped yet. Valid
 * until the next call.
 */
const char *cell_words(struct cell *c, uint64_t u);
/* The words of a set one by one, lowest bit first; false: no more. */
bool words_next(const struct atw_column *c, uint64_t *left, char number[24],
		const char **ret);
