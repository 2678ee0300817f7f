// SPDX-License-Identifier: GPL-2.0-or-later
/* Injected faults appear as holes and errors where they were put. */
#include "test.h"
#include "unit/image.h"
#include "fault.h"

/* 0x1000-0x2fff of 'f', with faults before it. */
static struct atw_source *faulty(struct image *im, const struct atw_fault *f, size_t n)
{
	struct atw_source *below, *s = NULL;
	char text[128];

	fill(im, 0, 0x2000, 'f');
	snprintf(text, sizeof(text), "raw:%s@0x1000", image_save(im, im->len));
	if (atw_source_open(text, NULL, 0, &below, NULL) ||
	    atw_source_faults(below, f, n, &s, NULL))
		abort();
	return s;
}

static const struct atw_fault three[] = {
	{ ATW_PA(0x1800), 0x100, ATW_EXCLUDED },
	{ ATW_PA(0x1a00), 0x100, ATW_NONE },
	{ ATW_PA(0x2000), 0x10, ATW_DATA },
};

TEST(holes_and_errors_appear)
{
	struct image im = { 0 };
	struct atw_source *s = faulty(&im, three, 3);
	struct atw_err err = { 0 };
	uint8_t b[0x2000];
	const void *p;

	CHECK_EQ(atw_read(s, ATW_PA(0x1000), b, sizeof(b), &err), 0x800);
	CHECK_EQ(atw_read(s, ATW_PA(0x18ff), b, 1, &err), 0);
	CHECK_EQ(atw_read(s, ATW_PA(0x1900), b, sizeof(b), &err), 0x100);
	CHECK_EQ(atw_read(s, ATW_PA(0x1a80), b, sizeof(b), &err), 0);
	CHECK_EQ(s->ops->read(s, ATW_PA(0x1b00), b, sizeof(b), &err), 0x500);
	/* A failure on the way is a failure, not a hole. */
	CHECK_EQ(atw_read(s, ATW_PA(0x1b00), b, sizeof(b), &err), ATW_E_IO);
	CHECK_STR(err.text, "0x2000: this read was made to fail");
	CHECK_EQ(atw_read(s, ATW_PA(0x200f), b, 1, &err), ATW_E_IO);
	CHECK_EQ(atw_read(s, ATW_PA(0x2010), b, sizeof(b), &err), 0xff0);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x17f8), 0x100, &p, &err), 8);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x1800), 0x100, &p, &err), 0);
	CHECK_EQ(s->ops->peek(s, ATW_PA(0x2000), 0x100, &p, &err), ATW_E_IO);
	CHECK_EQ(atw_read(s, ATW_PA(0x2000), b, 0, &err), 0);
	atw_source_close(s);
	image_free(&im);
}

TEST(extents_say_so)
{
	static const struct { uint64_t start, len; enum atw_extent_kind kind; } want[] = {
		{ 0, 0x1000, ATW_NONE },
		{ 0x1000, 0x800, ATW_DATA },
		{ 0x1800, 0x100, ATW_EXCLUDED },
		{ 0x1900, 0x100, ATW_DATA },
		{ 0x1a00, 0x100, ATW_NONE },
		{ 0x1b00, 0x500, ATW_DATA },
		{ 0x2000, 0x10, ATW_DATA },
		{ 0x2010, 0xff0, ATW_DATA },
	};
	struct image im = { 0 };
	struct atw_source *s = faulty(&im, three, 3);
	struct atw_extent e;
	uint64_t pa = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		CHECK_EQ(atw_extent_at(s, ATW_PA(pa), &e), ATW_OK);
		CHECK_EQ(e.start.u, want[i].start);
		CHECK_EQ(e.len, want[i].len);
		CHECK_EQ(e.kind, want[i].kind);
		pa += e.len;
	}
	CHECK_EQ(atw_extent_at(s, ATW_PA(pa), &e), ATW_END);
	CHECK_EQ(atw_extent_at(s, ATW_PA(UINT64_MAX), &e), ATW_END);
	atw_source_close(s);
	image_free(&im);
}

TEST(a_hole_may_reach_to_the_top)
{
	static const struct atw_fault rest = { ATW_PA(0x2000), UINT64_MAX - 0x2000 + 1, ATW_NONE };
	static const struct atw_fault above = { ATW_PA(0x9000), 0x1000, ATW_EXCLUDED };
	static const struct atw_fault all[] = {
		{ ATW_PA(0x2000), 0x100, ATW_EXCLUDED }, { ATW_PA(0), UINT64_MAX, ATW_NONE },
	};
	struct image im = { 0 };
	struct atw_source *s = faulty(&im, &rest, 1);
	struct atw_extent e;

	CHECK_EQ(atw_extent_at(s, ATW_PA(0x1000), &e), ATW_OK);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2000), &e), ATW_END);
	atw_source_close(s);

	s = faulty(&im, &above, 1);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x3000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x6000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x9000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0xa000), &e), ATW_END);
	atw_source_close(s);

	/* The first that holds an address decides. */
	s = faulty(&im, all, 2);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x1000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(atw_extent_at(s, ATW_PA(0x2100), &e), ATW_END);
	atw_source_close(s);
	image_free(&im);
}

TEST(refuses_faults_that_make_no_sense)
{
	static const struct atw_fault bad[] = {
		{ ATW_PA(0), 0, ATW_NONE }, { ATW_PA(0), 1, ATW_ZERO },
		{ ATW_PA(2), UINT64_MAX, ATW_NONE },
	};
	struct image im = { 0 };
	struct atw_source *below = faulty(&im, NULL, 0), *s = NULL;
	struct atw_err err = { 0 };
	uint8_t b;

	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(atw_source_faults(below, &bad[i], 1, &s, &err), ATW_E_USAGE);
	CHECK(!s);
	/* It still belongs to us, and works. */
	CHECK_EQ(atw_read(below, ATW_PA(0x1000), &b, 1, NULL), 1);
	atw_source_close(below);
	image_free(&im);
}
