/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_sort.c - external merge sort of page runs. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sorted.h"
#include "report/page_sort.h"

/* Records read at once from each part. */
enum { AHEAD = 1024 };

struct page_part {
	uint64_t at, left;               /* records: position in the file, remaining
					  * number */
	struct page_rec *v;
	size_t n, next;
};

void page_sort_deinit(struct page_sort *s)
{
	for (size_t i = 0; i < s->nparts; i++)
		free(s->part[i].v);
	free(s->part);
	free(s->heap);
	free(s->v);
	if (s->file)
		fclose(s->file);
	*s = (struct page_sort){ 0 };
}

/* A page in several areas belongs to the first one; `pages` makes the order total. */
static int page_sort_compare(const void *a, const void *b)
{
	const struct page_rec *x = a, *y = b;

	return ORDER(x->pa, y->pa) ?: ORDER(x->area, y->area) ?:
	       ORDER(x->pages, y->pages);
}

static void page_sort_sort(struct page_sort *s)
{
	SORT(s->v, s->n, page_sort_compare);
}

static int page_sort_transfer(struct page_sort *s, struct page_rec *v, size_t n,
			      uint64_t at, bool out, struct atw_err *err)
{
	char *p = (char *)v;
	size_t len = n * sizeof(*v);
	off_t off = (off_t)(at * sizeof(*v));

	while (len) {
		ssize_t got = out ? pwrite(fileno(s->file), p, len, off)
				  : pread(fileno(s->file), p, len, off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return atw_err_set(err, ATW_E_IO,
					   out ? "pages: a temporary file cannot be written: %m"
					       : "pages: a temporary file cannot be read: %m");
		p += got;
		off += got;
		len -= (size_t)got;
	}
	return ATW_OK;
}

static int page_sort_spill(struct page_sort *s, struct atw_err *err)
{
	struct page_part p = { .left = s->n };
	int r;

	if (!s->file)
		s->file = tmpfile();
	if (!s->file)
		return atw_err_set(err, ATW_E_IO, "pages: no temporary file can be made: %m");
	if (s->nparts)
		p.at = s->part[s->nparts - 1].at + s->part[s->nparts - 1].left;
	if (!ARRAY_ROOM(s->part, s->nparts, s->parts_cap))
		return atw_err_nomem(err);
	page_sort_sort(s);
	r = page_sort_transfer(s, s->v, s->n, p.at, true, err);
	if (r != ATW_OK)
		return r;
	s->part[s->nparts++] = p;
	s->n = 0;
	return ATW_OK;
}

int page_sort_add(struct page_sort *s, const struct page_rec *rec, struct atw_err *err)
{
	int r;

	if (!s->most)
		s->most = PAGE_SORT_MOST;
	if (s->n == s->most) {
		r = page_sort_spill(s, err);
		if (r != ATW_OK)
			return r;
	}
	if (!ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = *rec;
	return ATW_OK;
}

/* ---- merging ---- */

static int page_sort_refill(struct page_sort *s, struct page_part *p, struct atw_err *err)
{
	size_t n = p->left < AHEAD ? (size_t)p->left : AHEAD;
	int r = page_sort_transfer(s, p->v, n, p->at, false, err);

	p->at += n;
	p->left -= n;
	p->n = n;
	p->next = 0;
	return r;
}

static bool page_sort_before(const struct page_sort *s, size_t a, size_t b)
{
	const struct page_part *x = &s->part[s->heap[a]], *y = &s->part[s->heap[b]];
	int c = page_sort_compare(&x->v[x->next], &y->v[y->next]);

	return c ? c < 0 : s->heap[a] < s->heap[b];
}

static void page_sort_sink(struct page_sort *s, size_t i)
{
	for (;;) {
		size_t least = i, t;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < s->nheap; k++)
			if (page_sort_before(s, k, least))
				least = k;
		if (least == i)
			return;
		t = s->heap[i];
		s->heap[i] = s->heap[least];
		s->heap[least] = t;
		i = least;
	}
}

int page_sort_finish(struct page_sort *s, struct atw_err *err)
{
	int r;

	if (!s->file) {
		page_sort_sort(s);
		return ATW_OK;
	}
	r = s->n ? page_sort_spill(s, err) : ATW_OK;
	free(s->v);
	s->v = NULL;
	s->cap = 0;
	s->heap = calloc(s->nparts, sizeof(*s->heap));
	if (r == ATW_OK && !s->heap)
		return atw_err_nomem(err);
	for (size_t i = 0; i < s->nparts && r == ATW_OK; i++) {
		s->part[i].v = calloc(AHEAD, sizeof(struct page_rec));
		if (!s->part[i].v)
			return atw_err_nomem(err);
		r = page_sort_refill(s, &s->part[i], err);
		s->heap[s->nheap++] = i;
	}
	for (size_t i = s->nheap; r == ATW_OK && i--;)
		page_sort_sink(s, i);
	return r;
}

int page_sort_next(struct page_sort *s, struct page_rec *ret, struct atw_err *err)
{
	struct page_part *p;
	int r = ATW_OK;

	if (!s->file) {
		if (s->at == s->n)
			return ATW_END;
		*ret = s->v[s->at++];
		return ATW_OK;
	}
	if (!s->nheap)
		return ATW_END;
	p = &s->part[s->heap[0]];
	*ret = p->v[p->next++];
	if (p->next == p->n && p->left)
		r = page_sort_refill(s, p, err);
	else if (p->next == p->n)
		s->heap[0] = s->heap[--s->nheap];
	if (r == ATW_OK)
		page_sort_sink(s, 0);
	return r;
}
