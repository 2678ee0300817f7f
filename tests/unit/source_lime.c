// SPDX-License-Identifier: GPL-2.0-or-later
/* A LiME file is read as memory to the last byte of each range. */
#include "test.h"
#include "unit/image.h"

enum { MAGIC = 0x4c694d45 };

/* 0x1000-0x1fff of 'a', 0x8000-0x8000 (one byte!) of 'b'. */
static void whole(struct image *im)
{
	lime_put(im, 0, MAGIC, 1, 0x1000, 0x1fff);
	fill(im, 32, 0x1000, 'a');
	lime_put(im, 32 + 0x1000, MAGIC, 1, 0x8000, 0x8000);
	fill(im, 64 + 0x1000, 1, 'b');
}

TEST(reads_ranges_to_their_last_byte)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;
	uint8_t buf[0x2000];
	char line[80];

	whole(&im);
	CHECK_EQ(image_open(&im, im.len, &s, NULL), ATW_OK);
	CHECK_STR(s->ops->name, "lime");
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), buf, sizeof(buf), NULL), 0x1000);
	CHECK_EQ(buf[0xfff], 'a');
	CHECK_EQ(atw_read(s, ATW_PA(0x8000), buf, sizeof(buf), NULL), 1);
	CHECK_EQ(buf[0], 'b');
	CHECK_EQ(atw_read(s, ATW_PA(0xfff), buf, sizeof(buf), NULL), 0);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x6000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x8001), &e), ATW_END);
	s->ops->describe(s, line, sizeof(line));
	CHECK_STR(line, "LiME, 2 ranges");
	atw_source_close(s);
	image_free(&im);
}

TEST(may_be_cut_anywhere)
{
	struct image im = { 0 };

	whole(&im);
	for (size_t len = 1; len <= im.len; len += len > 64 && len < 0xfe0 ? 0x80 : 1) {
		struct atw_err err = { 0 };
		struct atw_source *s = NULL;
		struct atw_blob b;
		int r = image_open(&im, len, &s, &err);

		if (len <= 32) {
			CHECK_EQ(r, len < 8 ? ATW_E_FORMAT : ATW_E_DAMAGED);
			continue;
		}
		CHECK_EQ(r, ATW_OK);
		/* A file that ends with its first range looks whole. */
		CHECK_EQ(atw_fact(s, "truncated", &b),
			 len == im.len || len == 32 + 0x1000 ? ATW_E_MISSING : ATW_OK);
		atw_source_close(s);
	}
	image_free(&im);
}

TEST(refuses_damage_in_the_middle)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };

	whole(&im);
	put_le(&im, 32 + 0x1000, 4, 0x12345678);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": range header at 0x1020: magic is 0x12345678, not 0x4c694d45"));
	/* A range of nearly all addresses is cut to what the file has. */
	lime_put(&im, 32 + 0x1000, MAGIC, 1, 0, UINT64_MAX - 1);
	CHECK_EQ(image_open(&im, im.len, &s, &err), ATW_E_DAMAGED);
	CHECK(strstr(err.text, ": range header at 0x1020: offset 0x1040 + size 0xffffffffffffffff does not fit 64 bits"));
	image_free(&im);
}

TEST(large_holes_are_zeroes)
{
	enum { SIZE = 4 << 20 };
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_extent e;
	uint8_t b = 1;

	lime_put(&im, 0, MAGIC, 1, 0x100000, 0x100000 + SIZE - 1);
	fill(&im, 32, 0x1000, 'a');
	image_save(&im, im.len);
	CHECK_EQ(truncate(im.path, 32 + SIZE), 0);
	CHECK_EQ(atw_source_open(im.path, NULL, 0, &s, NULL), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0x100000 + SIZE - 1), &b, 1, NULL), 1);
	CHECK_EQ(b, 0);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x100000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	if (e.len == SIZE) {
		SKIP("this file system has no holes");
	} else {
		/* 32 bytes of the first page lie in the file's second. */
		CHECK_EQ(e.len, 0x2000);
		CHECK_EQ(atw_extent_at(s, ATW_PA(0x102000), &e), ATW_OK);
		CHECK_EQ(e.kind, ATW_ZERO);
		CHECK_EQ(e.len, SIZE - 0x2000);
	}
	atw_source_close(s);
	image_free(&im);
}
