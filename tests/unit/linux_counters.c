/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel counters and the words of a crash are read exactly, from memory made by hand. */
#include "linux/machine.h"

#include "base/buf.h"
#include "kernel_memory.h"
#include "test.h"

enum {
	ZONE_STAT = 0x100, NODE_STAT = 0x200, NODE_DATA = 0x300, NODE = 0x400, ZONE_SIZE = 0x80,
	PERCPU = 0x1000, PER = 0x200, PCP = 0x20, ZDIFF = 0x40, NDIFF = 0x60, OFFSETS = 0x900,
	SWAP = 0xa00, HSTATES = 0xb00, COMMITTED = 0xc00, RATIO = 0xc40, KBYTES = 0xc48,
	TOTAL = 0xc50, CPU_IDS = 0xc58, PANIC = 0xd00, CRASHING = 0xd08,
};

static struct atw_kernel *kernel_of(struct kmemory *k)
{
	struct atw_kernel *ret = calloc(1, sizeof(*ret));

	ret->mem = &k->s;
	ret->own = ret->space = k->space;
	ret->have_own = true;
	ret->kmem = k->m;
	ret->sought_kmem.done = true;
	ret->needs = k->n;
	ret->needs_done = ret->symbols_done = true;
	ret->percpu_at = KBASE + OFFSETS;
	ret->percpu_n = 2;
	return ret;
}

static void constant(struct kmemory *k, enum need_const id, int64_t value)
{
	k->n.constant[id] = value;
	k->n.have_const[id] = true;
}

/* One node of two zones, two CPUs. */
static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	for (unsigned i = 0; i < N_CONSTS; i++)
		k->n.have_const[i] = false;
	constant(k, C_nr_free, 0);
	constant(k, C_zone_items, 4);
	constant(k, C_nr_tables, 9);
	constant(k, C_nr_anon, 1);
	constant(k, C_nr_shmem, 2);
	kset(k, N_node_spanned, 0, 8);
	kset(k, N_node_id, 8, 4);
	kset(k, N_node_nzones, 12, 4);
	kset(k, N_node_zones, 0x80, 0);
	kset(k, N_node_stat, 0x10, 0);
	kset(k, N_node_diffs, 0x60, 8);
	kset(k, N_node_diff, 1, 0);
	kset(k, N_zone_stat, 0, 0);
	kset(k, N_zone_pcp, 0x40, 8);
	kset(k, N_zone_diffs, 0x48, 8);
	kset(k, N_zone_diff, 2, 0);
	kset(k, N_pcp_count, 4, 4);
	k->n.size[S_zone] = ZONE_SIZE;
	k->n.symbol[Y_node_data] = KBASE + NODE_DATA;
	k->n.symbol[Y_zone_stat] = KBASE + ZONE_STAT;
	k->n.symbol[Y_node_stat] = KBASE + NODE_STAT;
	kpoint(k, NODE_DATA, NODE);
	kput64(k, NODE, 1000);
	kput(k, NODE + 12, 2, 4);
	kput64(k, NODE + 0x60, PERCPU + NDIFF);
	for (unsigned z = 0; z < 2; z++) {
		kput64(k, NODE + 0x80 + z * ZONE_SIZE + 0x40, PERCPU + PCP + 8 * z);
		kput64(k, NODE + 0x80 + z * ZONE_SIZE + 0x48, PERCPU + ZDIFF + 8 * z);
	}
	kpoint(k, OFFSETS, 0);
	kpoint(k, OFFSETS + 8, PER);
	kput64(k, ZONE_STAT, 500);               /* MemFree */
	kput64(k, NODE_STAT + 8, 100);           /* AnonPages */
	kput64(k, NODE_STAT + 16, (uint64_t)-3); /* Shmem, for a moment */
	kput64(k, NODE_STAT + 72, 40);           /* PageTables */
	/* Not added yet: +5 and -2 free, in two zones; -1 and -1 anon. */
	kput(k, PERCPU + ZDIFF + 2, 5, 1);
	kput(k, PERCPU + PER + ZDIFF + 8 + 2, (uint8_t)-2, 1);
	kput(k, PERCPU + NDIFF + 1 + 1, (uint8_t)-1, 1);
	kput(k, PERCPU + PER + NDIFF + 1 + 1, (uint8_t)-1, 1);
	/* Waiting: 7 and 1, 2 and 30. */
	kput(k, PERCPU + PCP + 4, 7, 4);
	kput(k, PERCPU + PCP + 8 + 4, 1, 4);
	kput(k, PERCPU + PER + PCP + 4, 2, 4);
	kput(k, PERCPU + PER + PCP + 8 + 4, 30, 4);
	return k;
}

static int tell(void *arg, const char *key, uint64_t value, struct atw_err *err)
{
	(void)err;
	buf_printf(arg, "%s %" PRIu64 "\n", key, value);
	return ATW_OK;
}

static const char *counters(struct kmemory *k)
{
	static struct buf b;
	struct atw_kernel *kernel = kernel_of(k);
	int r;

	buf_deinit(&b);
	b = (struct buf){ 0 };
	r = kernel_counters(kernel, tell, &b, NULL);
	if (r != ATW_OK)
		buf_printf(&b, "%d\n", r);
	free(kernel);
	return b.data;
}

TEST(sums_with_what_cpus_have_not_added)
{
	struct kmemory *k = machine();

	CHECK_STR(counters(k), "MemFree 2012\nAnonPages 392\nShmem 0\nPageTables 160\nzoneinfo.count 40\n");
	/* The same by zones and nodes, where no symbol leads to the sums of all. */
	k->n.symbol[Y_zone_stat] = k->n.symbol[Y_node_stat] = 0;
	kput64(k, NODE + 0x80, 200);
	kput64(k, NODE + 0x80 + ZONE_SIZE, 300);
	kput64(k, NODE + 0x10 + 8, 100);
	kput64(k, NODE + 0x10 + 72, 40);
	CHECK_STR(counters(k), "MemFree 2012\nAnonPages 392\nShmem 0\nPageTables 160\nzoneinfo.count 40\n");
	/* Before 5.11 page tables were counted by zone. */
	constant(k, C_nr_tables, 3);
	kput64(k, NODE + 0x80 + 24, 11);
	CHECK(strstr(counters(k), "PageTables 44\n"));
	kmemory_free(k);
}

TEST(swap_hugetlb_and_commit)
{
	struct kmemory *k = machine();

	k->n.symbol[Y_swap_total] = KBASE + SWAP;
	k->n.symbol[Y_swap_free] = KBASE + SWAP + 8;
	kput64(k, SWAP, 1000);
	kput64(k, SWAP + 8, 300);
	k->n.symbol[Y_hstates] = KBASE + HSTATES;
	k->n.symbol[Y_hstates_n] = KBASE + HSTATES + 0x80;
	k->n.symbol[Y_hstate_default] = KBASE + HSTATES + 0x84;
	k->n.size[S_hstate] = 0x20;
	kset(k, N_hstate_order, 0, 4);
	kset(k, N_hstate_all, 8, 8);
	kset(k, N_hstate_free, 16, 8);
	kset(k, N_hstate_resv, 24, 8);
	kput(k, HSTATES, 18, 4);
	kput(k, HSTATES + 0x20, 9, 4);
	kput64(k, HSTATES + 0x28, 8);
	kput64(k, HSTATES + 0x30, 6);
	kput64(k, HSTATES + 0x38, 1);
	kput(k, HSTATES + 0x80, 2, 4);
	kput(k, HSTATES + 0x84, 1, 4);
	k->n.symbol[Y_committed] = KBASE + COMMITTED;
	kset(k, N_percpu_counter, 8, 8);
	kset(k, N_percpu_counters, 16, 8);
	kput64(k, COMMITTED + 8, 5000);
	kput64(k, COMMITTED + 16, PERCPU + 0x180);
	kput(k, PERCPU + 0x180, 10, 4);
	kput(k, PERCPU + PER + 0x180, (uint32_t)-30, 4);
	k->n.symbol[Y_totalram] = KBASE + TOTAL;
	k->n.symbol[Y_overcommit_ratio] = KBASE + RATIO;
	k->n.symbol[Y_overcommit_kbytes] = KBASE + KBYTES;
	kput64(k, TOTAL, 10096);
	kput(k, RATIO, 50, 4);
	CHECK(strstr(counters(k), "SwapTotal 4000\nSwapFree 1200\nHugePages_Total 8\nHugePages_Free 6\n"
				  "HugePages_Rsvd 1\nHugepagesize 2048\nHugetlb 16384\n"
				  "Committed_AS 19920\nCommitLimit 16000\n"));
	kput64(k, KBYTES, 400);
	CHECK(strstr(counters(k), "CommitLimit 4400\n"));
	/* An invalid page size: neither Hugetlb nor the limit is reported. */
	kput(k, HSTATES, 60, 4);
	CHECK(!strstr(counters(k), "Hugetlb"));
	CHECK(!strstr(counters(k), "CommitLimit"));
	kmemory_free(k);
}

/* Bytes that were left out of a source look like zeroes. */
TEST(left_out)
{
	struct kmemory *k = machine();

	kput64(k, ZONE_STAT, 0);
	kput(k, PERCPU + ZDIFF + 2, 0, 1);
	CHECK_STR(counters(k), "-4\n");
	k->n.have_const[C_nr_free] = false;
	CHECK_STR(counters(k), "-8\n");
	kmemory_free(k);
}

TEST(the_cpu_that_crashed)
{
	struct kmemory *k = machine();
	struct atw_kernel *kernel;
	unsigned cpu = 77;

	kernel = kernel_of(k);
	CHECK_EQ(kernel_crash_cpu(kernel, &cpu, NULL), ATW_E_MISSING);
	kernel->needs.symbol[Y_panic_cpu] = KBASE + PANIC;
	kernel->needs.symbol[Y_crashing_cpu] = KBASE + CRASHING;
	kput(k, PANIC, UINT32_MAX, 4);
	kput(k, CRASHING, UINT32_MAX, 4);
	CHECK_EQ(kernel_crash_cpu(kernel, &cpu, NULL), ATW_E_NONE);
	CHECK_EQ(cpu, 77);
	kput(k, CRASHING, 3, 4);
	CHECK_EQ(kernel_crash_cpu(kernel, &cpu, NULL), ATW_OK);
	CHECK_EQ(cpu, 3);
	kput(k, PANIC, 1, 4);
	CHECK_EQ(kernel_crash_cpu(kernel, &cpu, NULL), ATW_OK);
	CHECK_EQ(cpu, 1);
	free(kernel);
	kmemory_free(k);
}

TEST(words_of_a_crash)
{
	const char *words;

	CHECK_EQ(log_is_crash("Kernel panic - not syncing: sysrq triggered crash", &words), 2);
	CHECK_EQ(log_is_crash("x86: BUG: unable to handle page fault", &words), 1);
	CHECK_STR(words, "BUG: unable to handle page fault");
	CHECK_EQ(log_is_crash("Memory failure: 0x45200: Recovered", &words), 0);
	CHECK_EQ(log_is_crash("", &words), 0);
}
