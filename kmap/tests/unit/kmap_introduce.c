/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocators without a tracepoint are hooked once each, by the symbols of the kernel. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "kmap/lib/introduce_own.h"
#include "test.h"
#include "unit/image.h"

#include "linux/vmfile.h"

#define FIRST UINT64_C(0xffffffff81000010)

static const char *const calls[] = {
	"bulk alloc", "bulk free", "vmalloc", "vfree", "percpu alloc", "percpu free",
	"memblock asked", "memblock alloc", "memblock free",
};

/* The hooks of a kernel with these symbols, 16 bytes each; `vmap`: and that tracepoint. */
static const char *found(const char *const *names, size_t n, bool vmap)
{
	static struct buf b;
	struct atw_kernel *k = calloc(1, sizeof(*k));
	struct kshare_kernel *ret = calloc(1, sizeof(*ret));
	struct atw_err err = { 0 };
	struct image im = { 0 };
	struct buf map = { 0 };
	struct vmfile *f = NULL;

	buf_deinit(&b);
	b = (struct buf){ 0 };
	buf_printf(&map, "ffffffff81000000 T _stext\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(&map, "%" PRIx64 " T %s\n", FIRST + i * 16, names[i]);
	buf_printf(&map, "%" PRIx64 " T _etext\n", FIRST + n * 16);
	put(&im, 0, map.data, map.len);
	if (vmfile_open(image_save(&im, map.len), &f, &err) != ATW_OK)
		buf_printf(&b, "%s\n", err.text);
	k->vmfile = f;
	if (f)
		f->matched = f->placed = true;
	k->sought_symbols.done = true;
	k->sought_symbols.err.status = ATW_E_MISSING;
	if (vmap)
		ret->event[KSHARE_VMAP_ALLOC].code.start = 1;
	introduce_calls(k, ret);
	for (unsigned i = 0; i < ret->nhooks; i++)
		buf_printf(&b, "%s %" PRIx64 "-%" PRIx64 "\n", calls[ret->hook[i].call],
			   ret->hook[i].code.start, ret->hook[i].code.end);
	for (unsigned i = 0; i < ret->nthunks; i++)
		buf_printf(&b, "thunk %" PRIx64 "\n", ret->thunk[i]);
	if (ret->percpu)
		buf_printf(&b, "percpu %" PRIx64 " of %" PRIx64 "\n", ret->percpu, ret->cpus);
	vmfile_close(f);
	image_free(&im);
	buf_deinit(&map);
	free(ret);
	free(k);
	return b.data ? b.data : "";
}

TEST(every_call_of_a_kernel)
{
	static const char *const names[] = {
		"kmem_cache_alloc_bulk_noprof", "kmem_cache_free_bulk.part.0",
		"kmem_cache_free_bulk", "__vmalloc_node_range_noprof", "vfree", "vfree.part.0",
		"__per_cpu_offset", "nr_cpu_ids", "pcpu_alloc_noprof", "free_percpu",
		"memblock_alloc_range_nid", "memblock_phys_free", "__x86_return_thunk",
		"srso_alias_return_thunk",
	};

	CHECK_STR(found(names, ARRAY_SIZE(names), false),
		  "bulk alloc ffffffff81000010-ffffffff81000020\n"
		  "bulk free ffffffff81000020-ffffffff81000030\n"
		  "vmalloc ffffffff81000040-ffffffff81000050\n"
		  "vfree ffffffff81000060-ffffffff81000070\n"
		  "percpu alloc ffffffff81000090-ffffffff810000a0\n"
		  "percpu free ffffffff810000a0-ffffffff810000b0\n"
		  "memblock alloc ffffffff810000b0-ffffffff810000c0\n"
		  "memblock free ffffffff810000c0-ffffffff810000d0\n"
		  "thunk ffffffff810000d0\nthunk ffffffff810000e0\n"
		  "percpu ffffffff81000070 of ffffffff81000080\n");
	/* The tracepoint of vmalloc() has all of it, and nothing is recorded twice. */
	CHECK_STR(found(names + 3, 3, true), "");
	CHECK_STR(found(names + 3, 2, false),
		  "vmalloc ffffffff81000010-ffffffff81000020\n"
		  "vfree ffffffff81000020-ffffffff81000030\n");
}

TEST(names_before_6_10_and_what_is_left_of_a_function)
{
	static const char *const names[] = {
		"kmem_cache_alloc_bulk", "kmem_cache_alloc_bulk.part.0",
		"vfree_atomic.part.0", "pcpu_alloc", "memblock_alloc_try_nid_raw",
		"memblock_alloc_try_nid",
	};

	/* Allocators are hooked whole; those of per-CPU memory with the CPUs' offsets only. */
	CHECK_STR(found(names, ARRAY_SIZE(names), false),
		  "bulk alloc ffffffff81000010-ffffffff81000020\n"
		  "vfree ffffffff81000030-ffffffff81000040\n"
		  "memblock asked ffffffff81000060-ffffffff81000070\n"
		  "memblock asked ffffffff81000050-ffffffff81000060\n");
	CHECK_STR(found(names, 0, false), "");
}
