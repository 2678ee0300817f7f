/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions_x86.c - regions of x86-64: Documentation/arch/x86/x86_64/mm.rst, since 4.20
 * (d52888aa2753 moved the LDT).
 *
 * The direct map, vmalloc and vmemmap begin at multiples of 1 GiB that are random unless
 * KASLR is off or KASAN is on (arch/x86/mm/kaslr.c), always in this order. The kernel
 * keeps the three addresses in variables; VMCOREINFO has two of them since 6.9.
 */
#include "linux/regions.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define TB (UINT64_C(1) << 40)

/* arch/x86/include/asm/pgtable_64_types.h, page_64_types.h, ldt */
struct x86_layout {
	uint64_t guard, ldt, ldt_end;
	uint64_t direct, vmalloc, vmemmap;       /* without randomization */
	uint64_t vmalloc_size, kasan;
};
static const struct x86_layout layouts[2] = {
	{0xffff800000000000, 0xffff880000000000, 0xffff888000000000, 0xffff888000000000,
	 0xffffc90000000000, 0xffffea0000000000, 32 * TB, 0xffffec0000000000},
	{0xff00000000000000, 0xff10000000000000, 0xff11000000000000, 0xff11000000000000,
	 0xffa0000000000000, 0xffd4000000000000, 12800 * TB, 0xffdffc0000000000},
};

/* The same for four and five levels. */
#define KASAN_OFFSET   UINT64_C(0xdffffc0000000000)
#define KASAN_LAST     UINT64_C(0xfffffbffffffffff)
#define ENTRY_AREA     UINT64_C(0xfffffe0000000000)
#define ENTRY_LAST     UINT64_C(0xfffffe7fffffffff)
#define ESPFIX         UINT64_C(0xffffff0000000000)
#define ESPFIX_LAST    UINT64_C(0xffffff7fffffffff)
#define EFI            UINT64_C(0xffffffef00000000)
#define EFI_LAST       UINT64_C(0xfffffffeffffffff)
#define IMAGE          UINT64_C(0xffffffff80000000)
#define MODULES_END    UINT64_C(0xffffffffff000000)
#define VSYSCALL       UINT64_C(0xffffffffff600000)
#define FIXMAP_END     UINT64_C(0xffffffffff800000)

struct bases {
	struct optional direct, vmalloc, vmemmap;
};

/* ---- the three regions with random bases ---- */

static struct optional x86_in_order(struct optional s, uint64_t above, uint64_t below)
{
	s.have &= s.u > above && s.u < below && !(s.u & (SZ_1G - 1));
	return s;
}

/*
 * arch/x86/kernel/head64.c defines them one after the other, so they are adjacent:
 * vmemmap_base, vmalloc_base, page_offset_base. The known values of the outer two locate
 * the third. For kernels before 6.9 without data symbols.
 */
static struct optional x86_vmalloc_between(const struct plan *p, const struct bases *b)
{
	enum { BLOCK = 65536, LONGEST = 64 << 20 };
	struct optional start = plan_text(p), ret = { false, 0 };
	_auto_free unsigned char *buf = malloc(BLOCK);

	if (!buf || !start.have || !b->direct.have || !b->vmemmap.have)
		return ret;
	for (uint64_t off = 0; off < LONGEST && start.u + off >= IMAGE;) {
		size_t got = kmem_upto(p->m, start.u + off, buf, BLOCK, NULL);

		for (size_t i = 0; i + 24 <= got; i += 8) {
			if (get_le64(buf + i) != b->vmemmap.u ||
			    get_le64(buf + i + 16) != b->direct.u)
				continue;
			ret = x86_in_order(optional(get_le64(buf + i + 8)),
					   b->direct.u, b->vmemmap.u);
			/*
			 * Re-read the bytes that are used: the search itself does not
			 * report its reads.
			 */
			if (ret.have && kmem_read(p->m, start.u + off + i, buf, 24, NULL) == ATW_OK)
				return ret;
		}
		/* The three may cross the end of a block. */
		off += got > 24 ? ((got - 16) & ~(size_t)7) : p->page - (off & (p->page - 1));
	}
	return ret;
}

static struct bases x86_find_bases(const struct plan *p, const struct x86_layout *l)
{
	struct bases b;

	/* Physical address 0 is mapped at the base, so its offset is the base. */
	b.direct = optional_agreed(plan_value(p, Y_page_offset_base),
			      plan_pointer_distance(p, l->ldt_end, ENTRY_AREA));
	b.direct = x86_in_order(b.direct, l->ldt_end - 1, ENTRY_AREA);
	b.vmemmap = optional_agreed(plan_value(p, Y_vmemmap_base),
			       plan_fact(p, "SYMBOL(vmemmap)"));
	b.vmemmap = optional_agreed(b.vmemmap, plan_sections_vmemmap(p));
	b.vmemmap = x86_in_order(b.vmemmap, l->ldt_end, ENTRY_AREA);
	b.vmalloc = optional_agreed(plan_value(p, Y_vmalloc_base),
			       plan_fact(p, "NUMBER(VMALLOC_START)"));
	if (!b.vmalloc.have)
		b.vmalloc = x86_vmalloc_between(p, &b);
	/* If two have their values without KASLR, so has the third. */
	if (!b.vmalloc.have && b.direct.have && b.direct.u == l->direct &&
	    b.vmemmap.have && b.vmemmap.u == l->vmemmap)
		b.vmalloc = optional(l->vmalloc);
	b.vmalloc = x86_in_order(b.vmalloc, b.direct.have ? b.direct.u : l->ldt_end,
				 b.vmemmap.have ? b.vmemmap.u : ENTRY_AREA);
	return b;
}

/* KASAN disables random bases; the text's shadow is always mapped. */
static bool x86_has_kasan(const struct plan *p, const struct x86_layout *l,
			  const struct bases *b)
{
	struct optional text = plan_text(p);

	return text.have && b->vmemmap.have && b->vmemmap.u == l->vmemmap &&
	       plan_distance(p, (text.u >> 3) + KASAN_OFFSET).have;
}

static void x86_vmalloc(struct plan *p, const struct x86_layout *l, const struct bases *b)
{
	/* KMSAN uses the other quarters for its metadata. */
	uint64_t size = l->vmalloc_size / (p->symbol[Y_kmsan] ? 4 : 1);
	uint64_t last = b->vmalloc.u + (size - 1);

	if (!b->vmalloc.have)
		return;
	if (b->vmemmap.have && last >= b->vmemmap.u)
		last = b->vmemmap.u - 1;
	region_put(p, b->vmalloc.u, last, "vmalloc");
}

/* As far as there are struct pages: the reserved size depends on the release. */
static void x86_vmemmap(struct plan *p, const struct bases *b, uint64_t hi)
{
	struct optional ram = plan_ram_end(p), size = plan_fact(p, "SIZE(page)");
	struct optional bits = plan_fact(p, "NUMBER(SECTION_SIZE_BITS)");
	struct leaf leaf;
	uint64_t last, section;

	if (!b->vmemmap.have || !last_leaf(p, b->vmemmap.u, hi, &leaf))
		return;
	last = leaf.last;
	if (ram.have && size.have && size.u <= 256 && bits.have && bits.u >= 12 && bits.u < 48) {
		section = UINT64_C(1) << bits.u;
		ram.u = (ram.u + section - 1) & ~(section - 1);
		ram.u = b->vmemmap.u + ram.u / p->page * size.u - 1;
		if (ram.u > last && ram.u <= hi)
			last = ram.u;
	}
	region_put(p, b->vmemmap.u, last, "vmemmap");
}

/* ---- other regions ---- */

static void x86_image_and_above(struct plan *p)
{
	struct optional size = plan_fact(p, "NUMBER(KERNEL_IMAGE_SIZE)");
	/* 14df32670291 (5.11): CONFIG_DEBUG_KMAP_LOCAL_FORCE_MAP's fixmap is larger. */
	uint64_t modules_end = p->symbol[Y_kunmap_local] ? MODULES_END - SZ_16M : MODULES_END;

	if (size.have && size.u && size.u < modules_end - IMAGE) {
		region_put(p, IMAGE, IMAGE + size.u - 1, "kernel image");
		region_image_parts(p, IMAGE, IMAGE + size.u);
		region_put_to(p, IMAGE + size.u, modules_end, "modules");
	} else {
		region_image(p);
	}
	/* The number of its slots varies; nothing else is mapped above. */
	region_put_to(p, modules_end, FIXMAP_END, "fixmap");
	region_put_to(p, VSYSCALL, VSYSCALL + p->page, "vsyscall");
}

void regions_x86(struct plan *p)
{
	const struct x86_layout *l = &layouts[p->space->paging.nlevels == 5];
	struct bases b;
	bool kasan;
	uint64_t hi;

	if (p->space->paging.nlevels < 4)
		return;
	b = x86_find_bases(p, l);
	kasan = x86_has_kasan(p, l, &b);
	region_put_to(p, l->guard, l->ldt, "guard hole");
	region_put_to(p, l->ldt, l->ldt_end, "LDT remap");
	if (b.direct.have) {
		hi = b.vmalloc.have ? b.vmalloc.u - 1 : b.vmemmap.have ? b.vmemmap.u - 1 :
			ENTRY_AREA - 1;
		region_direct_map(p, b.direct, b.direct.u, hi, true);
	}
	x86_vmalloc(p, l, &b);
	x86_vmemmap(p, &b, kasan ? l->kasan - 1 : ENTRY_AREA - 1);
	if (kasan)
		region_put(p, l->kasan, KASAN_LAST, "KASAN shadow");
	region_put(p, ENTRY_AREA, ENTRY_LAST, "cpu_entry_area");
	region_put(p, ESPFIX, ESPFIX_LAST, "espfix");
	region_put(p, EFI, EFI_LAST, "EFI");
	x86_image_and_above(p);
}
