/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_abi.c - layout of struct page of this kernel: members, bits and types, from its
 * own types and VMCOREINFO, never from its release.
 */
#include "linux/kpf.h"
#include "linux/memmap.h"

/* Bits of include/linux/page-flags.h, and the KPF_ flags that they become. */
static const struct { uint8_t kpf; enum need_const bit; } copies[] = {
	{ KPF_LOCKED, C_PG_locked }, { KPF_ERROR, C_PG_error },
	{ KPF_REFERENCED, C_PG_referenced }, { KPF_UPTODATE, C_PG_uptodate },
	{ KPF_DIRTY, C_PG_dirty }, { KPF_LRU, C_PG_lru }, { KPF_ACTIVE, C_PG_active },
	{ KPF_WRITEBACK, C_PG_writeback }, { KPF_RECLAIM, C_PG_reclaim },
	{ KPF_SWAPBACKED, C_PG_swapbacked }, { KPF_UNEVICTABLE, C_PG_unevictable },
	{ KPF_RESERVED, C_PG_reserved }, { KPF_MLOCKED, C_PG_mlocked },
	{ KPF_OWNER_2, C_PG_owner_2 }, { KPF_PRIVATE, C_PG_private },
	{ KPF_PRIVATE_2, C_PG_private_2 }, { KPF_OWNER_PRIVATE, C_PG_owner_priv_1 },
	{ KPF_ARCH, C_PG_arch_1 }, { KPF_UNCACHED, C_PG_uncached },
	{ KPF_ARCH_2, C_PG_arch_2 }, { KPF_ARCH_3, C_PG_arch_3 },
};

static uint64_t page_abi_flag(const struct needs *n, enum need_const c)
{
	return n->have_const[c] && n->constant[c] >= 0 && n->constant[c] < 64
	       ? (uint64_t)1 << n->constant[c] : 0;
}

static void page_abi_make_tables(const struct needs *n, struct page_abi *a)
{
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		int64_t bit = n->have_const[copies[i].bit] ? n->constant[copies[i].bit] : -1;

		/* Bits from 32 on are section, node and zone. */
		if (bit < 0 || bit >= 32)
			continue;
		a->matter |= (uint64_t)1 << bit;
		if (!(kpf(copies[i].kpf) & memmap_passing()))
			a->of_kind |= (uint64_t)1 << bit;
		for (unsigned v = 0; v < 256; v++)
			if (v >> bit % 8 & 1)
				a->kpf[bit / 8][v] |= (uint64_t)1 << copies[i].kpf;
	}
}

static void page_abi_find_members(const struct needs *n, struct page_abi *a)
{
	uint32_t size = n->size[S_page];

	*a = (struct page_abi){
		.flags = n->member[N_page_flags], .refcount = n->member[N_page_refcount],
		.mapcount = n->member[N_page_mapcount],
		.mapping = n->member[N_page_mapping], .head = n->member[N_page_head],
		.private_ = n->member[N_page_private], .list = n->member[N_page_list],
		.order = n->member[N_folio_order], .dtor = n->member[N_folio_dtor],
		.entire = n->member[N_folio_entire], .mapped = n->member[N_folio_mapped],
		.large_mapcount = n->member[N_folio_mapcount],
	};
	a->flags2 = size + a->flags;
	if (a->order == NEED_NONE && n->member[N_page_order] != NEED_NONE)
		a->order = size + n->member[N_page_order];
	if (a->dtor == NEED_NONE && n->member[N_page_dtor] != NEED_NONE)
		a->dtor = size + n->member[N_page_dtor];
	if (a->entire == NEED_NONE && n->member[N_page_entire] != NEED_NONE)
		a->entire = size + n->member[N_page_entire];
}

/* All members must lie inside of the bytes that are read. */
static int page_abi_check_members(const struct needs *n, struct page_abi *a,
				  struct atw_err *err)
{
	const uint32_t first[] = { a->flags, a->mapping, a->head };
	const uint32_t words[] = { a->refcount, a->mapcount };
	uint32_t *const second[] = { &a->order, &a->dtor, &a->entire, &a->mapped,
				     &a->large_mapcount };
	uint32_t size = n->size[S_page];
	bool good = true;

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		good &= size >= 8 && first[i] <= size - 8;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		good &= size >= 4 && words[i] <= size - 4;
	if (!good)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the kernel's types have members outside of struct page");
	for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		if (*second[i] < size || *second[i] > 2 * size - 4)
			*second[i] = NEED_NONE;
	if (a->private_ > size - 8)
		a->private_ = NEED_NONE;
	if (size < 16 || a->list > size - 16)
		a->list = NEED_NONE;
	return ATW_OK;
}

/* NUMBER(PAGE_..._MAPCOUNT_VALUE): the whole word if only this type is set. */
static uint32_t page_abi_noted_type(const struct atw_kernel *k, const char *key, bool top)
{
	uint64_t u;

	if (!k->have_vi || atw_vmcoreinfo_u64(&k->vi, key, &u) < 0)
		return 0;
	return top ? (uint32_t)u >> 24 : ~(uint32_t)u;
}

static uint32_t page_abi_type_of(const struct needs *n, enum need_const c,
				 uint32_t otherwise)
{
	return n->have_const[c] && n->constant[c] >= 64 ? (uint32_t)n->constant[c]
							: otherwise;
}

static void page_abi_find_types(const struct atw_kernel *k, const struct needs *n,
				struct page_abi *a)
{
	uint32_t buddy = page_abi_type_of(n, C_type_buddy, 0);
	bool top = buddy >= 0xf0 && buddy <= 0xff;

	a->types = top ? TYPES_TOP : TYPES_BITS;
	/* Names of macros from 5.0 to 6.9; 0x200 was PG_kmemcg up to 5.10. */
	a->buddy = buddy ? buddy : 0x80;
	a->offline = page_abi_type_of(n, C_type_offline, buddy ? 0 : 0x100);
	a->table = page_abi_type_of(n, C_type_table,
				    buddy                                       ? 0
				    : n->member[N_page_mem_cgroup] != NEED_NONE ? 0x400
										: 0x200);
	a->type_base = a->buddy < 0x10000000 ? 0xf0000000 : 0x80000000;
	a->slab = page_abi_type_of(n, C_type_slab, 0);
	a->slab_flag = page_abi_flag(n, C_type_slab);
	a->large_kmalloc = page_abi_type_of(n, C_type_large_kmalloc, 0);
	a->hugetlb = page_abi_type_of(
		n, C_type_hugetlb,
		page_abi_noted_type(k, "NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)", top));
	a->hugetlb_flag = page_abi_flag(n, C_type_hugetlb);
	if (a->dtor != NEED_NONE && n->have_const[C_dtor_hugetlb])
		a->hugetlb_dtor = (uint32_t)n->constant[C_dtor_hugetlb];
}

int page_abi_init(struct atw_kernel *k, struct page_abi *a, struct atw_err *err)
{
	const struct needs *n = kernel_needs(k);
	int r = needs_check(n, FOR_PAGES, err);

	if (r < 0)
		return r;
	page_abi_find_members(n, a);
	r = page_abi_check_members(n, a, err);
	if (r < 0)
		return r;
	a->has_head = page_abi_flag(n, C_PG_head);
	a->lru = page_abi_flag(n, C_PG_lru);
	a->reserved = page_abi_flag(n, C_PG_reserved);
	a->hwpoison = page_abi_flag(n, C_PG_hwpoison);
	a->idle = page_abi_flag(n, C_PG_idle);
	if (page_abi_flag(n, C_PG_swapcache))
		a->swapcache = page_abi_flag(n, C_PG_swapcache) |
			       page_abi_flag(n, C_PG_swapbacked);
	a->rmappable = page_abi_flag(n, C_PG_large_rmappable);
	a->double_map = page_abi_flag(n, C_PG_double_map);
	a->of_folio = a->large_mapcount != NEED_NONE;
	a->of_snapshot = n->size[S_page_snapshot];
	a->folio_idle = n->member[N_folio_flags] != NEED_NONE;
	page_abi_find_types(k, n, a);
	a->of_kind = a->has_head | a->lru | a->reserved | a->hwpoison | a->swapcache | a->slab_flag;
	a->matter = a->of_kind | a->idle;
	page_abi_make_tables(n, a);
	return ATW_OK;
}
