// SPDX-License-Identifier: GPL-2.0-or-later
/* A raw image starts at its load address, and holes of sparse files are zeroes. */
#include "source/raw.h"
#include "test.h"
#include "unit/image.h"

static int open_at(struct image *im, const char *suffix, struct atw_source **ret,
		   struct atw_err *err)
{
	char text[128];

	snprintf(text, sizeof(text), "raw:%s%s", image_save(im, im->len), suffix);
	return atw_source_open(text, NULL, 0, ret, err);
}

TEST(starts_where_it_is_told)
{
	static const struct { const char *suffix; uint64_t load; } cases[] = {
		{ "", 0 }, { "@0", 0 }, { "@0x80000000", 0x80000000 },
		{ "@40000000", 0x40000000 },
	};
	struct image im = { 0 };
	uint8_t b[0x2000];
	char line[80];

	fill(&im, 0, 0x1000, 'r');
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t load = cases[i].load;
		struct atw_source *s;
		struct atw_extent e;

		CHECK_EQ(open_at(&im, cases[i].suffix, &s, NULL), ATW_OK);
		CHECK_EQ(atw_read(s, ATW_PA(load), b, sizeof(b), NULL), 0x1000);
		CHECK_EQ(atw_read(s, ATW_PA(load - 1), b, 1, NULL), 0);
		CHECK_EQ(atw_extent_at(s, ATW_PA(load), &e), ATW_OK);
		CHECK_EQ(e.len, 0x1000);
		CHECK_EQ(atw_extent_at(s, ATW_PA(load + 0x1000), &e), ATW_END);
		s->ops->describe(s, line, sizeof(line));
		CHECK(!load || strstr(line, i == 2 ? "0x80000000" : "0x40000000"));
		atw_source_close(s);
	}
	image_free(&im);
}

TEST(pieces_lie_where_they_are_told)
{
	static const struct raw_piece piece[] = {
		{ 0, 0x1000, 0 }, { 0x100000000, 0x1000, 0x1000 }, { 0x200000000, 0x1000, 0x2000 },
	};
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_blob why;
	uint8_t b[2];

	fill(&im, 0, 0x1000, 'r');
	fill(&im, 0x1000, 0x800, 's');
	CHECK_EQ(raw_open_pieces(image_save(&im, im.len), piece, 1, &s, NULL), ATW_OK);
	CHECK_EQ(atw_fact(s, "truncated", &why), ATW_E_MISSING);
	atw_source_close(s);
	/* The file ends in the second. */
	CHECK_EQ(raw_open_pieces(im.path, piece, 3, &s, NULL), ATW_OK);
	CHECK_EQ(atw_fact(s, "truncated", &why), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0xfff), b, 2, NULL), 1);
	CHECK_EQ(b[0], 'r');
	CHECK_EQ(atw_read(s, ATW_PA(0x1000007ff), b, 2, NULL), 1);
	CHECK_EQ(b[0], 's');
	CHECK_EQ(atw_read(s, ATW_PA(0x1000), b, 1, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x200000000), b, 1, NULL), 0);
	atw_source_close(s);
	CHECK_EQ(raw_open_pieces(im.path, piece, 1, &s, NULL), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0x100000000), b, 1, NULL), 0);
	/* Other pieces of the same file: those before are gone. */
	CHECK_EQ(raw_set_pieces(s, piece + 1, 1, NULL), ATW_OK);
	CHECK_EQ(atw_fact(s, "truncated", &why), ATW_OK);
	CHECK_EQ(atw_read(s, ATW_PA(0), b, 1, NULL), 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x100000000), b, 1, NULL), 1);
	CHECK_EQ(b[0], 's');
	CHECK_EQ(raw_set_pieces(s, piece, 1, NULL), ATW_OK);
	CHECK_EQ(atw_fact(s, "truncated", &why), ATW_E_MISSING);
	CHECK_EQ(atw_read(s, ATW_PA(0xfff), b, 1, NULL), 1);
	CHECK_EQ(b[0], 'r');
	atw_source_close(s);
	CHECK(raw_open_pieces("/nonexistent", piece, 1, &s, NULL) < 0);
	image_free(&im);
}

TEST(holes_of_a_sparse_file_are_zeroes)
{
	struct image im = { 0 };
	struct atw_source *s;
	uint8_t b[16];

	fill(&im, 0, 0x1000, 'r');
	image_save(&im, im.len);
	{
		char text[80];

		CHECK_EQ(truncate(im.path, 1 << 20), 0);
		snprintf(text, sizeof(text), "raw:%s", im.path);
		CHECK_EQ(atw_source_open(text, NULL, 0, &s, NULL), ATW_OK);
	}
	memset(b, 1, sizeof(b));
	CHECK_EQ(atw_read(s, ATW_PA(0x80000), b, sizeof(b), NULL), 16);
	for (int i = 0; i < 16; i++)
		CHECK_EQ(b[i], 0);
	atw_source_close(s);
	image_free(&im);
}

/* What stands at the file's beginning is not what a hole reads as. */
TEST(large_holes_are_zeroes_too)
{
	enum { HOLE = 2 << 20 };
	struct image im = { 0 };
	struct atw_source *s;
	static uint8_t b[0x4000];
	struct atw_extent e;
	const void *lent;
	char text[80];
	FILE *f;

	fill(&im, 0, 0x10000, 'r');
	image_save(&im, im.len);
	f = fopen(im.path, "r+");
	CHECK(f && !fseek(f, 0x10000 + HOLE, SEEK_SET) && fputc('e', f) == 'e');
	fclose(f);
	snprintf(text, sizeof(text), "raw:%s", im.path);
	CHECK_EQ(atw_source_open(text, NULL, 0, &s, NULL), ATW_OK);
	/* Half of it data, half of it hole. */
	CHECK_EQ(atw_read(s, ATW_PA(0xe000), b, sizeof(b), NULL), sizeof(b));
	for (unsigned i = 0; i < sizeof(b); i++)
		CHECK_EQ(b[i], i < 0x2000 ? im.data[0xe000 + i] : 0);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x80000), &e), ATW_OK);
	if (e.kind == ATW_ZERO) {
		CHECK_EQ(s->ops->peek(s, ATW_PA(0x80000), 16, &lent, NULL), 16);
		for (int i = 0; i < 16; i++)
			CHECK_EQ(((const uint8_t *)lent)[i], 0);
	} else {
		printf("note - this file system has no holes\n");
	}
	CHECK_EQ(atw_read(s, ATW_PA(0x10000 + HOLE), b, 1, NULL), 1);
	CHECK_EQ(b[0], 'e');
	atw_source_close(s);
	image_free(&im);
}

TEST(addresses_that_are_none)
{
	struct image im = { 0 };
	struct atw_source *s;
	struct atw_err err = { 0 };

	fill(&im, 0, 0x1000, 'r');
	CHECK_EQ(open_at(&im, "@0xzz", &s, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, ": '0xzz' is not an address"));
	CHECK_EQ(open_at(&im, "@0xffffffffffffff00", &s, &err), ATW_E_DAMAGED);
	/* Not a number, and no file has that name: but one has what stands before it. */
	CHECK_EQ(open_at(&im, "@home", &s, &err), ATW_E_USAGE);
	CHECK(strstr(err.text, ": 'home' is not an address"));
	image_free(&im);
}
