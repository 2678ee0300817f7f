/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions_arm64.c - regions of arm64: Documentation/arch/arm64/memory.rst and
 * arch/arm64/include/asm/memory.h.
 *
 * The upper end of the address space has had three layouts. The position of vmemmap
 * distinguishes them:
 *
 *	5.4 to 5.10   VMEMMAP_START is -VMEMMAP_SIZE - 2 MiB
 *	5.11 to 6.8   a power of two from the top (8c96400d6a39, 9ad7c6d5e75b)
 *	6.9 on        VMEMMAP_END is -1 GiB, PCI I/O and fixmap above it
 *	              (32697ff38287, b730b0f2b1fc)
 *
 * VMCOREINFO has the borders since 5.18 (2369f171d5c5). With KASLR the kernel's image
 * lies somewhere in vmalloc, and so do the modules, near it.
 */
#include "linux/regions.h"

enum { SZ_64K = 65536, LONGEST_IMAGE = 256 << 20, WIDEST_GAP = 16 << 20 };

struct bounds {
	uint64_t direct;         /* start of the upper half on this CPU */
	uint64_t built;          /* PAGE_OFFSET: the start that the kernel was built
				  * for */
	uint64_t page_end;       /* of the direct map, or of KASAN's shadow */
	struct optional vmalloc, vmalloc_end;
	struct optional modules, modules_end, bpf;
	struct optional vmemmap, vmemmap_end;
	struct optional pci, fixmap, fixmap_end;
};

/* ---- fixed regions ---- */

static unsigned regions_arm64_log2_up(uint64_t u)
{
	unsigned n = 0;

	while (n < 63 && UINT64_C(1) << n < u)
		n++;
	return n;
}

/*
 * vmalloc begins where modules end, at the address of the image without KASLR
 * (KIMAGE_VADDR). BPF's 128 MiB below the modules were removed in 5.16 and in some stable
 * releases before (b89ddf4cca43).
 */
static void regions_arm64_vmalloc_start(const struct plan *p, struct bounds *b)
{
	struct optional text = plan_fact(p, "SYMBOL(_stext)");
	struct optional kaslr = plan_fact(p, "KERNELOFFSET");
	uint64_t start = (text.u - kaslr.u) & ~(SZ_2M - 1);

	if (!text.have || !kaslr.have)
		return;
	if (start == b->page_end + SZ_256M)
		b->bpf = optional(b->page_end);
	else if (start != b->page_end + SZ_128M)
		return;
	b->modules = optional(start - SZ_128M);
	b->vmalloc = b->modules_end = optional(start);
}

/* If VMCOREINFO lacks the borders: vmemmap from the sections, the others from vmemmap. */
static void regions_arm64_derive(const struct plan *p, struct bounds *b)
{
	const struct atw_paging *pg = &p->space->paging;
	struct optional pages = plan_sections_vmemmap(p);
	struct optional size = plan_fact(p, "SIZE(page)");
	struct optional ram = plan_fact(p, "NUMBER(PHYS_OFFSET)");
	unsigned shift;
	uint64_t bytes, start, pud;

	if (!pages.have || !ram.have || !size.have || size.u < 32 || size.u > 256)
		return;
	shift = pg->page_shift - regions_arm64_log2_up(size.u);
	bytes = (b->page_end - b->built) >> shift;
	/* vmemmap is the address of a hypothetical page 0; memstart_addr is signed. */
	start = pages.u + (uint64_t)((int64_t)ram.u >> pg->page_shift) * size.u;
	if (start == -bytes - SZ_2M) {
		pud = UINT64_C(1) << pg->level[pg->nlevels >= 3 ? 2 : pg->nlevels - 1].shift;
		b->vmalloc_end = optional(-pud - bytes - SZ_64K);
	} else if (start == -(-b->built >> shift)) {
		b->vmalloc_end = optional(start - SZ_256M);
	} else {
		return;
	}
	regions_arm64_vmalloc_start(p, b);
	b->vmemmap = optional(start);
	b->vmemmap_end = optional(start + bytes);
}

static void regions_arm64_above_vmalloc(const struct plan *p, struct bounds *b)
{
	uint64_t start = b->vmemmap.u, end = b->vmemmap_end.u;
	uint64_t half = b->page_end - b->built;
	struct optional size = plan_fact(p, "SIZE(page)");

	if (!b->vmemmap.have || !b->vmemmap_end.have || !b->vmalloc_end.have)
		return;
	if (end == -SZ_1G) {
		b->pci = optional(end + SZ_8M);
		b->fixmap = optional(b->pci.u + SZ_16M);
		b->fixmap_end = optional(-SZ_8M);
	} else if (start + (end - start) == -SZ_2M) {
		b->pci = optional(start - SZ_2M - SZ_16M);
		b->fixmap = b->vmalloc_end;
		b->fixmap_end = optional(b->pci.u - SZ_2M);
	} else if (size.have && size.u <= 256 &&
		   end - start == half >> (p->space->paging.page_shift -
					   regions_arm64_log2_up(size.u))) {
		b->pci = optional(start - SZ_8M - SZ_16M);
		b->fixmap = b->vmalloc_end;
		b->fixmap_end = optional(start - SZ_32M);
	}
	/*
	 * Built for 52 bits and running with fewer, the lower part of vmemmap would
	 * describe impossible addresses: since 6.9 it belongs to vmalloc.
	 */
	if (b->vmalloc_end.u > start)
		b->vmemmap = optional(b->vmalloc_end.u + SZ_8M);
}

static bool regions_arm64_find_bounds(const struct plan *p, struct bounds *b)
{
	struct optional bits = plan_fact(p, "NUMBER(VA_BITS)");
	uint64_t least = bits.u;

	if (!bits.have || bits.u < 36 || bits.u > 52)
		return false;
	/* VA_BITS_MIN: the minimum that a kernel built for 52 bits supports. */
	if (bits.u > 48)
		least = p->page == 16384 ? 47 : 48;
	*b = (struct bounds){
		.direct = -(UINT64_C(1) << p->space->paging.va_bits),
		.built = -(UINT64_C(1) << bits.u),
		.page_end = -(UINT64_C(1) << (least - 1)),
		.vmalloc = plan_fact(p, "NUMBER(VMALLOC_START)"),
		.vmalloc_end = plan_fact(p, "NUMBER(VMALLOC_END)"),
		.modules = plan_fact(p, "NUMBER(MODULES_VADDR)"),
		.modules_end = plan_fact(p, "NUMBER(MODULES_END)"),
		.vmemmap = plan_fact(p, "NUMBER(VMEMMAP_START)"),
		.vmemmap_end = plan_fact(p, "NUMBER(VMEMMAP_END)"),
	};
	if (!b->vmalloc.have || !b->vmalloc_end.have || !b->vmemmap.have)
		regions_arm64_derive(p, b);
	regions_arm64_above_vmalloc(p, b);
	return true;
}

/* ---- regions in the lower and in the middle part ---- */

/*
 * The shadow ends where the rest above the direct map begins, and takes 1/8 or, with
 * tags, 1/16 of the upper half. The text's shadow is always mapped; if the mapping there
 * is the direct map, there is no KASAN.
 */
static uint64_t regions_arm64_kasan_start(const struct plan *p, const struct bounds *b,
					  struct optional direct)
{
	struct optional text = plan_text(p), d;

	for (unsigned shift = 3; text.have && shift <= 4; shift++) {
		uint64_t offset = b->page_end - (UINT64_C(1) << (64 - shift));

		d = plan_distance(p, (text.u >> shift) + offset);
		if (d.have && !(direct.have && d.u == direct.u))
			return b->page_end -
			       (UINT64_C(1) << (p->space->paging.va_bits - shift));
	}
	return b->page_end;
}

/*
 * Without symbols the image is the range that is mapped at its offset around the text,
 * with one gap for memory that was freed after boot.
 */
static bool regions_arm64_image_by_walk(const struct plan *p, uint64_t text,
					uint64_t distance, uint64_t *start, uint64_t *end)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(text - SZ_64K),
		.last = ATW_VA(text + LONGEST_IMAGE),
	};
	struct mmu_ranges *ranges;
	struct mmu_range g;

	*start = *end = text;
	if (mmu_ranges_open(p->space, &o, MMU_SPLIT_PHYSICAL, &ranges, NULL) < 0)
		return false;
	while (mmu_ranges_next(ranges, &g, NULL) == ATW_OK) {
		if (g.loss || g.kind != ATW_LEAF || g.repeat_of || g.same_pa ||
		    g.va.u - g.pa.u != distance)
			continue;
		if (g.va.u < *start)
			*start = g.va.u;
		if (g.va.u + g.size > *end && g.va.u <= *end + WIDEST_GAP)
			*end = g.va.u + g.size;
	}
	mmu_ranges_close(ranges);
	return *end > text;
}

static void regions_arm64_image(struct plan *p)
{
	struct optional text = plan_text(p);
	struct optional distance = plan_fact(p, "NUMBER(kimage_voffset)");
	uint64_t start, end;

	if (region_image(p) || !text.have || !distance.have ||
	    !regions_arm64_image_by_walk(p, text.u, distance.u, &start, &end))
		return;
	if (!p->symbol[Y_image_text])
		p->symbol[Y_image_text] = text.u;
	region_put_to(p, start, end, "kernel image");
	region_image_parts(p, start, end);
}

void regions_arm64(struct plan *p)
{
	struct optional ram = plan_fact(p, "NUMBER(PHYS_OFFSET)"), distance;
	struct bounds b;
	uint64_t kasan;

	if (!regions_arm64_find_bounds(p, &b)) {
		regions_arm64_image(p);
		region_loaded_modules(p);
		return;
	}
	/* memstart_addr compensates for a half that is smaller than the build's. */
	distance = ram.have ? optional(b.built - ram.u) :
		plan_pointer_distance(p, b.direct, b.page_end - 1);
	kasan = regions_arm64_kasan_start(p, &b, distance);
	region_direct_map(p, distance, b.direct, kasan - 1, false);
	region_put_to(p, kasan, b.page_end, "KASAN shadow");
	region_put_between(p, b.bpf, b.modules, "BPF JIT");
	region_put_between(p, b.modules, b.modules_end, "modules");
	region_put_between(p, b.vmalloc, b.vmalloc_end, "vmalloc");
	region_put_between(p, b.vmemmap, b.vmemmap_end, "vmemmap");
	region_put_between(p, b.fixmap, b.fixmap_end, "fixmap");
	if (b.pci.have)
		region_put_to(p, b.pci.u, b.pci.u + SZ_16M, "PCI I/O");
	regions_arm64_image(p);
	region_loaded_modules(p);
}
