/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap_links.c - is a page without references in a per-CPU list of free pages?
 *
 * mm/page_alloc.c: free pages that a CPU keeps are in lists by order; page->pcp_list links
 * the first page of each. Nothing else marks them: pages behind the first one of an
 * allocation without __GFP_COMP look the same, with list pointers that are left over or
 * poisoned. So a page is in a list if the entry behind it leads back to it, and pages behind
 * it, up to its alignment, are of the same block of free pages if they have no link of
 * their own: an allocation would begin with a page that has a reference.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "linux/memmap.h"

/* One that is not settled after so many reads of a running machine goes on moving. */
enum { TRIES = 4 };
/* Items of a read: kmem_ahead has room for twice as many. */
enum { LINKS_AT_ONCE = 512 };
/* Per-CPU lists have blocks of up to pageblock_order, 13 with pages of 64 KiB. */
enum { LINKS_ORDERS = 14 };

enum memmap_link { LINK_NONE, LINK_BOTH, LINK_UNSURE, LINK_OPEN };

struct memmap_link_of {
	uint64_t pfn, own, next;         /* address of its list node, and of the next one */
	enum memmap_link link;
};

struct memmap_links {
	struct kmem_ahead *ahead;
	struct memmap_link_of *v;        /* pages without references in these frames */
	size_t n, cap, near;
	uint64_t first, end;
	uint64_t block, behind;          /* the last block that began, and the last frame + 1 */
	enum memmap_idle state;          /* of that block */
};

void memmap_links_destroy(struct memmap_links *l)
{
	if (!l)
		return;
	kmem_ahead_destroy(l->ahead);
	free(l->v);
	free(l);
}

static struct memmap_links *memmap_links_of(struct atw_memmap *m)
{
	struct memmap_links *l = m->links ? m->links : calloc(1, sizeof(*l));

	m->links = l;
	if (l && !l->ahead)
		l->ahead = kmem_ahead_create(m->kmem);
	return l && l->ahead ? l : NULL;
}

/* Pointers of the kernel, but for LIST_POISON1 and 2. Entries that are alone are in no list. */
static enum memmap_link links_first_look(uint64_t own, uint64_t next)
{
	return next == own || next >> 56 != 0xff || next & 7 ? LINK_NONE : LINK_OPEN;
}

/* The entries behind those that are open: do they lead back? */
static void links_read_next(struct atw_memmap *m, struct memmap_link_of *v, size_t n)
{
	struct kmem_ahead *a = m->links->ahead;
	const bool live = kmem_is_live(m->kmem);

	kmem_ahead_forget(a);
	for (size_t i = 0; i < n; i++)
		if (v[i].link == LINK_OPEN)
			kmem_ahead_add(a, v[i].next + 8, 8);
	kmem_ahead_read(a);
	for (size_t i = 0; i < n; i++) {
		const void *prev;
		atw_pa pa;

		if (v[i].link != LINK_OPEN)
			continue;
		prev = kmem_ahead_find(a, v[i].next + 8, 8);
		if (prev && get_le64(prev) == v[i].own)
			v[i].link = LINK_BOTH;
		else if (!live && !prev && kmem_physical(m->kmem, v[i].next + 8, &pa, NULL) == ATW_OK)
			v[i].link = LINK_UNSURE;  /* the dump lacks it */
		else if (!live || !prev)
			v[i].link = LINK_NONE;
	}
}

/* Those that are still open may have moved after they were read. */
static void links_read_again(struct atw_memmap *m, struct memmap_link_of *v, size_t n)
{
	struct kmem_ahead *a = m->links->ahead;

	kmem_ahead_forget(a);
	for (size_t i = 0; i < n; i++)
		if (v[i].link == LINK_OPEN)
			kmem_ahead_add(a, v[i].own, 8);
	kmem_ahead_read(a);
	for (size_t i = 0; i < n; i++) {
		const void *next = v[i].link == LINK_OPEN ? kmem_ahead_find(a, v[i].own, 8) : NULL;

		if (v[i].link != LINK_OPEN)
			continue;
		if (next && get_le64(next) == v[i].next)
			v[i].link = LINK_NONE;
		else if (!next || links_first_look(v[i].own, get_le64(next)) == LINK_NONE)
			v[i].link = LINK_UNSURE;
		else
			v[i].next = get_le64(next);
	}
}

static void links_settle(struct atw_memmap *m, struct memmap_link_of *v, size_t n)
{
	for (unsigned i = 0; i < TRIES; i++) {
		size_t open = 0;

		for (size_t k = 0; k < n; k++)
			open += v[k].link == LINK_OPEN;
		if (!open)
			return;
		if (i)
			links_read_again(m, v, n);
		links_read_next(m, v, n);
	}
	for (size_t k = 0; k < n; k++)
		if (v[k].link == LINK_OPEN)
			v[k].link = LINK_UNSURE;
}

static struct memmap_link_of links_make(struct atw_memmap *m, uint64_t pfn, const uint8_t *page)
{
	uint64_t own = memmap_address(m->kmem, &m->where, pfn) + m->abi.list;
	uint64_t next = get_le64(page + m->abi.list);

	return (struct memmap_link_of){ pfn, own, next, links_first_look(own, next) };
}

/* Adds those of `n` frames that may be in a list. Returns the frames passed; 0: no memory. */
static uint64_t links_add(struct atw_memmap *m, uint64_t pfn, const uint8_t *page, uint64_t n,
			  struct atw_err *err)
{
	struct memmap_links *l = m->links;
	uint64_t i, step;

	for (i = 0; i < n; i += step) {
		const uint8_t *p = page + i * m->where.size;
		uint64_t block = memmap_free_block(&m->abi, p);

		/* Frames inside of a free block, which ends at its alignment, are not looked up. */
		step = block ? block - (pfn + i) % block : 1;
		if (!memmap_is_idle(&m->abi, p))
			continue;
		if (!ARRAY_ROOM(l->v, l->n, l->cap)) {
			atw_err_nomem(err);
			return 0;
		}
		l->v[l->n++] = links_make(m, pfn + i, p);
	}
	return i;
}

/* All frames from pfn on that were announced, many in one read. */
static int links_look(struct atw_memmap *m, uint64_t pfn, struct atw_err *err)
{
	struct memmap_links *l = m->links;
	uint8_t buf[PAGE_STRUCT_MAX];
	uint64_t end = pfn < m->announced ? m->announced : pfn + 1, here = 0, done;

	l->n = l->near = 0;
	for (l->first = l->end = pfn; l->end < end; l->end += done) {
		const uint8_t *p = memmap_at_hand(m->kmem, &m->where, l->end, &here);

		if (!p && l->end == pfn) {
			p = memmap_bytes(m->kmem, &m->where, pfn, buf, NULL);
			here = 1;
		}
		if (!p)
			break;
		done = links_add(m, l->end, p, MIN(here, end - l->end), err);
		if (!done)
			return ATW_E_NOMEM;
	}
	for (size_t i = 0; i < l->n; i += LINKS_AT_ONCE)
		links_settle(m, l->v + i, MIN(l->n - i, (size_t)LINKS_AT_ONCE));
	return ATW_OK;
}

static enum memmap_idle links_state(enum memmap_link link)
{
	return link == LINK_BOTH ? IDLE_FREE : link == LINK_NONE ? IDLE_KERNEL : IDLE_UNSURE;
}

/* The first frame of a listing: the block that it is in may begin before it. */
static void links_look_back(struct atw_memmap *m, uint64_t pfn)
{
	struct memmap_links *l = m->links;

	for (unsigned order = 1; order < LINKS_ORDERS; order++) {
		uint64_t first = pfn & ~(((uint64_t)1 << order) - 1);
		uint8_t buf[PAGE_STRUCT_MAX];
		const uint8_t *p = memmap_bytes(m->kmem, &m->where, first, buf, NULL);
		struct memmap_link_of link;

		if (first == pfn)
			continue;
		if (!p || !memmap_is_idle(&m->abi, p))
			return;
		link = links_make(m, first, p);
		links_settle(m, &link, 1);
		if (link.link != LINK_NONE) {
			l->block = first;
			l->state = links_state(link.link);
			return;
		}
	}
}

/* Blocks are aligned to their size. */
static bool links_in_block(const struct memmap_links *l, uint64_t pfn)
{
	uint64_t most = (uint64_t)1 << (LINKS_ORDERS - 1), align = l->block & -l->block;

	return pfn - l->block < (align && align < most ? align : most);
}

int memmap_idle(struct atw_memmap *m, uint64_t pfn, bool inside, enum memmap_idle *ret,
		struct atw_err *err)
{
	struct memmap_links *l = memmap_links_of(m);
	enum memmap_link link = LINK_UNSURE;
	int r = ATW_OK;

	if (!l)
		return atw_err_nomem(err);
	if (inside || pfn < l->first || pfn >= l->end)
		r = links_look(m, pfn, err);
	if (r != ATW_OK)
		return r;
	while (l->near < l->n && l->v[l->near].pfn < pfn)
		l->near++;
	if (l->near < l->n && l->v[l->near].pfn == pfn)
		link = l->v[l->near].link;
	if (link != LINK_NONE || inside || l->behind != pfn || !links_in_block(l, pfn)) {
		l->block = pfn;
		l->state = links_state(link);
	}
	if (link == LINK_NONE && inside)
		links_look_back(m, pfn);
	l->behind = pfn + 1;
	*ret = l->state;
	return ATW_OK;
}
