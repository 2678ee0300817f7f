// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output_kept.c - columns are as wide as the first rows need; limits, sums and pages of
 * tables.
 */


#include <stdlib.h>

#include "output/kept.h"
#include "output_capture.h"

static const struct atw_column cols[] = {
	{ .key = "name", .type = ATW_T_TEXT, .width = 6 },
	{ .key = "n", .type = ATW_T_COUNT, .width = 3 },
	{ .key = "pages", .type = ATW_T_PAGES, .width = 6, .sum = true },
	{ .key = "size", .type = ATW_T_BYTES, .width = 5, .sum = true },
	{ .key = "note", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

static const char L80[] =
	"/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/ab";

#define ALL 31
static const union atw_value many[] = { S("m"), U(1), U(900000), U(1), S("") };
static const struct atw_row thousands[] = { { many, ALL }, { many, ALL } };
static const union atw_value v[][5] = {
	{ S("a"), U(1), U(2), U(4096), S("") },
	{ S("longer than that"), U(12345), U(30), U(8192), S("x") },
	{ S(L80), U(7), U(0), U(0), S(L80) },
	{ S("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc"), U(7), U(1), U(1), S("y") },
};
static const struct atw_row rows[] = {
	{ v[0], ALL }, { v[1], ALL }, { v[2], ALL }, { v[3], ALL }, { v[0], ALL & ~4u },
};

static const char *run(struct atw_output_opts o, size_t n)
{
	return capture(o, &schema, rows, n);
}
#define RUN(n, ...) run((struct atw_output_opts){ __VA_ARGS__ }, n)

TEST(columns_as_wide_as_what_is_in_them)
{
	CHECK_STR(RUN(2, .ahead = true, .columns = "name,n,note"),
		  "NAME                  N  NOTE\n"
		  "a                     1  -\n"
		  "longer than that  12345  x\n");
	/* As it was: pushed, and never cut. */
	CHECK_STR(RUN(2, .columns = "name,n,note"),
		  "NAME      N  NOTE\n"
		  "a         1  -\n"
		  "longer than that  12345  x\n");
	/* A character is not a byte. */
	CHECK_STR(RUN(4, .ahead = true, .columns = "name,n", .filter = "n=7 and pages=1"),
		  "NAME       N\n\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc    7\n");
	CHECK_STR(RUN(0, .ahead = true, .columns = "name,n"), "NAME      N\n");
}

TEST(a_long_text_has_its_middle_left_out)
{
	CHECK_STR(RUN(3, .ahead = true, .columns = "name,n", .filter = "pages=0"),
		  "NAME                                                                N\n"
		  "/0123456789/01234567...56789/0123456789/0123456789/0123456789/ab    7\n");
	/* Not in the last column, nor in any other format. */
	CHECK_STR(RUN(3, .ahead = true, .columns = "n,note", .filter = "pages=0"),
		  "  N  NOTE\n"
		  "  7  /0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/ab\n");
	CHECK_STR(RUN(3, .ahead = true, .format = "csv", .columns = "name,n", .filter = "pages=0"),
		  "name,n\n"
		  "/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/ab,7\n");
}

TEST(a_limit_says_what_it_leaves_out)
{
	CHECK_STR(RUN(4, .limit = 2, .columns = "n,size"),
		  "  N   SIZE\n  1     4K\n12345     8K\n... and 2 more\n");
	CHECK_STR(RUN(4, .limit = 2, .ahead = true, .columns = "n,size"),
		  "    N   SIZE\n    1     4K\n12345     8K\n... and 2 more\n");
	CHECK_STR(RUN(4, .limit = 1, .sort = "n:desc", .columns = "n,size"),
		  "  N   SIZE\n12345     8K\n... and 3 more\n");
	CHECK_STR(RUN(4, .limit = 4, .columns = "n"), "  N\n  1\n12345\n  7\n  7\n");
	CHECK_STR(RUN(4, .limit = 3, .format = "csv", .columns = "n"), "n\n1\n12345\n7\n");
}

TEST(sums_are_of_all_rows_that_pass)
{
	CHECK_STR(RUN(4, .limit = 1, .columns = "name,pages,n,size"),
		  "NAME     PAGES    N   SIZE\n"
		  "a            2    1     4K\n"
		  "... and 3 more\n"
		  "(sum)       33       12.0K\n");
	CHECK_STR(RUN(4, .filter = "n=7", .sort = "size", .columns = "size,n,note", .ahead = true),
		  " SIZE    N  NOTE\n   0B    7  /0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/ab\n"
		  "   1B    7  y\n   1B       (sum)\n");
	/* They are measured, too. */
	CHECK_STR(capture((struct atw_output_opts){ .columns = "name,pages", .ahead = true },
			  &schema, thousands, 2),
		  "NAME      PAGES\nm        900000\nm        900000\n(sum)   1800000\n");
	/* One row is its own; of groups there are counts. */
	CHECK_STR(RUN(1, .columns = "name,pages"), "NAME     PAGES\na            2\n");
	CHECK_STR(RUN(2, .group = "n", .columns = "n,count"),
		  "    N     COUNT\n    1         1\n12345         1\n");
	/* What is not known of one is known of none together. */
	CHECK_STR(RUN(5, .columns = "name,pages", .filter = "name=a"),
		  "NAME     PAGES\na            2\na          n/a\n(sum)      n/a\n");
}

TEST(a_sum_that_is_too_large_is_none)
{
	static const union atw_value large[][2] = {
		{ S("a"), U(UINT64_MAX) }, { S("b"), U(1) },
	};
	static const struct atw_row two[] = { { large[0], 3 }, { large[1], 3 } };
	static const struct atw_column c[] = {
		{ .key = "name", .type = ATW_T_TEXT, .width = 5 },
		{ .key = "n", .type = ATW_T_PAGES, .sum = true },
	};
	static const struct atw_schema s = { "test", c, 2 };

	CHECK_STR(capture((struct atw_output_opts){ .ahead = true }, &s, two, 2),
		  "NAME                      N\n"
		  "a      18446744073709551615\n"
		  "b                         1\n"
		  "(sum)                   n/a\n");
	/* More bytes than there are numbers: still pages. */
	CHECK_STR(capture((struct atw_output_opts){ .units = ATW_UNITS_BYTES, .page_units = true,
						    .ahead = true }, &s, two, 1),
		  "NAME                       N\na      18446744073709551615p\n");
}

TEST(pages_in_units)
{
	CHECK_STR(RUN(2, .columns = "pages,size"), " PAGES   SIZE\n     2     4K\n    30     8K\n");
	CHECK_STR(RUN(2, .columns = "pages", .page_units = true),
		  "   PAGES\n      8K\n    120K\n");
	CHECK_STR(RUN(2, .columns = "pages", .page_units = true, .units = ATW_UNITS_BYTES,
		      .page_shift = 16),
		  "          PAGES\n         131072\n        1966080\n");
	CHECK_STR(RUN(2, .columns = "pages", .page_units = true, .units = ATW_UNITS_PAGES),
		  "   PAGES\n       2\n      30\n");
	CHECK_STR(RUN(2, .columns = "pages", .page_units = true, .format = "jsonl"),
		  "{\"pages\":2}\n{\"pages\":30}\n");
	CHECK_STR(RUN(4, .columns = "n", .filter = "pages>=2"), "  N\n  1\n12345\n");
}

/* ---- more than waits ---- */

static struct atw_output *open_to(int *fd, struct atw_output_opts o)
{
	struct atw_output *out = NULL;
	char path[32];

	*fd = memfd_create("ahead", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	o.path = path;
	o.ahead = true;
	if (atw_output_open(&o, &schema, &out, NULL) < 0)
		abort();
	return out;
}

static off_t written(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

enum { KEPT_ROWS = 4096 };

/* After so many the widths stay, and rows stream again. */
TEST(rows_wait_until_there_are_enough)
{
	int fd;
	struct atw_output *out = open_to(&fd, (struct atw_output_opts){ .columns = "name,n" });

	for (unsigned i = 0; i < KEPT_ROWS - 1; i++)
		CHECK_EQ(atw_output_row(out, &rows[0], NULL), ATW_OK);
	CHECK_EQ(written(fd), 0);
	CHECK_EQ(atw_output_row(out, &rows[0], NULL), ATW_OK);
	CHECK_EQ(atw_output_row(out, &rows[1], NULL), ATW_OK);
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	CHECK_EQ(written(fd), 12 * (KEPT_ROWS + 1) + 16 + 2 + 5 + 1);
	atw_output_close(out);
	close(fd);
}

TEST(a_flush_ends_the_waiting)
{
	int fd;
	struct atw_output *out = open_to(&fd, (struct atw_output_opts){ .columns = "name,n" });

	CHECK_EQ(atw_output_row(out, &rows[0], NULL), ATW_OK);
	CHECK_EQ(atw_output_text(out, "behind %d\n", 1), ATW_OK);
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "NAME      N\na         1\nbehind 1\n");
	CHECK_EQ(atw_output_row(out, &rows[1], NULL), ATW_OK);
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "NAME      N\na         1\nbehind 1\nlonger than that  12345\n");
	atw_output_close(out);
	close(fd);
}

/* Texts wait with their rows, and go where these go. */
TEST(texts_wait_too)
{
	int fd;
	struct atw_output *out = open_to(&fd, (struct atw_output_opts){ .columns = "name,n",
									.limit = 2 });

	CHECK_EQ(atw_output_heading(out, "%s", "head"), ATW_OK);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(atw_output_row(out, &rows[i], NULL), ATW_OK);
		CHECK_EQ(atw_output_text(out, "map %u\n", i), ATW_OK);
	}
	CHECK_EQ(atw_output_note(out, "end"), ATW_OK);
	CHECK_EQ(atw_output_left_out(out), 1);
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd),
		  "NAME                  N\n\nhead\na                     1\nmap 0\n"
		  "longer than that  12345\nmap 1\n... and 1 more\n\nend\n");
	atw_output_close(out);
	close(fd);
	/* One that is not committed leaves nothing behind. */
	out = open_to(&fd, (struct atw_output_opts){ .columns = "name" });
	CHECK_EQ(atw_output_row(out, &rows[0], NULL), ATW_OK);
	atw_output_close(out);
	CHECK_EQ(written(fd), 0);
	close(fd);
}

/* From half a MiB on they are in other memory. */
TEST(many_rows_and_texts_are_those_that_were_kept)
{
	enum { MANY = 100000 };
	struct kept_rows k = { .rows = 0 };
	union atw_value values[NELEM(cols)];
	struct kept_item item;
	char text[32];

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(text, sizeof(text), "%u of %d", i, round);
			if (i % 3)
				kept_row(&k, &schema, &rows[i % 4], NULL);
			else
				kept_text(&k, text, strlen(text) + 1);
		}
		CHECK(!k.failed && k.len * sizeof(*k.word) > 1 << 20);
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(text, sizeof(text), "%u of %d", i, round);
			CHECK(kept_next(&k, &schema, values, &item));
			CHECK_EQ(item.is_row, i % 3 != 0);
			if (!item.is_row) {
				CHECK_STR(item.text, text);
				continue;
			}
			CHECK_EQ(item.row.have, ALL);
			CHECK_STR(values[0].s, v[i % 4][0].s);
			CHECK_EQ(values[1].u, v[i % 4][1].u);
			CHECK_STR(values[4].s, v[i % 4][4].s);
		}
		CHECK(!kept_next(&k, &schema, values, &item));
		kept_clear(&k);
	}
	kept_deinit(&k);
}
