// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * extract.c - the contents of an extract.
 *
 * Every query of the kernel and its tasks is made once, and the bytes that were read for
 * it are kept: the same queries of the extract then read the same bytes. Page tables are
 * kept whole. Other pages are not: a page with a task in it may have a buffer beside it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extract/extract.h"
#include "linux/page.h"

#include "base/cleanup.h"
#include "extract/own.h"
#include "linux/memmap.h"
#include "linux/machine.h"
#include "linux/root.h"
#include "linux/search.h"
#include "linux/vmfile.h"
#include "linux/task_info.h"
#include "linux/tasks.h"
#include "linux/thp.h"

static void extract_touched(void *arg, atw_pa pa, size_t len)
{
	struct extract *x = arg;

	if (!x->paused && (!x->longest || len <= x->longest))
		marks_add(&x->marks, pa.u, len);
}

static void extract_fault(struct extract *x, const struct atw_err *why)
{
	if (!x->st.first.status)
		x->st.first = *why;
}

/* ---- attributes of the kernel ---- */

/*
 * Without a symbol, init_task is found by its name, also at addresses that turn out to be
 * something else.
 */
static void extract_first_task(struct extract *x)
{
	const struct needs *n = kernel_needs(x->k);
	uint64_t task;
	char room[16];
	int r;

	x->paused = true;
	r = kernel_init_task(x->k, &task, NULL);
	x->paused = false;
	if (r < 0 || n->member[N_task_comm] == NEED_NONE || n->member[N_task_tasks] == NEED_NONE)
		return;
	kmem_read(x->m, task + n->member[N_task_comm], room, 16, NULL);
	kmem_read(x->m, task + n->member[N_task_tasks], room, 16, NULL);
}

/* ---- results of searches ---- */

struct same {
	struct extract *x;
	const void *data;
	size_t len;
};

static int extract_on_same(void *arg, atw_pa at, struct search *s)
{
	struct same *f = arg;
	_auto_free char *copy = malloc(f->len);

	if (!copy || search_read(s, at, copy, f->len) != f->len || memcmp(copy, f->data, f->len))
		return 0;
	kmem_touch(f->x->m, at, f->len);
	return 1;
}

/* Marks bytes at an unknown address, where a search would find them first. */
static void extract_find_same(struct extract *x, const void *data, size_t len,
			      unsigned align)
{
	struct same f = { x, data, len };

	search_kernel(x->k, data, len < 16 ? len : 16, align, extract_on_same, &f);
}

/* Repeats the search for the root without VMCOREINFO. */
static void extract_way_to_root(struct extract *x)
{
	struct root_task t = { .nused = 0 };

	if (x->k->from != ATW_ROOT_TASK || root_by_task(x->k->mem, &x->k->meter, &t, NULL) < 0)
		return;
	for (unsigned i = 0; i < t.nused; i++)
		marks_add(&x->marks, t.used[i].pa, t.used[i].len);
	marks_room(&x->marks, t.mm_at - ROOT_TASK_AROUND, 2 * ROOT_TASK_AROUND);
}

/* Symbols from the file of --kernel are not in memory. */
static bool extract_in_file(const struct atw_kernel *k, const void *p)
{
	const struct atw_blob none = { NULL, 0 };
	const struct atw_blob b = k->vmfile ? k->vmfile->btf : none;

	return b.len && (uintptr_t)p - (uintptr_t)b.data < b.len;
}

/* Also marks BTF in the image if this run used types from elsewhere. */
static void extract_types(struct extract *x)
{
	const struct btf *btf;
	uint64_t start, stop;
	struct atw_blob b;
	const char *first;

	if (kernel_symbol(x->k, "__start_BTF", &start, NULL) == ATW_OK &&
	    kernel_symbol(x->k, "__stop_BTF", &stop, NULL) == ATW_OK &&
	    start < stop && stop - start < 256 << 20)
		kmem_blob(x->m, start, stop - start, &b, NULL);
	else if (kernel_btf(x->k, &btf, NULL) == ATW_OK &&
		 !extract_in_file(x->k, btf->types.data)) {
		/* The header of 24 bytes, types, strings (btf.rst). */
		first = (const char *)btf->types.data - 24;
		extract_find_same(x, first,
				  (size_t)((const char *)btf->strings.data - first) +
					  btf->strings.len,
				  SEARCH_TYPES_ALIGN);
	}
}

static int extract_no_counter(void *arg, const char *key, uint64_t value,
			      struct atw_err *err)
{
	return ATW_OK;
}

static int extract_pass_cache(void *arg, const struct slab_cache *c, struct atw_err *err)
{
	return ATW_OK;
}

/* Mostly 128 MiB: what a damaged dump claims beyond them is ignored. */
enum { SECTIONS_MAX = 1 << 20, SECTIONS_BITS = 48 };

static void extract_sections_of(struct extract *x, struct atw_memmap *m, uint64_t pfn,
				uint64_t end, unsigned *left)
{
	while (pfn < end && *left) {
		uint64_t n = memmap_read_section(x->m, &m->where, pfn);

		(*left)--;
		pfn = n < end - pfn ? pfn + n : end;
	}
}

/*
 * Bits of the frames that have a struct page: others are not memory of the machine. For
 * all RAM, because any frame may be queried later.
 */
static void extract_sections(struct extract *x, struct atw_memmap *m)
{
	unsigned shift = x->k->own.paging.page_shift, left = SECTIONS_MAX;
	bool known = false;
	struct extents ram;
	struct atw_node node;

	if (kernel_ram(x->k, &ram, NULL) == ATW_OK) {
		for (size_t i = 0; i < ram.n; i++)
			extract_sections_of(
				x, m, ram.v[i].start >> shift,
				((ram.v[i].start + ram.v[i].len - 1) >> shift) + 1,
				&left);
		known = true;
		extents_deinit(&ram);
	}
	/* Including memory that is not RAM; a single node has no recorded borders. */
	for (size_t i = 0; atw_kernel_node(x->k, i, &node, NULL) == ATW_OK; i++)
		if (node.pages != UINT64_MAX) {
			extract_sections_of(x, m, node.first, node.first + node.pages,
					    &left);
			known = true;
		}
	/* The bounds of RAM are unknown: check the range that the array can describe. */
	if (!known && m->where.roots)
		extract_sections_of(x, m, 0, (uint64_t)1 << (SECTIONS_BITS - shift),
				    &left);
}

/* The kernel log and the host name are not included: they may be private. */
void extract_facts(struct extract *x)
{
	struct atw_module_types module;
	const struct needs *n;
	struct thp_settings thp;
	struct atw_region region;
	struct atw_swap swap;
	struct atw_memmap *map;
	struct kernel_clock clock;
	struct atw_cpu used;
	uint32_t count;
	uint64_t offset;
	char text[4096];

	extract_way_to_root(x);
	atw_kernel_symbols_from(x->k, &count, NULL);
	n = kernel_needs(x->k);
	extract_types(x);
	extract_first_task(x);
	if (atw_kernel_banner(x->k, text, sizeof(text) - 1, NULL) == ATW_OK &&
	    kernel_symbol(x->k, "linux_banner", &offset, NULL) < 0) {
		size_t len = strlen(text);

		text[len] = '\n';
		extract_find_same(x, text, len + 1, 1);
	}
	atw_kernel_command_line(x->k, text, sizeof(text), NULL);
	for (unsigned cpu = 0; atw_kernel_percpu(x->k, cpu, &offset, NULL) == ATW_OK; cpu++)
		;
	/* A CPU number that does not exist ends the loop. */
	for (unsigned cpu = 0; atw_cpu_of(x->k, cpu, &used, NULL) == ATW_OK; cpu++)
		;
	/* Some of the borders need a search in all of the kernel's data. */
	x->longest = MARK_PAGE;
	for (size_t i = 0; atw_kernel_region(x->k, i, &region) == ATW_OK; i++)
		;
	x->longest = 0;
	atw_kernel_soft_abi(x->k, &x->k->own.paging);
	thp_of_kernel(x->k, &thp);
	/* Location of struct pages, and the zero pages. */
	if (atw_memmap_open(x->k, &map, NULL) == ATW_OK) {
		extract_sections(x, map);
		atw_memmap_close(map);
	}
	for (size_t i = 0; atw_kernel_module_types(x->k, i, &module, NULL) == ATW_OK; i++)
		;
	for (unsigned i = 0; i < 32; i++)        /* MAX_SWAPFILES is lower */
		atw_swap_device(x->k, i, &swap, NULL);
	slab_caches(x->k, extract_pass_cache, NULL, NULL);
	kernel_ram_pages(x->k, &offset, NULL);
	kernel_counters(x->k, extract_no_counter, NULL, NULL);
	kernel_crash_cpu(x->k, &count, NULL);
	kernel_clock(x->k, &clock, NULL);
	kernel_started_efer(x->k, &offset);
	if (n->symbol[Y_ng_mappings])
		kmem_read(x->m, n->symbol[Y_ng_mappings], text, 1, NULL);
	if (n->symbol[Y_satp_mode])
		kmem_read(x->m, n->symbol[Y_satp_mode], text, 8, NULL);
	if (n->symbol[Y_pte_mask])
		kmem_read(x->m, n->symbol[Y_pte_mask], text, 8, NULL);
}

/* Attributes of tasks in captures, besides their memory. */
static void extract_about(struct extract *x)
{
	_auto_free struct task_about *a = malloc(sizeof(*a));
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r;

	if (!a || lnx_tasks_open(x->k, &tasks, NULL) < 0)
		return;
	if (tasks_idle(x->k, &t, NULL) == ATW_OK)
		about_task(x->k, &t, NULL, a);
	while ((r = lnx_tasks_next(tasks, &t, NULL)) != ATW_END && r != ATW_E_LIMIT)
		if (r == ATW_OK)
			about_task(x->k, &t, NULL, a);
	lnx_tasks_close(tasks);
}

/* ---- address spaces ---- */

int extract_space(struct extract *x, const struct mmu_space *sp, const char *name,
		     struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = tables_add(&x->tables, sp, &why);

	x->st.spaces++;
	if (r == ATW_E_NOMEM)
		return atw_err_set(err, r, "%s", why.text);
	if (r < 0) {
		x->st.bad_spaces++;
		atw_err_wrap(&why, "%s", name);
		extract_fault(x, &why);
	}
	return ATW_OK;
}

/* The expected number, which proves that the list is complete. */
static void extract_count_areas(struct extract *x, uint64_t mm)
{
	const struct needs *n = kernel_needs(x->k);
	uint32_t count;

	if (n->member[N_mm_map_count] != NEED_NONE)
		kmem_u32(x->m, mm + n->member[N_mm_map_count], &count, NULL);
}

static void extract_areas(struct extract *x, const struct owned_space *o)
{
	_auto_free struct atw_area *area = malloc(sizeof(*area));
	struct atw_err why = { 0 }, first = { 0 };
	struct atw_areas *a;
	int r;

	thp_of_mm(x->k, o->at);
	if (!area)
		return;
	if (atw_areas_open(x->k, o->at, &a, &first) == ATW_OK) {
		while ((r = atw_areas_next(a, area, &why)) != ATW_END) {
			if (r == ATW_OK && area->unread)
				why = *atw_areas_error(a);
			if ((r < 0 || area->unread) && !first.status)
				first = why;
			if (r == ATW_E_LIMIT)
				break;
		}
		atw_areas_close(a);
	}
	extract_count_areas(x, o->at);
	/* If the task has no address space, that has been reported already. */
	if (first.status && o->have && !x->st.bad_areas++) {
		x->st.first_area = first;
		atw_err_wrap(&x->st.first_area, "process %" PRIu32, o->pid[0]);
	}
}

int extract_process(struct extract *x, const struct owned_space *o, struct atw_err *err)
{
	struct mmu_space one = o->mm.space;
	char name[48];
	int r;

	extract_areas(x, o);
	if (!o->have)
		return ATW_OK;
	snprintf(name, sizeof(name), "process %" PRIu32, o->pid[0]);
	r = extract_space(x, &o->mm.space, name, err);
	/* Either root alone must translate both halves as well. */
	if (one.paging.halves != ATW_SPLIT)
		one.high.have = false;
	for (unsigned half = 0; half < 2 && o->mm.isolated && r == ATW_OK; half++) {
		one.low.pa = half ? o->mm.root : o->mm.user_root;
		r = tables_add(&x->tables, &one, NULL) == ATW_E_NOMEM ? ATW_E_NOMEM : ATW_OK;
	}
	if (r == ATW_OK && o->mm.isolated && x->k->have_own) {
		/*
		 * The page that reveals isolation: the kernel's own root has a copy, too.
		 */
		one.low.pa = ATW_PA(x->k->own.low.pa.u + MARK_PAGE);
		r = tables_add(&x->tables, &one, NULL) == ATW_E_NOMEM ? ATW_E_NOMEM : ATW_OK;
	}
	return r < 0 ? atw_err_nomem(err) : ATW_OK;
}

static int extract_processes(struct extract *x, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = spaces_collect(x->k, &x->spaces, &why);

	if (r == ATW_E_NOMEM)
		return atw_err_set(err, r, "%s", why.text);
	if (r < 0) {
		x->st.no_tasks = true;
		extract_fault(x, &why);
		return ATW_OK;
	}
	extract_about(x);
	x->st.bad_tasks += x->spaces.bad_tasks;
	x->st.bad_spaces += x->spaces.bad_spaces;
	if (x->spaces.first.status)
		extract_fault(x, &x->spaces.first);
	for (size_t i = 0; i < x->spaces.n && r == ATW_OK; i++)
		r = extract_process(x, &x->spaces.v[i], err);
	return r;
}

/* Page tables of CPUs: nearly always those of a task. */
static int extract_cpus(struct extract *x, struct atw_err *err)
{
	uint64_t n = 0, cr3, last = UINT64_MAX;
	int r = ATW_OK;

	atw_fact_u64(x->k->mem, "cpus", &n);
	for (uint64_t i = 0; i < n && r == ATW_OK; i++) {
		struct atw_kernel_opts o = {
			.has_cpu = true, .cpu = (unsigned)i,
		};
		struct atw_kernel *k;
		char text[40];

		snprintf(text, sizeof(text), "cpu%" PRIu64 ".cr3", i);
		if (atw_fact_u64(x->k->mem, text, &cr3) < 0 || cr3 == last)
			continue;
		last = cr3;
		if (atw_kernel_open(x->k->mem, &o, &k, NULL) < 0)
			continue;
		k->space.paging.ignore = x->k->own.paging.ignore;
		snprintf(text, sizeof(text), "CPU %" PRIu64, i);
		r = extract_space(x, &k->space, text, err);
		atw_kernel_close(k);
	}
	return r;
}

/* ---- the whole extract ---- */

static int extract_gather(struct extract *x, bool pages,
			  struct moving *moving, struct atw_err *err)
{
	int r;

	extract_facts(x);
	r = extract_space(x, &x->k->own, "the kernel", err) ?: extract_processes(x, err);
	/*
	 * The current address space of a CPU may not belong to a process that was read.
	 */
	if (r == ATW_OK && !moving)
		r = extract_cpus(x, err);
	if (r == ATW_OK && moving)
		record_missing(moving->replay, RECORD_FILL);
	if (r == ATW_OK) {
		x->longest = PAGES_LONGEST;
		pages_add_zeroes(x->k, &x->spaces, &x->marks);
		x->longest = 0;
	}
	if (r == ATW_OK && pages) {
		/* They are adjacent: only the named ones are kept. */
		x->longest = PAGES_LONGEST;
		r = pages_add(x->k, &x->spaces, &x->marks, err);
		x->longest = 0;
	}
	if (r == ATW_OK)
		core_notes(x->k, &x->notes);
	if (r == ATW_OK && !x->tables.bytes)
		r = atw_err_set(err, ATW_E_MISSING, "none of the page tables is in it");
	return r;
}

static int extract_write_file(struct extract *x, struct moving *moving,
			      atw_extract_write *fn, void *arg, struct atw_err *err)
{
	marks_sort(&x->marks);
	if (moving) {
		record_trim(moving->record, &x->marks);
		record_missing(moving->replay, RECORD_ZERO);
		if (record_failed(moving->record))
			x->marks.failed = true;
	}
	if (x->marks.failed || x->notes.failed)
		return atw_err_nomem(err);
	x->st.tables = x->tables.seen.n;
	x->st.table_bytes = x->tables.bytes;
	x->st.fact_bytes = marks_bytes(&x->marks);
	/* Tables that occur at two levels are counted once. */
	x->st.fact_bytes -= x->st.fact_bytes < x->tables.bytes ? x->st.fact_bytes : x->tables.bytes;
	x->st.lost = x->tables.lost;
	return core_write(x->k->mem, &x->marks, core_machine(&x->k->own.paging), &x->notes,
			  fn, arg, &x->st, err);
}

void extract_deinit(struct extract *x)
{
	tables_deinit(&x->tables);
	marks_deinit(&x->marks);
	spaces_deinit(&x->spaces);
	buf_deinit(&x->notes);
}

/* `moving`: of a running machine, the recorded reads; else NULL. */
static int extract_all(struct atw_kernel *k, struct moving *moving,
		       bool pages, atw_extract_write *fn, void *arg,
		       struct atw_extract_stats *ret, struct atw_err *err)
{
	struct extract x = { .k = k };
	int r = kernel_kmem(k, &x.m, err);

	if (r < 0)
		return r;
	if (moving) {
		x.st.bad_tasks = moving->bad_tasks;
		if (moving->first.status)
			extract_fault(&x, &moving->first);
	}
	x.tables.marks = &x.marks;
	kmem_on_touch(x.m, extract_touched, &x);
	r = extract_gather(&x, pages, moving, err);
	kmem_on_touch(x.m, NULL, NULL);
	if (r == ATW_OK)
		r = extract_write_file(&x, moving, fn, arg, err);
	if (r == ATW_OK)
		*ret = x.st;
	extract_deinit(&x);
	return r;
}

int atw_extract(struct atw_kernel *k, bool pages, atw_extract_write *fn, void *arg,
		struct atw_extract_stats *ret, struct atw_err *err)
{
	struct moving moving = { 0 };
	struct atw_kernel *still;
	int r;

	if (k->sought_kmem.done)
		return atw_err_set(err, ATW_E_USAGE, "the kernel was used before it is extracted");
	if (!atw_source_is_live(k->mem))
		return extract_all(k, NULL, pages, fn, arg, ret, err);
	r = moving_read(k, &moving, err) ?: kernel_over(k, moving.replay, &still, err);
	if (r == ATW_OK) {
		r = extract_all(still, &moving, pages, fn, arg, ret, err);
		atw_kernel_close(still);
	}
	moving_deinit(&moving);
	return r;
}
