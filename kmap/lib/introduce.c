/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * introduce.c - what the recorder needs of a kernel: addresses of tracepoints and
 * formats of their records, the function that switches tasks, the mapping of RAM, the
 * owners of pages, and every variable by its name. All of it is read from the kernel.
 */
#include "kmap/lib/introduce_own.h"

#include "base/cleanup.h"
#include "format/kallsyms.h"
#include "linux/kernel.h"
#include "linux/memmap.h"
#include "kmap/lib/store.h"

enum { NAMES_MAX = 300000 };

static uint32_t introduce_add_object(struct kshare *s, enum kshare_type type, uint64_t va,
				     uint64_t size, const char *name, uint8_t flags)
{
	uint32_t id = atomic_load(&s->nobjects);

	if (id >= s->at.max_objects)
		return 0;
	*kshare_object(s, id) = (struct kshare_object){
		.va = va, .size = size, .type = (uint8_t)type, .flags = flags,
		.name = name ? kstore_name(s, name, strlen(name)) : 0,
	};
	atomic_store(&s->nobjects, id + 1);
	return id;
}

void kmap_introduce_general(struct kshare *s)
{
	/* 0 is no object, no site and no name. */
	atomic_store(&s->nobjects, 1);
	atomic_store(&s->nsites, 1);
	atomic_store(&s->names_used, 1);
	*kshare_name(s, 0) = '\0';
	introduce_add_object(s, KSHARE_UFO_HEAP, 0, 0, NULL, KSHARE_GENERAL);
	introduce_add_object(s, KSHARE_UFO_GLOBAL, 0, 0, NULL, KSHARE_GENERAL);
	introduce_add_object(s, KSHARE_UFO_NONE, 0, 0, NULL, KSHARE_GENERAL);
	introduce_add_object(s, KSHARE_UFO_USER, 0, 0, NULL, KSHARE_GENERAL);
}

/* ---- memory ---- */

static void introduce_struct_pages(const struct kshare *s, struct atw_kernel *k,
				   struct kmem *m, struct kshare_kernel *ret)
{
	const struct needs *n = kernel_needs(k);
	struct memmap_where w;

	if (n->member[N_page_head] == NEED_NONE || n->member[N_slab_cache] == NEED_NONE ||
	    n->member[N_cache_name] == NEED_NONE || memmap_where_init(k, &w, NULL) < 0)
		return;
	ret->page_size = w.size;
	ret->compound_head = n->member[N_page_head];
	ret->slab_cache = n->member[N_slab_cache];
	ret->cache_name = n->member[N_cache_name];
	for (uint32_t r = 0; r < s->nrams; r++) {
		uint64_t pfn = s->ram[r].pa >> ret->page_shift;
		uint64_t end = pfn + (s->ram[r].len >> ret->page_shift), step = 4096 / w.size;

		for (; pfn < end; pfn += step) {
			uint64_t va = memmap_address(m, &w, pfn) & ~4095ull;
			struct kshare_piece *p = &ret->vmem[ret->nvmem];
			atw_pa pa;

			if (!va || kmem_physical(m, va, &pa, NULL) < 0)
				continue;
			if (!ret->vmemmap)
				ret->vmemmap = memmap_address(m, &w, pfn) - pfn * w.size;
			if (ret->nvmem && p[-1].va + p[-1].len == va && p[-1].pa + p[-1].len == pa.u) {
				p[-1].len += 4096;
				continue;
			}
			if (ret->nvmem == KSHARE_VMEMMAP)
				break;
			*p = (struct kshare_piece){ va, 4096, pa.u };
			ret->nvmem++;
		}
	}
	memmap_where_deinit(&w);
}

/* With symbols for the text alone, the image ends where its mapping does. */
static uint64_t introduce_mapped_in_one(struct kmem *m, uint64_t va, uint64_t first)
{
	enum { STEP = 65536, MOST = 256 << 20 };
	uint64_t at = 0;
	atw_pa pa;

	while (at < MOST && kmem_physical(m, va + at, &pa, NULL) == ATW_OK && pa.u == first + at)
		at += STEP;
	return va + at;
}

static int introduce_image(struct atw_kernel *k, struct kmem *m,
			   struct kshare_kernel *ret, struct atw_err *err)
{
	uint64_t last;
	atw_pa pa;

	if (atw_kernel_symbol(k, "_text", &ret->image_first, NULL) < 0 &&
	    atw_kernel_symbol(k, "_stext", &ret->image_first, err) < 0)
		return kmem_failure(err);
	if (kmem_physical(m, ret->image_first, &pa, err) < 0)
		return kmem_failure(err);
	ret->image_pa = pa.u;
	if (atw_kernel_symbol(k, "_end", &last, NULL) == ATW_OK ||
	    atw_kernel_symbol(k, "__bss_stop", &last, NULL) == ATW_OK)
		ret->image_last = last - 1;
	else
		ret->image_last = introduce_mapped_in_one(m, ret->image_first, pa.u) - 1;
	return ATW_OK;
}

/* A second call finds the objects of the first. */
static uint32_t introduce_region_object(struct kshare *s, const char *name)
{
	uint32_t n = atomic_load(&s->nobjects);

	for (uint32_t i = 1; i < n && i < s->at.max_objects; i++) {
		const struct kshare_object *o = kshare_object(s, i);

		if (o->flags == KSHARE_GENERAL && o->name && o->name < s->at.max_names &&
		    !strcmp(kshare_name(s, o->name), name))
			return i;
	}
	return introduce_add_object(s, KSHARE_UFO_NONE, 0, 0, name, KSHARE_GENERAL);
}

int kmap_introduce_memory(struct kshare *s, struct atw_kernel *k, struct atw_err *err)
{
	/* Not in the shared memory, to which another process may write meanwhile. */
	_auto_free struct kshare_kernel *ret = malloc(sizeof(*ret));
	struct atw_region region;
	struct kmem *m;
	atw_pa pa;
	int r = kernel_kmem(k, &m, err);

	if (!ret)
		return atw_err_nomem(err);
	if (r < 0)
		return r;
	*ret = s->kernel;
	ret->page_shift = k->own.paging.page_shift;
	if (!ret->direct && ret->in_direct && kmem_physical(m, ret->in_direct, &pa, NULL) == ATW_OK)
		ret->direct = ret->in_direct - pa.u;
	ret->nregions = 0;
	for (size_t i = 0; atw_kernel_region(k, i, &region) == ATW_OK; i++) {
		if (ret->nregions == KSHARE_REGIONS || !strcmp(region.name, "direct map"))
			continue;
		ret->region[ret->nregions++] = (struct kshare_region){
			region.first.u,
			region.last.u,
			introduce_region_object(s, region.name),
			0,
		};
	}
	ret->nvmem = 0;
	introduce_struct_pages(s, k, m, ret);
	introduce_depth_of_cpus(k, ret);
	s->kernel = *ret;
	return ATW_OK;
}

/* ---- variables ---- */

struct globals {
	struct kshare *s;
	uint32_t n;
};

static int introduce_add_global(void *arg, const struct kallsyms_symbol *sym)
{
	struct globals *g = arg;
	struct kshare_kernel *k = &g->s->kernel;

	if (!strchr("dDbBrRvV", sym->type) || sym->address < k->image_first ||
	    sym->address > k->image_last || k->variables == NAMES_MAX)
		return ATW_OK;
	k->variables++;
	k->variable_names += (uint32_t)strlen(sym->name) + 1;
	if (introduce_add_object(g->s, KSHARE_T_GLOBAL, sym->address, sym->size,
				 sym->name, KSHARE_LIVE))
		g->n++;
	return ATW_OK;
}

int kmap_introduce(struct kshare *s, struct atw_kernel *k, struct atw_err *err)
{
	struct globals g = { .s = s };
	struct kmem *m;
	int r = kernel_kmem(k, &m, err);

	memset(&s->kernel, 0, sizeof(s->kernel));
	if (r == ATW_OK)
		r = introduce_code(k, &s->kernel, err) ?:
		    introduce_image(k, m, &s->kernel, err);
	if (r < 0)
		return r;
	s->kernel.page_shift = k->own.paging.page_shift;
	s->kernel.globals = atomic_load(&s->nobjects);
	r = kernel_symbols_each(k, introduce_add_global, &g, err);
	s->kernel.nglobals = g.n;
	return r;
}

/* ---- the running kernel ---- */

/* The address that physical 0 has, or would have. */
static int introduce_direct_map(struct atw_kernel *k, struct kmem *m, uint64_t *ret,
				struct atw_err *err)
{
	struct atw_region region;
	atw_pa pa;

	for (size_t i = 0; atw_kernel_region(k, i, &region) == ATW_OK; i++) {
		if (strcmp(region.name, "direct map"))
			continue;
		/* Its first page may be one that nothing is mapped for. */
		for (uint64_t va = region.first.u; va < region.last.u; va += UINT64_C(1) << 21)
			if (kmem_physical(m, va, &pa, err) == ATW_OK) {
				*ret = va - pa.u;
				return ATW_OK;
			}
		return kmem_failure(err);
	}
	return atw_err_set(err, ATW_E_MISSING, "cannot find the direct map of the kernel");
}

int kmap_introduce_running(struct kshare *s, struct atw_kernel *k, struct atw_err *err)
{
	struct kshare_kernel *ret = &s->kernel;
	const struct btf *types;
	struct memmap_where w;
	struct kmem *m;
	int r = kernel_kmem(k, &m, err);

	memset(ret, 0, sizeof(*ret));
	if (r == ATW_OK)
		r = kernel_btf(k, &types, err) ?: introduce_image(k, m, ret, err);
	if (r == ATW_OK)
		r = introduce_direct_map(k, m, &ret->direct, err) ?:
		    btf_offset(types, "kmem_cache", "name", &ret->cache_name, err) ?:
		    btf_offset(types, "kmem_cache", "object_size", &ret->cache_size, err);
	if (r == ATW_OK)
		r = memmap_where_init(k, &w, err);
	if (r != ATW_OK)
		return r;
	ret->page_shift = k->own.paging.page_shift;
	ret->page_size = w.size;
	ret->vmemmap = memmap_address(m, &w, ret->image_pa >> ret->page_shift);
	if (ret->vmemmap)
		ret->vmemmap -= (ret->image_pa >> ret->page_shift) * w.size;
	memmap_where_deinit(&w);
	introduce_depth(types, ret);
	introduce_depth_of_cpus(k, ret);
	return ATW_OK;
}
