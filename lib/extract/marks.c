// SPDX-License-Identifier: GPL-2.0-or-later
/* marks.c - set of bytes of physical memory. */
#include "extract/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/sorted.h"

void marks_deinit(struct byte_marks *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].bytes);
	free(m->v);
	table_deinit(&m->by_nr);
	*m = (struct byte_marks){0};
}

/* The mark of the page; a new one has no bytes set. */
static struct byte_mark *marks_mark_of(struct byte_marks *m, uint64_t nr, bool whole)
{
	struct byte_mark n = {.nr = nr};
	struct table_slot *s = table_get(&m->by_nr, nr);

	if (!s || s->value)
		return s ? &m->v[s->value - 1] : NULL;
	if (!whole)
		n.bytes = calloc(1, MARK_BITMAP);
	if ((!whole && !n.bytes) ||
	    !ARRAY_ROOM(m->v, m->n, m->cap)) {
		free(n.bytes);
		return NULL;
	}
	m->v[m->n++] = n;
	table_set(&m->by_nr, s, m->n);
	return &m->v[m->n - 1];
}

void mark_bits(uint8_t map[MARK_BITMAP], unsigned from, unsigned len)
{
	for (; len && from & 7; from++, len--)
		map[from / 8] |= (uint8_t)(1 << (from & 7));
	memset(map + from / 8, 0xff, len / 8);
	if (len & 7)
		map[(from + len) / 8] |= (uint8_t)((1 << (len & 7)) - 1);
}

void marks_add(struct byte_marks *m, uint64_t pa, uint64_t len)
{
	while (len && !m->failed) {
		unsigned from = pa & (MARK_PAGE - 1);
		unsigned part = MARK_PAGE - from < len ? MARK_PAGE - from : (unsigned)len;
		struct byte_mark *mark =
			marks_mark_of(m, pa >> MARK_SHIFT, part == MARK_PAGE);

		if (!mark) {
			m->failed = true;
		} else if (part == MARK_PAGE) {
			free(mark->bytes);
			mark->bytes = NULL;
		} else if (mark->bytes) {
			mark_bits(mark->bytes, from, part);
		}
		pa += part;
		len -= part;
	}
}

void marks_room(struct byte_marks *m, uint64_t pa, uint64_t len)
{
	uint64_t last = (pa + (len - 1)) >> MARK_SHIFT;

	for (uint64_t nr = pa >> MARK_SHIFT; len && nr <= last; nr++)
		m->failed |= !marks_mark_of(m, nr, false);
}

void marks_sort(struct byte_marks *m)
{
	SORT(m->v, m->n, sorted_by_u64);
	table_deinit(&m->by_nr);
}

void mark_clear(const struct byte_mark *m, unsigned from, uint8_t *bytes, unsigned len)
{
	for (unsigned i = 0; m->bytes && i < len; i++)
		if (!(m->bytes[(from + i) / 8] >> ((from + i) & 7) & 1))
			bytes[i] = 0;
}

bool marks_limit(struct byte_marks *m, size_t i, const uint8_t have[MARK_BITMAP])
{
	uint8_t *bytes = m->v[i].bytes;
	unsigned left = 0;

	if (!bytes) {
		for (unsigned k = 0; k < MARK_BITMAP; k++)
			left += have[k] == 0xff;
		if (left == MARK_BITMAP)
			return true;
		bytes = m->v[i].bytes = malloc(MARK_BITMAP);
		if (!bytes) {
			m->failed = true;
			return true;
		}
		memset(bytes, 0xff, MARK_BITMAP);
	}
	left = 0;
	for (unsigned k = 0; k < MARK_BITMAP; k++)
		left |= bytes[k] &= have[k];
	return left;
}

uint64_t marks_bytes(const struct byte_marks *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (!m->v[i].bytes) {
			n += MARK_PAGE;
			continue;
		}
		for (unsigned k = 0; k < MARK_BITMAP; k++)
			n += (unsigned)__builtin_popcount(m->v[i].bytes[k]);
	}
	return n;
}
