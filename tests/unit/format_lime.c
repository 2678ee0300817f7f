// SPDX-License-Identifier: GPL-2.0-or-later
/* LiME range headers are parsed, and impossible ones are refused. */
#include "test.h"
#include "unit/image.h"

#include "format/avml.h"

static int header(struct image *im, struct lime_range *ret, struct atw_err *err)
{
	return lime_header(image_blob(im), 0, LIME_MAGIC, LIME_VERSION, ret, err);
}

TEST(the_end_is_inclusive)
{
	struct image im = { 0 };
	struct lime_range r;

	lime_put(&im, 0, LIME_MAGIC, 1, 0x1000, 0x9fbff);
	CHECK(!memcmp(im.data, "EMiL\1\0\0\0", 8));
	CHECK_EQ(header(&im, &r, NULL), ATW_OK);
	CHECK_EQ(r.start, 0x1000);
	CHECK_EQ(r.len, 0x9ec00);
	CHECK_EQ(r.data, 32);
	lime_put(&im, 0, LIME_MAGIC, 1, 7, 7);
	CHECK_EQ(header(&im, &r, NULL), ATW_OK);
	CHECK_EQ(r.len, 1);
	image_free(&im);
}

TEST(ends_where_the_file_does)
{
	struct image im = { 0 };
	struct lime_range r;

	lime_put(&im, 0, LIME_MAGIC, 1, 0, 0xfff);
	for (im.len = 0; im.len < 32; im.len++)
		CHECK_EQ(header(&im, &r, NULL), ATW_END);
	CHECK_EQ(header(&im, &r, NULL), ATW_OK);
	CHECK_EQ(lime_header(image_blob(&im), UINT64_MAX, LIME_MAGIC, 1, &r, NULL), ATW_END);
	image_free(&im);
}

TEST(refuses_what_cannot_be)
{
	struct image im = { 0 };
	struct lime_range r;
	struct atw_err err = { 0 };

	lime_put(&im, 0, LIME_MAGIC, 1, 0x2000, 0x1fff);
	CHECK_EQ(header(&im, &r, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "range header at 0x0: 0x2000-0x1fff is not a range of memory");
	lime_put(&im, 0, LIME_MAGIC, 1, 0, UINT64_MAX);
	CHECK_EQ(header(&im, &r, &err), ATW_E_DAMAGED);
	lime_put(&im, 0, LIME_MAGIC, 3, 0, 1);
	CHECK_EQ(header(&im, &r, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "range header at 0x0: version is 3, and only 1 is known");
	lime_put(&im, 0, LIME_MAGIC + 1, 1, 0, 1);
	CHECK_EQ(header(&im, &r, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "range header at 0x0: magic is 0x4c694d46, not 0x4c694d45");
	image_free(&im);
}
