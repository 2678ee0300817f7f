/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report `machine` sums all memory by use exactly, also where data is missing. */
#include "report_feed.h"

static void ram(struct feed *f, uint64_t start, uint64_t last, int node)
{
	const struct capture_ram r = {
		.start = start, .last = last, .name = blob_of("System RAM"),
		.node = node < 0 ? 0 : (uint64_t)node,
	};

	feed_event(f, (struct census_event){ .what = CENSUS_ON_RAM, .ram = &r,
					     .ram_has = node < 0 ? 0 : CAPTURE_R_NODE });
}

static void frames(struct feed *f, uint64_t pfn, uint64_t pages, enum capture_use use)
{
	const struct capture_frames r = { .pa = pfn << 12, .pages = pages, .use = use };

	feed_event(f, (struct census_event){ .what = CENSUS_ON_FRAMES, .frames = &r });
}

static void lost(struct feed *f, uint64_t pid, const char *what, const char *why)
{
	const struct capture_lost l = {
		.pid = pid, .what = blob_of(what), .why = blob_of(why)};

	feed_event(f, (struct census_event){ .what = CENSUS_ON_LOST, .lost = &l });
}

TEST(all_sums_up_to_memtotal)
{
	struct feed f = feed_open("machine");

	feed_header(&f, "MemTotal", "3400");     /* 850 pages */
	feed_header(&f, "MemFree", "1996");
	feed_header(&f, "Cached", "480");
	feed_header(&f, "Buffers", "12");
	feed_header(&f, "Shmem", "80");
	feed_header(&f, "AnonPages", "420");
	feed_header(&f, "Slab", "160");
	feed_header(&f, "PageTables", "16");
	feed_header(&f, "Hugetlb", "0");
	feed_header(&f, "HugePages_Total", "0");
	/* The last frame of the first range is RAM in part only. */
	ram(&f, 0x1000, 0x9fbff, -1);            /* 158 frames */
	ram(&f, 0x100000, 0x459fff, -1);         /* 858 */
	frames(&f, 1, 158, CAPTURE_RESERVED);
	frames(&f, 0x100, 500, CAPTURE_FREE);
	frames(&f, 0x2f4, 100, CAPTURE_ANON);
	frames(&f, 0x358, 5, CAPTURE_KSM);
	frames(&f, 0x35d, 103, CAPTURE_FILE);
	frames(&f, 0x3c4, 20, CAPTURE_SHMEM);
	frames(&f, 0x3d8, 42, CAPTURE_SLAB);
	frames(&f, 0x402, 4, CAPTURE_PGTABLE);
	frames(&f, 0x406, 70, CAPTURE_KERNEL);
	frames(&f, 0x44c, 3, CAPTURE_RESERVED);
	frames(&f, 0x44f, 4, CAPTURE_OFFLINE);
	frames(&f, 0x453, 2, CAPTURE_HWPOISON);
	feed_end(&f);
	CHECK_STR(feed_finish(&f),
		  "use=free pages=500 size=2048000 share=0.492 counter=MemFree kernel=2043904 difference=+4096\n"
		  "use=anon pages=100 size=409600 share=0.098 counter=AnonPages kernel=430080 difference=+0\n"
		  "use=file pages=103 size=421888 share=0.101 counter=Cached+Buffers-Shmem kernel=421888 difference=+0\n"
		  "use=shmem pages=20 size=81920 share=0.020 counter=Shmem kernel=81920 difference=+0\n"
		  "use=slab pages=42 size=172032 share=0.041 counter=Slab kernel=163840 difference=+8192\n"
		  "use=pgtable pages=4 size=16384 share=0.004 counter=PageTables kernel=16384 difference=+0\n"
		  "use=hugetlb pages=0 size=0 share=0.000 counter=Hugetlb kernel=0 difference=+0\n"
		  "use=ksm pages=5 size=20480 share=0.005\n"
		  "use=zero\n"
		  "use=kernel pages=70 size=286720 share=0.069\n"
		  "use=reserved pages=161 size=659456 share=0.158\n"
		  "use=offline pages=4 size=16384 share=0.004\n"
		  "use=hwpoison pages=2 size=8192 share=0.002\n"
		  "use=unknown pages=5 size=20480 share=0.005\n"
		  "use=RAM pages=1016 size=4161536 share=1.000\n"
		  "use=outside pages=165 size=675840 share=0.162\n"
		  "use=accounted pages=846 size=3465216 share=0.833\n"
		  "use=unaccounted pages=4 size=16384 share=0.004\n"
		  "use=MemTotal pages=850 size=3481600 share=0.837\n"
		  "# of 5 pages of RAM nothing is known; what MemTotal has of that is unaccounted\n");
	feed_close(&f);
}

/* Rows without frames are computed from the counters of the kernel and from S: lines. */
TEST(swap_reserves_and_promises)
{
	const struct capture_swap swap[2] = {
		{ .type = 0, .pages = 1000, .used = 300 }, { .type = 1, .pages = 24, .used = 25 },
	};
	struct feed f = feed_open("machine");
	const char *said;

	feed_header(&f, "zoneinfo.count", "7");
	feed_header(&f, "SwapTotal", "4096");
	feed_header(&f, "SwapFree", "2796");
	feed_header(&f, "HugePages_Total", "8");
	feed_header(&f, "HugePages_Free", "6");
	feed_header(&f, "HugePages_Rsvd", "2");
	feed_header(&f, "Hugepagesize", "2048");
	feed_header(&f, "Committed_AS", "66408");
	feed_header(&f, "CommitLimit", "133520");
	for (unsigned i = 0; i < 2; i++)
		feed_event(&f, (struct census_event){ .what = CENSUS_ON_SWAP, .swap = &swap[i] });
	feed_end(&f);
	said = strstr(feed_finish(&f), "use=waiting");
	CHECK(said);
	CHECK_STR(said ? said : "",
		  "use=waiting counter=zoneinfo.count kernel=28672\n"
		  "use=swap pages=1024 size=4194304 counter=SwapTotal kernel=4194304 difference=+0\n"
		  "use=swap free pages=700 size=2867200 counter=SwapFree kernel=2863104 difference=+4096\n"
		  "use=hugepages counter=HugePages_Total kernel=16777216\n"
		  "use=hugepages free counter=HugePages_Free kernel=12582912\n"
		  "use=hugepages reserved counter=HugePages_Rsvd kernel=4194304\n"
		  "use=committed counter=Committed_AS kernel=68001792\n"
		  "use=commit limit counter=CommitLimit kernel=136724480\n"
		  "# the use of frames is not recorded: there are no F: lines (frames were not collected)\n");
	feed_close(&f);
}

/* Pages on per-CPU lists are not in MemFree, and have no flag in /proc/kpageflags. */
TEST(pages_on_per_cpu_lists_are_free)
{
	for (unsigned proc = 0; proc < 2; proc++) {
		struct feed f = feed_open("machine");
		const char *said;

		feed_header(&f, "way", proc ? "pagemap" : "bpf");
		feed_header(&f, "MemFree", "400");
		feed_header(&f, "zoneinfo.count", "7");
		ram(&f, 0, 0x7ffff, -1);
		frames(&f, 0, 108, CAPTURE_FREE);
		frames(&f, 108, 20, CAPTURE_RESERVED);
		said = feed_finish(&f);
		CHECK(strstr(said, proc ? "counter=MemFree kernel=409600 difference=+32768\n" :
			     "counter=MemFree+waiting kernel=438272 difference=+4096\n"));
		feed_close(&f);
	}
}

/* A frame in two ranges is counted once. */
TEST(ranges_that_end_within_a_page)
{
	struct feed f = feed_open("machine");
	const char *said;

	ram(&f, 0x1800, 0x1bff, -1);
	ram(&f, 0x1c00, 0x37ff, -1);     /* frame 2, and half of frame 3 */
	ram(&f, 0x3800, 0x4fff, -1);     /* its other half, and frame 4 */
	ram(&f, 0x5800, 0x6fff, -1);     /* frame 6 */
	frames(&f, 2, 3, CAPTURE_SLAB);
	frames(&f, 6, 1, CAPTURE_SLAB);
	said = feed_finish(&f);
	CHECK(strstr(said, "use=slab pages=4 "));
	CHECK(strstr(said, "use=unknown pages=0 "));
	CHECK(strstr(said, "use=RAM pages=4 "));
	feed_close(&f);
}

/* More frames in use than MemTotal are reported, and no sum wraps around. */
TEST(beyond_memtotal)
{
	struct feed f = feed_open("machine");
	const char *said;

	feed_header(&f, "MemTotal", "36");
	ram(&f, 0, 0xffff, -1);
	frames(&f, 0, 12, CAPTURE_FREE);
	frames(&f, 12, 4, CAPTURE_RESERVED);
	said = feed_finish(&f);
	CHECK(strstr(said, "use=accounted pages=12 "));
	CHECK(strstr(said, "use=unaccounted pages=0 "));
	CHECK(strstr(said, "use=beyond pages=3 "));
	CHECK(strstr(said, "use=MemTotal pages=9 "));
	CHECK(!strstr(said, "#"));
	feed_close(&f);
}

TEST(nodes_have_rows_of_their_own)
{
	struct feed f = feed_open("machine");
	const char *said, *node;

	ram(&f, 0, 0xffff, 1);           /* 16 frames each */
	ram(&f, 0x10000, 0x1ffff, 0);
	ram(&f, 0x20000, 0x2ffff, 1);
	frames(&f, 0, 8, CAPTURE_SLAB);
	frames(&f, 8, 30, CAPTURE_FREE); /* across two borders */
	frames(&f, 40, 4, CAPTURE_ANON); /* and twice four missing frames */
	said = feed_finish(&f);
	CHECK(strstr(said, "use=free pages=30 "));
	CHECK(strstr(said, "use=unknown pages=6 "));
	CHECK(strstr(said, "use=RAM pages=48 size=196608 share=1.000\n"));
	CHECK(strstr(said, "use=outside pages=0 "));
	CHECK(strstr(said, "use=unaccounted\nuse=MemTotal\n"));
	node = strstr(said, "use=free node=0 pages=16 size=65536 share=1.000\n");
	CHECK(node);
	CHECK(strstr(node, "use=slab node=0 pages=0 "));
	CHECK(!strstr(node, "use=file node="));  /* no such row */
	CHECK(strstr(node, "use=RAM node=0 pages=16 size=65536 share=1.000\n"));
	node = strstr(node, "use=free node=1 pages=14 size=57344 share=0.438\n");
	CHECK(node);
	CHECK(strstr(node, "use=anon node=1 pages=4 "));
	CHECK(strstr(node, "use=slab node=1 pages=8 "));
	CHECK(strstr(node, "use=unknown node=1 pages=6 "));
	CHECK(strstr(node, "use=RAM node=1 pages=32 "));
	feed_close(&f);
	/* With one node there are no rows by node. */
	f = feed_open("machine");
	ram(&f, 0, 0x7fff, 0);
	ram(&f, 0x8000, 0xffff, 1024);
	frames(&f, 0, 16, CAPTURE_FREE);
	CHECK(!strstr(feed_finish(&f), "node="));
	feed_close(&f);
}

TEST(missing_data_is_not_zero)
{
	struct feed f = feed_open("machine");
	const char *said;

	feed_header(&f, "MemTotal", "64");
	feed_header(&f, "MemFree", "lots");
	ram(&f, 0, 0x1ffff, -1);
	said = feed_finish(&f);
	CHECK(!strstr(said, "use=free"));
	CHECK(strstr(said, "use=RAM pages=32 "));
	CHECK(strstr(said, "use=outside\nuse=accounted\nuse=unaccounted\n"));
	CHECK(strstr(said, "use=MemTotal pages=16 "));
	CHECK(strstr(said, "# the use of frames is not recorded: there are no F: lines (frames were not collected)\n"));
	feed_close(&f);
	f = feed_open("machine");
	CHECK(strstr(feed_finish(&f), "use=RAM\nuse=outside\n"));
	feed_close(&f);
	f = feed_open("machine");
	lost(&f, 7, "frames", "of a process");
	lost(&f, 0, "frames", "which addresses are RAM is not known");
	CHECK(strstr(feed_finish(&f), "# the use of frames is not recorded: which addresses are RAM is not known\n"));
	feed_close(&f);
}
