/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are called without options, with numbers out of range or with nothing to
 * close use a default or return an error with a message, and never crash. The public API
 * checks its arguments: tests/unit/api.c.
 */
#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/entry.h"
#include "linux/process.h"
#include "record/record.h"
#include "source/source.h"
#include "walk/rmap.h"

#include "memory.h"
#include "test.h"

static struct atw_err err;

TEST(paging_modes)
{
	const struct atw_paging *pg = atw_paging_find("x86_64-4");
	struct atw_paging zero = { 0 }, copy = *pg;

	CHECK(!atw_paging_at(SIZE_MAX));
	CHECK(!atw_paging_find(NULL));
	CHECK(!atw_paging_find(""));
	REFUSED(atw_paging_extend(&copy, "", &err));
	CHECK(!memcmp(&copy, pg, sizeof(copy)));
	CHECK(!atw_va_valid(&zero, ATW_VA(1)));
	CHECK(!atw_va_valid(NULL, ATW_VA(1)));
	CHECK_EQ(atw_va_canonical(&zero, 5, true).u, 5);
}

TEST(sources)
{
	static const char *const none[] = { NULL };
	struct memory *m = mem_new();
	struct atw_source *s = NULL;

	mem_at(m, 0x1000);
	CHECK(!atw_source_kind(SIZE_MAX));
	CHECK(!atw_sink_kind(SIZE_MAX));
	REFUSED(atw_source_open(NULL, NULL, 0, &s, &err));
	REFUSED(atw_source_open("a", NULL, 1, &s, &err));
	REFUSED(atw_source_open("a", none, 1, &s, &err));
	CHECK(!atw_source_is_live(NULL));
	atw_source_close(NULL);
	CHECK(!s);
	mem_free(m);
}

TEST(walks_without_options)
{
	struct memory *m = mem_new();
	struct mmu_space sp = { .mem = &m->s };
	const struct mmu_seen *s;
	struct mmu_ranges *ranges;
	struct mmu_range range;
	struct mmu_walk *w;
	struct mmu_seen one;

	/* No options: everything. */
	sp.paging = *atw_paging_find("x86_64-4");
	sp.low = (struct mmu_root){ ATW_PA(0x1000), true };
	mem_at(m, 0x1000);
	CHECK_EQ(mmu_walk_open(&sp, NULL, &w, &err), ATW_OK);
	CHECK_EQ(mmu_walk_next(w, &s, &err), ATW_END);
	mmu_walk_close(w);
	CHECK_EQ(mmu_ranges_open(&sp, NULL, 0, &ranges, &err), ATW_OK);
	CHECK_EQ(mmu_ranges_next(ranges, &range, &err), ATW_END);
	mmu_ranges_close(ranges);
	CHECK_EQ(mmu_translate(&sp, ATW_VA(0x5000), &one, &err), ATW_OK);
	CHECK_EQ(one.kind, ATW_ABSENT);
	mmu_walk_close(NULL);
	mmu_ranges_close(NULL);
	mmu_lookup_close(NULL);
	mem_free(m);
}

TEST(kernels)
{
	const struct atw_kernel_opts given = {
		.has_root = true, .root = ATW_PA(0x1000),
		.paging = "x86_64-4",
	};
	struct atw_vmcoreinfo vi = { 0 };
	struct memory *m = mem_new();
	struct atw_kernel *k = NULL;
	struct lnx_task task = { 0 };
	struct lnx_tasks *tasks;
	struct atw_areas *areas;
	struct atw_memmap *memmap;
	struct atw_swap swap;
	struct atw_node node;
	struct atw_cpu cpu;
	struct atw_mm mm;
	struct lnx_symbol symbol;
	struct atw_region region;
	struct atw_need need;
	struct atw_module_types module;
	struct atw_blob b;
	uint64_t n;
	uint32_t count;
	char text[8] = "x";

	mem_at(m, 0x1000);
	CHECK_EQ(atw_kernel_open(&m->s, NULL, &k, &err), ATW_E_MISSING);
	CHECK(!k);
	CHECK_EQ(atw_kernel_open(&m->s, &given, &k, &err), ATW_OK);
	CHECK(atw_mm_of(k, &task, &mm, &err) < 0);
	CHECK(atw_mm_open(k, 0, &mm, &err) < 0);
	CHECK(atw_areas_open(k, 0, &areas, &err) < 0);
	CHECK(atw_swap_device(k, UINT32_MAX, &swap, &err) < 0);
	CHECK(atw_cpu_of(k, UINT32_MAX, &cpu, &err) < 0);
	CHECK(atw_kernel_percpu(k, UINT32_MAX, &n, &err) != ATW_OK);
	CHECK(atw_kernel_node(k, SIZE_MAX, &node, &err) != ATW_OK);
	CHECK_EQ(atw_kernel_need(k, SIZE_MAX, &need), ATW_END);
	CHECK_EQ(atw_kernel_region(k, SIZE_MAX, &region), ATW_END);
	atw_kernel_close(k);
	atw_kernel_close(NULL);

	REFUSED(atw_kernel_symbol(NULL, "a", &n, &err));
	REFUSED(atw_kernel_symbol_at(NULL, 0, &symbol, &err));
	REFUSED(atw_kernel_command_line(NULL, text, 8, &err));
	REFUSED(atw_kernel_percpu(NULL, 0, &n, &err));
	REFUSED(atw_kernel_node(NULL, 0, &node, &err));
	REFUSED(atw_kernel_module_types(NULL, 0, &module, &err));
	CHECK(!atw_kernel_symbols_from(NULL, &count, &err));
	CHECK(!atw_kernel_types_from(NULL, &count, &err));
	REFUSED(lnx_tasks_open(NULL, &tasks, &err));
	REFUSED(lnx_task_by_pid(NULL, 1, &task, &err));
	REFUSED(atw_mm_open(NULL, 0, &mm, &err));
	REFUSED(atw_mm_of(NULL, &task, &mm, &err));
	REFUSED(atw_areas_open(NULL, 0, &areas, &err));
	REFUSED(atw_cpu_of(NULL, 0, &cpu, &err));
	REFUSED(atw_memmap_open(NULL, &memmap, &err));
	REFUSED(atw_swap_device(NULL, 0, &swap, &err));
	lnx_tasks_close(NULL);
	atw_areas_close(NULL);
	atw_memmap_close(NULL);

	CHECK_EQ(atw_vmcoreinfo_text(&vi, "PAGESIZE", &b), ATW_E_MISSING);
	CHECK_EQ(atw_vmcoreinfo_text(&vi, NULL, &b), ATW_E_MISSING);
	CHECK_EQ(atw_vmcoreinfo_text(NULL, "PAGESIZE", &b), ATW_E_MISSING);
	CHECK_EQ(atw_vmcoreinfo_probe(NULL, 0), 0);
	mem_free(m);
}

TEST(words_that_the_cpu_ignores)
{
	const struct atw_paging *pg = atw_paging_find("x86_64-4");
	struct atw_soft_abi zero = { 0 };

	CHECK(!atw_soft_abi_for(NULL, "6.1.0").known);
	CHECK(!atw_soft_abi_for(pg, NULL).known);
	atw_soft_decode(&zero, pg, 0, 2);
	CHECK_STR(atw_soft_name((enum atw_soft)99), "unknown");
	CHECK_STR(atw_soft_name((enum atw_soft)-1), "unknown");
	CHECK(!lnx_page_flag_name(UINT32_MAX));
}

TEST(outputs)
{
	static const struct atw_column col[] = { { .key = "n", .type = ATW_T_COUNT } };
	const struct atw_schema sc = { "test", col, 1 }, zero = { 0 };
	struct atw_output_opts o = { .units = (enum atw_units)9 };
	struct atw_output *out = NULL;

	CHECK_EQ(atw_output_check(NULL, &sc, &err), ATW_OK);
	REFUSED(atw_output_check(NULL, NULL, &err));
	REFUSED(atw_output_check(NULL, &zero, &err));
	REFUSED(atw_output_check(&o, &sc, &err));
	REFUSED(atw_output_open(NULL, &zero, &out, &err));
	o = (struct atw_output_opts){ .page_shift = 200 };
	REFUSED(atw_output_check(&o, &sc, &err));
	CHECK(!out);
	atw_output_close(NULL);
	CHECK_EQ(atw_err_set(NULL, ATW_E_USAGE, "unused"), ATW_E_USAGE);
	CHECK_EQ(atw_err_set_param(NULL, ATW_E_USAGE, ATW_PARAM_SORT, "unused"), ATW_E_USAGE);
	CHECK_EQ(atw_err_nomem(NULL), ATW_E_NOMEM);
	atw_err_param(NULL, ATW_PARAM_SORT);
	atw_err_wrap(NULL, "unused");
	atw_err_about(NULL, "unused");
	atw_err_hint(NULL, "unused");
	atw_err_hint_command(NULL, "unused", "true");
	atw_err_remedy(NULL, ATW_PARAM_ROOT);
}

TEST(kernels_that_are_not_open)
{
	CHECK(!atw_kernel_soft_abi(NULL, atw_paging_find("x86_64-4")).known);
	CHECK(!atw_kernel_space(NULL));
	CHECK(!atw_kernel_release(NULL));
	CHECK_EQ(atw_kernel_root_from(NULL), 0);
	CHECK(!atw_kernel_root_why(NULL));
	CHECK(!atw_kernel_vmcoreinfo(NULL));
	CHECK(!atw_kernel_file_is_unproved(NULL));
}

TEST(outputs_that_are_not_open)
{
	const struct atw_row row = { 0 };

	REFUSED(atw_output_row(NULL, &row, &err));
	REFUSED(atw_output_flush(NULL, &err));
	REFUSED(atw_output_commit(NULL, &err));
	CHECK_EQ(atw_output_heading(NULL, "a"), ATW_E_USAGE);
	CHECK_EQ(atw_output_text(NULL, "a"), ATW_E_USAGE);
	CHECK_EQ(atw_output_note(NULL, "a"), ATW_E_USAGE);
	atw_output_page(NULL, 12);
	CHECK_EQ(atw_output_left_out(NULL), 0);
	CHECK_EQ(atw_output_rows(NULL), 0);
}
