// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cached.c - pages of the page cache by address_space, cgroup and node.
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
#include "record/intern.h"

enum {
	FOLIO_ORDER_MAX = 18,            /* a gigantic page of 1 GiB */
	CGROUP_LONGEST = 4096,           /* PATH_MAX */
};

struct cached_sum {
	uint64_t mapping;
	uint64_t charge;                 /* of struct page, as memcg_path() has it; 0: none */
	const char *cgroup;              /* its path, when all frames are there; NULL: not known */
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
	struct table table;              /* 1 + index, by mapping, charge and node */
	size_t last;                     /* index of the last one */
	struct buf names;
	struct intern cgroups;
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
	intern_deinit(&c->cgroups);
	free(c);
}

/* ---- pages ---- */

/* The bytes of a struct page that is a folio of its own. */
static bool cached_is_small(const struct page_abi *a, const uint8_t *p)
{
	return !(get_le64(p + a->head) & 1) && !(get_le64(p + a->flags) & a->has_head);
}

/* What a frame belongs to. */
struct cached_of {
	uint64_t mapping;                /* address_space; 0: none any more */
	uint64_t charge;
};

static uint64_t cached_charge(const uint8_t *p, uint32_t at)
{
	return at == NEED_NONE ? 0 : get_le64(p + at);
}

/* `n` at most of the frames from this one on, which are `p`, that belong to the same. */
static uint64_t cached_small(const struct atw_memmap *m, const uint8_t *p, uint64_t n, uint32_t charge,
			     struct cached_of *ret)
{
	const struct page_abi *a = &m->abi;
	uint64_t same = 1;

	*ret = (struct cached_of){ get_le64(p + a->mapping), cached_charge(p, charge) };
	for (; same < n; same++) {
		p += m->where.size;
		if (!cached_is_small(a, p) || get_le64(p + a->mapping) != ret->mapping ||
		    cached_charge(p, charge) != ret->charge)
			break;
	}
	return same;
}

/* Only the first page of a folio has these. */
static uint64_t cached_folio(struct atw_memmap *m, uint64_t pfn, uint32_t charge,
			     struct cached_of *ret)
{
	uint8_t buf[PAGE_STRUCT_MAX];
	struct lnx_page page;
	const uint8_t *p;

	if (atw_memmap_page(m, pfn, &page, NULL) != ATW_OK)
		return 1;
	ret->mapping = page.mapping;
	p = charge == NEED_NONE ? NULL : memmap_bytes(m->kmem, &m->where, page.head, buf, NULL);
	ret->charge = p ? cached_charge(p, charge) : 0;
	return page.have_order && page.order && page.order <= FOLIO_ORDER_MAX
		       ? page.head + ((uint64_t)1 << page.order) - pfn : 1;
}

/* Returns the number of frames from pfn on, `n` at most, that belong to the same. */
static uint64_t cached_look(struct atw_memmap *m, uint64_t pfn, uint64_t n, uint32_t charge,
			    struct cached_of *ret)
{
	uint64_t here, same;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn, &here);

	*ret = (struct cached_of){ 0 };
	same = p && cached_is_small(&m->abi, p) ? cached_small(m, p, MIN(here, n), charge, ret)
						: cached_folio(m, pfn, charge, ret);
	/* ANON, KSM and movable pages of drivers. */
	if (ret->mapping & 7)
		ret->mapping = 0;
	return MAX(MIN(same, n), (uint64_t)1);
}

static bool cached_is_of(const struct cached_sum *s, const struct cached_of *of, uint32_t node)
{
	return s->mapping == of->mapping && s->charge == of->charge && s->node == node;
}

static struct cached_sum *cached_sum_of(struct cached_files *c, const struct cached_of *of,
					uint32_t node)
{
	const uint64_t key = hash_two(hash_two(of->mapping, of->charge), node);
	const struct table_slot *at = NULL;

	if (c->n && cached_is_of(&c->v[c->last], of, node))
		return &c->v[c->last];
	while ((at = table_next(&c->table, key, at))) {
		c->last = at->value - 1;
		if (cached_is_of(&c->v[c->last], of, node))
			return &c->v[c->last];
	}
	if (!ARRAY_ROOM(c->v, c->n, c->cap) || !table_add(&c->table, key, c->n + 1))
		return NULL;
	c->last = c->n++;
	c->v[c->last] = (struct cached_sum){
		.mapping = of->mapping, .charge = of->charge, .node = node
	};
	return &c->v[c->last];
}

int cached_add(struct cached_files *c, struct atw_memmap *m, uint64_t pfn, uint64_t n, bool dirty,
	       struct atw_err *err)
{
	const uint32_t charge = memcg_member(m);

	for (uint64_t len; n; pfn += len, n -= len) {
		struct cached_of of;
		uint64_t same = 0;
		uint32_t node = UINT32_MAX;
		struct cached_sum *s;

		len = cached_look(m, pfn, n, charge, &of);
		if (!of.mapping)
			continue;
		if (!atw_memmap_node(m, pfn, len, &node, &same))
			node = UINT32_MAX;
		len = same && same < len ? same : len;
		s = cached_sum_of(c, &of, node);
		if (!s)
			return atw_err_nomem(err);
		s->pages += len;
		s->dirty += dirty ? len : 0;
	}
	return ATW_OK;
}

/* ---- cgroups ---- */

static int cached_by_charge(const void *a, const void *b)
{
	const struct cached_sum *x = a, *y = b;

	return ORDER(x->charge, y->charge);
}

/* NULL is the first. */
static int cached_by_cgroup(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int cached_by_mapping(const void *a, const void *b)
{
	const struct cached_sum *x = a, *y = b;

	return ORDER(x->mapping, y->mapping) ?: cached_by_cgroup(x->cgroup, y->cgroup) ?:
	       ORDER(x->node, y->node);
}

/* Names all cgroups. Those that were removed are charged as their parent. */
static bool cached_name_cgroups(struct cached_files *c, const struct atw_memmap *m)
{
	char path[CGROUP_LONGEST];
	size_t n = 0;

	SORT(c->v, c->n, cached_by_charge);
	for (size_t i = 0; i < c->n; i++) {
		struct cached_sum *s = &c->v[i];

		if (i && s->charge == s[-1].charge)
			s->cgroup = s[-1].cgroup;
		else if (memcg_path(m, s->charge, path, sizeof(path)) &&
			 !(s->cgroup = intern_text(&c->cgroups, path, strlen(path))))
			return false;
	}
	SORT(c->v, c->n, cached_by_mapping);
	for (size_t i = 0; i < c->n; i++) {
		if (n && !cached_by_mapping(&c->v[n - 1], &c->v[i])) {
			c->v[n - 1].pages += c->v[i].pages;
			c->v[n - 1].dirty += c->v[i].dirty;
		} else {
			c->v[n++] = c->v[i];
		}
	}
	c->n = n;
	return true;
}

/* ---- files ---- */

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
		f.cgroup = c->v[i].cgroup;
		f.has_node = c->v[i].node != UINT32_MAX;
		f.node = c->v[i].node;
		r = fn(arg, &f, err);
	}
	return r;
}

int cached_each(struct cached_files *c, struct atw_memmap *m, cached_fn *fn, void *arg,
		uint64_t *lost, struct atw_err *err)
{
	struct cached_reader *reader = NULL;
	_auto_free struct cached_one *o = calloc(c->n + 1, sizeof(*o));
	size_t n = 0;
	int r = o ? cached_reader_open(m->k, &reader, err) : atw_err_nomem(err);

	*lost = 0;
	if (r == ATW_OK) {
		/* No more frames follow. */
		table_deinit(&c->table);
		r = cached_name_cgroups(c, m) ? ATW_OK : atw_err_nomem(err);
	}
	if (r == ATW_OK) {
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
