/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of areas keep one mark a page and print them as in the LPMA paper. */
#include <stdarg.h>

#include "report/page_map.h"
#include "test.h"

static struct buf said;

ATW_PRINTF(2, 3) static void hear(void *arg, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	(void)arg;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_str(&said, text);
}

/* "a3 b5": so many of each mark, by its letter. */
static const char *drawn(const char *what, bool paper)
{
	static const char marks[] = ".123456789#s0?dx";
	const struct census_out out = { .text = hear, .paper = paper, .plain = true };
	struct map m;

	buf_deinit(&said);
	said = (struct buf){ 0 };
	buf_str(&said, "");
	map_begin(&m, &out);
	while (*what) {
		char *end;
		uint64_t n = strtoull(what + 1, &end, 10);

		map_add(&m, (enum map_mark)(strchr(marks, *what) - marks), n);
		what = end + (*end == ' ');
	}
	map_end(&m);
	return said.data;
}

#define DOTS8 "........"
#define DOTS DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8
#define BLANKS8 "        "
#define BLANKS56 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8

TEST(lines)
{
	CHECK_STR(drawn("", false), "");
	CHECK_STR(drawn(".3 15 #0", false), "[...11111" BLANKS56 "]\n");
	CHECK_STR(drawn(".64", false), "[" DOTS "]\n");
	CHECK_STR(drawn(".63 21 31", false), "[" DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8
		  ".......2]\n[3       " BLANKS56 "]\n");
	CHECK_STR(drawn("11 21 91 #1 s1 01 ?1 d1 x1 .1", false),
		  "[129#s0?dx.      " BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 "]\n");
	/* It knew of none of these, and none is lost. */
	CHECK_STR(drawn("11 21 91 #1 s1 01 ?1 d1 x1 .1", true),
		  "[129#s0?dx.      " BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 "]\n");
}

TEST(many_lines_of_nothing)
{
	/* 16 lines are drawn, and 17 are not. */
	CHECK_EQ(strlen(drawn(".1024", false)), 16 * 67);
	CHECK_STR(drawn(".1088 11", false),
		  "[" DOTS "]\n[... 16 more lines like this one]\n[1       " BLANKS56 "]\n");
	CHECK_STR(drawn("11 .1151 21", false),
		  "[1......." DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 DOTS8 "]\n[" DOTS "]\n"
		  "[... 16 more lines like this one]\n[2       " BLANKS56 "]\n");
	/* The paper's way has all of them, as far as its machine had. */
	CHECK_EQ(strlen(drawn(".1048576", true)), 16384 * 67);
	CHECK_EQ(strlen(drawn("11048576", true)), 16384 * 67);
	CHECK(strstr(drawn("#18446744073709551615", true), "288230376151711742 more lines"));
	CHECK(strstr(drawn(".18446744073709551615", false), "288230376151711742 more lines"));
}

TEST(kept)
{
	static const uint64_t sizes[] = { 1, 7, 8, 9, 1023, 1024, 1025, 1 << 20, UINT64_MAX };
	struct buf b = { 0 };
	enum map_mark mark;
	uint64_t pages;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int m = 0; m < MAP_MISSING; m++)
			map_keep(&b, (enum map_mark)m, sizes[i]);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int m = 0; m < MAP_MISSING; m++) {
			CHECK(map_kept(&b, &at, b.len, &mark, &pages));
			CHECK_EQ(mark, m);
			CHECK_EQ(pages, sizes[i]);
		}
	CHECK(!map_kept(&b, &at, b.len, &mark, &pages));
	buf_deinit(&b);
}

TEST(as_text)
{
	struct buf b = { 0 };
	struct map_text t = { .to = &b, .most = 12 };

	map_text_add(&t, MAP_ABSENT, 3);
	map_text_add(&t, MAP_ABSENT, 4);
	map_text_add(&t, MAP_MANY, 1);
	map_text_end(&t);
	CHECK_STR(b.data, ".*7 #*1");
	map_text_add(&t, 1, 1000);
	map_text_add(&t, 2, 1);
	map_text_add(&t, 3, 1);
	map_text_end(&t);
	CHECK_STR(b.data, ".*7 #*1 1*1000 ...");
	buf_deinit(&b);
}
