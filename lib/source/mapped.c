// SPDX-License-Identifier: GPL-2.0-or-later
/* mapped.c - operations of sources with memory that lies unpacked in a mapped file. */
#include "source/mapped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/message.h"

enum { MANY = 65536, PAGE = 4096 };
/* Smaller holes are data. */
enum { HOLE_MIN = 1 << 20 };

int mapped_open(struct atw_source *s, const struct atw_source_spec *spec,
		size_t size, struct atw_err *err)
{
	struct mapped *m = calloc(1, size);
	int r;

	if (!m)
		return atw_err_nomem(err);
	s->impl = m;
	if (spec->nparts)
		return atw_err_set(err, ATW_E_USAGE,
			"is not one part of a split set: only kdump-compressed dumps are split");
	r = file_open(spec->path, &m->file, err);
	m->view = view_direct(m->file.map);
	return r;
}

int mapped_unflatten(struct mapped *m, struct atw_err *err)
{
	return view_open(m->file.map, &m->view, err);
}

void mapped_close(struct atw_source *s)
{
	struct mapped *m = s->impl;

	if (!m)
		return;
	extents_deinit(&m->map);
	file_holes_deinit(&m->holes);
	view_deinit(&m->view);
	file_close(&m->file);
	free(m);
	s->impl = NULL;
}

int mapped_add(struct mapped *m, uint64_t start, uint64_t len, uint64_t off,
	       uint64_t *missing, struct atw_err *err)
{
	uint64_t size = m->view.size, end;

	if (!add_u64(off, len, &end))
		return atw_err_set(err, ATW_E_DAMAGED,
			"offset 0x%" PRIx64 " + size 0x%" PRIx64 " does not fit 64 bits",
			off, len);
	if (end > size && end - size > *missing)
		*missing = end - size;
	/* One run, but for files that were flattened. */
	while (off < end && off < size) {
		const void *p;
		uint64_t n = view_run(&m->view, off, &p);
		int r = ATW_OK;

		n = MIN(n, end - off);
		/* Segments that lie on each other, times pieces, is a lot. */
		if (view_flattened(&m->view) && m->map.n > 4 * m->view.npieces + MANY)
			return atw_err_set(err, ATW_E_DAMAGED,
				"its segments overlap in more than %zu pieces", m->map.n);
		if (n)
			r = extents_add(&m->map, start, n,
				(uint64_t)((const char *)p - (const char *)m->file.map.data),
				ATW_DATA, err);
		else
			n = view_gap(&m->view, off);
		if (r < 0)
			return r;
		start += n;
		off += n;
	}
	return ATW_OK;
}

void mapped_truncated(struct mapped *m, uint64_t missing)
{
	if (missing)
		snprintf(m->truncated, sizeof(m->truncated),
			 _("ends %" PRIu64 " bytes short; is it still being written?"),
			 missing);
}

ssize_t mapped_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
		    struct atw_err *err)
{
	size_t done = 0;

	/* Neighbours in memory may lie apart in the file. */
	while (done < len) {
		const void *p;
		ssize_t n = mapped_peek(s, ATW_PA(pa.u + done), len - done, &p, err);

		if (n <= 0)
			break;
		memcpy((char *)buf + done, p, (size_t)n);
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t mapped_peek(struct atw_source *s, atw_pa pa, size_t len,
		    const void **ret, struct atw_err *err)
{
	struct mapped *m = s->impl;
	const struct extent *e = extents_find(&m->map, pa.u);
	uint64_t in, left;

	if (!e || (e->kind != ATW_DATA && e->kind != ATW_ZERO))
		return 0;
	in = pa.u - e->start;
	left = e->len - in;
	*ret = (const char *)m->file.map.data + e->off + in;
	return (ssize_t)(len < left ? len : left);
}

/*
 * The part of a hole of the file that memory of `e` has. Only whole pages of memory belong
 * to it: searches look at the pages of data as a whole.
 */
static bool mapped_hole(const struct extent *e, const struct file_hole *h, uint64_t *ret_start,
			uint64_t *ret_end)
{
	uint64_t first = h->start > e->off ? h->start - e->off : 0;
	uint64_t last = h->end - e->off < e->len ? h->end - e->off : e->len;

	*ret_start = e->start + first + (-(e->start + first) & (PAGE - 1));
	*ret_end = e->start + last - ((e->start + last) & (PAGE - 1));
	return first < last && *ret_end > *ret_start && *ret_end - *ret_start >= HOLE_MIN;
}

/*
 * Large holes of the file are zeroes, which searches leave out. Reads do not distinguish
 * them: page tables would lie in as many extents as there are holes between them.
 */
int mapped_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct mapped *m = s->impl;
	const struct extent *e = extents_find(&m->map, pa.u);
	uint64_t off, start, end;

	if (!e || e->kind != ATW_DATA)
		return extents_extent(&m->map, pa, ret);
	if (!m->holes_sought) {
		m->holes_sought = true;
		file_holes_find(&m->file, 0, m->file.map.len, HOLE_MIN, &m->holes, NULL);
	}
	off = e->off + (pa.u - e->start);
	*ret = (struct atw_extent){pa, e->start + e->len - pa.u, ATW_DATA};
	for (size_t i = file_holes_from(&m->holes, off);
	     i < m->holes.n && m->holes.v[i].start < e->off + e->len; i++) {
		if (!mapped_hole(e, &m->holes.v[i], &start, &end) || pa.u >= end)
			continue;
		if (pa.u < start)
			ret->len = start - pa.u;
		else
			*ret = (struct atw_extent){pa, end - pa.u, ATW_ZERO};
		break;
	}
	return ATW_OK;
}

int mapped_fact(struct atw_source *s, const char *key, struct atw_blob *ret)
{
	struct mapped *m = s->impl;

	const struct source_fact facts[] = {
		{ "stored", &m->file.map.len, sizeof(m->file.map.len) },
		{ "truncated", m->truncated, strlen(m->truncated) },
	};

	return source_fact_of(facts, ARRAY_SIZE(facts), key, ret);
}

void mapped_describe(struct atw_source *s, char *buf, size_t len)
{
	struct mapped *m = s->impl;

	snprintf(buf, len, "%s", m->what);
}
