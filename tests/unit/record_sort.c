/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows are sorted by several keys, stably, with n/a last. */
#include "test.h"

#include "record/sort.h"

enum { ID, SIZE, TASK };

static const struct atw_column cols[] = {
	[ID] = { .key = "id", .type = ATW_T_COUNT },
	[SIZE] = { .key = "size", .type = ATW_T_BYTES },
	[TASK] = { .key = "task", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, 3 };
static struct atw_err err;

#define NA UINT64_MAX            /* in the rows below: no size */

struct input {
	uint64_t size;
	const char *task;        /* NULL: n/a */
};

/* The ids (0, 1, ...) of the rows in their order, or the error. */
static const char *order(const char *spec, const struct input *in, size_t n)
{
	static char text[256];
	struct columns keep = { .n = 1, .at = { ID } };
	struct sorter *s = NULL;
	struct sort_keys keys;
	struct atw_row row;
	size_t at = 0;
	int rc = sort_parse(spec, &schema, &keys, &err);

	if (rc == ATW_OK)
		rc = sorter_create(&schema, &keys, &keep, &s, &err);
	for (size_t i = 0; rc == ATW_OK && i < n; i++) {
		char task[32] = "";
		const union atw_value v[] = {
			{ .u = i }, { .u = in[i].size }, { .s = task },
		};

		/* Gone after the call: the sorter must have its own. */
		if (in[i].task)
			snprintf(task, sizeof(task), "%s", in[i].task);
		rc = sorter_add(s, &(struct atw_row){ v, 1 |
				(uint64_t)(in[i].size != NA) << SIZE |
				(uint64_t)(in[i].task != NULL) << TASK }, &err);
	}
	if (rc == ATW_OK)
		rc = sorter_finish(s, &err);
	text[0] = '\0';
	while (rc == ATW_OK && sorter_next(s, &row))
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d",
				       at ? " " : "", (int)row.v[ID].u);
	sorter_destroy(s);
	return rc < 0 ? err.text : text;
}

#define ORDER(spec, ...) \
	order(spec, (const struct input[]){ __VA_ARGS__ }, \
	      sizeof((const struct input[]){ __VA_ARGS__ }) / sizeof(struct input))

TEST(one_key)
{
	CHECK_STR(ORDER("size", { 3, "" }, { 1, "" }, { 2, "" }), "1 2 0");
	CHECK_STR(ORDER("size:asc", { 3, "" }, { 1, "" }, { 2, "" }), "1 2 0");
	CHECK_STR(ORDER("size:desc", { 3, "" }, { 1, "" }, { 2, "" }), "0 2 1");
	CHECK_STR(ORDER("task", { 0, "b" }, { 0, "" }, { 0, "ab" }, { 0, "a" }),
		  "1 3 2 0");
	/* Texts that agree in more than a machine word. */
	CHECK_STR(ORDER("task", { 0, "kworker/1:2" }, { 0, "kworker/1:10" },
			{ 0, "kworker/" }), "2 1 0");
	CHECK_STR(ORDER("task:desc", { 0, "kworker/1:2" }, { 0, "\xff" },
			{ 0, "kworker/" }), "1 0 2");
}

TEST(a_sign_in_front)
{
	CHECK_STR(ORDER("-size", { 3, "" }, { 1, "" }, { 2, "" }), "0 2 1");
	CHECK_STR(ORDER("+size", { 3, "" }, { 1, "" }, { 2, "" }), "1 2 0");
	CHECK_STR(ORDER("size,-task", { 1, "c" }, { 0, "b" }, { 1, "a" }, { 0, "d" }), "3 1 0 2");
	CHECK_STR(order("-size:desc", NULL, 0),
		  "'-size:desc': expected size, size:asc or size:desc");
	CHECK_STR(order("-", NULL, 0), "unknown column ''; known: id, size, task");
	CHECK_STR(order("--size", NULL, 0), "unknown column '-size'; known: id, size, task");
	CHECK_STR(order("-size,size", NULL, 0), "column 'size' is named twice");
}

TEST(names_of_other_programs)
{
	CHECK_STR(ORDER("-length", { 3, "" }, { 1, "" }, { 2, "" }), "0 2 1");
	CHECK_STR(ORDER("comm:desc", { 0, "a" }, { 0, "b" }), "1 0");
	CHECK_STR(order("comm,task", NULL, 0), "column 'task' is named twice");
	CHECK_STR(order("rss", NULL, 0), "unknown column 'rss'; known: id, size, task");
}

TEST(stable)
{
	CHECK_STR(ORDER("size", { 1, "c" }, { 0, "b" }, { 1, "a" }, { 0, "d" },
			{ 1, "b" }), "1 3 0 2 4");
	/* Equal ones stay as they came the other way round as well. */
	CHECK_STR(ORDER("size:desc", { 1, "c" }, { 0, "b" }, { 1, "a" },
			{ 0, "d" }, { 1, "b" }), "0 2 4 1 3");
}

TEST(several_keys)
{
	CHECK_STR(ORDER("size,task", { 1, "c" }, { 0, "b" }, { 1, "a" },
			{ 0, "d" }), "1 3 2 0");
	CHECK_STR(ORDER("size:desc,task:desc", { 1, "c" }, { 0, "b" },
			{ 1, "a" }, { 0, "d" }), "0 2 3 1");
	CHECK_STR(ORDER("task,id:desc", { 0, "a" }, { 0, "a" }, { 0, "a" }),
		  "2 1 0");
}

TEST(missing_values_come_last)
{
	CHECK_STR(ORDER("size", { NA, "" }, { 5, "" }, { NA, "" }, { 1, "" }),
		  "3 1 0 2");
	CHECK_STR(ORDER("size:desc", { NA, "" }, { 5, "" }, { NA, "" }, { 0, "" }),
		  "1 3 0 2");
	CHECK_STR(ORDER("task:desc", { 0, NULL }, { 0, "" }, { 0, "x" }), "2 1 0");
	/* Also after the largest value there is. */
	CHECK_STR(ORDER("id,size", { NA, "" }), "0");
	CHECK_STR(ORDER("task", { 0, NULL }, { 0, "\xff\xff\xff\xff\xff\xff\xff\xff\xff" }),
		  "1 0");
}

TEST(nothing)
{
	CHECK_STR(order("size", NULL, 0), "");
}

TEST(errors)
{
	CHECK_STR(order("sise", NULL, 0),
		  "unknown column 'sise'; known: id, size, task");
	CHECK_STR(err.hint, "did you mean 'size'?");
	CHECK_STR(order("size:down", NULL, 0),
		  "'size:down': expected size, size:asc or size:desc");
	CHECK_STR(order("size:", NULL, 0),
		  "'size:': expected size, size:asc or size:desc");
	CHECK_STR(order("size,task,size:desc", NULL, 0),
		  "column 'size' is named twice");
	CHECK_STR(order("size,", NULL, 0),
		  "unknown column ''; known: id, size, task");
}

TEST(many_rows)
{
	enum { N = 200000 };
	struct columns keep = { .n = 2, .at = { ID, TASK } };
	struct sort_keys keys;
	struct sorter *s;
	struct atw_row row;
	uint64_t x = 1, n = 0, last_size = 0, last_id = 0;

	CHECK_EQ(sort_parse("size", &schema, &keys, &err), ATW_OK);
	CHECK_EQ(sorter_create(&schema, &keys, &keep, &s, &err), ATW_OK);
	for (uint64_t i = 0; i < N; i++) {
		char task[16];
		union atw_value v[] = { { .u = i }, { .u = 0 }, { .s = task } };

		x = x * 6364136223846793005u + 1442695040888963407u;
		v[SIZE].u = x >> 54;
		snprintf(task, sizeof(task), "%d", (int)v[SIZE].u);
		CHECK_EQ(sorter_add(s, &(struct atw_row){ v, 7 }, &err), ATW_OK);
	}
	CHECK_EQ(sorter_finish(s, &err), ATW_OK);
	for (; sorter_next(s, &row); n++) {
		uint64_t size = strtoull(row.v[TASK].s, NULL, 10);

		CHECK(size > last_size || (size == last_size &&
					   (!n || row.v[ID].u > last_id)));
		last_size = size;
		last_id = row.v[ID].u;
	}
	CHECK_EQ(n, N);
	sorter_destroy(s);
}
