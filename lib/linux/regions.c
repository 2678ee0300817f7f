/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regions.c - names for the kernel's half of the address space.
 *
 * Borders come from the kernel's variables where symbols name them, else from
 * VMCOREINFO, else they are derived from both; regions_ARCH.c has the details. Two
 * sources that contradict each other are both ignored, and the direct map is accepted
 * only after a walk has verified it. Without VMCOREINFO few regions are known but those
 * that symbols name.
 */
#include "linux/regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const enum need_symbol wanted[] = {
	Y_page_offset_base, Y_vmalloc_base, Y_vmemmap_base, Y_max_pfn,
	Y_image_text, Y_image_etext, Y_image_rodata, Y_image_erodata,
	Y_image_data, Y_image_sdata, Y_image_edata, Y_image_bss, Y_image_ebss, Y_image_end,
	Y_kunmap_local, Y_kmsan, Y_modules, Y_per_cpu_start, Y_per_cpu_end,
};
enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };

/* ---- the list ---- */

void region_put(struct plan *p, uint64_t first, uint64_t last, const char *name)
{
	struct kernel_regions *r = p->regions;
	size_t i = 0, j;

	if (first > last || r->failed)
		return;
	/* Adding a region in the middle of another one splits that in two. */
	if (!array_reserve((void **)&r->v, &r->cap, r->n + 2, sizeof(r->v[0]))) {
		r->failed = true;
		return;
	}
	while (i < r->n && r->v[i].last.u < first)
		i++;
	if (i < r->n && r->v[i].first.u < first) {
		if (r->v[i].last.u > last) {
			memmove(&r->v[i + 1], &r->v[i], (r->n - i) * sizeof(r->v[0]));
			r->n++;
			r->v[i + 1].first.u = last + 1;
		}
		r->v[i++].last.u = first - 1;
	}
	for (j = i; j < r->n && r->v[j].last.u <= last; j++)
		;
	if (j < r->n && r->v[j].first.u <= last)
		r->v[j].first.u = last + 1;
	memmove(&r->v[i + 1], &r->v[j], (r->n - j) * sizeof(r->v[0]));
	r->n = r->n - (j - i) + 1;
	r->v[i] = (struct atw_region){ ATW_VA(first), ATW_VA(last), name };
}

void region_put_to(struct plan *p, uint64_t start, uint64_t end, const char *name)
{
	if (start < end)
		region_put(p, start, end - 1, name);
}

/* Adjacent regions of one name are merged. */
static void regions_join(struct kernel_regions *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (n && r->v[n - 1].last.u + 1 == r->v[i].first.u &&
		    !strcmp(r->v[n - 1].name, r->v[i].name))
			r->v[n - 1].last = r->v[i].last;
		else
			r->v[n++] = r->v[i];
	r->n = n;
}

/* ---- regions that every architecture has ---- */

/*
 * The last address up to which everything is mapped with this offset; 0: not known. For
 * kernels for which the end of the direct map's range is unknown and another region
 * follows.
 */
static uint64_t regions_last_at_distance(const struct plan *p, uint64_t first,
					 uint64_t last, uint64_t distance)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
	};
	struct mmu_ranges *ranges;
	struct mmu_range g;
	uint64_t top = 0;

	if (mmu_ranges_open(p->space, &o, MMU_SPLIT_PHYSICAL, &ranges, NULL) < 0)
		return 0;
	while (mmu_ranges_next(ranges, &g, NULL) == ATW_OK) {
		if (g.loss) {
			top = 0;
			break;
		}
		if (g.kind != ATW_LEAF)
			continue;
		if (g.va.u - g.pa.u != distance || g.repeat_of || g.same_pa)
			break;
		top = g.va.u + (g.size - 1);
	}
	mmu_ranges_close(ranges);
	return top;
}

void region_direct_map(struct plan *p, struct optional distance, uint64_t lo,
		       uint64_t hi, bool from_lo)
{
	struct optional end = plan_ram_end(p);
	struct leaf first, last;
	uint64_t top = 0;

	distance = optional_agreed(distance, plan_pointer_distance(p, lo, hi));
	if (!distance.have || !first_leaf(p, lo, hi, &first) ||
	    first.first - first.pa != distance.u)
		return;
	if (last_leaf(p, lo, hi, &last))
		top = last.first - last.pa == distance.u
			      ? last.last
			      : regions_last_at_distance(p, lo, hi, distance.u);
	/* With DEBUG_PAGEALLOC, free pages at the end are not mapped. */
	if (end.have && distance.u + end.u - 1 > top && distance.u + end.u - 1 <= hi)
		top = distance.u + end.u - 1;
	if (top)
		region_put(p, from_lo ? lo : first.first, top, "direct map");
}

static void regions_part(struct plan *p, uint64_t start, uint64_t end, uint64_t lo,
			 uint64_t hi, const char *name)
{
	/* The last page of a part belongs to it completely. */
	end = (end + p->page - 1) & ~(p->page - 1);
	if (start >= lo && end <= hi && start < end)
		region_put(p, start & ~(p->page - 1), end - 1, name);
}

void region_image_parts(struct plan *p, uint64_t start, uint64_t end)
{
	const uint64_t *y = p->symbol;
	/* RISC-V's _sdata precedes the read-only data; x86 has no _data. */
	uint64_t data = y[Y_image_data] ? y[Y_image_data] : y[Y_image_sdata];

	regions_part(p, y[Y_image_text], y[Y_image_etext], start, end, "kernel text");
	regions_part(p, y[Y_image_rodata], y[Y_image_erodata], start, end,
		     "kernel rodata");
	regions_part(p, data, y[Y_image_edata], start, end, "kernel data");
	regions_part(p, y[Y_image_bss], y[Y_image_ebss], start, end, "kernel bss");
}

bool region_image(struct plan *p)
{
	const uint64_t longest = SZ_256M;
	uint64_t start = p->symbol[Y_image_text], end = p->symbol[Y_image_end];

	if (!start || end <= start || end - start > longest)
		return false;
	start &= ~(p->page - 1);
	end = (end + p->page - 1) & ~(p->page - 1);
	region_put_to(p, start, end, "kernel image");
	region_image_parts(p, start, end);
	return true;
}

enum { MODULES_MAX = 65536, PARTS_MAX = 16 };

static void regions_module_part(struct plan *p, const struct needs *n, uint64_t at)
{
	uint64_t base;
	uint32_t size;

	if (kmem_u64(p->m, at + n->member[N_module_mem_base], &base, NULL) == ATW_OK &&
	    kmem_u32(p->m, at + n->member[N_module_mem_size], &size, NULL) == ATW_OK &&
	    base && size && !(base & (p->page - 1)))
		region_put(p, base, ((base + size + p->page - 1) & ~(p->page - 1)) - 1,
			   "modules");
}

/* Since ac3b43283923 (6.4) an array of parts, before that separate members. */
static void regions_module_parts(struct plan *p, const struct needs *n, uint64_t module)
{
	int64_t parts = n->have_const[C_module_mem_types] ?
		n->constant[C_module_mem_types] : 0;

	if (n->member[N_module_core] != NEED_NONE)
		regions_module_part(p, n, module + n->member[N_module_core]);
	if (n->member[N_module_mem] == NEED_NONE || n->size[S_module_memory] == NEED_NONE)
		return;
	for (int64_t i = 0; i < parts && i < PARTS_MAX; i++)
		regions_module_part(p, n,
				    module + n->member[N_module_mem] +
					    (uint64_t)i * n->size[S_module_memory]);
}

void region_loaded_modules(struct plan *p)
{
	uint64_t head = p->symbol[Y_modules], at;
	const struct needs *n;

	if (!head)
		return;
	n = kernel_needs(p->k);
	if (n->member[N_module_list] == NEED_NONE ||
	    n->member[N_module_mem_base] == NEED_NONE ||
	    n->member[N_module_mem_size] == NEED_NONE ||
	    kmem_u64(p->m, head, &at, NULL) < 0)
		return;
	for (unsigned i = 0; at != head && i < MODULES_MAX; i++) {
		regions_module_parts(p, n, at - n->member[N_module_list]);
		if (kmem_u64(p->m, at, &at, NULL) < 0)
			break;
	}
}

/* It must lie in one region that the kernel allocates memory from. */
static bool regions_is_taken_from(const struct plan *p, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < p->regions->n; i++) {
		const struct atw_region *r = &p->regions->v[i];

		if (r->first.u <= first && last <= r->last.u)
			return !strcmp(r->name, "direct map") || !strcmp(r->name, "vmalloc");
	}
	return false;
}

/*
 * Each CPU's copy of the static per-CPU data (mm/percpu.c). Dynamic per-CPU allocations
 * follow, but no symbol has their size.
 */
static void regions_per_cpu(struct plan *p)
{
	/* 0 on x86_64 until 6.15, where the symbols were offsets. */
	uint64_t start = p->symbol[Y_per_cpu_start], end = p->symbol[Y_per_cpu_end];
	uint64_t size = end - start, offset, first;

	if (!end || end <= start || size > SZ_16M)
		return;
	size = (size + p->page - 1) & ~(p->page - 1);
	for (unsigned cpu = 0; atw_kernel_percpu(p->k, cpu, &offset, NULL) == ATW_OK; cpu++) {
		first = start + offset;
		if (!(first & (p->page - 1)) &&
		    regions_is_taken_from(p, first, first + size - 1))
			region_put(p, first, first + size - 1, "per-CPU");
	}
}

/* ---- lookup ---- */

static void regions_look_up_symbols(struct plan *p)
{
	const char *names[WANTED];
	uint64_t at[WANTED];
	bool have[WANTED];

	/* Not through kernel_needs(), because finding the types may be slow. */
	for (unsigned i = 0; i < WANTED; i++)
		names[i] = needs_symbol_names(wanted[i]);
	kernel_symbols_many(p->k, names, at, have, WANTED);
	for (unsigned i = 0; i < WANTED; i++)
		if (have[i])
			p->symbol[wanted[i]] = at[i];
}

static void regions_find(struct atw_kernel *k)
{
	struct plan p = { .k = k, .space = &k->own, .regions = k->regions };

	/* A root from a CPU register alone does not imply that this is Linux. */
	if (!k->have_own || !(k->have_vi || k->from == ATW_ROOT_TASK) || kernel_kmem(k, &p.m, NULL) < 0)
		return;
	p.page = (uint64_t)1 << k->own.paging.page_shift;
	regions_look_up_symbols(&p);
	switch (k->own.paging.family) {
	case ATW_X86:
		regions_x86(&p);
		break;
	case ATW_ARM64:
		regions_arm64(&p);
		break;
	case ATW_RISCV:
		regions_riscv(&p);
		break;
	default:
		break;
	}
	regions_per_cpu(&p);
	regions_join(k->regions);
}

int atw_kernel_region(struct atw_kernel *k, size_t i, struct atw_region *ret)
{
	if (!k->regions) {
		k->regions = calloc(1, sizeof(*k->regions));
		if (!k->regions)
			return ATW_E_NOMEM;
		regions_find(k);
	}
	if (k->regions->failed)
		return ATW_E_NOMEM;
	if (i >= k->regions->n)
		return ATW_END;
	*ret = k->regions->v[i];
	return ATW_OK;
}

void kernel_regions_close(struct kernel_regions *r)
{
	if (!r)
		return;
	free(r->v);
	free(r);
}
