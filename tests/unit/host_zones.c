/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames without a struct page so far are counted from /proc/zoneinfo and /proc/meminfo.
 */
#include "host/nodes.h"

#include <unistd.h>

#include "test.h"

static char root[] = "/tmp/atwalk-zones.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%s", root, name);
	f = fopen(path, "w");
	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

static void begin(void)
{
	char command[64];

	strcpy(root + sizeof(root) - 7, "XXXXXX");
	CHECK(mkdtemp(root));
	snprintf(command, sizeof(command), "mkdir '%s/proc'", root);
	if (system(command))
		abort();
}

static void end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	if (system(command))
		abort();
}

/* Two nodes of 4 GiB and 1 GiB; 64 pages of the first are reserved, low and high. */
#define LOW \
	"Node 0, zone      DMA\n  per-node stats\n      nr_slab 1\n  pages free     3840\n" \
	"        boost    0\n        spanned  4095\n        present  3998\n" \
	"        managed  3840\n        cma      0\n  start_pfn:           1\n"
#define HIGH(managed) \
	"Node 0, zone   Normal\n  pages free     10\n        spanned  1044480\n" \
	"        present  1044480\n        managed  " managed "\n    cpu: 0\n" \
	"              count:    244\n  start_pfn:           4096\n" \
	"Node 0, zone  Movable\n  pages free     0\n        spanned  0\n" \
	"        present  0\n        managed  0\n"
#define OTHER(managed) \
	"Node 1, zone   Normal\n  pages free     10\n        spanned  262144\n" \
	"        present  262144\n        managed  " managed "\n  start_pfn:           1048576\n"

TEST(ends_of_the_highest_zones)
{
	struct sys_late l;

	begin();
	put("meminfo", "MemTotal:        5241600 kB\nMemFree:          123456 kB\n");
	put("zoneinfo", LOW HIGH("100000") OTHER("262144"));
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 2);
	/* 1044480 - 100000 frames up to 1048576; of the other nothing is missing. */
	CHECK_EQ(l.v[0].first, 104096);
	CHECK_EQ(l.v[0].end, 1048576);
	CHECK(!sys_late_has(&l, 104095));
	CHECK(sys_late_has(&l, 104096));
	CHECK(sys_late_has(&l, 1048575));
	CHECK(!sys_late_has(&l, 1048576));
	CHECK(!sys_late_has(&l, 1310719));
	/* Of the low zone frames are reserved, and made all the same. */
	CHECK(!sys_late_has(&l, 4095));
	sys_late_deinit(&l);
	CHECK_EQ(l.n, 0);
	CHECK(!sys_late_has(&l, 104096));
	put("zoneinfo", LOW HIGH("0") OTHER("262143"));
	sys_late_read(root, 4096, &l);
	CHECK(sys_late_has(&l, 4096));
	CHECK(sys_late_has(&l, 1310719));
	CHECK(!sys_late_has(&l, 1310718));
	sys_late_deinit(&l);
	end();
}

TEST(all_have_been_made)
{
	struct sys_late l;

	begin();
	/* What is reserved is not in MemTotal: 3840 + 1044416 + 262144 pages are. */
	put("meminfo", "MemTotal:        5241600 kB\n");
	put("zoneinfo", LOW HIGH("1044416") OTHER("262144"));
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 0);
	put("meminfo", "MemTotal:        5241604 kB\n");
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 2);
	sys_late_deinit(&l);
	/* Counted in larger ones: 81900 of 65536 bytes. */
	sys_late_read(root, 65536, &l);
	CHECK_EQ(l.n, 0);
	end();
}

TEST(zones_by_the_frames_they_span)
{
	struct zone_spans z;
	uint64_t last = UINT64_MAX;
	const uint32_t node = 1;

	begin();
	put("zoneinfo", LOW HIGH("1") OTHER("1") "Node 1, zone  Movable\n"
	    "        spanned  16\n  start_pfn:           1048592\n");
	sys_zones_read(root, &z);
	/* The empty one of node 0 is none. */
	CHECK_EQ(z.n, 4);
	CHECK(!zone_spans_find(&z, 0, NULL, &last));
	CHECK_EQ(last, 0);
	last = UINT64_MAX;
	CHECK_STR(zone_spans_find(&z, 1, NULL, &last), "DMA");
	CHECK_EQ(last, 4095);
	last = 4000;
	CHECK_STR(zone_spans_find(&z, 1, NULL, &last), "DMA");
	CHECK_EQ(last, 4000);
	last = UINT64_MAX;
	CHECK_STR(zone_spans_find(&z, 4096, NULL, &last), "Normal");
	CHECK_EQ(last, 1048575);
	CHECK(!zone_spans_find(&z, 4096, &node, &last));
	CHECK_STR(zone_spans_find(&z, 1048591, &node, &last), "Normal");
	/* Two zones of one node span it. */
	last = UINT64_MAX;
	CHECK(!zone_spans_find(&z, 1048592, &node, &last));
	CHECK_EQ(last, 1048607);
	last = UINT64_MAX;
	CHECK_STR(zone_spans_find(&z, 1048608, &node, &last), "Normal");
	CHECK_EQ(last, 1310719);
	last = UINT64_MAX;
	CHECK(!zone_spans_find(&z, 1310720, &node, &last));
	CHECK_EQ(last, UINT64_MAX);
	zone_spans_deinit(&z);
	put("zoneinfo", "Node 1, zone\nNode x, zone A\n        spanned  1\n");
	sys_zones_read(root, &z);
	CHECK_EQ(z.n, 0);
	zone_spans_deinit(&z);
	end();
	sys_zones_read(root, &z);
	CHECK_EQ(z.n, 0);
}

TEST(nobody_tells)
{
	static const char *const odd[] = {
		"", "\n\n", "Node", "Node 0, zone", "managed 1", "        managed  1\n",
		"  start_pfn:           18446744073709551615\n",
		"Node 0, zone   Normal\n        spanned  18446744073709551615\n"
		"        present  18446744073709551615\n  start_pfn:           4096\n",
		"Node 0, zone   Normal\n        present  x\n        managed  -1\n  start_pfn:\n",
	};
	struct sys_late l;

	begin();
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 0);
	put("zoneinfo", LOW HIGH("100000"));
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 0);
	put("meminfo", "MemTotal:\n");
	sys_late_read(root, 4096, &l);
	CHECK_EQ(l.n, 0);
	put("meminfo", "MemTotal:        5241600 kB\n");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		put("zoneinfo", odd[i]);
		sys_late_read(root, 4096, &l);
		CHECK(!sys_late_has(&l, 4096));
		sys_late_deinit(&l);
	}
	end();
}
