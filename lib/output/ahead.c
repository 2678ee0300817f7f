/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ahead.c - buffer of rows before the column widths are known. */
#include "output/ahead.h"

#include <string.h>

/* A row: its letter, `have`, a word per column, then the texts with their NULs. */
enum { ROW = 'r', TEXT = 't' };

void ahead_deinit(struct ahead *a)
{
	buf_deinit(&a->kept);
	*a = (struct ahead){ .rows = 0 };
}

static void ahead_put_u64(struct buf *b, uint64_t u)
{
	buf_add(b, &u, sizeof(u));
}

static uint64_t ahead_take_u64(struct ahead *a)
{
	uint64_t u;

	memcpy(&u, a->kept.data + a->at, sizeof(u));
	a->at += sizeof(u);
	return u;
}

static bool ahead_has_text(const struct atw_schema *sc, const struct atw_row *row,
			   size_t i)
{
	return sc->col[i].type == ATW_T_TEXT && row->have >> i & 1;
}

/* NULL: not a text, or n/a. */
static const char *ahead_text_of(const struct atw_schema *sc, const struct atw_row *row,
				 size_t i)
{
	return ahead_has_text(sc, row, i) ? row->v[i].s : NULL;
}

void ahead_row(struct ahead *a, const struct atw_schema *sc, const struct atw_row *row)
{
	uint64_t have = row->have;

	for (size_t i = 0; i < sc->ncols; i++)
		if (ahead_has_text(sc, row, i) && !row->v[i].s)
			have &= ~((uint64_t)1 << i);
	buf_char(&a->kept, ROW);
	ahead_put_u64(&a->kept, have);
	for (size_t i = 0; i < sc->ncols; i++) {
		const char *text = ahead_text_of(sc, row, i);

		ahead_put_u64(&a->kept, text            ? strlen(text)
					: have >> i & 1 ? row->v[i].u
							: 0);
	}
	for (size_t i = 0; i < sc->ncols; i++) {
		const char *text = ahead_text_of(sc, row, i);

		if (text)
			buf_add(&a->kept, text, strlen(text) + 1);
	}
	a->rows++;
}

void ahead_text(struct ahead *a, const char *text, size_t len)
{
	buf_char(&a->kept, TEXT);
	ahead_put_u64(&a->kept, len);
	buf_add(&a->kept, text, len);
}

bool ahead_next(struct ahead *a, const struct atw_schema *sc, union atw_value *v,
		struct ahead_thing *ret)
{
	if (a->kept.failed || a->at >= a->kept.len)
		return false;
	ret->is_row = a->kept.data[a->at++] == ROW;
	if (!ret->is_row) {
		ret->len = ahead_take_u64(a);
		ret->text = a->kept.data + a->at;
		a->at += ret->len;
		return true;
	}
	ret->row = (struct atw_row){.v = v, .have = ahead_take_u64(a)};
	for (size_t i = 0; i < sc->ncols; i++)
		v[i].u = ahead_take_u64(a);
	for (size_t i = 0; i < sc->ncols; i++)
		if (ahead_has_text(sc, &ret->row, i)) {
			size_t len = v[i].u;

			v[i].s = a->kept.data + a->at;
			a->at += len + 1;
		}
	return true;
}
