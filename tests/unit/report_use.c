// SPDX-License-Identifier: GPL-2.0-or-later
/* The report `use` sums frames exactly by what they are used for. */
#include "test.h"

#include <stdarg.h>

#include "base/buf.h"
#include "census/model.h"
#include "report/frame_set.h"
#include "report/report.h"


enum { PAGE = 4096, ROWS = 16 };

/* What a report said, a line a row: values with blanks, "-" for n/a. */
struct said {
	const struct atw_schema *schema;
	struct buf text;
};

static int row(void *arg, const struct atw_row *r, struct atw_err *err)
{
	struct said *s = arg;

	(void)err;
	for (size_t i = 0; i < s->schema->ncols; i++) {
		if (i)
			buf_char(&s->text, ' ');
		if (!(r->have >> i & 1))
			buf_char(&s->text, '-');
		else if (s->schema->col[i].type == ATW_T_TEXT)
			buf_str(&s->text, r->v[i].s);
		else if (s->schema->col[i].type == ATW_T_BYTES)
			buf_printf(&s->text, "%g", (double)r->v[i].u / PAGE);
		else
			buf_printf(&s->text, "%" PRIu64, r->v[i].u);
	}
	buf_char(&s->text, '\n');
	return ATW_OK;
}

static void text(void *arg, const char *fmt, ...)
{
	struct said *s = arg;
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	buf_str(&s->text, line);
}

static struct capture_task tasks[3] = {
	{ .pid = 10, .uid = 0, .cgroup = { "/a", 2 } },
	{ .pid = 11, .uid = 7, .cgroup = { "/a", 2 } },
	{ .pid = 12, .uid = 7, .cgroup = { "/b", 2 } },
};
static const struct census_unit libc = { .number = 0, .name = "/lib/c" };
static struct census_process process[3] = {
	{ .number = 0, .task = &tasks[0], .name = "one", .pid = 10 },
	{ .number = 1, .task = &tasks[1], .name = "two", .pid = 11 },
	{ .number = 2, .task = &tasks[2], .name = "three", .pid = 12 },
};

/* n pages from frame `pfn` on in an area of the process. */
struct fed {
	int process;
	const struct census_unit *unit;
	enum census_class class;
	uint64_t pfn, n, refs;
	bool anon, swapped, huge;
};

static void feed(const struct census_report *r, const char *by, const struct fed *f, size_t n,
		 struct buf *ret)
{
	const struct census_report_opts o = { .by = by };
	struct said said = { .schema = r->schema };
	const struct census_out out = {
		.row = row, .text = text, .note = text, .plain = true, .whole = true, .arg = &said,
	};
	struct atw_err err = { 0 };
	void *state = NULL;

	if (census_report_start(r, &o, &state, &err) < 0) {
		buf_str(ret, err.text);
		census_report_drop(r, state);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct capture_area v = { .page = f[i].huge ? 2 << 20 : PAGE };
		struct capture_run run = { 0 };
		struct census_area a = {
			.process = &process[f[i].process], .v = &v, .unit = f[i].unit, .name = "",
			.v_has = CAPTURE_V_PAGE, .class = f[i].class,
		};
		struct census_pages p = {
			.area = &a, .run = &run, .pages = f[i].n, .pa = f[i].pfn * PAGE,
			.refs = f[i].refs, .counted = true, .anon = f[i].anon,
			.present = !f[i].swapped, .swapped = f[i].swapped,
			.known = CENSUS_PA | CENSUS_ORIGIN | (f[i].refs ? CENSUS_REFS : 0),
		};
		struct census_event ev = { .what = CENSUS_ON_AREA, .page = PAGE, .area = &a };

		for (unsigned j = 0; j < 3; j++)
			process[j].task_has = CAPTURE_T_UID | CAPTURE_T_CGROUP;
		if (r->feed(state, &ev, &err) < 0)
			break;
		ev = (struct census_event){ .what = CENSUS_ON_PAGES, .page = PAGE, .pages = &p };
		if (r->feed(state, &ev, &err) < 0)
			break;
	}
	if (err.status || r->finish(state, &out, &err) < 0)
		buf_str(ret, err.text);
	else
		buf_str(ret, said.text.data ? said.text.data : "");
	buf_deinit(&said.text);
	census_report_drop(r, state);
}

static const struct fed fed[] = {
	/* 12 pages of a library, in all three; two of them in the first two only. */
	{ 0, &libc, CENSUS_TEXT, 100, 12, 3, false, false, false },
	{ 0, &libc, CENSUS_TEXT, 200, 2, 2, false, false, false },
	{ 0, NULL, CENSUS_HEAP, 300, 5, 1, true, false, false },
	{ 1, &libc, CENSUS_TEXT, 100, 12, 3, false, false, false },
	{ 1, &libc, CENSUS_TEXT, 200, 2, 2, false, false, false },
	{ 1, NULL, CENSUS_HEAP, 0, 4, 0, true, true, false },
	/* Shared with the next one, of the same user. */
	{ 1, NULL, CENSUS_SHM, 400, 6, 2, false, false, false },
	{ 2, &libc, CENSUS_TEXT, 100, 12, 3, false, false, false },
	{ 2, NULL, CENSUS_SHM, 400, 6, 2, false, false, false },
	{ 2, NULL, CENSUS_ANON, 1024, 512, 1, true, false, true },
};

#define SAYS(report, by, fed_, want) do { \
	struct buf b_ = { 0 }; \
	feed(&(report), by, fed_, sizeof(fed_) / sizeof((fed_)[0]), &b_); \
	CHECK_STR(b_.data, want); \
	buf_deinit(&b_); \
} while (0)

/* look pid processes rss pss uss anon file swap huge thp_anon thp_shmem thp_file hugetlb user name */
TEST(each_process_by_its_share)
{
	SAYS(report_use, NULL, fed,
	     "1 10 1 19 10 5 5 14 0 0 0 0 0 0 - one\n"
	     "1 11 1 20 8 0 0 20 4 0 0 0 0 0 - two\n"
	     "1 12 1 18 7 0 0 18 0 0 0 0 0 512 - three\n");
}

TEST(what_is_shared_within_a_user_is_its_own)
{
	SAYS(report_use, "user", fed,
	     "1 - 2 38 15 6 0 38 4 0 0 0 0 512 - 7\n"
	     "1 - 1 19 10 5 5 14 0 0 0 0 0 0 - 0\n");
}

TEST(and_within_a_cgroup)
{
	SAYS(report_use, "cgroup", fed,
	     "1 - 2 39 18 7 5 34 4 0 0 0 0 0 - /a\n"
	     "1 - 1 18 7 0 0 18 0 0 0 0 0 512 - /b\n");
}

TEST(by_unit_or_by_what_it_is_for)
{
	SAYS(report_use, "unit", fed,
	     "1 - 3 40 14 14 0 40 0 0 0 0 0 0 - /lib/c\n"
	     "1 - 2 12 6 6 0 12 0 0 0 0 0 0 - [shm]\n"
	     "1 - 2 5 5 5 5 0 4 0 0 0 0 0 - [heap]\n"
	     "1 - 1 0 0 0 0 0 0 0 0 0 0 512 - [anon]\n");
}

TEST(who_did_not_count_cannot_share)
{
	static const struct fed some[] = {
		{ 0, NULL, CENSUS_HEAP, 300, 5, 1, true, false, false },
		{ 0, NULL, CENSUS_HEAP, 400, 5, 0, true, false, false },
	};

	SAYS(report_use, NULL, some, "1 10 1 10 - - 10 0 0 0 0 0 0 0 - one\n");
}

/* Its flags are not those of today, and swap it has none of. */
TEST(the_paper_tells_less)
{
	static const struct fed some[] = {
		{ 0, NULL, CENSUS_HEAP, 300, 5, 1, true, false, false },
	};

	process[0].paper = true;
	SAYS(report_use, NULL, some, "1 10 1 5 5 5 5 0 - - - - - - - one\n");
	process[0].paper = false;
}

TEST(says_what_there_is_to_add_up_by)
{
	SAYS(report_use, "colour", fed,
	     "'colour' is nothing to add up by: process, user, cgroup or unit");
}

TEST(a_frame_has_one_owner_or_many)
{
	struct owners o = { 0 };
	unsigned one = 9;

	/* Twice in one group, and that was all. */
	CHECK_EQ(owners_add(&o, 7, 2, 1, 0, &one, NULL), ATW_OK);
	CHECK_EQ(one, 0);
	CHECK_EQ(owners_add(&o, 7, 2, 1, 0, &one, NULL), ATW_OK);
	CHECK_EQ(one, 1);
	/* Once more than it is said to be mapped: not once more its own. */
	CHECK_EQ(owners_add(&o, 7, 2, 1, 0, &one, NULL), ATW_OK);
	CHECK_EQ(one, 0);
	/* In two. */
	CHECK_EQ(owners_add(&o, 8, 2, 1, 0, &one, NULL), ATW_OK);
	CHECK_EQ(owners_add(&o, 8, 2, 1, 1, &one, NULL), ATW_OK);
	CHECK_EQ(one, 0);
	/* One of three mappings is in no listed area. */
	CHECK_EQ(owners_add(&o, 9, 3, 1, 4, &one, NULL), ATW_OK);
	CHECK_EQ(owners_add(&o, 9, 3, 1, 4, &one, NULL), ATW_OK);
	CHECK_EQ(one, 0);
	/* Far apart, and more than the first table holds. */
	for (uint64_t i = 0; i < 5000; i++)
		CHECK_EQ(owners_add(&o, i << 30, 2, 1, 1, &one, NULL), ATW_OK);
	for (uint64_t i = 1; i < 5000; i++) {
		CHECK_EQ(owners_add(&o, i << 30, 2, 1, 1, &one, NULL), ATW_OK);
		CHECK_EQ(one, 1);
	}
	CHECK_EQ(o.chunks.table.n, 5000);
	owners_deinit(&o);
}
