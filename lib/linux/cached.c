// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cached.c - pages of the page cache by address_space and node.
 *
 * Frames are added in their order, so that struct pages that were read for another purpose
 * are used once more. Inodes are read behind the last frame.
 */
#include "linux/cached.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sorted.h"
#include "linux/memmap.h"

enum { FOLIO_ORDER_MAX = 18 };   /* a gigantic page of 1 GiB */

struct cached_sum {
	uint64_t mapping;
	uint32_t node;                   /* UINT32_MAX: not known */
	uint64_t pages, dirty;
};

/* A file, and its sums. */
struct cached_one {
	struct cached_file f;
	size_t name;                     /* 1 + offset in `names`; 0: none */
	size_t first, n;
};

struct cached_files {
	struct cached_sum *v;
	size_t n, cap;
	struct table table;              /* 1 + index, by mapping and node */
	size_t last;                     /* index of the last one */
	struct buf names;
};

struct cached_files *cached_create(void)
{
	return calloc(1, sizeof(struct cached_files));
}

void cached_destroy(struct cached_files *c)
{
	if (!c)
		return;
	free(c->v);
	table_deinit(&c->table);
	buf_deinit(&c->names);
	free(c);
}

/* ---- pages ---- */

/* The bytes of a struct page that is a folio of its own. */
static bool cached_is_small(const struct page_abi *a, const uint8_t *p)
{
	return !(get_le64(p + a->head) & 1) && !(get_le64(p + a->flags) & a->has_head);
}

/*
 * The address_space of a frame, 0: none any more; returns the number of frames from it on,
 * `n` at most, that have the same.
 */
static uint64_t cached_mapping(struct atw_memmap *m, uint64_t pfn, uint64_t n, uint64_t *ret)
{
	const struct page_abi *a = &m->abi;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn, ret);
	struct lnx_page page;
	uint64_t here = p ? MIN(*ret, n) : 0, same = 1;

	*ret = 0;
	if (p && cached_is_small(a, p)) {
		*ret = get_le64(p + a->mapping);
		for (; same < here; same++) {
			p += m->where.size;
			if (!cached_is_small(a, p) || get_le64(p + a->mapping) != *ret)
				break;
		}
	} else if (atw_memmap_page(m, pfn, &page, NULL) == ATW_OK) {
		*ret = page.mapping;
		if (page.have_order && page.order && page.order <= FOLIO_ORDER_MAX)
			same = page.head + ((uint64_t)1 << page.order) - pfn;
	}
	/* ANON, KSM and movable pages of drivers. */
	if (*ret & 7)
		*ret = 0;
	return MAX(MIN(same, n), (uint64_t)1);
}

static struct cached_sum *cached_sum_of(struct cached_files *c, uint64_t mapping, uint32_t node)
{
	const uint64_t key = hash_two(mapping, node);
	const struct table_slot *at = NULL;

	if (c->n && c->v[c->last].mapping == mapping && c->v[c->last].node == node)
		return &c->v[c->last];
	while ((at = table_next(&c->table, key, at))) {
		c->last = at->value - 1;
		if (c->v[c->last].mapping == mapping && c->v[c->last].node == node)
			return &c->v[c->last];
	}
	if (!ARRAY_ROOM(c->v, c->n, c->cap) || !table_add(&c->table, key, c->n + 1))
		return NULL;
	c->last = c->n++;
	c->v[c->last] = (struct cached_sum){ .mapping = mapping, .node = node };
	return &c->v[c->last];
}

int cached_add(struct cached_files *c, struct atw_memmap *m, uint64_t pfn, uint64_t n, bool dirty,
	       struct atw_err *err)
{
	for (uint64_t len; n; pfn += len, n -= len) {
		uint64_t mapping, same = 0;
		uint32_t node = UINT32_MAX;
		struct cached_sum *s;

		len = cached_mapping(m, pfn, n, &mapping);
		if (!mapping)
			continue;
		if (!atw_memmap_node(m, pfn, len, &node, &same))
			node = UINT32_MAX;
		len = same && same < len ? same : len;
		s = cached_sum_of(c, mapping, node);
		if (!s)
			return atw_err_nomem(err);
		s->pages += len;
		s->dirty += dirty ? len : 0;
	}
	return ATW_OK;
}

/* ---- files ---- */

static int cached_by_mapping(const void *a, const void *b)
{
	const struct cached_sum *x = a, *y = b;

	return ORDER(x->mapping, y->mapping) ?: ORDER(x->node, y->node);
}

static int cached_by_inode(const void *a, const void *b)
{
	const struct cached_one *x = a, *y = b;

	return ORDER(x->f.major, y->f.major) ?: ORDER(x->f.minor, y->f.minor) ?:
	       ORDER(x->f.inode, y->f.inode) ?: ORDER(x->first, y->first);
}

/* Sums of one address_space from index i on; returns the index behind them. */
static size_t cached_end(const struct cached_files *c, size_t i)
{
	size_t end = i;

	while (end < c->n && c->v[end].mapping == c->v[i].mapping)
		end++;
	return end;
}

static void cached_soon(const struct cached_files *c, struct cached_reader *reader, size_t i)
{
	uint64_t mapping[CACHED_SOON];
	size_t n = 0;

	for (; i < c->n && n < CACHED_SOON; i = cached_end(c, i))
		mapping[n++] = c->v[i].mapping;
	cached_reader_soon(reader, mapping, n);
}

/* Returns the number of files; *lost: pages of others. */
static size_t cached_find(struct cached_files *c, struct cached_reader *reader,
			  struct cached_one *o, uint64_t *lost)
{
	size_t n = 0, files = 0;

	for (size_t i = 0, end; i < c->n; i = end, files++) {
		struct cached_one *x = &o[n];

		if (files % CACHED_SOON == 0)
			cached_soon(c, reader, i);
		end = cached_end(c, i);
		*x = (struct cached_one){ .first = i, .n = end - i };
		if (!cached_reader_file(reader, c->v[i].mapping, &x->f)) {
			for (size_t k = i; k < end; k++)
				*lost += c->v[k].pages;
			continue;
		}
		if (x->f.name)
			x->name = 1 + buf_keep(&c->names, x->f.name, strlen(x->f.name));
		n++;
	}
	return n;
}

static int cached_tell(const struct cached_files *c, const struct cached_one *o, cached_fn *fn,
		       void *arg, struct atw_err *err)
{
	struct cached_file f = o->f;
	int r = ATW_OK;

	f.name = o->name ? c->names.data + (o->name - 1) : NULL;
	for (size_t i = o->first; i < o->first + o->n && r == ATW_OK; i++) {
		f.pages = c->v[i].pages;
		f.dirty = c->v[i].dirty;
		f.has_node = c->v[i].node != UINT32_MAX;
		f.node = c->v[i].node;
		r = fn(arg, &f, err);
	}
	return r;
}

int cached_each(struct cached_files *c, struct atw_kernel *k, cached_fn *fn, void *arg,
		uint64_t *lost, struct atw_err *err)
{
	struct cached_reader *reader = NULL;
	_auto_free struct cached_one *o = calloc(c->n + 1, sizeof(*o));
	size_t n = 0;
	int r = o ? cached_reader_open(k, &reader, err) : atw_err_nomem(err);

	*lost = 0;
	if (r == ATW_OK) {
		/* No more frames follow. */
		table_deinit(&c->table);
		SORT(c->v, c->n, cached_by_mapping);
		n = cached_find(c, reader, o, lost);
		SORT(o, n, cached_by_inode);
	}
	cached_reader_close(reader);
	if (c->names.failed)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = cached_tell(c, &o[i], fn, arg, err);
	return r;
}
