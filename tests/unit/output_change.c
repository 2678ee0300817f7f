// SPDX-License-Identifier: GPL-2.0-or-later
/* output_change.c - seconds, and numbers with a sign: written, sorted, filtered. */
#include "output_capture.h"

static const struct atw_column cols[] = {
	{ .key = "time", .type = ATW_T_SECONDS },
	{ .key = "d_pages", .type = ATW_T_CHANGE },
	{ .key = "d_4k", .type = ATW_T_CHANGE_BYTES },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

#define MINUS(x) U((uint64_t)-(int64_t)(x))
static const union atw_value v[][3] = {
	{ U(0), U(0), U(0) },
	{ U(1500), U(3), U(4096) },
	{ U(61007), MINUS(12), MINUS(3 << 20) },
	{ U(UINT64_MAX), U(INT64_MAX), U((uint64_t)1 << 63) },
};
static const struct atw_row rows[] = {
	{ v[0], 7 }, { v[1], 7 }, { v[2], 7 }, { v[3], 7 }, { v[0], 1 },
};

static const char *run(struct atw_output_opts o, size_t n)
{
	return capture(o, &schema, rows, n);
}
#define RUN(n, ...) run((struct atw_output_opts){ __VA_ARGS__ }, n)

TEST(plain_shows_the_sign)
{
	CHECK_STR(RUN(5),
		  "    TIME   D_PAGES     D_4K\n"
		  "   0.000         0        0\n"
		  "   1.500        +3      +4K\n"
		  "  61.007       -12      -3M\n"
		  "18446744073709551.615  +9223372036854775807      -8E\n"
		  "   0.000       n/a      n/a\n");
	CHECK_STR(RUN(3, .units = ATW_UNITS_PAGES, .columns = "d_4k"),
		  "      D_4K\n         0\n        +1\n      -768\n");
	CHECK_STR(RUN(3, .units = ATW_UNITS_BYTES, .columns = "d_4k"),
		  "           D_4K\n              0\n          +4096\n       -3145728\n");
}

TEST(other_formats_have_numbers)
{
	CHECK_STR(RUN(5, .format = "csv"),
		  "time,d_pages,d_4k\n0.000,0,0\n1.500,3,4096\n61.007,-12,-3145728\n"
		  "18446744073709551.615,9223372036854775807,-9223372036854775808\n0.000,,\n");
	CHECK_STR(RUN(3, .format = "jsonl", .columns = "time,d_4k"),
		  "{\"time\":0.000,\"d_4k\":0}\n{\"time\":1.500,\"d_4k\":4096}\n"
		  "{\"time\":61.007,\"d_4k\":-3145728}\n");
}

TEST(less_than_nothing_is_less)
{
	CHECK_STR(RUN(5, .format = "csv", .columns = "d_pages", .sort = "d_pages"),
		  "d_pages\n-12\n0\n3\n9223372036854775807\n\n");
	CHECK_STR(RUN(4, .format = "csv", .columns = "d_4k", .sort = "d_4k:desc"),
		  "d_4k\n4096\n0\n-3145728\n-9223372036854775808\n");
	CHECK_STR(RUN(4, .format = "csv", .columns = "d_4k", .sort = "time:desc,d_4k"),
		  "d_4k\n-9223372036854775808\n-3145728\n4096\n0\n");
	CHECK_STR(RUN(4, .format = "csv", .columns = "d_4k", .group = "d_4k"),
		  "d_4k\n-9223372036854775808\n-3145728\n0\n4096\n");
}

static const char *pages(const char *filter)
{
	return RUN(5, .format = "csv", .columns = "d_pages", .filter = filter);
}

TEST(filters)
{
	CHECK_STR(pages("d_pages<0"), "d_pages\n-12\n");
	CHECK_STR(pages("d_pages<=0"), "d_pages\n0\n-12\n");
	CHECK_STR(pages("d_pages<=3"), "d_pages\n0\n3\n-12\n");
	CHECK_STR(pages("d_pages>-12"), "d_pages\n0\n3\n9223372036854775807\n");
	CHECK_STR(pages("d_pages>=-12"), "d_pages\n0\n3\n-12\n9223372036854775807\n");
	CHECK_STR(pages("d_pages>9223372036854775807"), "d_pages\n");
	CHECK_STR(pages("d_pages<-9223372036854775807"), "d_pages\n");
	CHECK_STR(pages("d_pages=-12"), "d_pages\n-12\n");
	CHECK_STR(pages("d_pages!=+3"), "d_pages\n0\n-12\n9223372036854775807\n");
	CHECK_STR(pages("d_4k<-2M and d_4k>-4M"), "d_pages\n-12\n");
	CHECK_STR(pages("time>1.5"), "d_pages\n-12\n9223372036854775807\n");
	CHECK_STR(pages("time>=1.5 and time<61.01"), "d_pages\n3\n-12\n");
	CHECK_STR(pages("time=0"), "d_pages\n0\n\n");
	CHECK_STR(pages("d_pages<x"), "error: filter: 'x' at character 9 is not a number (4096, -4K, +2M)");
	CHECK_STR(pages("d_pages<-"), "error: filter: '-' at character 9 is not a number (4096, -4K, +2M)");
	CHECK_STR(pages("d_pages~1"), "error: filter: 'd_pages' takes = != < <= > >=, not '~' at character 8");
	CHECK_STR(pages("time<1.2345"), "error: filter: '1.2345' at character 6 is not seconds (2, 0.25)");
	CHECK_STR(pages("time<."), "error: filter: '.' at character 6 is not seconds (2, 0.25)");
}

TEST(what_is_flushed_has_left)
{
	struct atw_output_opts o = { .format = "csv", .columns = "d_pages" };
	struct atw_output *out = NULL;
	char path[32];
	int fd = memfd_create("capture", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	CHECK_EQ(atw_output_open(&o, &schema, &out, NULL), ATW_OK);
	CHECK_EQ(atw_output_row(out, &rows[1], NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "");
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "d_pages\n3\n");
	CHECK_EQ(atw_output_row(out, &rows[2], NULL), ATW_OK);
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "d_pages\n3\n-12\n");
	CHECK_EQ(atw_output_commit(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "d_pages\n3\n-12\n");
	CHECK_EQ(atw_output_flush(out, NULL), ATW_E_USAGE);
	atw_output_close(out);
	close(fd);

	o.path = "/dev/full";
	CHECK_EQ(atw_output_open(&o, &schema, &out, NULL), ATW_OK);
	CHECK_EQ(atw_output_row(out, &rows[1], NULL), ATW_OK);
	CHECK_EQ(atw_output_flush(out, NULL), ATW_E_IO);
	CHECK_EQ(atw_output_row(out, &rows[1], NULL), ATW_E_IO);
	CHECK_EQ(atw_output_commit(out, NULL), ATW_E_IO);
	atw_output_close(out);
}
