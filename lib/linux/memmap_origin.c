/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap_origin.c - anonymous or file, and folio order, of very many mapped frames.
 *
 * Struct pages that are close to each other are read together, in stretches of up to 64.
 * Those of small folios are decoded from their own bytes; the head of a large folio is
 * decoded once for all of its pages that follow.
 */

#include "linux/kpf.h"
#include "linux/memmap.h"

enum {
	STRETCH = 64,            /* frames: struct pages of 64 bytes fill a page */
	STRETCHES = 64,          /* per read */
	MAPPING_ANON = 1, MAPPING_KSM = 3,       /* bits of page->mapping */
};

struct memmap_origin_stretch {
	size_t from, to;         /* of pfn[] */
};

struct origins {
	struct atw_memmap *m;
	const uint64_t *pfn;
	struct page_origin *ret;
	struct memmap_origin_stretch stretch[STRETCHES];
	struct atw_piece piece[STRETCHES];
	size_t n;
	uint8_t *bytes;          /* STRETCH struct pages for each stretch */
	uint64_t head;           /* the folio that was decoded last: first frame,
				  * frames, result */
	uint64_t frames;
	struct page_origin of_head;
};

static uint64_t memmap_origin_kept_flags(void)
{
	return kpf(KPF_ANON) | kpf(KPF_KSM) | kpf(KPF_SWAPBACKED) | kpf(KPF_HUGE) |
	       kpf(KPF_THP) | kpf(KPF_ZERO_PAGE);
}

/* Result for frames that no process maps. */
static uint64_t memmap_origin_unmapped_types(void)
{
	return kpf(KPF_BUDDY) | kpf(KPF_SLAB) | kpf(KPF_PGTABLE) | kpf(KPF_OFFLINE);
}

/* Decodes the folio completely. */
static struct page_origin origin_slowly(struct origins *o, uint64_t pfn)
{
	struct page_origin ret = { 0 };
	struct lnx_page page;

	if (o->frames && pfn - o->head < o->frames)
		return o->of_head;
	if (memmap_page(o->m, pfn, &page, NULL) < 0)
		return ret;
	ret.order = page.order;
	ret.flags = page.flags & memmap_origin_kept_flags();
	/* It was freed meanwhile, and may have been reused. */
	ret.stale = !page.refcount || page.flags & memmap_origin_unmapped_types() ||
		    (!page.count && !(page.flags & kpf(KPF_ZERO_PAGE)) &&
		     !(page.flags & (kpf(KPF_LRU) | kpf(KPF_ANON))));
	ret.known = true;
	if (page.order && !ret.stale && page.order < 32) {
		o->head = page.head;
		o->frames = (uint64_t)1 << page.order;
		o->of_head = ret;
	}
	return ret;
}

static struct page_origin origin_of(struct origins *o, uint64_t pfn, const uint8_t *page)
{
	const struct page_abi *a = &o->m->abi;
	uint64_t own = get_le64(page + a->flags), mapping = get_le64(page + a->mapping);
	struct page_origin ret = { .known = true };

	/* A small page that is mapped and in use. */
	if (get_le64(page + a->head) & 1 || own & (a->has_head | a->reserved | a->slab_flag) ||
	    (int32_t)get_le32(page + a->mapcount) < 0 || !get_le32(page + a->refcount) ||
	    (!(own & a->lru) && !(mapping & MAPPING_ANON)))
		return origin_slowly(o, pfn);
	ret.flags = memmap_translate(a, own) & memmap_origin_kept_flags();
	if (mapping & MAPPING_ANON)
		ret.flags |= kpf(KPF_ANON);
	if ((mapping & MAPPING_KSM) == MAPPING_KSM)
		ret.flags |= kpf(KPF_KSM);
	return ret;
}

static void memmap_origin_read_stretches(struct origins *o)
{
	uint32_t size = o->m->where.size;

	atw_read_many(o->m->where.mem, o->piece, o->n, NULL);
	for (size_t i = 0; i < o->n; i++) {
		const struct memmap_origin_stretch *s = &o->stretch[i];
		const struct atw_piece *p = &o->piece[i];

		if (p->got > 0)
			kmem_touch(o->m->kmem, p->pa, (size_t)p->got);
		for (size_t k = s->from; k < s->to; k++) {
			uint64_t off = (o->pfn[k] - o->pfn[s->from]) * size;

			o->ret[k] = p->got >= (ssize_t)(off + size)
				? origin_of(o, o->pfn[k], (uint8_t *)p->buf + off)
				: origin_slowly(o, o->pfn[k]);
		}
	}
	o->n = 0;
}

int memmap_origins(struct atw_memmap *m, const uint64_t *pfn, size_t n, struct page_origin *ret,
		   struct atw_err *err)
{
	uint32_t size = m->where.size;
	struct origins o = {
		.m = m, .pfn = pfn, .ret = ret,
		.bytes = atw_buffer_open(m->where.mem, (size_t)STRETCHES * STRETCH * size),
	};

	if (!o.bytes)
		return atw_err_nomem(err);
	for (size_t i = 0, end; i < n; i = end) {
		atw_pa pa;

		for (end = i + 1; end < n && pfn[end] / STRETCH == pfn[i] / STRETCH; end++)
			;
		if (m->where.partial ||
		    !memmap_stretch(m->kmem, &m->where, pfn[i], pfn[end - 1] - pfn[i] + 1, &pa)) {
			for (size_t k = i; k < end; k++)
				ret[k] = origin_slowly(&o, pfn[k]);
			continue;
		}
		o.stretch[o.n] = (struct memmap_origin_stretch){i, end};
		o.piece[o.n] = (struct atw_piece){
			pa, o.bytes + o.n * STRETCH * size,
			(size_t)(pfn[end - 1] - pfn[i] + 1) * size, 0,
		};
		if (++o.n == STRETCHES)
			memmap_origin_read_stretches(&o);
	}
	memmap_origin_read_stretches(&o);
	atw_buffer_close(m->where.mem, o.bytes);
	return ATW_OK;
}
