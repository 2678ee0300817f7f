/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types of frames are read once and kept. */
#include "target/frame_use.h"

#include "test.h"

TEST(a_frame_is_asked_for_once)
{
	struct kinds k = { 0 };

	for (unsigned process = 0; process < 200; process++)
		for (uint64_t pfn = 0x1000; pfn < 0x1010; pfn++)
			CHECK(kinds_ask(&k, pfn));
	CHECK(kinds_ask(&k, UINT64_C(1) << 40));
	CHECK_EQ(k.asked, 17);
	CHECK_EQ(kinds_get(&k, 0x0fff), 0);
	CHECK(kinds_get(&k, 0x1000));
	CHECK(kinds_get(&k, UINT64_C(1) << 40));
	CHECK_EQ(kinds_get(&k, UINT64_C(1) << 41), 0);
	kinds_deinit(&k);
}

TEST(neighbours_that_are_alike)
{
	struct kinds k = { 0 };
	uint64_t same;

	CHECK_EQ(kinds_run(&k, 5, 100, &same), 0);
	for (uint64_t pfn = 10; pfn < 20; pfn++)
		CHECK(kinds_ask(&k, pfn));
	CHECK_EQ(kinds_run(&k, 5, 100, &same), 0);
	CHECK_EQ(same, 5);
	CHECK_EQ(kinds_run(&k, 12, 100, &same), kinds_get(&k, 19));
	CHECK_EQ(same, 8);
	CHECK_EQ(kinds_run(&k, 12, 3, &same), kinds_get(&k, 12));
	CHECK_EQ(same, 3);
	kinds_deinit(&k);
}

/* More blocks than the table begins with. */
TEST(frames_that_lie_apart)
{
	struct kinds k = { 0 };

	for (uint64_t i = 0; i < 500; i++)
		CHECK(kinds_ask(&k, i * KINDS_BLOCK * 3 + 7));
	CHECK_EQ(k.asked, 500);
	for (uint64_t i = 0; i < 500; i++) {
		CHECK(kinds_get(&k, i * KINDS_BLOCK * 3 + 7));
		CHECK_EQ(kinds_get(&k, i * KINDS_BLOCK * 3 + 8), 0);
		CHECK_EQ(kinds_get(&k, i * KINDS_BLOCK * 3 + 7 + KINDS_BLOCK), 0);
	}
	kinds_deinit(&k);
}
