/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_list.c - columns that are lists are written, compared and copied in each format.
 */
#include "output_capture.h"

static const struct atw_column of_cols[] = {
	{ .key = "ip", .type = ATW_T_VA },
	{ .key = "pid", .type = ATW_T_COUNT },
};
static const struct atw_schema of = { "of", of_cols, 2 };

static const struct atw_column cols[] = {
	{ .key = "id", .type = ATW_T_COUNT },
	{ .key = "by", .type = ATW_T_LIST, .of = &of },
};
static const struct atw_schema schema = { "test", cols, 2 };

static const union atw_value v[] = { U(0x1000), U(7), U(0x2000), U(0) };
static const uint64_t have[] = { 3, 1 };
static const struct atw_list two = { 2, v, have }, one = { 1, v + 2, have + 1 }, none = { 0 };

#define L(l) { .list = (l) }
static const union atw_value r0[] = { U(0), L(&one) }, r1[] = { U(1), L(&two) },
	r2[] = { U(2), L(&none) }, r3[] = { U(3), L(NULL) };
static const struct atw_row rows[] = { { r0, 3 }, { r1, 3 }, { r2, 3 }, { r3, 1 } };

TEST(each_format)
{
	struct atw_output_opts o = { 0 };

	CHECK_STR(capture(o, &schema, rows, 4), "      ID        BY\n       0         1\n"
		  "       1         2\n       2         0\n       3       n/a\n");
	o.format = "csv";
	CHECK_STR(capture(o, &schema, rows, 4), "id,by\n0,1\n1,2\n2,0\n3,\n");
	o.format = "jsonl";
	CHECK_STR(capture(o, &schema, rows, 4),
		  "{\"id\":0,\"by\":[{\"ip\":\"0x0000000000002000\",\"pid\":null}]}\n"
		  "{\"id\":1,\"by\":[{\"ip\":\"0x0000000000001000\",\"pid\":7},"
		  "{\"ip\":\"0x0000000000002000\",\"pid\":null}]}\n"
		  "{\"id\":2,\"by\":[]}\n{\"id\":3,\"by\":null}\n");
	o.format = "html";
	CHECK(strstr(capture(o, &schema, rows, 4), "<td class=\"n\" data-v=\"2\">2</td>"));
	CHECK(strstr(capture_text, "<td class=\"n na\">n/a</td>"));
}

TEST(compared_by_how_many)
{
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .columns = "id",
			  .filter = "by>=1" }, &schema, rows, 4), "id\n0\n1\n");
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .columns = "id",
			  .filter = "by!=1" }, &schema, rows, 4), "id\n1\n2\n");
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .columns = "id",
			  .filter = "not by=0" }, &schema, rows, 4), "id\n0\n1\n3\n");
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .filter = "by~1" }, &schema,
			  rows, 4),
		  "error: filter: 'by' takes = != < <= > >=, not '~' at character 3");
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .columns = "id",
			  .sort = "by:desc" }, &schema, rows, 4), "id\n1\n0\n2\n3\n");
	/* Of the same length: as they came. */
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv", .columns = "id",
			  .sort = "by" }, &schema, (struct atw_row[]){ rows[1], rows[0], rows[0],
			  rows[2] }, 4), "id\n2\n0\n0\n1\n");
	CHECK_STR(capture((struct atw_output_opts){ .group = "by" }, &schema, rows, 4),
		  "error: group: 'by' is a list: no two rows have it in common");
}

/* The producer of the rows reuses one list. */
TEST(sorted_ones_are_copies)
{
	union atw_value my[2] = { U(0x3000), U(1) };
	uint64_t all = 3;
	struct atw_list l = { 1, my, &all };
	union atw_value r[2] = { U(9), L(&l) };
	struct atw_row row = { r, 3 };
	struct atw_output *out;
	struct atw_err err;
	char path[32];
	int fd = memfd_create("list", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(atw_output_open(&(struct atw_output_opts){ .format = "jsonl", .sort = "id",
				 .path = path }, &schema, &out, &err), ATW_OK);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(atw_output_row(out, &row, &err), ATW_OK);
		my[0].u += 0x1000;
		r[0].u--;
		l.n = i == 1 ? 0 : 1;
	}
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	atw_output_close(out);
	CHECK_STR(capture_read(fd), "{\"id\":7,\"by\":[]}\n"
		  "{\"id\":8,\"by\":[{\"ip\":\"0x0000000000004000\",\"pid\":1}]}\n"
		  "{\"id\":9,\"by\":[{\"ip\":\"0x0000000000003000\",\"pid\":1}]}\n");
	close(fd);
}
