/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The geometry of CPU caches is read from /sys. */
#include "host/caches.h"

#include <unistd.h>

#include "test.h"

static char root[] = "/tmp/atwalk-caches.XXXXXX";

static void cache(unsigned cpu, unsigned index, unsigned level, const char *type,
		  const char *size, unsigned line, unsigned sets, unsigned ways)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "d=%s/sys/devices/system/cpu/cpu%u/cache/index%u; mkdir -p $d; cd $d;"
		 "echo %u >level; echo %s >type; echo %s >size; echo %u >coherency_line_size;"
		 "echo %u >number_of_sets; echo %u >ways_of_associativity",
		 root, cpu, index, level, type, size, line, sets, ways);
	if (system(command))
		abort();
}

TEST(caches_and_sets)
{
	const uint64_t pa = 0x12345fc0;
	struct sys_caches c;
	char command[64];
	uint64_t set;

	CHECK(mkdtemp(root));
	CHECK(!sys_caches_read(root, &c));
	cache(0, 0, 1, "Data", "48K", 64, 64, 12);
	cache(0, 1, 1, "Instruction", "64K", 64, 128, 8);
	cache(0, 2, 2, "Unified", "2048K", 64, 2048, 16);
	cache(0, 3, 3, "Unified", "33792K", 64, 49152, 11);
	cache(1, 0, 1, "Data", "48K", 64, 64, 12);
	cache(1, 1, 2, "Unified", "2048K", 64, 2048, 16);
	CHECK(sys_caches_read(root, &c));
	CHECK_EQ(c.level[0].size, 48 << 10);
	CHECK_EQ(c.level[0].ways, 12);
	CHECK_EQ(c.level[0].sets, 64);
	CHECK_EQ(c.level[1].sets, 2048);
	CHECK_EQ(c.level[2].sets, 49152);
	CHECK_EQ(c.level[3].line, 0);
	CHECK(sys_caches_set(&c, 1, &pa, 0, 4096, &set));
	CHECK_EQ(set, 63);
	CHECK(sys_caches_set(&c, 2, &pa, 0, 4096, &set));
	CHECK_EQ(set, 0x12345fc0 / 64 % 2048);
	/* Only the bits in a page count. */
	CHECK(sys_caches_set(&c, 1, NULL, 0x7040, 4096, &set));
	CHECK_EQ(set, 1);
	CHECK(!sys_caches_set(&c, 2, NULL, 0x7040, 4096, &set));
	CHECK(sys_caches_set(&c, 2, NULL, 0x207040, 2 << 20, &set));
	CHECK_EQ(set, 0x207040 / 64 % 2048);
	/* Slices, and caches that are not there. */
	for (unsigned level = 0; level < 6; level++)
		CHECK(level == 1 || level == 2 || !sys_caches_set(&c, level, &pa, 0, 4096, &set));
	/* A CPU of another kind. */
	cache(2, 0, 1, "Data", "32K", 64, 64, 8);
	CHECK(sys_caches_read(root, &c));
	CHECK_EQ(c.level[0].line, 0);
	CHECK(!sys_caches_set(&c, 1, &pa, 0, 4096, &set));
	CHECK_EQ(c.level[1].sets, 2048);
	/* Numbers that cannot be. */
	cache(0, 2, 2, "Unified", "x", 64, 1000, 16);
	cache(1, 1, 2, "Unified", "x", 64, 1000, 16);
	CHECK(sys_caches_read(root, &c));
	CHECK_EQ(c.level[1].size, 0);
	CHECK(!sys_caches_set(&c, 2, &pa, 0, 4096, &set));
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	CHECK(system(command) == 0);
}
