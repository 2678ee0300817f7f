/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of frames counts each frame once, within its memory limit. */
#include "report/frame_set.h"
#include "test.h"

static struct frame_set set;

/* How many of them are new; all ones: it failed. */
static uint64_t add(uint64_t frame, uint64_t pages)
{
	struct atw_err err;
	uint64_t fresh = ~(uint64_t)0;

	return frames_add(&set, frame, pages, &fresh, &err) == ATW_OK ? fresh : ~(uint64_t)0;
}

TEST(each_once)
{
	CHECK_EQ(add(0, 1), 1);
	CHECK_EQ(add(0, 1), 0);
	CHECK_EQ(add(0, 64), 63);
	CHECK_EQ(add(60, 10), 6);
	CHECK_EQ(add(FRAMES_CHUNK - 1, 2), 2);
	CHECK_EQ(add(FRAMES_CHUNK - 3, 5), 3);
	CHECK_EQ(add(5 * FRAMES_CHUNK, 3 * FRAMES_CHUNK), 3 * FRAMES_CHUNK);
	CHECK_EQ(add(4 * FRAMES_CHUNK, 5 * FRAMES_CHUNK), 2 * FRAMES_CHUNK);
	CHECK_EQ(add(0, 0), 0);
	CHECK_EQ(add((uint64_t)1 << 50, 7), 7);
	CHECK_EQ(add(~(uint64_t)0 - 7, 8), 8);
	CHECK_EQ(add(~(uint64_t)0, 1), 0);
	frames_deinit(&set);
	CHECK_EQ(add(0, 1), 1);
	frames_deinit(&set);
}

/* Against bits in an array. */
TEST(at_random)
{
	enum { FRAMES = 20 * FRAMES_CHUNK };
	static bool have[FRAMES];
	uint64_t seed = 1;

	for (unsigned i = 0; i < 2000; i++) {
		uint64_t frame, pages, want = 0;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		frame = (seed >> 33) % FRAMES;
		pages = (seed >> 20) % 300;
		if (pages > FRAMES - frame)
			pages = FRAMES - frame;
		for (uint64_t k = frame; k < frame + pages; k++) {
			want += !have[k];
			have[k] = true;
		}
		CHECK_EQ(add(frame, pages), want);
	}
	frames_deinit(&set);
}

TEST(pages_of_one_frame)
{
	const struct census_pages p = { .pages = 1000, .pa = 0x5000, .same = true };
	uint64_t fresh = 0;

	CHECK_EQ(frames_add_pages(&set, &p, 4096, &fresh, NULL), ATW_OK);
	CHECK_EQ(fresh, 1);
	CHECK_EQ(add(5, 1), 0);
	CHECK_EQ(add(6, 1), 1);
	frames_deinit(&set);
}

/* A run that claims more memory than there can be. */
TEST(too_many)
{
	uint64_t fresh = 0;
	struct atw_err err;

	CHECK_EQ(frames_add(&set, 0, (uint64_t)1 << 50, &fresh, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "the frames it names would be more than 8589934592 pages of memory");
	frames_deinit(&set);
}
