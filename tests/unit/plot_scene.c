/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_scene.c - scenes, what they refuse, and every byte of their SVG. */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scene_look.h"

#include "plot/draw.h"
#include "plot/chart.h"

static char text[1 << 16];
static struct atw_err err;

static const char *svg(const struct scene *s, bool inside)
{
	int fd = memfd_create("svg", MFD_CLOEXEC);
	struct writer w;
	ssize_t n;

	if (writer_init(&w, fd, &err) < 0)
		return "no writer";
	svg_write(s, &w, inside);
	writer_flush(&w);
	writer_deinit(&w);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	close(fd);
	return text;
}

#define HEAD "width=\"100\" height=\"50.5\" viewBox=\"0 0 100 50.5\" " \
	"font-family=\"sans-serif\" fill=\"#1a1a1a\" stroke-linecap=\"round\" role=\"img\""
#define GROUND "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"

TEST(an_empty_scene)
{
	struct scene s;

	scene_init(&s, 100, 50.5);
	CHECK_EQ(scene_done(&s, &err), ATW_OK);
	CHECK_STR(svg(&s, false),
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		  "<svg xmlns=\"http://www.w3.org/2000/svg\" " HEAD ">\n" GROUND "</svg>\n");
	CHECK_STR(svg(&s, true), "<svg class=\"picture\" " HEAD ">\n" GROUND "</svg>\n");
	scene_deinit(&s);
}

TEST(one_of_each)
{
	struct scene s;

	scene_init(&s, 100, 50.5);
	scene_title(&s, "a <b> & \"c\"");
	scene_group(&s, "nginx's: </title><script>", "#p'1", SCENE_ZOOM);
	scene_rect(&s, 1, 2.5, 3.25, 4.126, 0x0072b2);
	scene_rect(&s, 1, 2, 0, 4, 0x0072b2);
	scene_group(&s, NULL, "javascript:alert(1)", 0);
	scene_line(&s, -1.005, 0, 10, 20, 1, 0xdcdcdc);
	scene_line(&s, 0, 0, 1, 1, 0.5, 0);
	scene_end(&s);
	scene_text(&s, 5, 6, SCENE_START, 11, 0, SCENE_INK, "a\033[1m<\xff");
	scene_end(&s);
	scene_text(&s, 5, 6, SCENE_MIDDLE, 12.5, SCENE_BOLD, 0x123456, "b");
	scene_text(&s, 5, 6, SCENE_END, 12, SCENE_MONO, SCENE_INK, "stra\xc3\x9f" "e");
	scene_text(&s, 5, 6, SCENE_END, 12, 0, SCENE_INK, "");
	CHECK_EQ(scene_done(&s, &err), ATW_OK);
	CHECK_STR(svg(&s, true),
		  "<svg class=\"picture\" " HEAD
		  " aria-label=\"a &lt;b&gt; &amp; &quot;c&quot;\">\n" GROUND
		  "<a href=\"#p&#39;1\" class=\"zoom\"><title>nginx&#39;s: &lt;/title&gt;"
		  "&lt;script&gt;</title>\n"
		  "<rect x=\"1\" y=\"2.5\" width=\"3.25\" height=\"4.13\" fill=\"#0072b2\"/>\n"
		  "<g>\n"
		  "<line x1=\"-1\" y1=\"0\" x2=\"10\" y2=\"20\" stroke=\"#dcdcdc\"/>\n"
		  "<line x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1\" stroke=\"#000000\" stroke-width=\"0.5\"/>\n"
		  "</g>\n"
		  "<text x=\"5\" y=\"6\" font-size=\"11\">a\\x1b[1m&lt;\\xff</text>\n"
		  "</a>\n"
		  "<text x=\"5\" y=\"6\" font-size=\"12.5\" text-anchor=\"middle\" "
		  "font-weight=\"bold\" fill=\"#123456\">b</text>\n"
		  "<text x=\"5\" y=\"6\" font-size=\"12\" text-anchor=\"end\" "
		  "font-family=\"monospace\">stra\xc3\x9f" "e</text>\n"
		  "</svg>\n");
	scene_deinit(&s);
}

TEST(what_is_too_much_is_refused)
{
	struct scene s;

	scene_init(&s, 10, 10);
	for (unsigned i = 0; i < SCENE_ITEMS; i++)
		scene_rect(&s, 0, 0, 1, 1, 0);
	CHECK_EQ(scene_done(&s, &err), ATW_OK);
	scene_rect(&s, 0, 0, 1, 1, 0);
	CHECK_EQ(scene_done(&s, &err), ATW_E_LIMIT);
	CHECK(strstr(err.text, "more than 400000 parts"));
	CHECK_EQ(s.n, SCENE_ITEMS);
	scene_deinit(&s);

	scene_init(&s, 10, 10);
	for (unsigned i = 0; i <= SCENE_DEPTH; i++)
		scene_group(&s, "g", NULL, 0);
	CHECK_EQ(scene_done(&s, &err), ATW_E_LIMIT);
	scene_deinit(&s);

	scene_init(&s, 10, 10);
	scene_group(&s, "g", NULL, 0);
	CHECK_EQ(scene_done(&s, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "1 of the picture's groups are not ended");
	scene_end(&s);
	CHECK_EQ(scene_done(&s, &err), ATW_OK);
	scene_end(&s);
	CHECK_EQ(scene_done(&s, &err), ATW_E_USAGE);
	scene_deinit(&s);
}

TEST(sizes_that_are_none)
{
	static const double bad[] = { 0, -1, 100001, NAN, INFINITY };
	struct scene s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		scene_init(&s, bad[i], 10);
		CHECK_EQ(scene_done(&s, &err), ATW_E_LIMIT);
		scene_size(&s, 10, bad[i]);
		CHECK_EQ(scene_done(&s, &err), ATW_E_LIMIT);
		scene_deinit(&s);
	}
	/* Places may be anything: what is written is a number all the same. */
	scene_init(&s, 100, 50.5);
	scene_line(&s, NAN, INFINITY, -INFINITY, 1e30, 1, 0);
	CHECK(strstr(svg(&s, false), "x1=\"0\" y1=\"1000000\" x2=\"-1000000\" y2=\"1000000\""));
	scene_deinit(&s);
}

static const char *fitted(const char *s, double width)
{
	static char got[128];
	struct buf b = { 0 };

	strcpy(got, font_fit(&b, s, 10, 0, width) ? b.data : "(nothing)");
	buf_deinit(&b);
	return got;
}

TEST(texts_are_cut_in_the_middle)
{
	CHECK_STR(fitted("nginx", 100), "nginx");
	CHECK_STR(fitted("", 100), "(nothing)");
	CHECK_STR(fitted("nginx", 10), "(nothing)");
	CHECK_STR(fitted("/usr/lib/x86_64-linux-gnu/libc.so.6", 100),
		  "/usr/lib/x\xe2\x80\xa6/libc.so.6");
	/* Never through a character, and never wider than there is room. */
	for (double w = 1; w < 200; w += 0.7) {
		static const char s[] = "\xe4\xb8\xad\xe6\x96\x87\xc3\xa9\xc3\xa8 und noch mehr \xf0\x9f\x90\xa7";
		const char *got = fitted(s, w);

		if (!strcmp(got, "(nothing)"))
			continue;
		CHECK(font_width(got, strlen(got), 10, 0) <= w);
		for (const char *p = strstr(got, "\xe2\x80\xa6"); p && p[3]; p = NULL)
			CHECK(((unsigned char)p[3] & 0xc0) != 0x80);
	}
}

/* Light from a display as someone without one kind of cone sees it: Vienot, Brettel
 * and Mollon 1999 for red and green; for blue as derived the same way. */
static void seen(uint32_t color, unsigned eyes, double ret[3])
{
	static const double m[4][3][3] = {
		{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
		{ { 0.11238, 0.88762, 0 }, { 0.11238, 0.88762, 0 }, { 0.00401, -0.00401, 1 } },
		{ { 0.29275, 0.70725, 0 }, { 0.29275, 0.70725, 0 }, { -0.02234, 0.02234, 1 } },
		{ { 1, 0.14461, -0.14461 }, { 0, 0.85924, 0.14076 }, { 0, 0.85924, 0.14076 } },
	};
	double rgb[3];

	for (unsigned i = 0; i < 3; i++)
		rgb[i] = pow((color >> (16 - 8 * i) & 0xff) / 255.0, 2.2);
	for (unsigned i = 0; i < 3; i++) {
		double v = m[eyes][i][0] * rgb[0] + m[eyes][i][1] * rgb[1] + m[eyes][i][2] * rgb[2];

		ret[i] = pow(v < 0 ? 0 : v, 1 / 2.2);
	}
}

TEST(colours_differ_to_any_eyes)
{
	for (unsigned eyes = 0; eyes < 4; eyes++) {
		for (unsigned a = 0; a < PALETTE_COLORS; a++) {
			for (unsigned b = 0; b < a; b++) {
				double x[3], y[3], d = 0;

				seen(palette_color(a), eyes, x);
				seen(palette_color(b), eyes, y);
				for (unsigned i = 0; i < 3; i++)
					d += (x[i] - y[i]) * (x[i] - y[i]);
				if (sqrt(d) < 0.14)
					TEST_FAIL("colours %u and %u, eyes %u: %.3f", a, b,
						  eyes, sqrt(d));
			}
		}
	}
	for (unsigned i = 1; i <= 100; i++)
		CHECK(palette_light(palette_shade(i / 100.0)) <
		      palette_light(palette_shade((i - 1) / 100.0)));
	CHECK_EQ(palette_shade(-1), palette_shade(0));
	CHECK_EQ(palette_shade(NAN), palette_shade(0));
	CHECK_EQ(palette_shade(2), palette_shade(1));
}

TEST(texts_can_be_read_on_their_colours)
{
	for (unsigned i = 0; i < 3 * PALETTE_COLORS; i++) {
		double ground = palette_light(palette_color(i));
		double ink = palette_light(palette_on(palette_color(i)));
		double ratio = ink > ground ? (ink + 0.05) / (ground + 0.05)
					    : (ground + 0.05) / (ink + 0.05);

		/* WCAG 2: 4.5 for small texts. */
		if (ratio < 4.5)
			TEST_FAIL("colour %u: contrast %.2f", i, ratio);
	}
	CHECK(1.05 / (palette_light(SCENE_SOFT) + 0.05) > 4.5);
}

static const char *axis(enum axis_unit unit, uint64_t largest, unsigned steps)
{
	static char got[64];
	char a[AXIS_TEXT], b[AXIS_TEXT];
	struct axis x;

	axis_choose(unit, largest, steps, &x);
	snprintf(got, sizeof(got), "%s to %s", axis_text(unit, x.step, a),
		 axis_text(unit, x.top, b));
	return got;
}

TEST(axes_have_round_numbers)
{
	char b[AXIS_TEXT];

	CHECK_STR(axis(AXIS_COUNT, 0, 5), "1 to 1");
	CHECK_STR(axis(AXIS_COUNT, 7, 5), "2 to 8");
	CHECK_STR(axis(AXIS_COUNT, 812, 5), "200 to 1,000");
	CHECK_STR(axis(AXIS_COUNT, 1000, 5), "200 to 1,000");
	CHECK_STR(axis(AXIS_COUNT, 1001, 5), "500 to 1,500");
	CHECK_STR(axis(AXIS_COUNT, 69737, 6), "20k to 80k");
	CHECK_STR(axis(AXIS_COUNT, 6543210, 4), "2M to 8M");
	CHECK_STR(axis(AXIS_BYTES, 3 << 20, 4), "1M to 3M");
	CHECK_STR(axis(AXIS_BYTES, (3 << 20) + 1, 4), "1M to 4M");
	CHECK_STR(axis(AXIS_BYTES, 50 << 20, 5), "16M to 64M");
	CHECK_STR(axis(AXIS_SECONDS, 59, 6), "10s to 1min");
	CHECK_STR(axis(AXIS_SECONDS, 3600, 6), "10min to 1h");
	CHECK_STR(axis(AXIS_SECONDS, 86400 * 30, 6), "8d to 32d");
	CHECK_STR(axis_text(AXIS_SECONDS, 90, b), "1:30");
	CHECK_STR(axis_text(AXIS_SECONDS, 5400, b), "1h30");
	CHECK_STR(axis_text(AXIS_COUNT, 12500, b), "12.5k");
	CHECK_STR(axis_number(AXIS_COUNT, 1234567, b), "1,234,567");
	CHECK_STR(axis_number(AXIS_COUNT, UINT64_MAX, b), "18,446,744,073,709,551,615");
	CHECK_STR(axis_number(AXIS_BYTES, 4096, b), "4K");
	for (unsigned unit = 0; unit < 3; unit++) {
		for (unsigned steps = 1; steps < 10; steps++) {
			for (unsigned bits = 0; bits < 65; bits++) {
				uint64_t v = bits == 64 ? UINT64_MAX : UINT64_C(1) << bits;
				struct axis x;

				axis_choose(unit, v, steps, &x);
				CHECK(x.top >= v && x.step >= 1);
			}
		}
	}
}
