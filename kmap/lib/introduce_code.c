/* SPDX-License-Identifier: GPL-2.0-or-later */
/* introduce_code.c - where a kernel's tracepoints are, and what switches tasks. */
#include "kmap/lib/introduce_own.h"

#include "base/cleanup.h"
#include "linux/kernel.h"

int introduce_function(struct atw_kernel *k, const char *name, struct kshare_code *ret,
		       struct atw_err *err)
{
	struct lnx_symbol sym;
	int r = atw_kernel_symbol(k, name, &ret->start, err);

	if (r != ATW_OK)
		return r;
	r = atw_kernel_symbol_at(k, ret->start, &sym, err);
	if (r != ATW_OK)
		return r;
	ret->end = sym.address + sym.size;
	return ATW_OK;
}

/* What a tracepoint writes, and where in struct kshare_event its place goes. */
struct introduce_member {
	const char *name;
	size_t at;
};

#define AT(field) offsetof(struct kshare_event, field)
#define FREED { "call_site", AT(call_site) }, { "ptr", AT(ptr) }
#define ALLOCATED FREED, { "bytes_alloc", AT(bytes) }
#define PAGES { "pfn", AT(pfn) }, { "order", AT(order) }

static const struct {
	const char *name;
	struct introduce_member member[4];
} events[KSHARE_EVENTS] = {
	[KSHARE_KMALLOC] = { "kmalloc", { ALLOCATED } },
	[KSHARE_CACHE_ALLOC] = { "kmem_cache_alloc", { ALLOCATED } },
	[KSHARE_KFREE] = { "kfree", { FREED } },
	[KSHARE_CACHE_FREE] = { "kmem_cache_free", { FREED } },
	[KSHARE_PAGE_ALLOC] = { "mm_page_alloc", { PAGES } },
	[KSHARE_PAGE_FREE] = { "mm_page_free", { PAGES } },
	[KSHARE_VMAP_ALLOC] = { "alloc_vmap_area", {
		{ "addr", AT(ptr) }, { "size", AT(bytes) }, { "failed", AT(failed) },
	} },
	[KSHARE_VMAP_FREE] = { "free_vmap_area_noflush", { { "va_start", AT(ptr) } } },
};

static int introduce_code_member(const struct btf *types, const char *type,
				 const char *name, uint16_t *ret, struct atw_err *err)
{
	uint32_t at;
	int r = btf_offset(types, type, name, &at, err);

	if (r == ATW_OK && at > UINT16_MAX - 8)
		return atw_err_set(err, ATW_E_DAMAGED, "%s.%s at %u", type, name, at);
	if (r == ATW_OK)
		*ret = (uint16_t)at;
	return r;
}

/* Kernels before 6.0 have one struct for several tracepoints. */
static int introduce_code_event(struct atw_kernel *k, const struct btf *types,
				unsigned kind, struct kshare_event *ret,
				struct atw_err *err)
{
	char function_name[64], type[64];
	struct kshare_event e = { 0 };
	uint32_t id;
	int r;

	snprintf(function_name, sizeof(function_name), "trace_event_raw_event_%s", events[kind].name);
	snprintf(type, sizeof(type), "trace_event_raw_%s", events[kind].name);
	r = introduce_function(k, function_name, &e.code, err);
	if (r < 0 && (kind == KSHARE_KMALLOC || kind == KSHARE_CACHE_ALLOC)) {
		r = introduce_function(k, "trace_event_raw_event_kmem_alloc", &e.code, err);
		snprintf(type, sizeof(type), "trace_event_raw_kmem_alloc");
	}
	if (r == ATW_OK && btf_find(types, BTF_STRUCT, type, &id) < 0)
		r = atw_err_set(err, ATW_E_MISSING, "the kernel's types have no struct %s", type);
	for (const struct introduce_member *m = events[kind].member; r == ATW_OK && m->name; m++)
		r = introduce_code_member(types, type, m->name, (uint16_t *)((char *)&e + m->at), err);
	e.first = e.pfn ? e.pfn : e.call_site && e.call_site < e.ptr ? e.call_site : e.ptr;
	if (r == ATW_OK)
		*ret = e;
	return r;
}

/* The first load of what switches tasks: see kmap/qemu/task.c. */
static int introduce_code_change(struct atw_kernel *k, const struct btf *types,
				 struct kshare_kernel *ret, struct atw_err *err)
{
	static const struct { const char *function, *member, *older; } ways[] = {
		[ATW_X86] = { "__switch_to_asm", "thread.sp", NULL },
		[ATW_ARM64] = { "cpu_switch_to", "thread.cpu_context", NULL },
		/* Since 6.16, and in later releases of 6.12: the user access flag is first. */
		[ATW_RISCV] = { "__switch_to", "thread.sum", "thread.ra" },
	};
	enum atw_family family = k->own.paging.family;
	int r;

	if ((size_t)family >= ARRAY_SIZE(ways) || !ways[family].function)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "recording is not supported on this machine");
	r = introduce_function(k, ways[family].function, &ret->change, err);
	if (r == ATW_OK &&
	    btf_offset(types, "task_struct", ways[family].member, &ret->thread, NULL) < 0)
		r = btf_offset(types, "task_struct",
			       ways[family].older ? ways[family].older : ways[family].member,
			       &ret->thread, err);
	if (r == ATW_OK)
		r = btf_offset(types, "task_struct", "pid", &ret->pid, err) ?:
		    btf_offset(types, "task_struct", "comm", &ret->comm, err);
	return r;
}

void introduce_depth(const struct btf *types, struct kshare_kernel *ret)
{
	if (btf_offset(types, "task_struct", "thread_info.preempt_count", &ret->in_task, NULL) < 0)
		ret->in_task = 0;
}

void introduce_depth_of_cpus(struct atw_kernel *k, struct kshare_kernel *ret)
{
	const struct btf *types;
	uint64_t symbol, base;
	uint32_t at = 0;

	if (k->own.paging.family != ATW_X86 || kernel_btf(k, &types, NULL) < 0)
		return;
	/* 64701838bf05 (6.2) put it into a struct with others, 46e8fff6d45f (6.15) took it out. */
	if (atw_kernel_symbol(k, "__preempt_count", &symbol, NULL) < 0 &&
	    (atw_kernel_symbol(k, "pcpu_hot", &symbol, NULL) < 0 ||
	     btf_offset(types, "pcpu_hot", "preempt_count", &at, NULL) < 0))
		return;
	for (unsigned cpu = 0; cpu < KSHARE_CPUS && atw_kernel_percpu(k, cpu, &base, NULL) == ATW_OK; cpu++)
		ret->of_cpu[cpu] = base + symbol + at;
}

int introduce_code(struct atw_kernel *k, struct kshare_kernel *ret, struct atw_err *err)
{
	const struct btf *types;
	struct lnx_symbol stack;
	int r = kernel_btf(k, &types, err);

	for (unsigned i = 0; i < KSHARE_VMAP_ALLOC && r == ATW_OK; i++)
		r = introduce_code_event(k, types, i, &ret->event[i], err);
	/* Those of vmalloc() came with cf243da6ab39 (6.3): without them it is one region. */
	for (unsigned i = KSHARE_VMAP_ALLOC; i < KSHARE_EVENTS && r == ATW_OK; i++)
		introduce_code_event(k, types, i, &ret->event[i], NULL);
	if (r == ATW_OK)
		r = atw_kernel_symbol(k, "trace_event_buffer_reserve", &ret->reserve, err);
	if (r == ATW_OK)
		r = atw_kernel_symbol(k, "trace_event_buffer_commit", &ret->commit, err);
	if (r == ATW_OK)
		r = introduce_code_member(types, "trace_entry", "pid", &ret->rec_pid,
					  err) ?:
		    introduce_code_change(k, types, ret, err);
	if (r < 0)
		return r;
	introduce_calls(k, ret);
	if (btf_offset(types, "kmem_cache", "size", &ret->cache_size, NULL) < 0)
		ret->cache_size = 0;
	introduce_depth(types, ret);
	/* The first task's stack is as large as all others. */
	if (btf_offset(types, "task_struct", "stack", &ret->stack, NULL) == ATW_OK &&
	    (atw_kernel_symbol(k, "init_stack", &stack.address, NULL) == ATW_OK ||
	     atw_kernel_symbol(k, "init_thread_union", &stack.address, NULL) == ATW_OK) &&
	    atw_kernel_symbol_at(k, stack.address, &stack, NULL) == ATW_OK &&
	    stack.size >= 4096 && stack.size <= 65536 && !(stack.size & (stack.size - 1)))
		ret->stack_size = stack.size;
	else
		ret->stack_size = 16384;
	return ATW_OK;
}
