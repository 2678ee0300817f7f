/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_flags.c - page flags and counts from struct page, as /proc/kpageflags and
 * kpagecount of the same kernel have them: fs/proc/page.c, stable_page_flags(), which
 * was rewritten in 6.10 and again in 6.17.
 */
#include <inttypes.h>

#include "linux/kpf.h"
#include "linux/memmap.h"

/* Bits of page->mapping: PAGE_MAPPING_ANON, and KSM with the one above. */
#define MAPPING_ANON 1
#define MAPPING_KSM 3
/* Limit of frames in a folio: 16 GiB of 4 KiB. */
#define FOLIO_MAX ((uint64_t)1 << 22)
/* Orders of free blocks: MAX_PAGE_ORDER is 10, arm64 with 64K pages has 13. */
enum { ORDERS = 20 };

/* The struct pages of a page and its folio, as bytes. */
struct page_flags_view {
	const uint8_t *page, *head, *second;
	uint64_t pfn, head_pfn;
	uint64_t own, flags, flags2;     /* of the page, head and second page */
	bool large, tail;
};

static uint64_t page_flags_word(const uint8_t *p, uint32_t at)
{
	return get_le64(p + at);
}

/* Members of the second page have offsets from the first. */
static uint32_t page_flags_second32(const struct atw_memmap *m,
				    const struct page_flags_view *v, uint32_t at)
{
	return get_le32(v->second + (at - m->where.size));
}

/* ---- the folio of a page ---- */

/*
 * In a tail, the list pointer holds the address of its head plus 1, or since 7.1 a mask
 * that is applied to its own address (compound_info_has_mask()). A mask is all ones above
 * a bit, which no pointer is.
 */
static uint64_t page_flags_head_address(uint64_t own, uint64_t info)
{
	uint64_t bytes = -(info & ~(uint64_t)1);

	if (bytes && !(bytes & (bytes - 1)) && bytes <= FOLIO_MAX * PAGE_STRUCT_MAX)
		return own & -bytes;
	return info & ~(uint64_t)1;
}

static bool page_flags_set_head(struct atw_memmap *m, struct page_flags_view *v,
				uint64_t own, uint64_t head)
{
	uint64_t back = (own - head) / m->where.size;
	const uint8_t *p;

	if (!own || head > own || (own - head) % m->where.size || !back ||
	    back > v->pfn || back >= FOLIO_MAX)
		return false;
	p = memmap_bytes(m->kmem, &m->where, v->pfn - back, m->buf[1], NULL);
	if (!p)
		return false;
	v->head = p;
	v->head_pfn = v->pfn - back;
	return true;
}

/*
 * Up to 7.0 the struct pages of a hugetlb page's tails may be mapped to the same memory,
 * so that each first one in a page looks like the head. The struct page behind a true
 * head points back to it (page_is_fake_head()).
 */
static void page_flags_see_fake_head(struct atw_memmap *m, struct page_flags_view *v)
{
	uint64_t own = memmap_address(m->kmem, &m->where, v->pfn), info;
	const uint8_t *next;

	if (own & 4095)
		return;
	next = memmap_bytes(m->kmem, &m->where, v->pfn + 1, m->buf[2], NULL);
	info = next ? page_flags_word(next, m->abi.head) : 0;
	if (info & 1 && page_flags_head_address(own + m->where.size, info) != own &&
	    page_flags_set_head(m, v, own,
				page_flags_head_address(own + m->where.size, info)))
		v->tail = true;
}

/* The struct pages that the following functions need are read. `page`: as memmap_kind() has it. */
static int page_flags_look(struct atw_memmap *m, uint64_t pfn, const uint8_t *page,
			   struct page_flags_view *v, struct atw_err *err)
{
	const struct page_abi *a = &m->abi;
	uint64_t info;

	v->page = page ?: memmap_bytes(m->kmem, &m->where, pfn, m->buf[0], err);
	if (!v->page)
		return err ? err->status : ATW_E_MISSING;
	v->head = v->page;
	v->pfn = v->head_pfn = pfn;
	v->own = v->flags = page_flags_word(v->page, a->flags);
	v->second = NULL;
	v->flags2 = 0;
	v->large = v->tail = false;
	info = page_flags_word(v->page, a->head);
	if (!(info & 1) && !(v->own & a->has_head))
		return ATW_OK;
	if (info & 1) {
		uint64_t own = memmap_address(m->kmem, &m->where, pfn);

		v->tail = true;
		if (!page_flags_set_head(m, v, own, page_flags_head_address(own, info)))
			return atw_err_set(err, ATW_E_DAMAGED,
					   "page frame 0x%" PRIx64 " belongs to a folio without a head: compound_head is 0x%" PRIx64,
					   pfn, info);
	} else {
		page_flags_see_fake_head(m, v);
	}
	v->flags = page_flags_word(v->head, a->flags);
	v->second = memmap_bytes(m->kmem, &m->where, v->head_pfn + 1, m->buf[2], NULL);
	v->large = v->second && v->flags & a->has_head;
	if (v->large)
		v->flags2 = page_flags_word(v->second, a->flags2 - m->where.size);
	return ATW_OK;
}

/* ---- single properties ---- */

static bool page_flags_has_type(const struct page_abi *a, const uint8_t *page)
{
	int32_t v = (int32_t)get_le32(page + a->mapcount);

	return v < (a->types == TYPES_TOP ? (int32_t)0xff000000 : -128);
}

static bool page_flags_is_type(const struct page_abi *a, const uint8_t *page,
			       uint32_t type)
{
	uint32_t v = get_le32(page + a->mapcount);

	if (!type)
		return false;
	return a->types == TYPES_TOP ? v >> 24 == type
				     : (v & (a->type_base | type)) == a->type_base;
}

bool memmap_is_idle(const struct page_abi *a, const uint8_t *page)
{
	return !get_le32(page + a->refcount) && !page_flags_has_type(a, page) &&
	       !(page_flags_word(page, a->flags) & (a->reserved | a->has_head)) &&
	       !(page_flags_word(page, a->head) & 1) && !page_flags_word(page, a->mapping);
}

static int32_t page_flags_mapcount_of(const struct page_abi *a, const uint8_t *page)
{
	return (int32_t)get_le32(page + a->mapcount);
}

static bool page_flags_is_slab(const struct page_abi *a, const struct page_flags_view *v)
{
	return a->slab ? page_flags_is_type(a, v->head, a->slab)
		       : v->flags & a->slab_flag;
}

static bool page_flags_is_hugetlb(const struct atw_memmap *m,
				  const struct page_flags_view *v)
{
	const struct page_abi *a = &m->abi;

	if (!v->large)
		return false;
	if (a->hugetlb_dtor)
		return v->second[a->dtor - m->where.size] == a->hugetlb_dtor;
	if (a->hugetlb_flag)
		return v->flags2 & a->hugetlb_flag;
	return page_flags_is_type(a, v->head, a->hugetlb);
}

static unsigned page_flags_order_of(const struct atw_memmap *m,
				    const struct page_flags_view *v)
{
	if (!v->large)
		return 0;
	if (m->abi.order != NEED_NONE)
		return v->second[m->abi.order - m->where.size];
	return v->flags2 & 0xff;
}

static int64_t page_flags_entire_of(const struct atw_memmap *m,
				    const struct page_flags_view *v)
{
	return m->abi.entire == NEED_NONE
		       ? 0
		       : (int64_t)(int32_t)page_flags_second32(m, v, m->abi.entire) + 1;
}

/* Up to 6.1 the mappings of a folio are only counted in its pages. */
static bool page_flags_any_page_mapped(struct atw_memmap *m,
				       const struct page_flags_view *v)
{
	uint64_t n = (uint64_t)1 << (page_flags_order_of(m, v) & 31);

	if (m->mapped_known && m->mapped_head == v->head_pfn)
		return m->mapped;
	m->mapped_head = v->head_pfn;
	m->mapped_known = true;
	m->mapped = false;
	for (uint64_t i = 0; i < n && i < FOLIO_MAX && !m->mapped; i++) {
		uint8_t buf[PAGE_STRUCT_MAX];
		const uint8_t *p = memmap_bytes(m->kmem, &m->where, v->head_pfn + i, buf, NULL);

		m->mapped = p && page_flags_mapcount_of(&m->abi, p) >= 0;
	}
	return m->mapped;
}

static bool page_flags_is_mapped(struct atw_memmap *m, const struct page_flags_view *v,
				 bool hugetlb)
{
	const struct page_abi *a = &m->abi;

	if (!v->large)
		return page_flags_mapcount_of(a, v->head) >= 0;
	if (a->large_mapcount != NEED_NONE)
		return (int32_t)page_flags_second32(m, v, a->large_mapcount) >= 0;
	if (page_flags_entire_of(m, v) > 0)
		return true;
	if (a->mapped != NEED_NONE)
		return (int32_t)page_flags_second32(m, v, a->mapped) > 0;
	return !hugetlb && page_flags_any_page_mapped(m, v);
}

/* ---- mapcounts ---- */

/*
 * With CONFIG_NO_PAGE_MAPCOUNT (6.15) pages of large folios have no mapcount. The first
 * folio with a page that is mapped individually reveals it.
 */
static void page_flags_see_counting(struct atw_memmap *m, const struct page_flags_view *v)
{
	int64_t all =
		(int64_t)(int32_t)page_flags_second32(m, v, m->abi.large_mapcount) + 1;
	uint64_t n = (uint64_t)1 << (page_flags_order_of(m, v) & 31);

	if (all <= page_flags_entire_of(m, v))
		return;
	m->counts = COUNTS_AVERAGE;
	for (uint64_t i = 0; i < n && i < FOLIO_MAX; i++) {
		uint8_t buf[PAGE_STRUCT_MAX];
		const uint8_t *p = memmap_bytes(m->kmem, &m->where, v->head_pfn + i, buf, NULL);

		if (p && !page_flags_has_type(&m->abi, p) &&
		    page_flags_mapcount_of(&m->abi, p) >= 0) {
			m->counts = COUNTS_PAGES;
			break;
		}
	}
}

/* folio_average_page_mapcount() */
static int64_t page_flags_average(const struct atw_memmap *m,
				  const struct page_flags_view *v)
{
	int64_t all =
		(int64_t)(int32_t)page_flags_second32(m, v, m->abi.large_mapcount) + 1;
	int64_t entire = page_flags_entire_of(m, v), n;
	unsigned order = page_flags_order_of(m, v) & 31;

	if (all <= 0)
		return 0;
	if (all <= entire)
		return entire;
	n = ((all - entire + ((int64_t)1 << order) / 2) >> order) + entire;
	return n > 1 ? n : 1;
}

/* folio_precise_page_mapcount(), page_mapcount() of 6.10 */
static int64_t page_flags_count_folio(struct atw_memmap *m,
				      const struct page_flags_view *v)
{
	int64_t n = page_flags_has_type(&m->abi, v->page)
			    ? 0
			    : (int64_t)page_flags_mapcount_of(&m->abi, v->page) + 1;

	if (!v->large)
		return n;
	if (m->counts == COUNTS_UNKNOWN)
		page_flags_see_counting(m, v);
	return m->counts == COUNTS_AVERAGE ? page_flags_average(m, v)
					   : n + page_flags_entire_of(m, v);
}

/* page_mapcount() up to 6.9, and the checks of kpagecount_read() before it */
static int64_t page_flags_count_page(const struct atw_memmap *m,
				     const struct page_flags_view *v, bool hugetlb)
{
	int64_t n = (int64_t)page_flags_mapcount_of(&m->abi, v->page) + 1;

	if (page_flags_is_slab(&m->abi, v) || page_flags_has_type(&m->abi, v->page))
		return 0;
	if (!v->large)
		return n;
	/* Up to 6.1 mappings of a whole file folio are counted in each of its pages. */
	if (m->abi.double_map && m->abi.mapped == NEED_NONE) {
		if (!(page_flags_word(v->head, m->abi.mapping) & MAPPING_ANON) &&
		    !hugetlb)
			return n;
		n -= v->flags2 & m->abi.double_map ? 1 : 0;
	}
	return n + page_flags_entire_of(m, v);
}

/* ---- free blocks ---- */

uint64_t memmap_free_block(const struct page_abi *a, const uint8_t *page)
{
	uint64_t order = a->private_ != NEED_NONE && page_flags_is_type(a, page, a->buddy)
				 ? page_flags_word(page, a->private_) : ORDERS;

	return order < ORDERS ? (uint64_t)1 << order : 0;
}

/*
 * Only the first page of a free block is marked: the possible first pages, one for each
 * order, are checked (is_free_buddy_page()).
 */
static bool page_flags_in_free_block(struct atw_memmap *m,
				     const struct page_flags_view *v, unsigned *order)
{
	for (unsigned o = 0; o < ORDERS && m->abi.private_ != NEED_NONE; o++) {
		uint64_t first = v->pfn & ~(((uint64_t)1 << o) - 1);
		uint8_t buf[PAGE_STRUCT_MAX];
		const uint8_t *p = memmap_bytes(m->kmem, &m->where, first, buf, NULL);
		uint64_t pages = p ? memmap_free_block(&m->abi, p) : 0;

		if (pages >> o) {
			*order = (unsigned)__builtin_ctzll(pages);
			return true;
		}
	}
	return false;
}

/* ---- all properties ---- */

static uint64_t page_flags_zeroes(const struct zero_pages *z, uint64_t pfn,
				  bool maybe_small)
{
	if (z->huge_known && pfn >= z->huge && pfn - z->huge < z->huge_pages)
		return kpf(KPF_ZERO_PAGE) | kpf(KPF_THP);
	return maybe_small && z->known && pfn == z->pfn ? kpf(KPF_ZERO_PAGE) : 0;
}

/* Flags of the folio as a whole: its users and its size. */
static uint64_t page_flags_folio_kpf(struct atw_memmap *m,
				     const struct page_flags_view *v, bool hugetlb)
{
	const struct page_abi *a = &m->abi;
	bool anon = page_flags_word(v->head, a->mapping) & MAPPING_ANON,
	     slab = page_flags_is_slab(a, v);
	uint64_t u = slab ? kpf(KPF_SLAB) : 0;

	if ((a->of_folio || !slab) && page_flags_is_mapped(m, v, hugetlb))
		u |= kpf(KPF_MMAP);
	if (anon)
		u |= kpf(KPF_ANON);
	if ((page_flags_word(v->head, a->mapping) & MAPPING_KSM) == MAPPING_KSM)
		u |= kpf(KPF_KSM);
	if (hugetlb)
		u |= kpf(KPF_HUGE);
	else if (v->large && (a->of_folio ? (v->flags2 & a->rmappable) != 0
					  : v->flags & a->lru || anon))
		u |= kpf(KPF_THP);
	else
		u |= page_flags_zeroes(&m->zero, v->pfn, a->of_folio || !v->large);
	if (a->swapcache && (v->flags & a->swapcache) == a->swapcache)
		u |= kpf(KPF_SWAPCACHE);
	return u;
}

static uint64_t page_kpf(struct atw_memmap *m, const struct page_flags_view *v,
			 bool hugetlb)
{
	const struct page_abi *a = &m->abi;
	uint64_t k = a->of_folio ? v->flags : v->own;
	const uint8_t *typed = a->of_snapshot ? v->head : v->page;
	uint64_t u = page_flags_folio_kpf(m, v, hugetlb) | memmap_translate(a, k);

	if (v->tail)
		u |= kpf(KPF_COMPOUND_TAIL);
	else if (v->own & a->has_head)
		u |= kpf(KPF_COMPOUND_HEAD);
	if (page_flags_is_type(a, typed, a->offline))
		u |= kpf(KPF_OFFLINE);
	if (page_flags_is_type(a, typed, a->table))
		u |= kpf(KPF_PGTABLE);
	if ((a->of_folio && hugetlb ? v->flags : v->own) & a->hwpoison)
		u |= kpf(KPF_HWPOISON);
	if ((a->folio_idle ? v->flags : v->own) & a->idle)
		u |= kpf(KPF_IDLE);
	return u;
}

int memmap_page(struct atw_memmap *m, uint64_t pfn, struct lnx_page *ret,
		struct atw_err *err)
{
	const struct page_abi *a = &m->abi;
	unsigned order;
	struct page_flags_view v = {0};
	bool hugetlb;
	int64_t n;
	int r = page_flags_look(m, pfn, NULL, &v, err);

	if (r < 0)
		return r;
	hugetlb = page_flags_is_hugetlb(m, &v);
	n = a->of_folio ? page_flags_count_folio(m, &v)
			: page_flags_count_page(m, &v, hugetlb);
	order = page_flags_order_of(m, &v);
	ret->pfn = pfn;
	ret->head = v.head_pfn;
	ret->flags = page_kpf(m, &v, hugetlb);
	ret->raw = v.own;
	ret->mapping = page_flags_word(v.head, a->mapping);
	ret->refcount = (int32_t)get_le32(v.head + a->refcount);
	ret->count = (uint64_t)n;
	ret->have_order = true;
	ret->cache[0] = 0;
	if (page_flags_is_type(a, v.page, a->buddy) || (!ret->refcount && !v.large)) {
		if (page_flags_in_free_block(m, &v, &order))
			ret->flags |= kpf(KPF_BUDDY);
	}
	ret->order = (uint8_t)order;
	ret->have_node = nodes_find(&m->nodes, pfn, &ret->node);
	if (ret->flags & kpf(KPF_SLAB))
		slab_cache_name(m, v.head, ret->cache);
	return ATW_OK;
}

/*
 * Free blocks and folios have a power of two as their size and are aligned to it; the
 * exception is gigantic folios, whose size is correct as well.
 */
static uint64_t page_flags_rest_of(uint64_t first, unsigned order, uint64_t pfn)
{
	return first + ((uint64_t)1 << order) - pfn;
}

/* A folio of its size without a list, an owner or a type may be the huge zero folio. */
static void page_flags_ask_zero(struct atw_memmap *m, const struct page_flags_view *v,
				struct lnx_page_kind *ret)
{
	const uint64_t used = kpf(KPF_LRU) | kpf(KPF_ANON) | kpf(KPF_SWAPBACKED) | kpf(KPF_HUGE) |
			      kpf(KPF_SLAB) | kpf(KPF_PGTABLE) | kpf(KPF_OFFLINE);
	struct zero_pages *z = &m->zero;

	if (z->huge_known || !z->ask || ret->flags & used || ret->kmalloc ||
	    (uint64_t)1 << (page_flags_order_of(m, v) & 31) != z->huge_pages ||
	    !z->ask(v->head_pfn))
		return;
	z->huge = v->head_pfn;
	z->huge_known = true;
	ret->flags |= kpf(KPF_ZERO_PAGE) | kpf(KPF_THP);
}

/* All bytes are 0: a page without mappings and type has a mapcount of -1. */
static bool page_flags_is_unmade(const struct page_abi *a, const uint8_t *page, uint32_t size)
{
	return !get_le32(page + a->mapcount) && !page[0] && !memcmp(page, page + 1, size - 1);
}

/* How many of the frames from `pfn` on have none either, as far as that is at hand. */
static uint64_t page_flags_unmade(struct atw_memmap *m, uint64_t pfn)
{
	uint64_t here, n = 0;
	const uint8_t *p = memmap_at_hand(m->kmem, &m->where, pfn, &here);

	while (p && n < here && page_flags_is_unmade(&m->abi, p + n * m->where.size, m->where.size))
		n++;
	return n;
}

int memmap_kind(struct atw_memmap *m, uint64_t pfn, const uint8_t *page, bool inside,
		struct lnx_page_kind *ret, struct atw_err *err)
{
	const struct page_abi *a = &m->abi;
	struct page_flags_view v = {0};
	unsigned order = 0;
	bool idle;
	int r = page_flags_look(m, pfn, page, &v, err);

	/* Up to 6.9 flags are those of the page itself, and a tail has few. */
	if (r == ATW_OK && v.tail)
		r = page_flags_look(m, v.head_pfn, NULL, &v, err);
	if (r != ATW_OK)
		return r;
	if (page_flags_is_unmade(a, v.page, m->where.size)) {
		*ret = (struct lnx_page_kind){
			.flags = kpf(KPF_NOPAGE), .unmade = true,
			.same = 1 + page_flags_unmade(m, pfn + 1),
		};
		return ATW_OK;
	}
	*ret = (struct lnx_page_kind){
		.flags = page_kpf(m, &v, page_flags_is_hugetlb(m, &v)) & ~memmap_passing(),
		.same = 1,
		.kmalloc = page_flags_is_type(a, v.head, a->large_kmalloc),
	};
	idle = !v.large && !v.tail && !get_le32(v.page + a->refcount);
	if ((page_flags_is_type(a, v.page, a->buddy) || (idle && inside)) &&
	    page_flags_in_free_block(m, &v, &order)) {
		ret->flags |= kpf(KPF_BUDDY);
		ret->same = page_flags_rest_of(pfn & ~(((uint64_t)1 << order) - 1), order,
					       pfn);
	} else if (v.large) {
		order = page_flags_order_of(m, &v);
		page_flags_ask_zero(m, &v, ret);
		if ((uint64_t)1 << (order & 63) <= FOLIO_MAX && order < 64 &&
		    pfn - v.head_pfn < (uint64_t)1 << order)
			ret->same = page_flags_rest_of(v.head_pfn, order, pfn);
	} else if (idle && memmap_is_idle(a, v.page)) {
		enum memmap_idle state = IDLE_FREE;

		if (a->list != NEED_NONE)
			r = memmap_idle(m, pfn, inside, &state, err);
		ret->waits = state == IDLE_FREE;
		ret->unsure = state == IDLE_UNSURE;
	}
	return r;
}
