/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The range of the kernel's image is learned from what is mapped at its distance. */
#include "source/live_image.h"

#include <string.h>

#include "test.h"

#define OFFSET UINT64_C(0xffffa5f426600000)

TEST(grows_by_what_lies_at_its_distance)
{
	static const char text[] = "OSRELEASE=7.3.4\nNUMBER(kimage_voffset)=0xffffa5f426600000\n";
	struct live_image i;
	uint64_t va;

	live_image_find(&i, text, strlen(text));
	CHECK_EQ(i.offset, OFFSET);
	CHECK(!live_image_at(&i, 0x42400000, &va));
	live_image_add(&i, 0x42400000, 0x42400000 + OFFSET, 0x10000);
	CHECK(live_image_at(&i, 0x42400000, &va));
	CHECK_EQ(va, 0xffffa5f468a00000);
	CHECK(live_image_at(&i, 0x4240ffff, &va));
	CHECK(!live_image_at(&i, 0x42410000, &va));
	CHECK(!live_image_at(&i, 0x423fffff, &va));
	/* Both ways, and what lies between. */
	live_image_add(&i, 0x42600000, 0x42600000 + OFFSET, 0x200000);
	live_image_add(&i, 0x42000000, 0x42000000 + OFFSET, 0x1000);
	CHECK(live_image_at(&i, 0x42000000, &va));
	CHECK(live_image_at(&i, 0x42500000, &va));
	CHECK(live_image_at(&i, 0x427fffff, &va));
	CHECK(!live_image_at(&i, 0x42800000, &va));
	/* At other distances there is something else. */
	live_image_add(&i, 0x43000000, 0x43000000 + OFFSET + 0x1000, 0x1000);
	live_image_add(&i, 0x50000000, 0xffff000010000000, 0x1000);
	CHECK(!live_image_at(&i, 0x42800000, &va));
	live_image_add(&i, 0x50000000, 0x50000000 + OFFSET, 0);
	live_image_add(&i, UINT64_MAX - 0xfff, UINT64_MAX - 0xfff + OFFSET, 0x2000);
	CHECK(!live_image_at(&i, 0x50000000, &va));
	CHECK(!live_image_at(&i, UINT64_MAX, &va));
}

TEST(of_machines_that_map_it_once_there_is_none)
{
	static const char text[] = "NUMBER(phys_base)=0\nNUMBER(kimage_voffset)=x\n";
	struct live_image i;
	uint64_t va;

	live_image_find(&i, text, strlen(text));
	live_image_add(&i, 0, 0, 4096);
	live_image_add(&i, 0x1000000, 0xffffffff81000000, 0x200000);
	CHECK(!live_image_at(&i, 0, &va));
	CHECK(!live_image_at(&i, 0x1000000, &va));
	live_image_find(&i, "", 0);
	CHECK_EQ(i.offset, 0);
}
