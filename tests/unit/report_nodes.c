/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report `nodes` sums the memory of each process by NUMA node. */
#include "linux/kpf.h"
#include "report_feed.h"
#include "test.h"

static void ram(struct feed *f, uint64_t start, uint64_t last, int node)
{
	const struct capture_ram r = { .start = start, .last = last, .node = (uint64_t)node };

	feed_event(f, (struct census_event){ .what = CENSUS_ON_RAM, .ram = &r,
					     .ram_has = node < 0 ? 0 : CAPTURE_R_NODE });
}

struct piece {
	uint64_t pa, pages;
	uint32_t known;
	bool anon, zero, same;
	uint64_t flags;
};

static void process(struct feed *f, uint64_t pid, const char *name, const struct piece *v, size_t n,
		    bool incomplete)
{
	const struct capture_area area = { .page = 4096 };
	const struct census_process p = { .pid = pid, .name = name, .incomplete = incomplete };
	const struct census_area a = { .process = &p, .v = &area, .name = "" };

	feed_event(f, (struct census_event){ .what = CENSUS_ON_AREA, .area = &a });
	for (size_t i = 0; i < n; i++) {
		const struct census_pages g = {
			.area = &a, .present = true, .pa = v[i].pa, .pages = v[i].pages,
			.known = v[i].known, .anon = v[i].anon, .zero = v[i].zero, .same = v[i].same,
			.flags = v[i].flags,
		};

		feed_event(f, (struct census_event){ .what = CENSUS_ON_PAGES, .pages = &g });
	}
	feed_event(f, (struct census_event){ .what = CENSUS_ON_PROCESS_END, .process = &p });
}

enum { KNOWN = CENSUS_PA | CENSUS_ORIGIN | CENSUS_FLAGS };

TEST(runs_are_cut_where_nodes_begin)
{
	const struct piece a[] = {
		{ 0x8000, 16, KNOWN, .anon = true },             /* 8 on node 0, 8 on node 1 */
		{ 0x12000, 1, KNOWN, .anon = false },                     /* node 1, of a file */
		{ 0x9000, 512, KNOWN, .same = true },            /* one frame, 512 times */
		{ 0x0, 4, KNOWN, .zero = true },                 /* no memory */
	};
	const struct piece b[] = {
		{ 0x18000, 4, KNOWN, .flags = kpf(KPF_HUGE) },
		{ 0x1c000, 8, KNOWN, .anon = true },             /* 4 on node 1, 4 above RAM */
	};
	struct feed f = feed_open("nodes");

	ram(&f, 0x0, 0xffff, 0);
	ram(&f, 0x10000, 0x1ffff, 1);
	process(&f, 8, "b", b, 2, false);
	process(&f, 7, "a", a, 4, false);
	process(&f, 9, "nothing", NULL, 0, false);
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=a node=0 rss=2129920 anon=32768 file=2097152 hugetlb=0 share=0.983\n"
		  "pid=7 task=a node=1 rss=36864 anon=32768 file=4096 hugetlb=0 share=0.017\n"
		  "pid=8 task=b node=1 rss=16384 anon=16384 file=0 hugetlb=16384 share=0.667\n"
		  "pid=8 task=b rss=16384 anon=16384 file=0 hugetlb=0 share=0.333\n"
		  "task=(all) node=0 rss=2129920 anon=32768 file=2097152 hugetlb=0 share=0.961\n"
		  "task=(all) node=1 rss=53248 anon=49152 file=4096 hugetlb=16384 share=0.031\n"
		  "task=(all) rss=16384 anon=16384 file=0 hugetlb=0 share=0.007\n"
		  "# of 16384 bytes it is not known on which node they are\n");
	feed_close(&f);
}

/* Missing data is n/a, never 0. */
TEST(missing_data_is_not_zero)
{
	const struct piece a[] = { { 0x1000, 2, CENSUS_PA, .anon = false }, { 0, 3, CENSUS_ORIGIN, .anon = true } };
	const struct piece b[] = { { 0x3000, 1, KNOWN, .anon = false } };
	struct feed f = feed_open("nodes");

	ram(&f, 0x0, 0xffff, 4);
	ram(&f, 0x8000, 0x1ffff, 5);             /* overlaps: the node is unknown */
	ram(&f, 0x20000, 0x2ffff, -1);
	process(&f, 7, "a", a, 2, false);
	process(&f, 8, "b", b, 1, true);
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=a node=4 rss=8192 hugetlb=0 share=0.400\n"
		  "pid=7 task=a rss=12288 anon=12288 file=0 hugetlb=0 share=0.600\n"
		  "pid=8 task=b node=4\n"
		  "task=(all) node=4\n"
		  "task=(all)\n"
		  "# of 12288 bytes it is not known on which node they are\n"
		  "# records of 1 process are incomplete: its memory is n/a\n");
	feed_close(&f);
}

TEST(no_line_has_a_node)
{
	const struct piece a[] = { { 0x1000, 2, KNOWN, .anon = true } };
	struct feed f = feed_open("nodes");

	ram(&f, 0x0, 0xffff, -1);
	process(&f, 7, "a", a, 1, false);
	CHECK_STR(feed_finish(&f),
		  "pid=7 task=a rss=8192 anon=8192 file=0 hugetlb=0 share=1.000\n"
		  "task=(all) rss=8192 anon=8192 file=0 hugetlb=0 share=1.000\n"
		  "# cannot assign memory to NUMA nodes: no R: line has a node\n");
	feed_close(&f);
}
