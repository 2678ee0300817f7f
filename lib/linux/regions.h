/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions.h - construction of the regions of the kernel's half.
 *
 * Each architecture adds its regions on top of those that were added before: the kernel
 * image is added on top of vmalloc, which contains it on arm64. Regions with unknown
 * borders are omitted, so no address gets a wrong name.
 */
#pragma once

#include "linux/kernel.h"

#define SZ_2M   (UINT64_C(1) << 21)
#define SZ_8M   (UINT64_C(1) << 23)
#define SZ_16M  (UINT64_C(1) << 24)
#define SZ_32M  (UINT64_C(1) << 25)
#define SZ_128M (UINT64_C(1) << 27)
#define SZ_256M (UINT64_C(1) << 28)
#define SZ_1G   (UINT64_C(1) << 30)

struct kernel_regions {
	struct atw_region *v;    /* sorted, not overlapping */
	size_t n, cap;
	bool failed;             /* an allocation failed */
};

struct plan {
	struct atw_kernel *k;
	struct kmem *m;
	const struct mmu_space *space;
	struct kernel_regions *regions;
	uint64_t symbol[N_SYMBOLS];      /* symbols of FOR_REGIONS; 0: none */
	uint64_t page;           /* bytes */
};

/* An optional number. */
struct optional {
	bool have;
	uint64_t u;
};

static inline struct optional optional(uint64_t u)
{
	return (struct optional){ true, u };
}
/* The value of both if they agree; of one if the other is missing; else nothing. */
struct optional optional_agreed(struct optional a, struct optional b);

/* Add a region, from first to last inclusive, on top of the others. */
void region_put(struct plan *p, uint64_t first, uint64_t last, const char *name);
/* The same for [start, end); nothing if end is not above start. */
void region_put_to(struct plan *p, uint64_t start, uint64_t end, const char *name);
/* The same if both are known. */
static inline void region_put_between(struct plan *p, struct optional start,
				      struct optional end, const char *name)
{
	if (start.have && end.have)
		region_put_to(p, start.u, end.u, name);
}

/* "NUMBER(x)", "SYMBOL(x)", ... of VMCOREINFO. */
struct optional plan_fact(const struct plan *p, const char *key);
/* The 8 bytes at the address of a symbol. */
struct optional plan_value(const struct plan *p, enum need_symbol i);
/* The approximate start of the kernel's text. */
struct optional plan_text(const struct plan *p);
/* Virtual minus physical address of the mapping at va. */
struct optional plan_distance(const struct plan *p, uint64_t va);
/* The same for a pointer into the direct map, if one is known in [lo, hi]. */
struct optional plan_pointer_distance(const struct plan *p, uint64_t lo, uint64_t hi);
/* The end of RAM according to the kernel: the physical address after max_pfn. */
struct optional plan_ram_end(const struct plan *p);

/* One leaf. */
struct leaf {
	uint64_t first, last;    /* virtual, inclusive */
	uint64_t pa;
};
/* false: there is none, or tables on the path are missing. */
bool first_leaf(const struct plan *p, uint64_t first, uint64_t last, struct leaf *ret);
bool last_leaf(const struct plan *p, uint64_t first, uint64_t last, struct leaf *ret);

/*
 * The direct map in [lo, hi]: its addresses are `distance` above physical ones. It begins
 * at lo if that is known, else at its first page, and ends at the end of RAM.
 */
void region_direct_map(struct plan *p, struct optional distance, uint64_t lo,
		       uint64_t hi, bool from_lo);
/* The kernel image from _text to _end; false: these are not known. */
bool region_image(struct plan *p);
/* Its sections in [start, end), by symbols. */
void region_image_parts(struct plan *p, uint64_t start, uint64_t end);
/* Loaded modules one by one, from the kernel's list of them. */
void region_loaded_modules(struct plan *p);
/*
 * The address of a real or hypothetical struct page 0: the section_mem_map of every
 * present section with SPARSEMEM_VMEMMAP (mm/sparse.c, sparse_encode_mem_map()).
 */
struct optional plan_sections_vmemmap(const struct plan *p);

void regions_x86(struct plan *p);
void regions_arm64(struct plan *p);
void regions_riscv(struct plan *p);
