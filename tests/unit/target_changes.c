/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes between two lists of areas and runs: exactly those that were made. */
#include "target/changes.h"

#include "target/provider.h"
#include "test.h"

enum { P = 4096, R = CHANGES_READ, W = CHANGES_WRITE, X = CHANGES_EXEC };

/* A line a change: "page-moved 1000-1fff". */
struct heard {
	char text[2048];
	size_t n;
};

static int hear(void *arg, const struct changes_row *row, struct atw_err *err)
{
	static const char *const words[CHANGES_KINDS] = {
		[CHANGES_AREA_MAPPED] = "area+",       [CHANGES_AREA_UNMAPPED] = "area-",
		[CHANGES_AREA_GROWN] = "grown",        [CHANGES_AREA_SHRUNK] = "shrunk",
		[CHANGES_AREA_RIGHTS] = "rights",      [CHANGES_PAGE_MAPPED] = "page+",
		[CHANGES_PAGE_UNMAPPED] = "page-",     [CHANGES_PAGE_MOVED] = "moved",
		[CHANGES_PAGE_RIGHTS] = "page-rights", [CHANGES_SWAPPED_OUT] = "out",
		[CHANGES_SWAPPED_IN] = "in",           [CHANGES_STATE] = "state",
	};
	struct heard *h = arg;

	(void)err;
	h->n += (size_t)snprintf(h->text + h->n, sizeof(h->text) - h->n,
				 "%s %" PRIx64 "-%" PRIx64 "%s\n", words[row->what],
				 row->first, row->last, row->implied ? " implied" : "");
	if (row->what == CHANGES_AREA_GROWN || row->what == CHANGES_AREA_SHRUNK)
		h->n += (size_t)snprintf(h->text + h->n, sizeof(h->text) - h->n,
					 " %" PRIx64 " to %" PRIx64 "\n", row->size[0],
					 row->size[1]);
	return ATW_OK;
}

static struct changes_area area(uint64_t first, uint64_t end, unsigned rights,
				const char *name)
{
	return (struct changes_area){
		.first = first,
		.last = end - 1,
		.rights = (uint8_t)rights,
		.rights_known = true,
		.name_known = true,
		.name = name,
	};
}

static struct changes_run run(uint64_t first, uint64_t pages, uint64_t at, unsigned state)
{
	return (struct changes_run){
		.first = first,
		.last = first + pages * P - 1,
		.at = at,
		.at_known = true,
		.state = (uint8_t)state,
		.rights = R,
		.rights_known = true,
	};
}

#define SIDE(a, r)                                                                       \
	{                                                                                \
		.area = (a), .nareas = sizeof(a) / sizeof((a)[0]), .run = (r),           \
		.nruns = sizeof(r) / sizeof((r)[0])                                      \
	}

static void find(struct changes_side side[2], struct heard *h, struct changes_unknown *u)
{
	const struct changes_opts o = {.page = P};
	struct atw_err err = {0};

	*h = (struct heard){0};
	*u = (struct changes_unknown){0};
	changes_find(side, &o, hear, h, u, &err);
}

TEST(equal_lists_have_no_changes)
{
	struct changes_area a[] = {area(0x1000, 0x3000, R, "x"),
				   area(0x3000, 0x4000, W, "")};
	struct changes_run r[] = {run(0x1000, 2, 0x9000, PAGE_PRESENT),
				  run(0x3000, 1, 0x5000, PAGE_SWAP)};
	struct changes_side side[2] = {SIDE(a, r), SIDE(a, r)};
	struct changes_unknown u;
	struct heard h;

	find(side, &h, &u);
	CHECK_STR(h.text, "");
	CHECK_EQ(u.areas + u.area_rights + u.pages + u.physical + u.rights, 0);
}

TEST(runs_that_are_cut_elsewhere_are_equal)
{
	struct changes_area a[] = {area(0x1000, 0x5000, R, "")};
	struct changes_run r[] = {run(0x1000, 4, 0x10000, PAGE_PRESENT)};
	struct changes_run s[] = {run(0x1000, 1, 0x10000, PAGE_PRESENT),
				  run(0x2000, 3, 0x11000, PAGE_PRESENT)};
	struct changes_side side[2] = {SIDE(a, r), SIDE(a, s)};
	struct changes_unknown u;
	struct heard h;

	find(side, &h, &u);
	CHECK_STR(h.text, "");
}

TEST(areas_begin_end_grow_and_shrink)
{
	struct changes_area a[] = {
		area(0x1000, 0x2000, R, "gone"),    area(0x4000, 0x6000, R, "grows"),
		area(0x10000, 0x14000, R, "holed"), area(0x20000, 0x22000, R, "stack"),
		area(0x30000, 0x31000, R, "old"),
	};
	struct changes_area b[] = {
		area(0x4000, 0x7000, R, "grows"),   area(0x8000, 0x9000, R, "new"),
		area(0x10000, 0x11000, R, "holed"), area(0x13000, 0x14000, R, "holed"),
		area(0x1e000, 0x22000, R, "stack"), area(0x30000, 0x31000, R, "other"),
	};
	struct changes_run none[1] = {{0}};
	struct changes_side side[2] = {SIDE(a, none), SIDE(b, none)};
	struct changes_unknown u;
	struct heard h;

	side[0].nruns = side[1].nruns = 0;
	find(side, &h, &u);
	CHECK_STR(h.text, "area- 1000-1fff\n"
			  "grown 6000-6fff\n 2000 to 3000\n"
			  "area+ 8000-8fff\n"
			  "shrunk 11000-12fff\n 4000 to 2000\n"
			  "grown 1e000-1ffff\n 2000 to 4000\n"
			  "area- 30000-30fff\narea+ 30000-30fff\n");
}

TEST(mprotect_in_the_middle_is_one_change_of_rights)
{
	struct changes_area a[] = {area(0x1000, 0x5000, R | W, "")};
	struct changes_area b[] = {area(0x1000, 0x2000, R | W, ""),
				   area(0x2000, 0x4000, R, ""),
				   area(0x4000, 0x5000, R | W, "")};
	struct changes_run none[1] = {{0}};
	struct changes_side side[2] = {SIDE(a, none), SIDE(b, none)};
	struct changes_unknown u;
	struct heard h;

	side[0].nruns = side[1].nruns = 0;
	find(side, &h, &u);
	CHECK_STR(h.text, "rights 2000-3fff\n");
	side[0].area[0].rights_known = false;
	find(side, &h, &u);
	CHECK_STR(h.text, "");
	CHECK_EQ(u.area_rights, 0x4000);
}

TEST(a_file_at_another_offset_is_another_mapping)
{
	struct changes_area a[] = {area(0x1000, 0x3000, R, "f")},
			    b[] = {area(0x1000, 0x3000, R, "f")};
	struct changes_run none[1] = {{0}};
	struct changes_side side[2] = {SIDE(a, none), SIDE(b, none)};
	struct changes_unknown u;
	struct heard h;

	side[0].nruns = side[1].nruns = 0;
	a[0].inode = b[0].inode = 7;
	b[0].name = "f (deleted)";
	find(side, &h, &u);
	CHECK_STR(h.text, "");
	b[0].offset = 0x1000;
	find(side, &h, &u);
	CHECK_STR(h.text, "area- 1000-2fff\narea+ 1000-2fff\n");
}

TEST(areas_of_an_incomplete_side_are_unknown)
{
	struct changes_area a[] = {area(0x1000, 0x3000, R, "")};
	struct changes_run none[1] = {{0}};
	struct changes_side side[2] = {SIDE(a, none), {.incomplete = true}};
	struct changes_unknown u;
	struct heard h;

	side[0].nruns = 0;
	find(side, &h, &u);
	CHECK_STR(h.text, "");
	CHECK_EQ(u.areas, 0x2000);
}

TEST(pages_change)
{
	struct changes_area a[] = {area(0x1000, 0x20000, R, "")};
	struct changes_run r[] = {
		run(0x1000, 4, 0x100000, PAGE_PRESENT),
		run(0x6000, 2, 0x200000, PAGE_PRESENT),
		run(0x9000, 2, 0x3000, PAGE_SWAP),
		run(0xc000, 1, 0x400000, PAGE_PRESENT),
		run(0xe000, 1, 0, PAGE_GUARD),
	};
	struct changes_run s[] = {
		/* Two of four are elsewhere, behind each other; one is gone. */
		run(0x1000, 1, 0x100000, PAGE_PRESENT),
		run(0x2000, 2, 0x500000, PAGE_PRESENT),
		run(0x5000, 1, 0x600000, PAGE_PRESENT),
		run(0x6000, 2, 0x5000, PAGE_SWAP),
		run(0x9000, 1, 0x700000, PAGE_PRESENT),
		run(0xa000, 1, 0x8000, PAGE_SWAP),
		run(0xc000, 1, 0x400000, PAGE_PRESENT),
	};
	struct changes_side side[2] = {SIDE(a, r), SIDE(a, s)};
	struct changes_unknown u;
	struct heard h;

	s[6].rights = R | W;
	find(side, &h, &u);
	CHECK_STR(h.text,
		  "moved 2000-3fff\npage- 4000-4fff\npage+ 5000-5fff\nout 6000-7fff\n"
		  "in 9000-9fff\nmoved a000-afff\npage-rights c000-cfff\n"
		  "state e000-efff\n");
	CHECK_EQ(u.pages + u.physical + u.rights, 0);
}

TEST(pages_of_new_areas_are_implied)
{
	struct changes_area a[] = {area(0x1000, 0x3000, R, "")};
	struct changes_area b[] = {area(0x1000, 0x5000, R, "")};
	struct changes_run none[1] = {{0}};
	struct changes_run s[] = {run(0x2000, 3, 0x8000, PAGE_PRESENT)};
	struct changes_side side[2] = {SIDE(a, none), SIDE(b, s)};
	struct changes_unknown u;
	struct heard h;

	side[0].nruns = 0;
	find(side, &h, &u);
	CHECK_STR(h.text, "grown 3000-4fff\n 2000 to 4000\npage+ 2000-2fff\npage+ "
			  "3000-4fff implied\n");
}

TEST(one_page_many_times)
{
	struct changes_area a[] = {area(0x1000, 0x9000, R, "")};
	struct changes_run r[] = {run(0x1000, 4, 0x8000, PAGE_PRESENT)};
	struct changes_run s[] = {run(0x1000, 4, 0x9000, PAGE_PRESENT)};
	struct changes_side side[2] = {SIDE(a, r), SIDE(a, s)};
	struct changes_unknown u;
	struct heard h;

	r[0].same = true;
	r[0].at = 0xa000;
	find(side, &h, &u);
	/* The second page is where it was. */
	CHECK_STR(h.text, "moved 1000-1fff\nmoved 3000-4fff\n");
	s[0].same = true;
	find(side, &h, &u);
	CHECK_STR(h.text, "moved 1000-4fff\n");
	s[0].at = 0xa000;
	find(side, &h, &u);
	CHECK_STR(h.text, "");
}

TEST(what_a_side_lacks_is_no_change)
{
	struct changes_area a[] = {area(0x1000, 0x9000, R, "")};
	struct changes_run r[] = {run(0x1000, 4, 0x8000, PAGE_PRESENT)};
	struct changes_run s[] = {run(0x1000, 2, 0, PAGE_PRESENT),
				  run(0x3000, 4, 0, PAGE_LOST)};
	struct changes_run far[] = {run(0x100000, 4, 0, PAGE_LOST)};
	struct changes_side side[2] = {SIDE(a, r), SIDE(a, s)};
	struct changes_unknown u;
	struct heard h;

	s[0].at_known = s[0].rights_known = false;
	find(side, &h, &u);
	CHECK_STR(h.text, "");
	CHECK_EQ(u.physical, 0x2000);
	CHECK_EQ(u.rights, 0x2000);
	CHECK_EQ(u.pages, 0x4000);
	r[0].at_known = r[0].rights_known = false;
	find(side, &h, &u);
	CHECK_EQ(u.no_physical, 0x2000);
	CHECK_EQ(u.physical + u.rights, 0);
	/* Where no area is and nothing is mapped, missing tables do not matter. */
	side[0].nruns = 0;
	side[1].run = far;
	side[1].nruns = 1;
	find(side, &h, &u);
	CHECK_EQ(u.pages, 0);
}
