/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap.c - address of the struct page of a frame.
 *
 * include/linux/mmzone.h: memory is divided into sections; mem_section[] has one struct
 * for each, in two levels with SPARSEMEM_EXTREME, in an array without. Its
 * section_mem_map is the address of a hypothetical struct page of frame 0, with flags in
 * the low bits. Without sections there is one array, mem_map. SPARSEMEM_VMEMMAP needs no
 * special case, because its sections are valid.
 */
#include "linux/memmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "walk/memory.h"

/* SECTION_MARKED_PRESENT and SECTION_HAS_MEM_MAP, the lowest since 2.6. */
#define HAS_MEM_MAP 2
/* From sections of 8 MiB with 64K pages to 16 GiB with small ones. */
enum { PART = 4096 };
/* Sections with a direct index: those of the first TiB. */
enum { LOW = 8192 };
enum { SHIFT_MIN = 7, SHIFT_MAX = 22, ROOTS_MAX = 1 << 26 };

static bool memmap_number_of(const struct atw_kernel *k, const char *key, uint64_t *ret)
{
	return k->have_vi && atw_vmcoreinfo_u64(&k->vi, key, ret) == ATW_OK;
}

/* ---- memory model, and its base address ---- */

static int memmap_flat(struct atw_kernel *k, struct kmem *m, struct memmap_where *w,
		       uint64_t symbol, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	uint64_t node = n->symbol[Y_contig_page_data];
	int r = kmem_u64(m, symbol, &w->base, err);

	if (r < 0)
		return atw_err_wrap(err, "mem_map");
	w->model = MEMMAP_FLAT;
	w->shift = SHIFT_MAX - 7;
	if (node && n->member[N_node_start] != NEED_NONE)
		kmem_u64(m, node + n->member[N_node_start], &w->first_pfn, NULL);
	return ATW_OK;
}

/*
 * NUMBER(SECTION_SIZE_BITS) exists since 5.13 (and 5.12.13); before, it is fixed by the
 * architecture: arch/{x86,arm64,riscv}/include/asm/sparsemem.h.
 */
static int memmap_section_shift(struct atw_kernel *k, struct memmap_where *w,
				struct atw_err *err)
{
	const struct atw_paging *pg = &k->own.paging;
	uint64_t bits = pg->family == ATW_ARM64 && pg->page_shift == 16 ? 29 : 27;

	memmap_number_of(k, "NUMBER(SECTION_SIZE_BITS)", &bits);
	if (bits < pg->page_shift + (unsigned)SHIFT_MIN ||
	    bits > pg->page_shift + (unsigned)SHIFT_MAX)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "invalid size of memory sections: 2^%" PRIu64 " bytes",
				   bits);
	w->shift = (uint8_t)(bits - pg->page_shift);
	return ATW_OK;
}

/*
 * The elements are pointers to sections, which are aligned, or the sections themselves,
 * which have flags set if they exist.
 */
static enum memmap_model memmap_look_at_roots(struct kmem *m,
					      const struct memmap_where *w)
{
	uint64_t word;

	for (uint64_t i = 0; i < 4096 && (!w->roots || i < w->roots); i++) {
		if (kmem_u64(m, w->base + i * 8, &word, NULL) < 0)
			break;
		if (word)
			return (word & 3) == 3 ? MEMMAP_SPARSE : MEMMAP_EXTREME;
	}
	return MEMMAP_EXTREME;
}

static int memmap_sparse(struct atw_kernel *k, struct kmem *m, struct memmap_where *w,
			 struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	uint64_t at = 0, size = n->size[S_mem_section], u;
	bool noted = memmap_number_of(k, "SYMBOL(mem_section)", &at);
	int r = memmap_section_shift(k, w, err);

	if (r < 0)
		return r;
	if (memmap_number_of(k, "SIZE(mem_section)", &u))
		size = u;
	if (size < 8 || size > 4096)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "struct pages cannot be found: the size of mem_section is not known");
	w->section_size = (uint32_t)size;
	w->map_at = n->member[N_section_map] != NEED_NONE ? n->member[N_section_map] : 0;
	if (memmap_number_of(k, "OFFSET(mem_section.section_mem_map)", &u) &&
	    u <= size - 8)
		w->map_at = (uint32_t)u;
	if (w->map_at > size - 8)
		w->map_at = 0;
	if (memmap_number_of(k, "LENGTH(mem_section)", &u) && u <= ROOTS_MAX)
		w->roots = u;
	w->flag_bits = 0x3f;
	if (n->have_const[C_section_map_last] && n->constant[C_section_map_last] > 1 &&
	    n->constant[C_section_map_last] < 12)
		w->flag_bits = ((uint64_t)1 << n->constant[C_section_map_last]) - 1;
	w->base = noted ? at : n->symbol[Y_mem_section];
	w->model = memmap_look_at_roots(m, w);
	/*
	 * VMCOREINFO has the value of the pointer (VMCOREINFO_SYMBOL_ARRAY); a symbol has
	 * the address of the variable, whether it is a pointer or an array.
	 */
	if (!noted && w->model == MEMMAP_EXTREME) {
		r = kmem_u64(m, w->base, &w->base, err);
		if (r < 0)
			return atw_err_wrap(err, "mem_section");
		w->model = memmap_look_at_roots(m, w);
	}
	w->per_root = (uint32_t)(((uint64_t)1 << k->own.paging.page_shift) / size);
	return w->per_root ? ATW_OK :
	       atw_err_set(err, ATW_E_DAMAGED, "invalid size of struct mem_section: %" PRIu64 " bytes",
			   size);
}

int memmap_where_init(struct atw_kernel *k, struct memmap_where *w, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	uint64_t size = n->size[S_page], symbol;
	struct atw_blob mark;
	struct kmem *m;
	int r = kernel_kmem(k, &m, err);

	if (r < 0)
		return r;
	*w = (struct memmap_where){ .mem = k->mem };
	if (!size)
		memmap_number_of(k, "SIZE(page)", &size);
	if (size < 32 || size > PAGE_STRUCT_MAX)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "struct pages cannot be found: their size is not known");
	w->size = (uint32_t)size;
	w->unpacks = atw_source_ahead(k->mem, NULL, 0);
	w->partial = atw_fact(k->mem, "extract", &mark) == ATW_OK;
	if (atw_source_is_live(k->mem)) {
		w->ahead = memmap_ahead_create(k->mem, w->size);
		if (!w->ahead)
			return atw_err_nomem(err);
	}
	if (memmap_number_of(k, "SYMBOL(mem_section)", &symbol) ||
	    n->symbol[Y_mem_section])
		return memmap_sparse(k, m, w, err);
	symbol = n->symbol[Y_mem_map];
	if (symbol)
		return memmap_flat(k, m, w, symbol, err);
	r = atw_err_set(err, ATW_E_UNSUPPORTED,
			"cannot find struct pages: neither VMCOREINFO nor symbols have the address of mem_section");
	atw_err_remedy(err, ATW_PARAM_KERNEL_FILE);
	return r;
}

void memmap_where_deinit(struct memmap_where *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->section[i].part);
	free(w->section);
	table_deinit(&w->by_nr);
	free(w->low);
	memmap_ahead_destroy(w->ahead);
	*w = (struct memmap_where){ 0 };
}

/* ---- sections, looked up once each ---- */

static int memmap_no_page(uint64_t pfn, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_MISSING,
			   "page frame 0x%" PRIx64 " has no struct page: the kernel has no memory there",
			   pfn);
}

/* The address in section_mem_map: that of a hypothetical struct page of frame 0. */
static int memmap_load_section(struct kmem *m, const struct memmap_where *w, uint64_t nr,
			       uint64_t pfn, uint64_t *ret, struct atw_err *err)
{
	uint64_t at = 0, map = 0;
	int r;

	if (w->model == MEMMAP_EXTREME) {
		uint64_t root = nr / w->per_root;

		if (root >= (w->roots ? w->roots : ROOTS_MAX))
			return memmap_no_page(pfn, err);
		r = kmem_u64(m, w->base + root * 8, &at, err);
		if (r < 0)
			return atw_err_wrap(err, "mem_section");
		if (!at)
			return memmap_no_page(pfn, err);
		at += nr % w->per_root * w->section_size;
	} else {
		if (nr >= (w->roots ? w->roots : ROOTS_MAX))
			return memmap_no_page(pfn, err);
		at = w->base + nr * w->section_size;
	}
	r = kmem_u64(m, at + w->map_at, &map, err);
	if (r < 0)
		return atw_err_wrap(err, "mem_section");
	if (!(map & HAS_MEM_MAP))
		return memmap_no_page(pfn, err);
	*ret = map & ~w->flag_bits;
	return ATW_OK;
}

/*
 * The struct pages of a section are mostly contiguous, in one large page of the kernel;
 * if the source lends them, a lookup is an addition.
 */
static void memmap_see_whole(struct kmem *m, const struct memmap_where *w,
			     struct memmap_section *s)
{
	uint64_t bytes = (uint64_t)w->size << w->shift;
	struct atw_blob b;
	atw_pa pa;

	if (kmem_physical(m, s->first, &s->pa, NULL) < 0)
		return;
	for (uint64_t off = PART - s->first % PART; off < bytes; off += PART)
		if (kmem_physical(m, s->first + off, &pa, NULL) < 0 || pa.u != s->pa.u + off)
			return;
	s->in_one = true;
	if (memory_lent(w->mem, s->pa, (size_t)bytes, NULL) &&
	    kmem_blob(m, s->first, (size_t)bytes, &b, NULL) == ATW_OK)
		s->whole = b.data;
}

static struct memmap_section *memmap_add_section(struct kmem *m, struct memmap_where *w,
						 uint64_t nr, uint64_t pfn,
						 struct atw_err *err)
{
	uint64_t map = 0;
	struct memmap_section s = { .nr = nr };
	int r;

	if (w->model == MEMMAP_FLAT) {
		s.first = w->base + (nr << w->shift) * w->size;
	} else {
		r = memmap_load_section(m, w, nr, pfn, &map, err);
		if (r < 0)
			return NULL;
		s.first = map + (nr << w->shift) * w->size;
	}
	if (!array_reserve((void **)&w->section, &w->cap, w->n + 1, sizeof(s)) ||
	    !table_add(&w->by_nr, nr, w->n + 1)) {
		atw_err_nomem(err);
		return NULL;
	}
	memmap_see_whole(m, w, &s);
	w->section[w->n] = s;
	if (nr < LOW && !w->low)
		w->low = calloc(LOW, sizeof(*w->low));
	if (nr < LOW && w->low)
		w->low[nr] = (uint32_t)w->n + 1;
	return &w->section[w->n++];
}

static struct memmap_section *memmap_find_section(struct kmem *m, struct memmap_where *w,
						  uint64_t pfn, struct atw_err *err)
{
	uint64_t off = w->model == MEMMAP_FLAT ? pfn - w->first_pfn : pfn;
	uint64_t nr = off >> w->shift;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n of them are there */
	if (w->n && w->section[w->last].nr == nr)
		return &w->section[w->last];
	if (pfn < w->first_pfn) {
		memmap_no_page(pfn, err);
		return NULL;
	}
	if (nr < LOW && w->low && w->low[nr]) {
		w->last = w->low[nr] - 1;
		return &w->section[w->last];
	}
	w->last = table_find(&w->by_nr, nr) - 1;
	if (w->last != SIZE_MAX)
		return &w->section[w->last];
	w->last = w->n;          /* its future index; checked against n above */
	if (!memmap_add_section(m, w, nr, pfn, err)) {
		w->last = 0;
		return NULL;
	}
	return &w->section[w->last];
}

/* ---- contents ---- */

static const uint8_t no_part;    /* marks parts that were read and are missing */

/*
 * The part of a section's struct pages that contains offset `off`. Parts are aligned, so
 * none crosses a page of kernel memory.
 */
static const uint8_t *memmap_find_part(struct kmem *m, struct memmap_where *w,
				       struct memmap_section *s, uint64_t address,
				       struct atw_err *err)
{
	uint64_t base = s->first & ~(uint64_t)(PART - 1);
	size_t i = (size_t)((address - base) / PART);
	struct atw_blob b;

	if (w->ahead) {
		const uint8_t *p = memmap_ahead_page(w->ahead, m, base + i * PART, err);

		return p ? p + address % PART : NULL;
	}
	if (!s->part) {
		uint64_t bytes = (uint64_t)w->size << w->shift;

		s->part = calloc((size_t)(bytes / PART + 2), sizeof(*s->part));
		if (!s->part) {
			atw_err_nomem(err);
			return NULL;
		}
	}
	if (!s->part[i] || (s->part[i] == &no_part && err))
		s->part[i] = kmem_blob(m, base + i * PART, PART, &b, err) == ATW_OK
			     ? b.data : &no_part;
	return s->part[i] == &no_part ? NULL : s->part[i] + address % PART;
}

static const uint8_t *memmap_bytes_there(struct kmem *m, struct memmap_where *w, uint64_t pfn,
					 uint8_t buf[PAGE_STRUCT_MAX], struct atw_err *err)
{
	struct memmap_section *s = memmap_find_section(m, w, pfn, err);
	uint64_t off, address, n;
	const uint8_t *p;
	size_t head;

	if (!s)
		return NULL;
	off = ((pfn - w->first_pfn) & (((uint64_t)1 << w->shift) - 1)) * w->size;
	if (s->whole)
		return s->whole + off;
	p = w->ahead ? memmap_ahead_find(w->ahead, m, pfn, &n) : NULL;
	if (p)
		return p;
	address = s->first + off;
	p = memmap_find_part(m, w, s, address, err);
	if (!p)
		return NULL;
	head = PART - (size_t)(address % PART);
	if (head >= w->size) {
		/* The buffer is reused for the next page of a running machine. */
		return w->ahead ? memcpy(buf, p, w->size) : p;
	}
	memcpy(buf, p, head);
	p = memmap_find_part(m, w, s, address + head, err);
	if (!p)
		return NULL;
	memcpy(buf + head, p, w->size - head);
	return buf;
}

static bool memmap_is_blank(const uint8_t *page, uint32_t size)
{
	uint32_t i = 0;

	while (i < size && !page[i])
		i++;
	return i == size;
}

const uint8_t *memmap_bytes(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			    uint8_t buf[PAGE_STRUCT_MAX], struct atw_err *err)
{
	const uint8_t *p = memmap_bytes_there(m, w, pfn, buf, err);

	/* The mapcount of an unused one is -1: none is zero as a whole. */
	if (!p || !w->partial || !memmap_is_blank(p, w->size))
		return p;
	atw_err_set(err, ATW_E_MISSING, "the extract left out the struct page of page frame 0x%" PRIx64,
		    pfn);
	return NULL;
}

const uint8_t *memmap_at_hand(struct kmem *m, struct memmap_where *w, uint64_t pfn,
			      uint64_t *ret_n)
{
	const uint8_t *p = w->ahead ? memmap_ahead_find(w->ahead, m, pfn, ret_n) : NULL;
	const struct memmap_section *s = p ? NULL : memmap_find_section(m, w, pfn, NULL);
	uint64_t section = (uint64_t)1 << w->shift, at = (pfn - w->first_pfn) & (section - 1);

	if (w->partial)                  /* each has to be looked at */
		return NULL;
	if (!s || !s->whole)
		return p;
	*ret_n = section - at;
	return s->whole + at * w->size;
}

/* Pages of struct pages to announce to a source that unpacks them. */
struct memmap_announced {
	uint64_t pa[64];
	size_t n;
};

/* Its threads may have been taken from it. */
static void memmap_announce(struct memmap_where *w, struct memmap_announced *a)
{
	if (a->n)
		w->unpacks = atw_source_ahead(w->mem, a->pa, a->n);
	a->n = 0;
}

/* Those of the struct pages of `n` frames of a section from number `at` on. */
static void memmap_announce_in(struct memmap_where *w, const struct memmap_section *s,
			       uint64_t at, uint64_t n, struct memmap_announced *a)
{
	const uint64_t off = s->first % PART;
	uint64_t i = (off + at * w->size) / PART, last = (off + (at + n) * w->size - 1) / PART;

	for (; i <= last; i++) {
		uint64_t pa = s->pa.u - off + i * PART;

		if ((s->part && s->part[i]) || (a->n && a->pa[a->n - 1] == pa))
			continue;
		if (a->n == ARRAY_SIZE(a->pa))
			memmap_announce(w, a);
		a->pa[a->n++] = pa;
	}
}

void memmap_soon(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n)
{
	struct memmap_announced unpack = { .n = 0 };
	uint64_t section = (uint64_t)1 << w->shift, at, here;

	for (; n; pfn += here, n -= here) {
		const struct memmap_section *s = memmap_find_section(m, w, pfn, NULL);

		at = (pfn - w->first_pfn) & (section - 1);
		here = n < section - at ? n : section - at;
		for (uint64_t i = 0; s && s->whole && i < here; i++)
			__builtin_prefetch(s->whole + (at + i) * w->size);
		if (s && !s->whole && s->in_one && w->ahead)
			memmap_ahead_add(w->ahead, pfn, here, ATW_PA(s->pa.u + at * w->size));
		else if (s && !s->whole && s->in_one && w->unpacks)
			memmap_announce_in(w, s, at, here, &unpack);
	}
	memmap_announce(w, &unpack);
}

static bool memmap_stretch_of(const struct memmap_where *w, const struct memmap_section *s,
			      uint64_t pfn, uint64_t n, atw_pa *ret)
{
	uint64_t section = (uint64_t)1 << w->shift, at = (pfn - w->first_pfn) & (section - 1);

	if (!s || !s->in_one || n > section - at)
		return false;
	*ret = ATW_PA(s->pa.u + at * w->size);
	return true;
}

bool memmap_stretch(struct kmem *m, struct memmap_where *w, uint64_t pfn, uint64_t n, atw_pa *ret)
{
	return memmap_stretch_of(w, memmap_find_section(m, w, pfn, NULL), pfn, n, ret);
}

/* A memmap_ahead_place: what is not read at all has none. */
static bool memmap_place(void *arg, uint64_t pfn, atw_pa *ret)
{
	struct atw_memmap *m = arg;
	const struct memmap_section *s = memmap_find_section(m->kmem, &m->where, pfn, NULL);

	return s && !s->whole &&
	       memmap_stretch_of(&m->where, s, pfn, MEMMAP_BLOCK, ret);
}

uint32_t memmap_soon_frames(struct atw_memmap *m, const uint64_t *pa, uint32_t n)
{
	struct memmap_where *w = &m->where;
	unsigned shift = m->k->own.paging.page_shift;
	struct memmap_announced unpack = { .n = 0 };

	/* Else a section may begin inside of a block. */
	if (w->ahead && w->first_pfn % MEMMAP_BLOCK == 0)
		return memmap_ahead_add_frames(w->ahead, pa, n, shift, memmap_place, m);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t pfn = pa[i] >> shift, frames = (uint64_t)1 << w->shift;
		const struct memmap_section *s = memmap_find_section(m->kmem, w, pfn, NULL);

		if (w->ahead || (s && s->whole))
			memmap_soon(m->kmem, w, pfn, 1);
		else if (s && s->in_one && w->unpacks)
			memmap_announce_in(w, s, (pfn - w->first_pfn) & (frames - 1), 1, &unpack);
	}
	memmap_announce(w, &unpack);
	return n;
}

uint64_t memmap_address(struct kmem *m, struct memmap_where *w, uint64_t pfn)
{
	const struct memmap_section *s = memmap_find_section(m, w, pfn, NULL);

	return s ? s->first + ((pfn - w->first_pfn) &
			       (((uint64_t)1 << w->shift) - 1)) * w->size : 0;
}

uint64_t memmap_read_section(struct kmem *m, struct memmap_where *w, uint64_t pfn)
{
	uint64_t section = (uint64_t)1 << w->shift, map;

	if (w->model == MEMMAP_FLAT)
		return UINT64_MAX - pfn;
	return memmap_load_section(m, w, pfn >> w->shift, pfn, &map, NULL) == ATW_OK
		       ? section - (pfn & (section - 1))
		       : memmap_missing(m, w, pfn);
}

int memmap_keep_nothing(struct memmap_where *w, struct atw_err *err)
{
	if (!w->ahead)
		w->ahead = memmap_ahead_create(w->mem, w->size);
	return w->ahead ? ATW_OK : atw_err_nomem(err);
}

uint64_t memmap_missing(struct kmem *m, struct memmap_where *w, uint64_t pfn)
{
	uint64_t at = memmap_address(m, w, pfn), section = (uint64_t)1 << w->shift;
	uint64_t left = section - ((pfn - w->first_pfn) & (section - 1)), part;

	if (!at && pfn < w->first_pfn)
		return w->first_pfn - pfn;
	/*
	 * A missing root implies that all its sections are missing; files may claim any
	 * size.
	 */
	if (!at && w->model == MEMMAP_EXTREME) {
		uint64_t all = section * w->per_root, root = pfn / all, word;

		if ((w->roots && root >= w->roots) || root >= ROOTS_MAX ||
		    kmem_u64(m, w->base + root * 8, &word, NULL) < 0 || !word)
			return all - pfn % all;
	}
	if (!at)
		return left;
	/* All struct pages in the same page of kernel memory are missing, too. */
	part = (PART - at % PART + w->size - 1) / w->size;
	return part < left ? part : left;
}
