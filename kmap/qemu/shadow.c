/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow.c - the map from addresses to objects.
 *
 * Objects nest: a page that the slab allocator took holds what it gives away. So there
 * are two layers over RAM, of 8 bytes and of pages, and the finer one is asked first.
 * Memory behind them is the kernel's to give, page by page, as it is needed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "recorder.h"

/* What vmalloc() maps, and stacks: pages of it, anywhere. A hash table that grows. */
static struct mapped {
	uint64_t page;           /* va >> page_shift; 0: none */
	uint32_t id;
	uint32_t *fine;          /* of every 8 bytes of it; NULL: there never was anything small */
} *mapped;
static uint64_t nmapped, mapped_room;

static void *shadow_nothing_yet(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* ---- RAM ---- */

int shadow_ram(void)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t len;

	for (uint32_t i = 0; i < rec.s->nrams; i++)
		rec.direct_span = rec.s->ram[i].pa + rec.s->ram[i].len;
	/* Holes have a shadow, too, so that one comparison is enough. */
	len = rec.direct_span - rec.s->ram[0].pa;
	rec.fine = shadow_nothing_yet(len / 8 * 4);
	rec.frame = shadow_nothing_yet((len >> k->page_shift) * 4);
	if (!rec.fine || !rec.frame)
		return -1;
	rec.near = k->direct + rec.s->ram[0].pa;
	rec.near_len = len;
	access_forget_all();
	return 0;
}

int shadow_image(void)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint64_t image = k->image_last - k->image_first + 1;

	if (k->image_first && image < 1ull << 32) {
		rec.named = shadow_nothing_yet(image / 8 * 4 + 4);
		if (!rec.named)
			return -1;
		rec.image = k->image_first;
		rec.image_len = image;
	}
	for (uint32_t i = k->globals; i < k->globals + k->nglobals; i++) {
		const struct kshare_object *o = kshare_object(rec.s, i);
		uint64_t from = (o->va - rec.image) / 8, to = (o->va + o->size - 1 - rec.image) / 8;

		if (o->va < rec.image || o->va - rec.image >= rec.image_len || !o->size)
			continue;
		for (uint64_t w = from; w <= to && w < rec.image_len / 8; w++) {
			shadow_cover(rec.named[w]);
			rec.named[w] = i;
		}
	}
	access_forget_all();
	return 0;
}

/* Where in the file that is RAM; UINT64_MAX: not in it as one piece. */
static uint64_t shadow_ram_offset(uint64_t pa, uint64_t len)
{
	for (uint32_t i = 0; i < rec.s->nrams; i++) {
		const struct kshare_ram *r = &rec.s->ram[i];

		if (pa - r->pa < r->len && len <= r->len - (pa - r->pa))
			return pa - r->pa + r->offset;
	}
	return UINT64_MAX;
}

static uint64_t shadow_physical(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;

	return va >= k->image_first && va <= k->image_last
	       ? va - k->image_first + k->image_pa : va - k->direct;
}

/* struct pages have a mapping of their own. */
static bool shadow_is_vmemmap(const struct kshare_kernel *k, uint64_t va, uint64_t *pa)
{
	uint32_t lo = 0, hi = k->nvmem;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (va - k->vmem[mid].va < k->vmem[mid].len) {
			*pa = va - k->vmem[mid].va + k->vmem[mid].pa;
			return true;
		}
		if (va < k->vmem[mid].va)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

const void *guest(uint64_t va, uint64_t len)
{
	uint64_t pa = shadow_physical(va), at;

	shadow_is_vmemmap(&rec.s->kernel, va, &pa);
	at = shadow_ram_offset(pa, len);
	return at == UINT64_MAX ? NULL : rec.ram + at;
}

bool guest_u64(uint64_t va, uint64_t *ret)
{
	const void *p = guest(va, 8);

	if (p)
		memcpy(ret, p, 8);
	return p;
}

bool guest_u32(uint64_t va, uint32_t *ret)
{
	const void *p = guest(va, 4);

	if (p)
		memcpy(ret, p, 4);
	return p;
}

uint32_t *shadow_fine(uint64_t va, uint64_t size)
{
	uint64_t pa = va - rec.s->kernel.direct;

	return rec.near_len && shadow_ram_offset(pa, size) != UINT64_MAX
		       ? rec.fine + (va - rec.near) / 8
		       : NULL;
}

uint32_t *shadow_frame(uint64_t pfn, uint64_t n)
{
	unsigned shift = rec.s->kernel.page_shift;
	uint64_t pa = pfn << shift;

	return rec.near_len && shadow_ram_offset(pa, n << shift) != UINT64_MAX
		       ? rec.frame + ((pa - rec.s->ram[0].pa) >> shift)
		       : NULL;
}

/* ---- what is mapped elsewhere ---- */

static uint64_t shadow_slot_of(uint64_t page)
{
	uint64_t i = (page * 0x9e3779b97f4a7c15u) >> 20 & (mapped_room - 1);

	while (mapped[i].page && mapped[i].page != page)
		i = (i + 1) & (mapped_room - 1);
	return i;
}

static bool shadow_more_mapped(void)
{
	struct mapped *old = mapped;
	uint64_t had = mapped_room;

	mapped = calloc(had ? had * 2 : 1 << 14, sizeof(*mapped));
	if (!mapped) {
		mapped = old;
		return false;
	}
	mapped_room = had ? had * 2 : 1 << 14;
	nmapped = 0;
	for (uint64_t i = 0; i < had; i++)
		if (old[i].id || old[i].fine) {
			mapped[shadow_slot_of(old[i].page)] = old[i];
			nmapped++;
		}
	free(old);
	return true;
}

/* One more may come. */
static bool shadow_has_room(void)
{
	if (nmapped < mapped_room / 2 || shadow_more_mapped())
		return true;
	give_up("out of memory");
	return false;
}

static const struct kshare_region *shadow_region_of(uint64_t va);

/* A page that was not there before: no longer is all of its region alike. */
static void shadow_use_mapped(struct mapped *m, uint64_t page)
{
	const struct kshare_region *r = shadow_region_of(page << rec.s->kernel.page_shift);

	if (!m->page)
		shadow_cover(r ? r->object : KSHARE_UFO_NONE);
	nmapped += !m->page;
	m->page = page;
}

void shadow_set_mapped(uint64_t va, uint64_t size, uint32_t id)
{
	unsigned shift = rec.s->kernel.page_shift;

	for (uint64_t page = va >> shift; page <= (va + size - 1) >> shift; page++) {
		uint64_t i;

		if (!shadow_has_room())
			return;
		i = shadow_slot_of(page);
		shadow_cover(mapped[i].id);
		if (mapped[i].fine)
			shadow_cover(id);
		shadow_use_mapped(&mapped[i], page);
		mapped[i].id = id;
	}
}

uint32_t *shadow_word(uint64_t va)
{
	unsigned shift = rec.s->kernel.page_shift;
	uint32_t *word = shadow_fine(va, 1);
	struct mapped *m;

	if (word || !shadow_has_room())
		return word;
	m = &mapped[shadow_slot_of(va >> shift)];
	shadow_cover(m->id);
	shadow_use_mapped(m, va >> shift);
	if (!m->fine)
		m->fine = calloc(1u << (shift - 3), sizeof(*m->fine));
	return m->fine ? m->fine + (va >> 3 & ((1u << (shift - 3)) - 1)) : NULL;
}

uint32_t shadow_mapped(uint64_t va)
{
	return mapped_room ? mapped[shadow_slot_of(va >> rec.s->kernel.page_shift)].id
			   : 0;
}

/* The first of the regions that ends at an address or behind it. */
static uint32_t shadow_region_from(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint32_t lo = 0, hi = k->nregions;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (va > k->region[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* NULL: none. */
static const struct kshare_region *shadow_region_of(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	uint32_t i = shadow_region_from(va);

	return i < k->nregions && va >= k->region[i].first ? &k->region[i] : NULL;
}

uint32_t shadow_far(uint64_t va)
{
	const struct kshare_kernel *k = &rec.s->kernel;
	const struct kshare_region *r;
	uint32_t id = 0;

	if ((int64_t)va >= 0)
		return KSHARE_UFO_USER;
	if (mapped_room) {
		const struct mapped *m = &mapped[shadow_slot_of(va >> k->page_shift)];

		id = m->fine ? m->fine[va >> 3 & ((1u << (k->page_shift - 3)) - 1)] : 0;
		id = id ? id : m->id;
	}
	if (id)
		return id;
	r = shadow_region_of(va);
	return r ? r->object : KSHARE_UFO_NONE;
}

/* ---- ranges of one object ---- */

/*
 * Objects of memblock of which words are remembered, and which: one is the per-CPU variables,
 * beside which per-CPU memory is given away time and again. Of those that share a place the
 * first has it.
 */
enum { EARLY = 64 };
static struct early { uint32_t id; uint64_t first, end; } early[EARLY];

static struct early *shadow_early_of(uint32_t id)
{
	return &early[id % EARLY];
}

static void shadow_forget_early(uint32_t id)
{
	if (shadow_early_of(id)->id == id)
		shadow_early_of(id)->id = 0;
}

void shadow_reset(uint32_t id)
{
	rec.covered[id] = 0;
	shadow_forget_early(id);
}

static void shadow_forget(uint32_t id)
{
	shadow_forget_early(id);
	rec.covered[id] = COVERED;
	access_forget(id);
}

void shadow_cover(uint32_t id)
{
	if (id && rec.covered[id] != COVERED)
		shadow_forget(id);
}

void shadow_cover_at(uint32_t id, uint64_t va)
{
	const struct early *e = shadow_early_of(id);

	if (id && id == e->id && va - e->first >= e->end - e->first)
		rec.covered[id] |= COVERED;
	else
		shadow_cover(id);
}

/*
 * Words around words[at] that are the same, within [low, high); at most AROUND to both
 * sides are looked at.
 */
enum { AROUND = 32 };
static void shadow_around(const uint32_t *words, uint64_t at, uint64_t low, uint64_t high,
			  uint64_t base, uint64_t *first, uint32_t *len)
{
	uint64_t from = at, to = at;

	while (from > low && at - from < AROUND && words[from - 1] == words[at])
		from--;
	while (to < high && to - at < AROUND && words[to] == words[at])
		to++;
	*first = base + from * 8;
	*len = (uint32_t)(to - from) * 8;
}

static void shadow_remember_early(uint32_t id, uint64_t first, uint64_t end)
{
	struct early *e = shadow_early_of(id);

	if (!e->id)
		*e = (struct early){ id, first, end };
	e->first = first < e->first ? first : e->first;
	e->end = end > e->end ? end : e->end;
}

/* Of others too many words change hands, and then all must be forgotten. */
static bool shadow_has_alike(uint32_t id)
{
	switch (kshare_object(rec.s, id)->type) {
	case KSHARE_T_MEMBLOCK:
		return !shadow_early_of(id)->id || shadow_early_of(id)->id == id;
	case KSHARE_T_PAGES:
		return rec.covered[id];
	case KSHARE_T_PERCPU:
		return !(rec.covered[id] & COVERED);
	default:
		return false;
	}
}

uint64_t shadow_end_of(uint32_t id, uint64_t va)
{
	uint64_t page, at = (va - rec.near) / 8, first;
	uint32_t len;

	if (shadow_span(id, va, &first, &len))
		return first + len;
	/* No object begins within a word. */
	if (va - rec.near >= rec.near_len)
		return (va | 7) + 1;
	page = 1ull << (rec.s->kernel.page_shift - 3);
	shadow_around(rec.fine, at, at, at / page * page + page, rec.near, &first, &len);
	return first + len;
}

bool shadow_alike(uint32_t id, uint64_t va, uint64_t *first, uint32_t *len)
{
	uint64_t page, at = (va - rec.near) / 8;
	uint8_t type = kshare_object(rec.s, id)->type;

	if (rec.s->by_site || va - rec.near >= rec.near_len || !shadow_has_alike(id))
		return false;
	page = 1ull << (rec.s->kernel.page_shift - 3);
	shadow_around(rec.fine, at, at / page * page, at / page * page + page, rec.near, first, len);
	rec.covered[id] |= ALIKE;
	if (type == KSHARE_T_MEMBLOCK)
		shadow_remember_early(id, *first, *first + *len);
	return true;
}

/* Without what begins at `start`, in which `va` is not. */
static void shadow_clip(uint64_t va, uint64_t start, uint64_t len, uint64_t *first, uint64_t *last)
{
	if (!len)
		return;
	if (va < start)
		*last = *last < start ? *last : start - 1;
	else
		*first = *first > start + len - 1 ? *first : start + len;
}

/* A region in which nothing is mapped, or what is between two; the part that a length can say. */
static void shadow_empty(uint64_t va, uint64_t *first, uint32_t *len)
{
	const uint64_t part = 1ull << 30;
	const struct kshare_kernel *k = &rec.s->kernel;
	uint32_t i = shadow_region_from(va);
	uint64_t from = va & ~(part - 1), last = from + part - 1;

	if (i < k->nregions && va >= k->region[i].first) {
		from = from < k->region[i].first ? k->region[i].first : from;
		last = last > k->region[i].last ? k->region[i].last : last;
	} else {
		if (i && from <= k->region[i - 1].last)
			from = k->region[i - 1].last + 1;
		if (i < k->nregions && last >= k->region[i].first)
			last = k->region[i].first - 1;
	}
	shadow_clip(va, rec.near, rec.near_len, &from, &last);
	shadow_clip(va, rec.image, rec.image_len, &from, &last);
	*first = from;
	*len = (uint32_t)(last - from + 1);
}

/* More is known of regions: what is mapped is in some of them. */
void shadow_regions(void)
{
	for (uint64_t i = 0; i < mapped_room; i++) {
		const struct kshare_region *r;

		if (!mapped[i].page)
			continue;
		r = shadow_region_of(mapped[i].page << rec.s->kernel.page_shift);
		rec.covered[r ? r->object : KSHARE_UFO_NONE] = COVERED;
	}
	access_forget_all();
}

bool shadow_span(uint32_t id, uint64_t va, uint64_t *first, uint32_t *len)
{
	const struct kshare_object *o = kshare_object(rec.s, id);
	uint64_t last;

	/* What nothing in the image has a name for. */
	if (id == KSHARE_UFO_GLOBAL && va - rec.image < rec.image_len) {
		shadow_around(rec.named, (va - rec.image) / 8, 0, rec.image_len / 8, rec.image,
			      first, len);
		return true;
	}
	if (rec.s->by_site || rec.covered[id])
		return false;
	if (o->type == KSHARE_UFO_NONE) {
		shadow_empty(va, first, len);
		return true;
	}
	if (o->flags & KSHARE_GENERAL || !o->size || o->size > UINT32_MAX - 16)
		return false;
	*first = o->va;
	last = o->va + o->size - 1;
	switch (o->type) {
	case KSHARE_T_KMALLOC:
	case KSHARE_T_CACHE:
	case KSHARE_T_BULK:
		/* Whole words, and they are all its own: see object_slab(). */
		*first &= ~7ull;
		last |= 7;
		break;
	case KSHARE_T_GLOBAL:
		if (*first < rec.image || last - rec.image >= rec.image_len / 8 * 8)
			return false;
		*first = rec.image + ((*first - rec.image) & ~7ull);
		last = rec.image + ((last - rec.image) | 7);
		break;
	case KSHARE_T_PAGES:
	case KSHARE_T_VMALLOC:
	case KSHARE_T_STACK:
		break;
	default:
		return false;
	}
	*len = (uint32_t)(last - *first + 1);
	return true;
}
