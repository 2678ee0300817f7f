/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture_charts.c - layouts: everything inside, no text on another, areas and
 * lengths as the numbers are, with few things and with very many.
 */
#include "scene_look.h"

#include "plot/chart.h"

static struct atw_err err;
static struct scene s;

static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static const struct chart_key keys[] = {
	{ "stack", 0x0072b2 }, { "heap", 0xe69f00 }, { "text", 0x009e73 },
};

/* ---- bars ---- */

TEST(bars_are_as_long_as_their_numbers)
{
	static const uint64_t a[] = { 100, 50, 50 }, b[] = { 300, 0, 100 }, none[] = { 0, 0, 0 };
	const struct chart_bar bar[] = {
		{ "first", NULL, a, NULL }, { "idle", NULL, none, NULL }, { "second", "#x", b, NULL },
	};
	struct chart_bars c = {
		.head = { "Bars", "pages", "processes", AXIS_COUNT },
		.key = keys, .nkeys = 3, .bar = bar, .n = 3,
	};
	double height;

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_bars(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	CHECK_STR(scene_string(&s, s.title), "Bars");
	CHECK(look_text(&s, "pages; 3 processes, largest first"));
	/* The axis goes to 400, the largest sum; it is first. */
	CHECK(look_text(&s, "400"));
	CHECK(look_text(&s, "second")->y < look_text(&s, "first")->y);
	CHECK(look_text(&s, "first")->y < look_text(&s, "idle")->y);
	CHECK_EQ(look_titles(&s, "second: 400 pages (stack 300, text 100)"), 1);
	CHECK_EQ(look_titles(&s, "idle: 0 pages"), 1);
	/* Areas, less the squares of the legend and the gaps: 400, 50 and 150 of a kind. */
	height = look_area(&s, 0xe69f00) - 121;
	CHECK(height > 0);
	CHECK((look_area(&s, 0x0072b2) - 121) / height > 7.9);
	CHECK((look_area(&s, 0x0072b2) - 121) / height < 8.1);
	CHECK((look_area(&s, 0x009e73) - 121) / height > 2.95);
	CHECK((look_area(&s, 0x009e73) - 121) / height < 3.05);
	scene_deinit(&s);
}

static char names[600][64];
static uint64_t values[600][3], wides[600][3];
static struct chart_bar bars[600];

static uint64_t make_bars(size_t n, bool pairs)
{
	uint64_t sum = 0;

	seed = n;
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "a process with a long name %zu", i);
		for (unsigned k = 0; k < 3; k++) {
			values[i][k] = any(1000000 / (i + 1));
			wides[i][k] = values[i][k] * (1 + any(20));
			sum += values[i][k];
		}
		bars[i] = (struct chart_bar){ names[i], NULL, values[i], pairs ? wides[i] : NULL };
	}
	return sum;
}

TEST(many_bars_are_put_together_and_counted)
{
	struct chart_bars c = {
		.head = { "Bars", "pages", "processes", AXIS_COUNT },
		.names = { "resident", "virtual" },
		.key = keys, .nkeys = 3, .bar = bars,
	};

	for (unsigned pairs = 0; pairs < 2; pairs++) {
		for (size_t n = 0; n <= 600; n += n < 5 ? 1 : 35) {
			uint64_t sum = make_bars(n, pairs), shown = 0;
			size_t rows = 0;
			char want[96];

			c.n = n;
			scene_init(&s, 1, 1);
			CHECK_EQ(chart_bars(&c, &s, &err), ATW_OK);
			CHECK_EQ(look_outside(&s), -1);
			CHECK_EQ(look_overlaps(&s), 0);
			/* What all rows say is the sum of everything. */
			for (size_t i = 0; i < s.n; i++) {
				const char *p = scene_string(&s, s.item[i].text);
				uint64_t v = 0;

				if (s.item[i].kind != SCENE_GROUP)
					continue;
				rows++;
				p = strstr(p, ": resident ");
				CHECK(p);
				for (p += 11; *p == ',' || (*p >= '0' && *p <= '9'); p++)
					if (*p != ',')
						v = v * 10 + (uint64_t)(*p - '0');
				shown += v;
			}
			CHECK_EQ(shown, sum);
			CHECK_EQ(rows, n < 50 ? n : 50);
			if (n > 50) {
				snprintf(want, sizeof(want), "%zu others", n - 49);
				CHECK(look_text(&s, want));
				CHECK_EQ(look_titles(&s, want), 1);
			}
			scene_deinit(&s);
		}
	}
}

TEST(bars_of_impossible_numbers)
{
	static const uint64_t huge[] = { UINT64_MAX, UINT64_MAX, 5 };
	const struct chart_bar bar[] = { { "\033[1m</text>", NULL, huge, huge } };
	struct chart_bars c = {
		.head = { "Bars", "pages", "processes", AXIS_COUNT },
		.names = { "resident", "virtual" },
		.key = keys, .nkeys = 3, .bar = bar, .n = 1,
	};

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_bars(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK(look_text(&s, "\\x1b[1m</text>"));
	scene_deinit(&s);
	c.nkeys = CHART_KEYS + 1;
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_bars(&c, &s, &err), ATW_E_LIMIT);
	scene_deinit(&s);
}

/* ---- treemap ---- */

TEST(treemap_boxes_are_as_large_as_their_values)
{
	static uint64_t value[500];
	static struct chart_box box[500];
	const struct chart_box in = { 10, 20, 900, 600 };

	for (size_t n = 1; n <= 500; n = n * 3 + 1) {
		double total = 0, area = 0, worst = 1;

		seed = n;
		for (size_t i = 0; i < n; i++)
			value[i] = (n - i) * (n - i) * 7 + 1;
		for (size_t i = 0; i < n; i++)
			total += (double)value[i];
		treemap_layout(value, n, in, box);
		for (size_t i = 0; i < n; i++) {
			double want = (double)value[i] / total * in.w * in.h;
			double ratio = box[i].w > box[i].h ? box[i].w / box[i].h
							   : box[i].h / box[i].w;

			CHECK(box[i].x >= in.x - 1e-6 && box[i].y >= in.y - 1e-6);
			CHECK(box[i].x + box[i].w <= in.x + in.w + 1e-6);
			CHECK(box[i].y + box[i].h <= in.y + in.h + 1e-6);
			CHECK(box[i].w * box[i].h > want - 1 && box[i].w * box[i].h < want + 1);
			area += box[i].w * box[i].h;
			if (i < n / 2 && ratio > worst)
				worst = ratio;
			for (size_t k = 0; k < i; k++)
				CHECK(box[k].x + box[k].w <= box[i].x + 1e-6 ||
				      box[i].x + box[i].w <= box[k].x + 1e-6 ||
				      box[k].y + box[k].h <= box[i].y + 1e-6 ||
				      box[i].y + box[i].h <= box[k].y + 1e-6);
		}
		CHECK(area > in.w * in.h - 1 && area < in.w * in.h + 1);
		/* Squarified: the large ones are no stripes. */
		CHECK(n < 4 || worst < 3);
	}
}

TEST(treemap_of_nothing)
{
	static const uint64_t value[] = { 5, 0, 0 };
	struct chart_treemap c = { .head = { "Map", "pages", "processes", AXIS_COUNT } };
	struct chart_box box[3];

	treemap_layout(value, 3, (struct chart_box){ 0, 0, 10, 10 }, box);
	CHECK(box[0].w == 10 && box[0].h == 10);
	CHECK(box[1].w * box[1].h == 0 && box[2].w * box[2].h == 0);
	treemap_layout(value + 1, 2, (struct chart_box){ 0, 0, 10, 10 }, box);
	CHECK(box[0].w * box[0].h == 0);
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_treemap(&c, &s, &err), ATW_OK);
	CHECK(look_text(&s, "0 pages; 0 processes"));
	scene_deinit(&s);
}

TEST(treemap_in_two_levels)
{
	static struct chart_cell cell[500 * 4];
	struct chart_treemap c = {
		.head = { "Map", "pages", "processes", AXIS_COUNT },
		.cell = cell, .key = keys, .nkeys = 3,
	};

	for (size_t n = 1; n <= 500; n = n * 5) {
		size_t inside = 0;

		make_bars(n, false);
		c.n = 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t parent = (uint32_t)c.n;

			cell[c.n++] = (struct chart_cell){ names[i], NULL, 0, CHART_TOP, 0x0072b2 };
			for (unsigned k = 0; k < 3; k++)
				cell[c.n++] = (struct chart_cell){ keys[k].name, NULL, values[i][k],
								   parent, keys[k].color };
		}
		scene_init(&s, 1, 1);
		CHECK_EQ(chart_treemap(&c, &s, &err), ATW_OK);
		CHECK_EQ(look_outside(&s), -1);
		CHECK_EQ(look_overlaps(&s), 0);
		for (size_t i = 0; i < s.n; i++)
			inside += s.item[i].kind == SCENE_GROUP;
		if (n == 5) {
			CHECK_EQ(inside, 20);
			CHECK_EQ(look_titles(&s, " / stack: "), 5);
			CHECK(look_text(&s, "stack"));
		}
		/* What is not drawn is counted: "N parts are too small to be seen". */
		if (inside < c.n) {
			char want[64];
			bool said = false;

			snprintf(want, sizeof(want), "; %zu parts are too small", c.n - inside);
			for (size_t i = 0; i < s.n; i++)
				said |= s.item[i].kind == SCENE_TEXT &&
					strstr(scene_string(&s, s.item[i].text), want);
			CHECK(said);
		}
		scene_deinit(&s);
	}
}

TEST(treemap_with_parents_that_are_none)
{
	/* A parent that comes later, or is itself, is none: no cell is its own ancestor. */
	const struct chart_cell cell[] = {
		{ "self", NULL, 10, 0, 0x0072b2 }, { "later", NULL, 20, 2, 0x0072b2 },
		{ "far", NULL, 30, 77, 0x0072b2 },
	};
	struct chart_treemap c = {
		.head = { "Map", "pages", "processes", AXIS_COUNT }, .cell = cell, .n = 3,
	};

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_treemap(&c, &s, &err), ATW_OK);
	CHECK(look_text(&s, "60 pages; 3 processes"));
	CHECK_EQ(look_titles(&s, "later: 20 pages, 33.3%"), 1);
	scene_deinit(&s);
}

/* ---- lines ---- */

TEST(lines_are_named_at_their_ends)
{
	static struct chart_point point[500][200];
	static struct chart_line line[500];
	struct chart_lines c = {
		.head = { "Growth", "bytes", "processes", AXIS_BYTES },
		.unit_x = AXIS_SECONDS, .line = line,
	};

	for (size_t n = 0; n <= 500; n = n * 5 + 1) {
		size_t named = 0;

		seed = n;
		for (size_t i = 0; i < n; i++) {
			uint64_t y = any(1 << 20);

			snprintf(names[i], sizeof(names[i]), "process %zu", i);
			for (unsigned k = 0; k < 200; k++) {
				point[i][k] = (struct chart_point){ 5000 + 3 * k, y };
				y += any(10000);
			}
			line[i] = (struct chart_line){ names[i], point[i], 200, i };
		}
		c.n = n;
		scene_init(&s, 1, 1);
		CHECK_EQ(chart_lines(&c, &s, &err), ATW_OK);
		CHECK_EQ(look_outside(&s), -1);
		CHECK_EQ(look_overlaps(&s), 0);
		for (size_t i = 0; i < s.n; i++)
			named += s.item[i].kind == SCENE_TEXT &&
				 !strncmp(scene_string(&s, s.item[i].text), "process ", 8);
		CHECK_EQ(named, n < 7 ? n : 7);
		/* The heaviest are those that have names. */
		if (n)
			CHECK(look_text(&s, names[n - 1]));
		CHECK_EQ(look_titles(&s, ": from "), n);
		scene_deinit(&s);
	}
}

/* How many lines begin at this place or right of it, and end right of that. */
static size_t leaders(double x)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.item[i].kind == SCENE_LINE && s.item[i].x >= (float)x &&
		     s.item[i].w > s.item[i].x;
	return n;
}

TEST(lines_that_end_before_others)
{
	static const struct chart_point whole[] = { { 100, 10 }, { 160, 20 }, { 280, 30 } },
		early[] = { { 100, 50 }, { 160, 60 } }, once[] = { { 100, 5 } };
	const struct chart_line line[] = {
		{ "whole", whole, 3, 3 }, { "early", early, 2, 2 }, { "once", once, 1, 1 },
	};
	struct chart_lines c = {
		.head = { "Growth", "bytes", "processes", AXIS_BYTES },
		.unit_x = AXIS_SECONDS, .line = line, .n = 3,
	};
	const double right = CHART_WIDTH - CHART_MARGIN - 190;

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_lines(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	/* Only what is there at the end leads to its name. */
	CHECK_EQ(leaders(right), 1);
	CHECK(look_text(&s, "early, until 1min"));
	CHECK(look_text(&s, "once, until 0s"));
	CHECK(!look_text(&s, "whole, until"));
	CHECK_EQ(look_titles(&s, "early: from 50B to 60B bytes, until 1min"), 1);
	CHECK_EQ(look_titles(&s, "until"), 2);
	scene_deinit(&s);
	/* All of them end at once. */
	c.line = line + 2;
	c.n = 1;
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_lines(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_titles(&s, "until"), 0);
	CHECK_EQ(leaders(right), 1);
	scene_deinit(&s);
}

TEST(lines_of_one_point_or_none)
{
	static const struct chart_point one = { 7, 3 }, top[] = { { 0, 0 }, { UINT64_MAX, UINT64_MAX } };
	const struct chart_line line[] = {
		{ "one", &one, 1, 1 }, { "none", NULL, 0, 2 }, { "top", top, 2, 3 },
	};
	struct chart_lines c = {
		.head = { "Growth", "pages", "processes", AXIS_COUNT }, .line = line, .n = 2,
	};

	for (c.n = 0; c.n <= 3; c.n++) {
		scene_init(&s, 1, 1);
		CHECK_EQ(chart_lines(&c, &s, &err), ATW_OK);
		CHECK_EQ(look_outside(&s), -1);
		CHECK_EQ(look_text(&s, "one") != NULL, c.n > 0);
		CHECK(!look_text(&s, "none"));
		scene_deinit(&s);
	}
}

/* ---- strips ---- */

static const struct chart_head strips_head = { "Areas", "pages", "areas", AXIS_COUNT };

TEST(strips_have_a_cell_a_page)
{
	static const struct chart_run run[] = {
		{ 10, CHART_NONE }, { 60, 0 }, { 5, CHART_NONE }, { 3, 2 }, { 1, 9 },
	};
	const struct chart_strip strip[] = {
		{ "first", "libc.so.6", "..r.x.", "0x1000", run, 5, 63 },
		{ NULL, "empty", "......", "0x2000", NULL, 0, 0 },
	};
	struct chart_strips c = { .head = strips_head, .key = keys, .nkeys = 3,
				  .strip = strip, .n = 2 };
	double cell = 9.25, high = 8.25, want;

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_strips(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	CHECK(look_text(&s, "pages, 64 a line; 2 areas"));
	CHECK(look_text(&s, "first"));
	CHECK(look_text(&s, "empty")->y > look_text(&s, "libc.so.6")->y);
	CHECK_EQ(look_titles(&s, "libc.so.6 ..r.x., 0x1000: 79 pages"), 1);
	/* Of 60 pages 54 end the first line and 6 begin the second: two rectangles. */
	want = (60 * cell - 2 * 0.5) * high;
	CHECK(look_area(&s, keys[0].color) - 121 > want - 1);
	CHECK(look_area(&s, keys[0].color) - 121 < want + 1);
	want = (3 * cell - 0.5) * high;
	CHECK(look_area(&s, keys[2].color) - 121 > want - 1);
	CHECK(look_area(&s, keys[2].color) - 121 < want + 1);
	scene_deinit(&s);
}

TEST(large_areas_have_more_pages_a_cell)
{
	/* 2^20 pages, of which every cell of 4096 has fewer than half: all are pale. */
	static struct chart_run run[512];
	const struct chart_strip strip[] = {
		{ "p", "large", "..rw.B", "0x0", run, 512, 1 },
		{ NULL, "huge", "..rw.B", "0x0", &(struct chart_run){ UINT64_MAX, 1 }, 1, 1 },
	};
	struct chart_strips c = { .head = strips_head, .key = keys, .nkeys = 3,
				  .strip = strip, .n = 1 };

	for (unsigned i = 0; i < 512; i++)
		run[i] = (struct chart_run){ i % 2 ? 1000 : 3096, i % 2 ? 0 : CHART_NONE };
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_strips(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK(look_text(&s, "4,096 a cell"));
	CHECK_EQ((uint64_t)look_area(&s, keys[0].color), 121);
	CHECK_EQ((uint64_t)(look_area(&s, palette_pale(keys[0].color, 0.5)) / (64 * 9.25 - 0.5) / 8.25 + 0.5), 4);
	scene_deinit(&s);
	c.n = 2;
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_strips(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_titles(&s, "huge ..rw.B, 0x0: 18,446,744,073,709,551,615 pages"), 1);
	scene_deinit(&s);
}

TEST(the_heaviest_strips_are_shown_in_their_order)
{
	static struct chart_strip strip[1000];
	static const struct chart_run one = { 3, 1 };
	struct chart_strips c = { .head = strips_head, .key = keys, .nkeys = 3,
				  .strip = strip, .n = 1000 };

	for (size_t i = 0; i < 1000; i++) {
		snprintf(names[i % 600], sizeof(names[0]), "area %zu", i % 600);
		strip[i] = (struct chart_strip){ i % 10 ? NULL : "a process", names[i % 600],
						 "..r...", "0x0", &one, 1, i >= 700 };
	}
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_strips(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_titles(&s, ""), 80);
	/* The first of those that weigh the same: 700 to 779, which are called less 600. */
	CHECK(look_text(&s, "area 100") && look_text(&s, "area 179"));
	CHECK(!look_text(&s, "area 99") && !look_text(&s, "area 180"));
	CHECK(look_text(&s, "area 100")->y < look_text(&s, "area 179")->y);
	CHECK(look_text(&s, "pages, 64 a line; 1000 areas, the 80 that have most in memory; 920 others are not shown"));
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	scene_deinit(&s);
}

/* ---- heat ---- */

static const struct chart_head heat_head = { "Heat", "accesses", "caches", AXIS_COUNT };

TEST(heat_is_by_logarithm)
{
	static const char *const row[] = { "cold", "hot", "none" }, *const col[] = { "f", "g" };
	static const struct chart_spot spot[] = {
		{ 0, 0, 1 }, { 1, 0, 512 }, { 1, 1, 32 }, { 1, 0, 512 },
	};
	struct chart_heat c = {
		.head = heat_head, .columns = "functions", .row = row, .rows = 3, .col = col,
		.cols = 2, .spot = spot, .n = 4,
	};

	scene_init(&s, 1, 1);
	CHECK_EQ(chart_heat(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	CHECK_STR(scene_string(&s, s.title), "Heat");
	CHECK(look_text(&s, "1,057 accesses; 2 caches, most first; colours by logarithm"));
	CHECK_EQ(look_titles(&s, "hot, f: 1,024 accesses"), 1);
	CHECK_EQ(look_titles(&s, "hot, g: 32 accesses"), 1);
	CHECK_EQ(look_titles(&s, "cold, f: 1 accesses"), 1);
	CHECK_EQ(look_titles(&s, ""), 3);
	CHECK(look_text(&s, "hot")->y < look_text(&s, "cold")->y);
	/* Nothing is not shown: neither the row nor the place. */
	CHECK(!look_text(&s, "none"));
	CHECK(look_area(&s, SCENE_PALE) > 0);
	/* 32 of 1,024 is half the way, by logarithm. */
	CHECK(look_area(&s, palette_shade(0.12 + 0.88 * 0.5)) > 0);
	CHECK(look_area(&s, palette_shade(1)) > 0);
	scene_deinit(&s);
}

TEST(heat_of_many_puts_the_rest_together)
{
	static struct chart_spot spot[600];
	static const char *name[600];
	struct chart_heat c = {
		.head = heat_head, .columns = "functions", .row = name, .rows = 600, .col = name,
		.cols = 600, .spot = spot, .n = 600,
	};

	for (size_t i = 0; i < 600; i++) {
		snprintf(names[i], sizeof(names[i]), "a name that is rather long %zu", i);
		name[i] = names[i];
		spot[i] = (struct chart_spot){ i, i, 600 - i };
	}
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_heat(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	CHECK(look_text(&s, "180,300 accesses; 600 caches, most first"));
	CHECK(look_text(&s, "561 others") && look_text(&s, "553 others"));
	/* What is put together does not make the others pale. */
	CHECK(look_text(&s, "600"));
	scene_deinit(&s);
	c.in_order = true;
	scene_init(&s, 1, 1);
	CHECK_EQ(chart_heat(&c, &s, &err), ATW_OK);
	CHECK_EQ(look_outside(&s), -1);
	CHECK_EQ(look_overlaps(&s), 0);
	scene_deinit(&s);
}

TEST(heat_of_nothing_and_of_everything)
{
	static const char *const one[] = { "x" };
	static const struct chart_spot all[] = { { 0, 0, UINT64_MAX }, { 0, 0, UINT64_MAX } };
	struct chart_heat c = { .head = heat_head, .columns = "functions", .row = one, .col = one,
				.rows = 1, .cols = 1, .spot = all };

	for (size_t n = 0; n < 3; n++) {
		c.n = n;
		scene_init(&s, 1, 1);
		CHECK_EQ(chart_heat(&c, &s, &err), ATW_OK);
		CHECK_EQ(look_outside(&s), -1);
		CHECK_EQ(scene_done(&s, &err), ATW_OK);
		scene_deinit(&s);
	}
}
