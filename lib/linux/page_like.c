/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_like.c - cache of decoded struct pages. Most pages equal one of few others, and
 * comparing five words is cheaper than decoding them.
 */
#include "base/cleanup.h"
#include "base/hash.h"
#include "linux/kpf.h"
#include "linux/memmap.h"

enum { MAPPING_BITS = 3 };       /* ANON and KSM */
enum { KINDS_MOST = 4096 };      /* as many as are read together */

static int32_t like_i32(const uint8_t *p, uint32_t at)
{
	return (int32_t)get_le32(p + at);
}

/* Reads the words that determine the result; false: this kind of page is not cached. */
static bool like_of(const struct page_abi *a, const uint8_t *p, struct page_like *ret)
{
	uint64_t info = get_le64(p + a->head);

	*ret = (struct page_like){
		.flags = get_le64(p + a->flags) & a->matter, .info = info & 1 ? info : 0,
		.mapcount = get_le32(p + a->mapcount), .end = UINT64_MAX,
	};
	/* A page type would be lower. */
	if (ret->info)
		return like_i32(p, a->mapcount) >= -1;
	ret->mapping = get_le64(p + a->mapping) & MAPPING_BITS;
	return !(ret->flags & (a->has_head | a->reserved | a->slab_flag | a->hwpoison)) &&
	       like_i32(p, a->mapcount) >= 0 && like_i32(p, a->refcount) > 0;
}

static bool like_in_folio(struct page_like *l, const struct lnx_page *page)
{
	l->head = page->head;
	l->end = page->head + ((uint64_t)1 << (page->order & 31));
	return page->have_order && page->head < page->pfn && page->pfn < l->end;
}

bool memmap_like(struct atw_memmap *m, const struct lnx_page *page, struct page_like *ret)
{
	uint64_t n;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, page->pfn, &n);

	return p && !memmap_is_zero(m, page->pfn) && like_of(&m->abi, p, ret) &&
	       (!ret->info || like_in_folio(ret, page));
}

/* ---- the cache ---- */

static struct page_memo *page_like_memo_of(struct atw_memmap *m,
					   const struct page_like *l)
{
	uint64_t x = l->flags ^ l->info ^ l->mapcount ^ (uint64_t)l->mapping << 7;

	x ^= x >> 32;
	x ^= x >> 16;
	return &m->memo[(x ^ x >> 8 ^ x >> 4) % PAGE_MEMOS];
}

/* Heads of folios change, and are re-read when tails are. */
static bool page_like_memo_holds(const struct atw_memmap *m, const struct page_memo *o,
				 const struct page_like *l, uint64_t pfn)
{
	if (!o->like.end || o->like.flags != l->flags || o->like.info != l->info ||
	    o->like.mapcount != l->mapcount || o->like.mapping != l->mapping)
		return false;
	return !l->info || (pfn > o->page.head && pfn < o->like.end &&
			    o->reads == memmap_reads(&m->where));
}

bool memmap_recall(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret)
{
	const struct page_abi *a = &m->abi;
	const struct page_memo *o;
	struct page_like l;
	uint64_t n;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn, &n);

	/* What is reserved may be a page of zeroes that was not recognised yet. */
	if (!p || memmap_is_zero(m, pfn) || !like_of(a, p, &l) || l.flags & a->reserved)
		return false;
	o = page_like_memo_of(m, &l);
	if (!page_like_memo_holds(m, o, &l, pfn))
		return false;
	*ret = o->page;
	ret->pfn = pfn;
	ret->raw = get_le64(p + a->flags);
	ret->have_node = nodes_find(&m->nodes, pfn, &ret->node);
	if (l.info)
		return true;
	ret->head = pfn;
	ret->mapping = get_le64(p + a->mapping);
	ret->refcount = like_i32(p, a->refcount);
	return true;
}

int atw_memmap_page(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret,
		      struct atw_err *err)
{
	struct page_like l;
	const uint8_t *p;
	uint64_t n;
	int r;

	if (memmap_recall(m, pfn, ret))
		return ATW_OK;
	r = memmap_page(m, pfn, ret, err);
	p = r == ATW_OK ? memmap_at_hand(m->kmem, &m->where, pfn, &n) : NULL;
	if (p && !memmap_is_zero(m, pfn) && like_of(&m->abi, p, &l) &&
	    (!l.info || like_in_folio(&l, ret)))
		*page_like_memo_of(m, &l) = (struct page_memo){ l, *ret, memmap_reads(&m->where) };
	return r;
}

/* ---- adjacent frames ---- */

static bool page_like_is(const struct page_abi *a, const struct page_like *l,
			 const uint8_t *p)
{
	uint64_t info = get_le64(p + a->head);

	if ((get_le64(p + a->flags) & a->matter) != l->flags ||
	    get_le32(p + a->mapcount) != l->mapcount)
		return false;
	if (l->info)
		return info == l->info;
	return !(info & 1) && (get_le64(p + a->mapping) & MAPPING_BITS) == l->mapping &&
	       like_i32(p, a->refcount) > 0;
}

/* Zero pages are recognised by their frame numbers. */
static uint64_t like_before_zeroes(const struct zero_pages *z, uint64_t pfn, uint64_t n)
{
	if (z->known && z->pfn - pfn < n)
		n = z->pfn - pfn;
	if (z->huge_known && z->huge - pfn < n)
		n = z->huge - pfn;
	return z->huge_known && pfn - z->huge < z->huge_pages ? 0 : n;
}

uint64_t memmap_same(struct atw_memmap *m, const struct page_like *like, uint64_t pfn, uint64_t n)
{
	const struct page_abi *a = &m->abi;
	uint64_t done = 0, here = 0;

	n = like_before_zeroes(&m->zero, pfn, n);
	if (pfn >= like->end || (like->info && pfn <= like->head))
		return 0;
	n = n < like->end - pfn ? n : like->end - pfn;
	while (done < n) {
		const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn + done, &here);
		uint64_t i = 0, end = here < n - done ? here : n - done;

		if (!p)
			break;
		while (i < end && page_like_is(a, like, p + i * m->where.size))
			i++;
		done += i;
		if (i < end)
			break;
	}
	return done;
}

/* As like_before_zeroes(), of frames in descending order. */
static uint64_t like_behind_zeroes(const struct zero_pages *z, uint64_t pfn, uint64_t n)
{
	if (z->known && pfn - z->pfn < n)
		n = pfn - z->pfn;
	if (z->huge_known && pfn >= z->huge)
		n = pfn - z->huge < z->huge_pages
			    ? 0 : MIN(n, pfn - z->huge - z->huge_pages + 1);
	return n;
}

uint64_t memmap_same_down(struct atw_memmap *m, const struct page_like *like, uint64_t pfn,
			  uint64_t n)
{
	const uint32_t size = m->where.size;
	uint64_t done = 0, here;

	n = like->info ? 0 : like_behind_zeroes(&m->zero, pfn, n);
	while (done < n) {
		/* Struct pages of a block are at hand together. */
		uint64_t at = pfn - done, part = MIN(at % MEMMAP_BLOCK + 1, n - done), i = 0;
		const uint8_t *p = memmap_at_hand(m->kmem, &m->where, at - part + 1, &here);

		if (p && here >= part) {
			p += (part - 1) * size;
		} else {
			p = memmap_at_hand(m->kmem, &m->where, at, &here);
			part = 1;
		}
		while (p && i < part && page_like_is(&m->abi, like, p - i * size))
			i++;
		done += i;
		if (!p || i < part)
			break;
	}
	return done;
}

/* ---- kinds of small pages ---- */

/*
 * The words that atw_memmap_kind() depends on: of a page of its own, in use, without a page
 * type. Which of them a process maps how often does not matter.
 */
static inline bool like_kind_of(const struct page_abi *a, const uint8_t *p, struct page_like *ret)
{
	int32_t mapcount = like_i32(p, a->mapcount);

	*ret = (struct page_like){
		.flags = get_le64(p + a->flags) & a->of_kind, .end = UINT64_MAX,
		.mapcount = mapcount >= 0, .mapping = get_le64(p + a->mapping) & MAPPING_BITS,
	};
	return mapcount >= -1 && like_i32(p, a->refcount) > 0 && !(get_le64(p + a->head) & 1) &&
	       !(ret->flags & (a->has_head | a->slab_flag));
}

static bool like_kind_is(const struct page_like *a, const struct page_like *b)
{
	return a->flags == b->flags && a->mapcount == b->mapcount && a->mapping == b->mapping;
}

/*
 * Frames behind pfn, as far as their bytes are available without a read, of that kind. The
 * first `here` of them are at p.
 */
static uint64_t like_kind_behind(struct atw_memmap *m, const struct page_like *kind, uint64_t pfn,
				 const uint8_t *p, uint64_t here)
{
	const uint64_t n = like_before_zeroes(&m->zero, pfn + 1, KINDS_MOST);
	struct page_like next;
	uint64_t done = 0;

	for (; done < n; here = 0) {
		uint64_t i = 0, end;

		if (!here)
			p = memmap_at_hand(m->kmem, &m->where, pfn + 1 + done, &here);
		if (!p)
			break;
		end = MIN(here, n - done);
		while (i < end && like_kind_of(&m->abi, p + i * m->where.size, &next) &&
		       like_kind_is(kind, &next))
			i++;
		done += i;
		if (i < end)
			break;
	}
	return done;
}

int memmap_kind_like(struct atw_memmap *m, uint64_t pfn, bool inside, struct lnx_page_kind *ret,
		     struct atw_err *err)
{
	struct page_kind_memo *o;
	struct page_like l;
	uint64_t n;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn, &n);
	int r;

	if (!p || memmap_is_zero(m, pfn) || !like_kind_of(&m->abi, p, &l))
		return memmap_kind(m, pfn, p, inside, ret, err);
	o = &m->kind_memo[hash_u64(l.flags ^ (uint64_t)l.mapping << 62 ^ (uint64_t)l.mapcount << 61) %
			  KIND_MEMOS];
	if (!o->like.end || !like_kind_is(&o->like, &l)) {
		r = memmap_kind(m, pfn, p, inside, ret, err);
		if (r != ATW_OK)
			return r;
		*o = (struct page_kind_memo){ l, *ret };
		/* What was at hand may have been replaced. */
		n = 1;
	}
	*ret = o->kind;
	ret->same = 1 + like_kind_behind(m, &l, pfn, p + m->where.size, n - 1);
	return ATW_OK;
}
