/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Library functions that are called with NULL, zeroed structs or numbers out of range use
 * a default or return an error with a message, and never crash.
 */
#include <atwalk/base.h>
#include "extract/extract.h"
#include "format/vmcoreinfo_text.h"
#include "linux/linux.h"
#include "linux/page.h"
#include "paging/paging.h"
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
	REFUSED(atw_paging_extend(&zero, "lpa2", &err));
	REFUSED(atw_paging_extend(NULL, "lpa2", &err));
	REFUSED(atw_paging_extend(&copy, NULL, &err));
	REFUSED(atw_paging_extend(&copy, "", &err));
	CHECK(!memcmp(&copy, pg, sizeof(copy)));
	for (unsigned level = 4; level <= 64; level++) {
		CHECK_EQ(atw_entry_kind(pg, level, 0x63), ATW_BAD);
		CHECK_EQ(atw_entry_addr(pg, level, ATW_LEAF, 0x1063).u, 0);
		CHECK_EQ(atw_entry_span(pg, level, 0x1063), 0);
		CHECK(!atw_entry_replaces(pg, level, 0x1063));
		CHECK_EQ(atw_entry_rights(pg, level, ATW_LEAF, 0x1063, ATW_RIGHTS_ALL), 0);
		CHECK_EQ(atw_entry_flags(pg, level, ATW_LEAF, 0x1063), 0);
		CHECK_EQ(atw_leaf_attrs(pg, level), 0);
	}
	CHECK_EQ(atw_index(pg, 64, ATW_VA(UINT64_MAX)), 0);
	CHECK_EQ(atw_table_bytes(pg, 64), 0);
	CHECK_EQ(atw_entry_kind(&zero, 0, 0x63), ATW_BAD);
	CHECK_EQ(atw_entry_kind(NULL, 0, 0x63), ATW_BAD);
	CHECK_EQ(atw_leaf_attrs(&zero, 0), 0);
	CHECK(!atw_va_valid(&zero, ATW_VA(1)));
	CHECK(!atw_va_valid(NULL, ATW_VA(1)));
	CHECK_EQ(atw_va_canonical(&zero, 5, true).u, 5);
}

TEST(sources)
{
	static const char *const none[] = { NULL };
	struct memory *m = mem_new();
	struct atw_source *s = NULL;
	struct atw_source zero = { 0 };
	struct atw_piece piece = { .len = 1 };
	struct atw_extent e;
	struct atw_blob b;
	uint64_t n;
	char byte;

	mem_at(m, 0x1000);
	CHECK(!atw_source_kind(SIZE_MAX));
	CHECK(!atw_sink_kind(SIZE_MAX));
	REFUSED(atw_source_open(NULL, NULL, 0, &s, &err));
	REFUSED(atw_source_open("a", NULL, 1, &s, &err));
	REFUSED(atw_source_open("a", none, 1, &s, &err));
	REFUSED(atw_source_trace(NULL, NULL, NULL, &s, &err));
	REFUSED(atw_source_trace(&m->s, NULL, NULL, &s, &err));
	REFUSED(atw_source_faults(NULL, NULL, 0, &s, &err));
	REFUSED(atw_source_faults(&m->s, NULL, 1, &s, &err));
	REFUSED(atw_read(NULL, ATW_PA(0), &byte, 1, &err));
	REFUSED(atw_read(&zero, ATW_PA(0), &byte, 1, &err));
	REFUSED(atw_read(&m->s, ATW_PA(0x1000), NULL, 1, &err));
	CHECK_EQ(atw_read(&m->s, ATW_PA(0x1000), NULL, 0, NULL), 0);
	atw_read_many(NULL, &piece, 1, &err);
	CHECK_EQ(piece.got, ATW_E_USAGE);
	CHECK_EQ(atw_extent_at(NULL, ATW_PA(0), &e), ATW_E_USAGE);
	CHECK_EQ(atw_fact(NULL, "cpus", &b), ATW_E_USAGE);
	CHECK_EQ(atw_fact(&m->s, NULL, &b), ATW_E_USAGE);
	CHECK_EQ(atw_fact_u64(NULL, "cpus", &n), ATW_E_USAGE);
	CHECK(!atw_source_is_live(NULL));
	atw_source_mapped(NULL, ATW_PA(0), ATW_VA(0), 0);
	atw_buffer_close(NULL, NULL);
	atw_source_close(NULL);
	CHECK(!s);
	mem_free(m);
}

/* Functions that take a space; `sp` is invalid. */
static void spaces(const struct mmu_space *sp)
{
	struct rmap_range range = { .last = UINT64_MAX };
	struct rmap_ranges want = { &range, 1 };
	struct rmap rmap = { .want = &want };
	struct mmu_lookup *lookup = NULL;
	struct mmu_ranges *ranges = NULL;
	struct mmu_walk *walk = NULL;
	struct mmu_seen seen;
	char byte;

	REFUSED(mmu_translate(sp, ATW_VA(0), &seen, &err));
	REFUSED(mmu_space_read(sp, ATW_VA(0), &byte, 1, &err));
	REFUSED(mmu_walk_open(sp, NULL, &walk, &err));
	REFUSED(mmu_ranges_open(sp, NULL, 0, &ranges, &err));
	REFUSED(mmu_lookup_open(sp, &lookup, &err));
	REFUSED(rmap_walk(&rmap, sp, 0, UINT64_MAX, 0, &err));
	CHECK(!walk && !ranges && !lookup && !rmap.n);
}

TEST(spaces_of_zeroes)
{
	const struct mmu_walk_opts zero = { 0 };
	struct memory *m = mem_new();
	struct mmu_space sp = { 0 };
	const struct mmu_seen *s;
	struct mmu_ranges *ranges;
	struct mmu_range range;
	struct mmu_walk *w;
	struct mmu_seen none = { 0 }, one;

	spaces(NULL);
	spaces(&sp);
	CHECK(!mmu_space_lives(NULL));
	CHECK(!mmu_space_lives(&sp));
	CHECK_EQ(mmu_seen_word(&sp, &none, 1), 0);
	CHECK_EQ(mmu_seen_pa(&sp, &none, 1).u, 0);
	mmu_seen_one(&sp, &none, 1, &one);
	sp.mem = &m->s;
	spaces(&sp);
	sp.paging = *atw_paging_find("x86_64-4");
	sp.paging.nlevels = ATW_MAX_LEVELS + 1;
	spaces(&sp);
	sp.paging.nlevels = 4;
	sp.paging.level[2].bits = 40;
	REFUSED(mmu_walk_open(&sp, NULL, &w, &err));
	sp.paging = *atw_paging_find("x86_64-4");
	sp.paging.word_size = 3;
	REFUSED(mmu_walk_open(&sp, NULL, &w, &err));

	/* No options: everything. */
	sp.paging = *atw_paging_find("x86_64-4");
	sp.low = (struct mmu_root){ ATW_PA(0x1000), true };
	mem_at(m, 0x1000);
	REFUSED(mmu_walk_open(&sp, &zero, &w, &err));
	REFUSED(mmu_ranges_open(&sp, &zero, 0, &ranges, &err));
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
	const struct atw_kernel_opts zero = { 0 }, given = {
		.size = sizeof(given), .has_root = true, .root = ATW_PA(0x1000),
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
	REFUSED(atw_kernel_open(NULL, NULL, &k, &err));
	REFUSED(atw_kernel_open(&m->s, &zero, &k, &err));
	CHECK_EQ(atw_kernel_open(&m->s, NULL, &k, &err), ATW_E_MISSING);
	CHECK(!k);
	CHECK_EQ(atw_kernel_open(&m->s, &given, &k, &err), ATW_OK);
	REFUSED(atw_kernel_symbol(k, NULL, &n, &err));
	REFUSED(atw_kernel_banner(k, text, 0, &err));
	REFUSED(atw_kernel_banner(k, NULL, 8, &err));
	REFUSED(atw_kernel_command_line(k, text, 0, &err));
	CHECK_STR(text, "x");
	REFUSED(atw_mm_of(k, NULL, &mm, &err));
	CHECK(atw_mm_of(k, &task, &mm, &err) < 0);
	CHECK(atw_mm_open(k, 0, &mm, &err) < 0);
	CHECK(atw_areas_open(k, 0, &areas, &err) < 0);
	CHECK(atw_swap_device(k, UINT32_MAX, &swap, &err) < 0);
	CHECK(atw_cpu_of(k, UINT32_MAX, &cpu, &err) < 0);
	CHECK(atw_kernel_percpu(k, UINT32_MAX, &n, &err) != ATW_OK);
	CHECK(atw_kernel_node(k, SIZE_MAX, &node, &err) != ATW_OK);
	CHECK_EQ(atw_kernel_need(k, SIZE_MAX, &need), ATW_END);
	CHECK_EQ(atw_kernel_region(k, SIZE_MAX, &region), ATW_END);
	CHECK_EQ(atw_kernel_texts(k, NULL, NULL), ATW_E_USAGE);
	atw_kernel_close(k);
	atw_kernel_close(NULL);

	REFUSED(atw_kernel_symbol(NULL, "a", &n, &err));
	REFUSED(atw_kernel_symbol_at(NULL, 0, &symbol, &err));
	REFUSED(atw_kernel_banner(NULL, text, 8, &err));
	REFUSED(atw_kernel_command_line(NULL, text, 8, &err));
	REFUSED(atw_kernel_percpu(NULL, 0, &n, &err));
	REFUSED(atw_kernel_node(NULL, 0, &node, &err));
	REFUSED(atw_kernel_module_types(NULL, 0, &module, &err));
	CHECK(!atw_kernel_symbols_from(NULL, &count, &err));
	CHECK(!atw_kernel_types_from(NULL, &count, &err));
	CHECK_EQ(atw_kernel_need(NULL, 0, &need), ATW_E_USAGE);
	CHECK_EQ(atw_kernel_region(NULL, 0, &region), ATW_E_USAGE);
	CHECK_EQ(atw_kernel_texts(NULL, NULL, NULL), ATW_E_USAGE);
	REFUSED(lnx_tasks_open(NULL, &tasks, &err));
	REFUSED(lnx_task_by_pid(NULL, 1, &task, &err));
	REFUSED(atw_mm_open(NULL, 0, &mm, &err));
	REFUSED(atw_mm_of(NULL, &task, &mm, &err));
	REFUSED(atw_areas_open(NULL, 0, &areas, &err));
	REFUSED(atw_cpu_of(NULL, 0, &cpu, &err));
	REFUSED(atw_memmap_open(NULL, &memmap, &err));
	REFUSED(atw_swap_device(NULL, 0, &swap, &err));
	REFUSED(atw_extract(NULL, NULL, NULL, NULL, NULL, &err));
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
	struct atw_soft_abi zero = { 0 }, abi = atw_soft_abi_for(pg, "6.1.0");

	CHECK(!atw_soft_abi_for(NULL, "6.1.0").known);
	CHECK(!atw_soft_abi_for(pg, NULL).known);
	CHECK_EQ(atw_soft_decode(NULL, pg, 0, 2).what, ATW_SOFT_UNKNOWN);
	CHECK_EQ(atw_soft_decode(&abi, NULL, 0, 2).what, ATW_SOFT_UNKNOWN);
	CHECK_EQ(atw_soft_decode(&abi, pg, 9, 2).what, ATW_SOFT_UNKNOWN);
	CHECK_EQ(atw_soft_decode_at(&abi, pg, ATW_VA(UINT64_MAX), 9, 2).what, ATW_SOFT_UNKNOWN);
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

TEST(iterators_that_are_not_open)
{
	const struct mmu_seen *seen = NULL;
	struct mmu_range range;
	struct mmu_place place;
	struct lnx_task task;
	static struct atw_area area;

	REFUSED(lnx_tasks_next(NULL, &task, &err));
	REFUSED(atw_areas_next(NULL, &area, &err));
	CHECK(!atw_areas_error(NULL));
	REFUSED(mmu_walk_next(NULL, &seen, &err));
	CHECK(!seen);
	mmu_walk_prune(NULL);
	mmu_walk_unfold(NULL);
	CHECK_EQ(mmu_walk_stats(NULL).tables, 0);
	CHECK(!mmu_walk_error(NULL));
	REFUSED(mmu_ranges_next(NULL, &range, &err));
	CHECK(!mmu_ranges_walk(NULL));
	REFUSED(mmu_lookup(NULL, ATW_VA(0x1000), &place, &err));
}

TEST(struct_pages_that_are_not_open)
{
	struct lnx_page_kind kind = { .same = 77 };
	struct lnx_page page;
	uint64_t same = 77, cgroup = 77;
	uint32_t node = 77;

	REFUSED(atw_memmap_page(NULL, 1, &page, &err));
	REFUSED(atw_memmap_kind(NULL, 1, &kind, &err));
	CHECK(!atw_memmap_node(NULL, 1, 8, &node, &same));
	CHECK_EQ(atw_memmap_cgroup(NULL, 1, &cgroup), ATW_E_USAGE);
	CHECK(kind.same == 77 && same == 77 && cgroup == 77 && node == 77);
	atw_memmap_mapped(NULL, 1, 1);
	atw_memmap_soon(NULL, 1);
}

TEST(kernels_that_are_not_open)
{
	atw_pa at = ATW_PA(77);

	CHECK_EQ(atw_kernel_vmcoreinfo_at(NULL, &at), ATW_E_USAGE);
	CHECK_EQ(at.u, 77);
	CHECK(!atw_kernel_soft_abi(NULL, atw_paging_find("x86_64-4")).known);
	CHECK(!atw_kernel_space(NULL));
	CHECK(!atw_kernel_release(NULL));
	CHECK_EQ(atw_kernel_root_from(NULL), 0);
	CHECK(!atw_kernel_is_proved(NULL));
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
