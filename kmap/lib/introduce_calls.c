/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * introduce_calls.c - functions of allocators that have no tracepoint.
 *
 * Of functions that always end in the same one, only that one is followed, so that no
 * allocation is counted twice.
 */
#include "base/cleanup.h"
#include "format/kallsyms.h"
#include "linux/kernel.h"
#include "kmap/lib/introduce_own.h"

/*
 * A function, or what a compiler left of it: gcc inlines its first test, and callers of
 * its own file go to .part.0 at once. Since 6.10 what allocates is called *_noprof.
 */
static const char *const forms[] = { "%s.part.0", "%s_noprof", "%s" };

static void introduce_calls_add(struct atw_kernel *k, struct kshare_kernel *ret,
				enum kshare_call call, const char *name)
{
	/* What .part.0 gives back need not be all of it. */
	bool ends = call == KSHARE_BULK_FREE || call == KSHARE_VFREE || call == KSHARE_PERCPU_FREE;
	struct kshare_hook hook = { .call = call };
	char form[64];

	if (ret->nhooks == KSHARE_HOOKS)
		return;
	for (size_t i = ends ? 0 : 1; i < ARRAY_SIZE(forms); i++) {
		snprintf(form, sizeof(form), forms[i], name);
		if (introduce_function(k, form, &hook.code, NULL) == ATW_OK) {
			ret->hook[ret->nhooks++] = hook;
			return;
		}
	}
}

/* arch/x86/lib/retpoline.S: what `ret` is, where a CPU's must not be used. */
static void introduce_calls_thunks(struct atw_kernel *k, struct kshare_kernel *ret)
{
	static const char *const names[KSHARE_THUNKS] = {
		"__x86_return_thunk", "its_return_thunk", "retbleed_return_thunk",
		"srso_return_thunk", "srso_alias_return_thunk", "call_depth_return_thunk",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names) && names[i]; i++)
		if (atw_kernel_symbol(k, names[i], &ret->thunk[ret->nthunks], NULL) == ATW_OK)
			ret->nthunks++;
}

/* Thunks of indirect calls lie beside each other, one for each register. */
static int introduce_calls_add_thunk(void *arg, const struct kallsyms_symbol *sym)
{
	struct kshare_code *ret = arg;

	if (strncmp(sym->name, "__x86_indirect_", 15))
		return ATW_OK;
	if (!ret->end || sym->address < ret->start)
		ret->start = sym->address;
	/* The symbol of all of them has no size of its own. */
	ret->end = MAX(ret->end, sym->address + 32);
	return ATW_OK;
}

void introduce_calls(struct atw_kernel *k, struct kshare_kernel *ret)
{
	introduce_calls_add(k, ret, KSHARE_BULK_ALLOC, "kmem_cache_alloc_bulk");
	introduce_calls_add(k, ret, KSHARE_BULK_FREE, "kmem_cache_free_bulk");
	/* Tracepoints of vmalloc() know of all that is mapped there. */
	if (!ret->event[KSHARE_VMAP_ALLOC].code.start) {
		introduce_calls_add(k, ret, KSHARE_VMALLOC, "__vmalloc_node_range");
		introduce_calls_add(k, ret, KSHARE_VFREE, "vfree");
		introduce_calls_add(k, ret, KSHARE_VFREE, "vfree_atomic");
	}
	if (atw_kernel_symbol(k, "__per_cpu_offset", &ret->percpu, NULL) == ATW_OK &&
	    atw_kernel_symbol(k, "nr_cpu_ids", &ret->cpus, NULL) == ATW_OK) {
		introduce_calls_add(k, ret, KSHARE_PERCPU_ALLOC, "pcpu_alloc");
		introduce_calls_add(k, ret, KSHARE_PERCPU_FREE, "free_percpu");
	}
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_ASKED, "memblock_alloc_try_nid");
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_ASKED, "memblock_alloc_try_nid_raw");
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_ASKED,
			    "memblock_alloc_exact_nid_raw");
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_ASKED, "memblock_phys_alloc_range");
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_ALLOC, "memblock_alloc_range_nid");
	introduce_calls_add(k, ret, KSHARE_MEMBLOCK_FREE, "memblock_phys_free");
	introduce_calls_thunks(k, ret);
	kernel_symbols_each(k, introduce_calls_add_thunk, &ret->through, NULL);
	/* They are a page of code, or they are not what they seem to be. */
	if (ret->through.end - ret->through.start > 4096)
		ret->through = (struct kshare_code){ 0 };
}
