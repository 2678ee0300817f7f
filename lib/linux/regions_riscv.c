/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions_riscv.c - regions of RISC-V: Documentation/arch/riscv/vm-layout.rst; VMCOREINFO
 * has the borders (arch/riscv/kernel/vmcore_info.c) since 6.2.
 *
 * Below vmemmap are PCI I/O and the fixmap, as in arch/riscv/include/asm/pgtable.h.
 */
#include "linux/regions.h"

/* The same for Sv39, Sv48 and Sv57. */
#define KASAN_OFFSET   UINT64_C(0xdfffffff00000000)
#define MODULES_LOWEST UINT64_C(0xffffffff00000000)

/* Since ef69d2559fe9 (6.4); before, it was smaller, and nothing was below it. */
enum { FIXMAP_SIZE = 6 << 20 };

void regions_riscv(struct plan *p)
{
	struct optional direct = plan_fact(p, "NUMBER(PAGE_OFFSET)");
	struct optional ram = plan_fact(p, "NUMBER(phys_ram_base)");
	struct optional start = plan_fact(p, "NUMBER(VMALLOC_START)");
	struct optional end = plan_fact(p, "NUMBER(VMALLOC_END)");
	struct optional vmemmap = plan_fact(p, "NUMBER(VMEMMAP_START)");
	struct optional vmemmap_end = plan_fact(p, "NUMBER(VMEMMAP_END)");
	struct optional modules = plan_fact(p, "NUMBER(MODULES_VADDR)");
	struct optional modules_end = plan_fact(p, "NUMBER(MODULES_END)");
	struct optional link = plan_fact(p, "NUMBER(KERNEL_LINK_ADDR)");
	struct optional text = plan_text(p), distance;
	uint64_t kasan = MODULES_LOWEST - (UINT64_C(1) << (p->space->paging.va_bits - 4));

	/* The text's shadow is always mapped, and nothing else can be there. */
	if (!text.have || !plan_distance(p, (text.u >> 3) + KASAN_OFFSET).have)
		kasan = MODULES_LOWEST;
	if (vmemmap.have) {
		region_put_to(p, vmemmap.u - SZ_16M - FIXMAP_SIZE, vmemmap.u - SZ_16M, "fixmap");
		region_put_to(p, vmemmap.u - SZ_16M, vmemmap.u, "PCI I/O");
	}
	region_put_between(p, vmemmap, vmemmap_end, "vmemmap");
	region_put_between(p, start, end, "vmalloc");
	if (direct.have) {
		distance = plan_pointer_distance(p, direct.u, kasan - 1);
		if (!distance.have && ram.have)
			distance = optional(direct.u - ram.u);
		region_direct_map(p, distance, direct.u, kasan - 1, true);
	}
	region_put_to(p, kasan, MODULES_LOWEST, "KASAN shadow");
	/* To the top of the address space; modules end where the image begins. */
	if (link.have && link.u > MODULES_LOWEST) {
		region_put(p, link.u, UINT64_MAX, "kernel image");
		region_image_parts(p, link.u, UINT64_MAX);
	} else {
		region_image(p);
	}
	region_put_between(p, modules, modules_end, "modules");
}
