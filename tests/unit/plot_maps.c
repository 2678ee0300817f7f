/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_maps.c - Hilbert's curve, each frame once; and flame graphs. */
#include "scene_look.h"

#include "plot/chart.h"

static struct atw_err err;
static struct scene s;

TEST(the_curve_visits_every_place_once)
{
	for (unsigned order = 0; order <= HILBERT_ORDER; order++) {
		unsigned side = 1u << order, was_x = 0, was_y = 0;
		static bool seen[1 << HILBERT_ORDER][1 << HILBERT_ORDER];

		memset(seen, 0, sizeof(seen));
		for (uint64_t d = 0; d < (uint64_t)side * side; d++) {
			unsigned x, y;

			hilbert_place(order, d, &x, &y);
			CHECK(x < side && y < side && !seen[y][x]);
			seen[y][x] = true;
			CHECK_EQ(hilbert_at(order, x, y), d);
			/* Neighbours in memory are neighbours in the picture. */
			if (d)
				CHECK_EQ((x > was_x ? x - was_x : was_x - x) +
					 (y > was_y ? y - was_y : was_y - y), 1);
			was_x = x;
			was_y = y;
		}
		/* From the left to the right along the top. */
		CHECK(was_x == side - 1 && was_y == 0);
	}
	{
		/* 0 1 14 15 / 3 2 13 12 / 4 7 8 11 / 5 6 9 10: the address labels. */
		static const uint8_t want[4][4] = {
			{ 0, 1, 14, 15 }, { 3, 2, 13, 12 }, { 4, 7, 8, 11 }, { 5, 6, 9, 10 },
		};

		for (unsigned y = 0; y < 4; y++)
			for (unsigned x = 0; x < 4; x++)
				CHECK_EQ(hilbert_at(2, x, y), want[y][x]);
	}
}

static const struct chart_key use[] = {
	{ "free", 0xcfdce6 }, { "anon", 0xe69f00 }, { "file", 0x56b4e9 },
};

TEST(every_frame_is_in_one_cell)
{
	static const struct {
		uint64_t start, last, page, cell;
	} ram[] = {
		{ 0, 0xfff, 4096, 4096 },
		{ 0x40000000, 0x47ffffff, 4096, 4096 },
		{ 0x80000000, 0x17fffffff, 65536, 131072 },
		{ 0, (UINT64_C(1) << 40) - 1, 4096, 16 << 20 },
		{ UINT64_MAX - 0xffff, UINT64_MAX, 4096, 4096 },
		{ 0, UINT64_MAX, 4096, UINT64_C(1) << 48 },
	};

	for (size_t i = 0; i < sizeof(ram) / sizeof(ram[0]); i++) {
		struct hilbert h;
		uint64_t pages = (ram[i].last - ram[i].start) / ram[i].page + 1, sum = 0;
		uint64_t third = pages / 3;

		CHECK_EQ(hilbert_init(&h, ram[i].start, ram[i].last, ram[i].page, 3, &err), ATW_OK);
		CHECK_EQ(h.cell, ram[i].cell);
		CHECK(h.base <= ram[i].start);
		hilbert_add(&h, ram[i].start, third, 0);
		hilbert_add(&h, ram[i].start + third * ram[i].page, pages - third, 1);
		hilbert_add(&h, ram[i].start, pages, 3);
		for (uint64_t c = 0; c < UINT64_C(1) << 2 * h.order; c++) {
			uint64_t here = chart_sum(&h.pages[c * 3], 3);

			CHECK(here <= h.cell / h.page);
			sum += here;
		}
		CHECK_EQ(sum, pages);
		scene_init(&s, 1, 1);
		CHECK_EQ(hilbert_draw(&h, "RAM", use, &s, &err), ATW_OK);
		CHECK_EQ(look_outside(&s), -1);
		CHECK_EQ(look_overlaps(&s), 0);
		scene_deinit(&s);
		hilbert_deinit(&h);
	}
}

TEST(a_cell_has_the_colour_of_its_majority)
{
	struct hilbert h;
	double cell = 768.0 / 64;

	/* 64 by 64 cells of a page: as many areas as pages were added. */
	CHECK_EQ(hilbert_init(&h, 0, (16 << 20) - 1, 4096, 3, &err), ATW_OK);
	CHECK_EQ(h.order, 6);
	hilbert_add(&h, 0, 1000, 0);
	hilbert_add(&h, 1000 << 12, 2000, 1);
	hilbert_add(&h, 3000 << 12, 500, 2);
	scene_init(&s, 1, 1);
	CHECK_EQ(hilbert_draw(&h, "RAM", use, &s, &err), ATW_OK);
	/* The legend has a square of each, too. */
	CHECK_EQ((uint64_t)((look_area(&s, use[0].color) - 121) / (cell * cell) + 0.5), 1000);
	CHECK_EQ((uint64_t)((look_area(&s, use[1].color) - 121) / (cell * cell) + 0.5), 2000);
	CHECK_EQ((uint64_t)((look_area(&s, use[2].color) - 121) / (cell * cell) + 0.5), 500);
	CHECK_EQ(look_titles(&s, "0x0 to 0xffff: free 100.0%"), 1);
	CHECK_EQ(look_titles(&s, "0x3e0000 to 0x3effff: free 50.0%, anon 50.0%"), 1);
	CHECK_EQ(look_titles(&s, "0xbb0000 to 0xbbffff: anon 50.0%, file 50.0%"), 1);
	CHECK_EQ(look_titles(&s, "no RAM"), 37);
	CHECK_EQ(look_titles(&s, "0x"), 256);
	CHECK(look_text(&s, "4K a cell"));
	CHECK(!look_text(&s, "mixed"));
	scene_deinit(&s);
	hilbert_deinit(&h);

	/* One cell of each four pages: two and two are the first's, three ways are mixed. */
	CHECK_EQ(hilbert_init(&h, 0, (UINT64_C(1) << 30) - 1, 4096, 3, &err), ATW_OK);
	CHECK_EQ(h.cell, 16384);
	hilbert_add(&h, 0, 2, 1);
	hilbert_add(&h, 0x2000, 1, 0);
	hilbert_add(&h, 0x4000, 1, 0);
	hilbert_add(&h, 0x5000, 1, 1);
	hilbert_add(&h, 0x6000, 1, 2);
	scene_init(&s, 1, 1);
	CHECK_EQ(hilbert_draw(&h, "RAM", use, &s, &err), ATW_OK);
	CHECK_EQ((uint64_t)((look_area(&s, use[1].color) - 121) / 9 + 0.5), 1);
	CHECK_EQ((uint64_t)((look_area(&s, 0xb59bd6) - 121) / 9 + 0.5), 1);
	CHECK(look_text(&s, "mixed: no use has half of it"));
	scene_deinit(&s);
	hilbert_deinit(&h);
}

TEST(maps_that_cannot_be)
{
	struct hilbert h;

	CHECK_EQ(hilbert_init(&h, 1, 0, 4096, 3, &err), ATW_E_USAGE);
	CHECK_EQ(hilbert_init(&h, 0, 1, 0, 3, &err), ATW_E_USAGE);
	CHECK_EQ(hilbert_init(&h, 0, 1, 4097, 3, &err), ATW_E_USAGE);
	CHECK_EQ(hilbert_init(&h, 0, 1, 4096, HILBERT_USES + 1, &err), ATW_E_USAGE);
	/* Below, beyond, and around the end of 64 bits: passed over. */
	CHECK_EQ(hilbert_init(&h, 0x40000000, 0x400fffff, 4096, 3, &err), ATW_OK);
	hilbert_add(&h, 0, 4, 0);
	hilbert_add(&h, UINT64_MAX - 0xfff, UINT64_MAX, 0);
	hilbert_add(&h, 0x400ff000, UINT64_MAX, 0);
	CHECK_EQ(chart_sum(h.pages, (size_t)3 << 2 * h.order), 1);
	hilbert_deinit(&h);
}

static const struct chart_head head = { "Stacks", "pages", "", AXIS_COUNT };

static double width_of(const char *name)
{
	for (size_t i = 0; i + 1 < s.n; i++) {
		const char *title = scene_string(&s, s.item[i].text);

		if (s.item[i].kind == SCENE_GROUP && !strncmp(title, name, strlen(name)))
			return s.item[i + 1].w;
	}
	return 0;
}

TEST(what_begins_alike_stands_on_one_frame)
{
	struct flame *f;

	CHECK_EQ(flame_open(&f, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "nginx;libc;text", 30, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "nginx;libc;data", 10, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "nginx;[heap]", 40, &err), ATW_OK);
	CHECK_EQ(flame_add(f, ";;bash;", 15, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "nginx;libc;text", 5, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "", 0, &err), ATW_OK);
	scene_init(&s, 1, 1);
	CHECK_EQ(flame_draw(f, &head, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	CHECK_EQ(look_titles(&s, ""), 7);
	CHECK_EQ(look_titles(&s, "all: 100 pages, 100.0%"), 1);
	CHECK_EQ(look_titles(&s, "nginx: 85 pages, 85.0%"), 1);
	CHECK_EQ(look_titles(&s, "libc: 45 pages, 45.0%"), 1);
	CHECK_EQ(look_titles(&s, "text: 35 pages, 35.0%"), 1);
	CHECK_EQ(look_titles(&s, "bash: 15 pages, 15.0%"), 1);
	CHECK(width_of("all") > 911 && width_of("all") <= 912);
	CHECK(width_of("nginx") > 774 && width_of("nginx") < 776);
	CHECK(width_of("bash") > 136 && width_of("bash") < 137);
	/* Higher up is deeper. */
	CHECK(look_text(&s, "text")->y < look_text(&s, "libc")->y);
	CHECK(look_text(&s, "libc")->y < look_text(&s, "nginx")->y);
	scene_deinit(&s);
	flame_close(f);
}

TEST(what_stands_on_small_frames_is_put_together)
{
	struct flame *f;

	CHECK_EQ(flame_open(&f, &err), ATW_OK);
	CHECK_EQ(flame_add(f, "large;libc;text", 500, &err), ATW_OK);
	for (unsigned i = 0; i < 500; i++) {
		char stack[48];

		snprintf(stack, sizeof(stack), "p%u;libc;%s", i, i % 5 ? "text" : "data");
		CHECK_EQ(flame_add(f, stack, 1, &err), ATW_OK);
	}
	CHECK_EQ(flame_add(f, "tiny;libc", 0, &err), ATW_OK);
	scene_init(&s, 1, 1);
	CHECK_EQ(flame_draw(f, &head, &s, &err), ATW_OK);
	/* all; large, libc, text; 501 others, their libc, its text and data. */
	CHECK_EQ(look_titles(&s, ""), 8);
	CHECK_EQ(look_titles(&s, "501 others: 500 pages, 50.0%"), 1);
	CHECK_EQ(look_titles(&s, "libc: 500 pages, 50.0%"), 2);
	CHECK_EQ(look_titles(&s, "text: 400 pages, 40.0%"), 1);
	CHECK_EQ(look_titles(&s, "data: 100 pages, 10.0%"), 1);
	CHECK(look_text(&s, "501 others"));
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	scene_deinit(&s);
	flame_close(f);
}

TEST(flames_too_narrow_and_too_deep)
{
	char stack[4 * (FLAME_DEPTH + 20)] = "";
	struct flame *f;

	CHECK_EQ(flame_open(&f, &err), ATW_OK);
	for (unsigned i = 0; i < FLAME_DEPTH + 15; i++)
		strcat(stack, "f;");
	CHECK_EQ(flame_add(f, stack, 1000000, &err), ATW_OK);
	for (unsigned i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "</svg>%u", i);
		CHECK_EQ(flame_add(f, name, 1, &err), ATW_OK);
	}
	scene_init(&s, 1, 1);
	CHECK_EQ(flame_draw(f, &head, &s, &err), ATW_OK);
	CHECK_EQ(look_titles(&s, ""), FLAME_DEPTH + 2);
	CHECK_EQ(look_titles(&s, "2000 others: 2,000 pages, 0.2%"), 1);
	CHECK(look_text(&s, "1,002,000 pages; 2000 small frames are put together as others"));
	CHECK(!look_text(&s, "2000 others"));
	CHECK_EQ(look_outside(&s), -1);
	scene_deinit(&s);
	flame_close(f);

	CHECK_EQ(flame_open(&f, &err), ATW_OK);
	scene_init(&s, 1, 1);
	CHECK_EQ(flame_draw(f, &head, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	scene_deinit(&s);
	flame_close(f);
	flame_close(NULL);
}
