/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_pipeline.c - filter, group, sort and columns together. */
#include "output_capture.h"

static const char *const states[] = { "present", "swap" };
static const struct atw_names state_names = { 2, states, NULL };

static const struct atw_column cols[] = {
	{ .key = "address", .type = ATW_T_VA, .hidden = true },
	{ .key = "size", .type = ATW_T_BYTES },
	{ .key = "state", .type = ATW_T_ENUM, .names = &state_names },
	{ .key = "task", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

static const union atw_value v[][4] = {
	{ U(0x5000), U(8192), U(1), S("sshd") },
	{ U(0x1000), U(4096), U(0), S("nginx") },
	{ U(0x2000), U(4096), U(0), S("bash") },
	{ U(0x3000), U(2 << 20), U(0), S("nginx") },
	{ U(0x4000), U(4096), U(1), S("nginx") },
};
static const struct atw_row rows[] = {
	{ v[0], 15 }, { v[1], 15 }, { v[2], 15 }, { v[3], 15 },
	{ v[4], 7 },                     /* its task is n/a */
};

static const char *run(struct atw_output_opts o)
{
	if (!o.format)
		o.format = "csv";
	return capture(o, &schema, rows, NELEM(rows));
}
#define RUN(...) run((struct atw_output_opts){ __VA_ARGS__ })

TEST(columns)
{
	CHECK_STR(RUN(.columns = "task,size"),
		  "task,size\nsshd,8192\nnginx,4096\nbash,4096\nnginx,2097152\n,4096\n");
	CHECK_STR(RUN(.columns = "+address", .filter = "task=sshd"),
		  "address,size,state,task\n0x0000000000005000,8192,swap,sshd\n");
}

TEST(filter_sees_hidden_columns)
{
	CHECK_STR(RUN(.filter = "address<3000 and present", .columns = "task"),
		  "task\nnginx\nbash\n");
	CHECK_STR(RUN(.filter = "size>=1G"), "size,state,task\n");
	/* An empty option takes back a configured one. */
	CHECK_STR(RUN(.filter = "", .sort = "", .group = "", .columns = "",
		      .format = ""),
		  "   SIZE  STATE    TASK\n     8K  swap     sshd\n"
		  "     4K  present  nginx\n     4K  present  bash\n"
		  "     2M  present  nginx\n     4K  swap     n/a\n");
}

TEST(sort_by_what_is_not_shown)
{
	CHECK_STR(RUN(.sort = "address", .columns = "size,task"),
		  "size,task\n4096,nginx\n4096,bash\n2097152,nginx\n4096,\n8192,sshd\n");
	CHECK_STR(RUN(.sort = "task,size:desc", .filter = "size<=4K or present"),
		  "size,state,task\n4096,present,bash\n2097152,present,nginx\n"
		  "4096,present,nginx\n4096,swap,\n");
}

TEST(groups)
{
	CHECK_STR(RUN(.group = "task"),
		  "task,count,size\nbash,1,4096\nnginx,2,2101248\nsshd,1,8192\n,1,4096\n");
	CHECK_STR(RUN(.group = "state", .filter = "task=nginx or swap"),
		  "state,count,size\npresent,2,2101248\nswap,2,12288\n");
	CHECK_STR(RUN(.group = "task", .sort = "size:desc"),
		  "task,count,size\nnginx,2,2101248\nsshd,1,8192\nbash,1,4096\n,1,4096\n");
	CHECK_STR(RUN(.group = "task", .sort = "count:desc,task:desc",
		      .columns = "count,task"),
		  "count,task\n2,nginx\n1,sshd\n1,bash\n1,\n");
	CHECK_STR(RUN(.group = "size", .format = "jsonl"),
		  "{\"size\":4096,\"count\":3,\"total\":12288}\n"
		  "{\"size\":8192,\"count\":1,\"total\":8192}\n"
		  "{\"size\":2097152,\"count\":1,\"total\":2097152}\n");
	CHECK_STR(RUN(.group = "task", .filter = "size>1G", .format = "json"),
		  "[]\n");
}

TEST(errors_come_before_any_byte)
{
	CHECK_STR(RUN(.format = "xml"),
		  "error: format: unknown format 'xml'; known: plain, csv, json, jsonl, html, parquet, pprof");
	CHECK_STR(RUN(.columns = "size,color"), "error: columns: unknown "
		  "column 'color'; known: address, size, state, task");
	CHECK_STR(RUN(.sort = "color"), "error: sort: unknown column "
		  "'color'; known: address, size, state, task");
	CHECK_STR(RUN(.group = "color"), "error: group: unknown column "
		  "'color'; known: address, size, state, task");
	/* Behind --group, columns are those of the groups. */
	CHECK_STR(RUN(.group = "task", .sort = "address"), "error: sort: "
		  "unknown column 'address'; known: task, count, size");
	CHECK_STR(RUN(.group = "task", .columns = "state"), "error: columns: "
		  "unknown column 'state'; known: task, count, size");
	CHECK_STR(RUN(.filter = "wrtable"), "error: filter: unknown name "
		  "'wrtable' at character 1; known: columns address, size, "
		  "state, task; words present, swap");
	CHECK_STR(RUN(.page_shift = 64), "error: pages of 2^64 bytes are not pages");
}

TEST(complete_means_complete)
{
	struct atw_output_opts o = { .path = "/dev/null" };
	struct atw_output *out;
	struct atw_err err;

	CHECK_EQ(atw_output_open(&o, &schema, &out, &err), ATW_OK);
	CHECK_EQ(atw_output_row(out, &rows[0], &err), ATW_OK);
	CHECK_EQ(atw_output_commit(out, &err), ATW_OK);
	CHECK_EQ(atw_output_row(out, &rows[0], &err), ATW_E_USAGE);
	CHECK_STR(err.text, "the output is already complete");
	CHECK_EQ(atw_output_note(out, "x"), ATW_E_USAGE);
	CHECK_EQ(atw_output_commit(out, NULL), ATW_E_USAGE);
	atw_output_close(out);
	atw_output_close(NULL);
}

/* Rows with text behind each, into a file; what is in it. */
static const char *texts(struct atw_output_opts o)
{
	struct atw_output *out = NULL;
	char path[64], line[8];
	int fd = memfd_create("out", 0), rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	capture_err = (struct atw_err){ 0 };
	rc = atw_output_open(&o, &schema, &out, &capture_err);
	for (size_t i = 0; rc == ATW_OK && i < NELEM(rows); i++) {
		rc = atw_output_row(out, &rows[i], &capture_err);
		snprintf(line, sizeof(line), "%zu\033\n", i);
		if (rc == ATW_OK)
			rc = atw_output_text(out, "[%s", line);
	}
	if (rc == ATW_OK)
		rc = atw_output_commit(out, &capture_err);
	if (rc == ATW_OK)
		capture_read(fd);
	if (rc == ATW_OK && atw_output_text(out, "late") >= 0)
		rc = ATW_E_USAGE;
	atw_output_close(out);
	close(fd);
	return rc == ATW_OK ? capture_text : capture_err.text;
}
#define TEXTS(...) texts((struct atw_output_opts){ __VA_ARGS__ })

/* It goes where its row goes. */
TEST(text_behind_rows)
{
	CHECK_STR(TEXTS(.columns = "task"),
		  "TASK\nsshd\n[0\\x1b\nnginx\n[1\\x1b\nbash\n[2\\x1b\nnginx\n[3\\x1b\nn/a\n[4\\x1b\n");
	CHECK_STR(TEXTS(.columns = "task", .filter = "task=bash"), "TASK\nbash\n[2\\x1b\n");
	CHECK_STR(TEXTS(.columns = "task", .filter = "task=bash", .format = "csv"),
		  "task\nbash\n");
	CHECK_STR(TEXTS(.columns = "task", .filter = "task=bash", .sort = "task"),
		  "TASK\nbash\n");
	CHECK_STR(TEXTS(.columns = "size", .filter = "task=bash", .bare = true),
		  "     4K\n[2\\x1b\n");
}

TEST(checked_without_an_output)
{
	struct atw_output_opts o = { .columns = "task", .path = "/nonexistent/folder/file" };

	CHECK_EQ(atw_output_check(&o, &schema, &capture_err), ATW_OK);
	o.sort = "nothing";
	CHECK_EQ(atw_output_check(&o, &schema, &capture_err), ATW_E_USAGE);
	CHECK_EQ(capture_err.param, ATW_PARAM_SORT);
	CHECK_STR(capture_err.text,
		  "unknown column 'nothing'; known: address, size, state, task");
	o.sort = NULL;
	o.format = "xml";
	CHECK_EQ(atw_output_check(&o, &schema, &capture_err), ATW_E_USAGE);
}

struct taken {
	const struct atw_schema *schema;
	uint64_t rows, sizes;
};

static int take_schema(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct taken *t = arg;

	t->schema = sc;
	return sc->ncols == 4 ? ATW_OK : atw_err_set(err, ATW_E_USAGE, "too narrow");
}

static int take_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct taken *t = arg;

	t->rows++;
	t->sizes += row->v[1].u;
	return t->rows < 5 ? ATW_OK : atw_err_set(err, ATW_E_USAGE, "too many");
}

TEST(rows_to_a_function)
{
	struct taken taken = {0};
	const struct atw_tap tap = { .open = take_schema, .row = take_row, .arg = &taken };
	struct atw_output_opts o = {.tap = &tap, .filter = "present", .columns = "nothing"};
	const struct atw_schema narrow = {"test", cols, 3};
	struct atw_output *out;
	struct atw_err err = {0};

	CHECK_EQ(atw_output_open(&o, &schema, &out, &err), ATW_OK);
	CHECK(taken.schema == &schema);
	for (size_t i = 0; i < NELEM(rows); i++)
		CHECK_EQ(atw_output_row(out, &rows[i], &err), ATW_OK);
	atw_output_note(out, "nothing");
	CHECK_EQ(atw_output_text(out, "nothing"), ATW_OK);
	CHECK_EQ(atw_output_flush(out, &err), ATW_OK);
	CHECK_EQ(taken.rows, 3);
	CHECK_EQ(taken.sizes, 8192 + (2 << 20));
	CHECK_EQ(atw_output_rows(out), 3);
	CHECK_EQ(atw_output_row(out, &rows[1], &err), ATW_OK);
	/* Its failure is one of the output. */
	CHECK_EQ(atw_output_row(out, &rows[1], &err), ATW_E_USAGE);
	CHECK_STR(err.text, "too many");
	CHECK_EQ(atw_output_commit(out, &err), ATW_E_USAGE);
	atw_output_close(out);
	CHECK_EQ(atw_output_open(&o, &narrow, &out, &err), ATW_E_USAGE);
	CHECK_STR(err.text, "too narrow");
	o.filter = "planet";
	CHECK_EQ(atw_output_open(&o, &schema, &out, &err), ATW_E_USAGE);
}
