/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.c - public interface to struct pages, and detection of the zero pages, which no
 * flag in struct page marks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "linux/memmap.h"
#include "walk/memory.h"

/* A frame number in a variable; unset is 0 or all ones. */
static bool page_frame(struct atw_memmap *m, uint64_t symbol, uint64_t *ret)
{
	uint64_t pfn;

	if (!symbol || kmem_u64(m->kmem, symbol, &pfn, NULL) < 0)
		return false;
	*ret = pfn;
	return true;
}

static void page_find_zeroes(struct atw_memmap *m)
{
	const struct atw_paging *pg = &m->k->own.paging;
	const struct needs *n = kernel_needs(m->k);
	struct zero_pages *z = &m->zero;

	z->huge_pages = (uint64_t)1 << (pg->level[1].shift - pg->page_shift);
	z->tried = UINT64_MAX;
	z->known = page_frame(m, n->symbol[Y_zero_pfn], &z->pfn);
	/* If other symbols exist and this one does not, the feature is not configured. */
	z->huge_known = page_frame(m, n->symbol[Y_huge_zero_pfn], &z->huge);
}

int atw_memmap_open(struct atw_kernel *k, struct atw_memmap **ret, struct atw_err *err)
{
	struct atw_memmap *m;
	const struct needs *n;
	int r = kernel_given(k, err);

	if (r < 0)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return atw_err_nomem(err);
	m->k = k;
	r = kernel_kmem(k, &m->kmem, err) ?: page_abi_init(k, &m->abi, err);
	if (r == ATW_OK)
		r = memmap_where_init(k, &m->where, err) ?:
		    nodes_init(k, m->kmem, &m->nodes);
	if (r < 0) {
		atw_memmap_close(m);
		return r;
	}
	n = kernel_needs(k);
	m->slab_cache_at = n->member[N_slab_cache];
	m->cache_name_at = n->member[N_cache_name];
	if (m->slab_cache_at > m->where.size - 8)
		m->slab_cache_at = NEED_NONE;
	page_find_zeroes(m);
	*ret = m;
	return ATW_OK;
}

void atw_memmap_close(struct atw_memmap *m)
{
	if (!m)
		return;
	memmap_links_destroy(m->links);
	memmap_where_deinit(&m->where);
	free(m->nodes.v);
	free(m);
}

void memmap_anew(struct atw_memmap *m)
{
	if (m->where.ahead)
		memmap_ahead_anew(m->where.ahead);
}

/*
 * A read from a running machine costs as much as copying some 200 struct pages. The block
 * behind a large block is probably as large, and only its first struct pages are needed. So
 * those of several blocks are read together: after each block that was skipped without a
 * batch being used up, twice as many. The batch and the heads fit one run of the BPF program.
 */
enum { BATCH_MIN = 64, BATCH_MAX = 4096, HEAD = 4, HEADS_MAX = 63 };
/* Frames in a block: smaller ones are read as a batch; larger ones are too few to matter. */
enum { STEP_MIN = 128, STEP_MAX = 8192 };

static void page_announce_heads(struct atw_memmap *m, uint64_t pfn)
{
	for (uint64_t i = 1; i <= m->heads; i++) {
		if (!memmap_address(m->kmem, &m->where, pfn + i * m->step))
			return;
		memmap_soon(m->kmem, &m->where, pfn + i * m->step, HEAD);
	}
}

static void page_announce(struct atw_memmap *m, uint64_t pfn)
{
	const bool adjacent = m->batch && pfn == m->announced, live = kmem_is_live(m->kmem);
	uint64_t n;

	/* Read together with an earlier block. */
	if (m->heads && !adjacent && memmap_at_hand(m->kmem, &m->where, pfn, &n)) {
		m->announced = pfn + n;
		return;
	}
	m->batch = adjacent ? MIN(m->batch * 2, (uint64_t)BATCH_MAX) : BATCH_MIN;
	m->heads = live && !adjacent && m->step >= STEP_MIN && m->step <= STEP_MAX
			   ? MIN(m->heads * 2 + 1, (uint64_t)HEADS_MAX) : 0;
	memmap_anew(m);
	memmap_soon(m->kmem, &m->where, pfn, m->batch);
	page_announce_heads(m, pfn);
	m->announced = pfn + m->batch;
}

int atw_memmap_kind(struct atw_memmap *m, uint64_t pfn, struct lnx_page_kind *ret,
		    struct atw_err *err)
{
	bool follows = pfn && pfn == m->next;
	int r = follows ? ATW_OK : memmap_keep_nothing(&m->where, err);

	if (r == ATW_OK) {
		if (!follows)
			m->announced = m->batch = m->step = m->heads = 0;
		if (pfn >= m->announced)
			page_announce(m, pfn);
		r = memmap_kind_like(m, pfn, !follows, ret, err);
	}
	if (r < 0)
		ret->same = r == ATW_E_MISSING ? memmap_missing(m->kmem, &m->where, pfn) : 1;
	m->step = r == ATW_OK ? ret->same : 0;
	m->next = pfn + ret->same;
	return r;
}

bool memmap_is_zero(const struct atw_memmap *m, uint64_t pfn)
{
	const struct zero_pages *z = &m->zero;

	return (z->known && z->pfn == pfn) ||
	       (z->huge_known && pfn >= z->huge && pfn - z->huge < z->huge_pages);
}

uint64_t memmap_none(struct atw_memmap *m, uint64_t pfn)
{
	return memmap_address(m->kmem, &m->where, pfn) ? 0
	       : memmap_missing(m->kmem, &m->where, pfn);
}

bool atw_memmap_node(struct atw_memmap *m, uint64_t pfn, uint64_t max, uint32_t *ret,
		     uint64_t *same)
{
	uint64_t section = (uint64_t)1 << m->where.shift;
	uint64_t left = section - ((pfn - m->where.first_pfn) & (section - 1));

	*same = max < left ? max : left;
	return memmap_address(m->kmem, &m->where, pfn) &&
	       nodes_run(&m->nodes, pfn, *same, ret, same);
}

void memmap_soon_run(struct atw_memmap *m, uint64_t pfn, uint64_t n)
{
	memmap_soon(m->kmem, &m->where, pfn, n);
}

/*
 * Is the page all zero? Pages that the dump left out may have been: no other kind of page
 * that gets here is ever left out.
 */
static bool page_is_zero(struct atw_memmap *m, uint64_t pfn)
{
	uint64_t left = (uint64_t)1 << m->k->own.paging.page_shift;
	atw_pa pa = ATW_PA(pfn << m->k->own.paging.page_shift);
	uint64_t buf[64];

	while (left) {
		ssize_t got = atw_read(m->k->mem, pa, buf, sizeof(buf), NULL);

		if (got <= 0)
			return memory_loss(m->k->mem, pa, got) == ATW_LOST_EXCLUDED;
		if (got < (ssize_t)sizeof(buf))
			return false;
		for (size_t i = 0; i < 64; i++)
			if (buf[i])
				return false;
		pa.u += sizeof(buf);
		left -= sizeof(buf);
	}
	return true;
}

bool memmap_seeks_zero(const struct atw_memmap *m, uint64_t pages)
{
	const struct zero_pages *z = &m->zero;

	return pages == z->huge_pages ? !z->huge_known : pages == 1 && !z->known;
}

void atw_memmap_mapped(struct atw_memmap *m, uint64_t pfn, uint64_t pages)
{
	struct zero_pages *z;
	uint8_t buf[PAGE_STRUCT_MAX];
	const uint8_t *p;
	uint64_t flags;
	bool huge;

	if (!m)
		return;
	z = &m->zero;
	huge = pages == z->huge_pages;
	if (!memmap_seeks_zero(m, pages) || pfn == z->tried)
		return;
	p = memmap_bytes(m->kmem, &m->where, pfn, buf, NULL);
	if (!p)
		return;
	flags = get_le64(p + m->abi.flags);
	/* Mapped without a mapcount; not on an LRU list, without a mapping. */
	if ((int32_t)get_le32(p + m->abi.mapcount) != -1 || flags & m->abi.lru ||
	    get_le64(p + m->abi.mapping))
		return;
	if (huge ? !(flags & m->abi.has_head) || flags & m->abi.slab_flag
		 : !(flags & m->abi.reserved))
		return;
	z->tried = pfn;
	if (!page_is_zero(m, pfn))
		return;
	*(huge ? &z->huge : &z->pfn) = pfn;
	*(huge ? &z->huge_known : &z->known) = true;
}

void atw_memmap_ask_zero(struct atw_memmap *m, bool (*is_zero)(uint64_t pfn))
{
	m->zero.ask = is_zero;
}

/* ---- slabs ---- */

/* A slab's first page has a pointer to its kmem_cache, which has a name. */
void slab_cache_name(struct atw_memmap *m, const uint8_t *slab, char ret[32])
{
	uint64_t cache, name;
	struct cache_name *c;

	if (m->slab_cache_at == NEED_NONE || m->cache_name_at == NEED_NONE)
		return;
	cache = get_le64(slab + m->slab_cache_at);
	c = &m->cache[(cache >> 6 ^ cache >> 12) % CACHE_NAMES];
	if (!cache)
		return;
	if (c->at != cache) {
		*c = (struct cache_name){ .at = cache };
		if (kmem_u64(m->kmem, cache + m->cache_name_at, &name, NULL) == ATW_OK)
			kmem_text(m->kmem, name, c->name, sizeof(c->name), NULL);
	}
	memcpy(ret, c->name, sizeof(c->name));
}
