/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups add up exactly; n/a is not zero, and sums stop at their maximum. */
#include "test.h"

#include "record/group.h"

enum { STATE, TASK, SIZE, RSS, COUNT };

static const char *const states[] = { "present", "swap" };
static const struct atw_names state_names = { 2, states, NULL };
static const struct atw_column cols[] = {
	[STATE] = { .key = "state", .type = ATW_T_ENUM, .names = &state_names,
		    .hidden = true },
	[TASK] = { .key = "task", .type = ATW_T_TEXT },
	[SIZE] = { .key = "size", .type = ATW_T_BYTES },
	[RSS] = { .key = "rss", .type = ATW_T_BYTES },
	[COUNT] = { .key = "count", .type = ATW_T_COUNT },
};
static const struct atw_schema schema = { "test", cols, 5 };
static struct atw_err err;

static void add(struct group *g, uint64_t state, const char *task,
		uint64_t size, uint64_t have)
{
	char copy[32];
	const union atw_value v[] = {
		{ .u = state }, { .s = copy }, { .u = size }, { .u = size * 10 },
		{ .u = 7 },
	};

	snprintf(copy, sizeof(copy), "%s", task);
	if (group_add(g, &(struct atw_row){ v, have }, &err) < 0)
		TEST_FAIL("%s", err.text);
}

/* "KEY COUNT SUM...", for keys that are numbers or texts; "-" is n/a. */
static const char *next(struct group *g)
{
	static char text[256];
	const struct atw_schema *sc = group_schema(g);
	struct atw_row row;
	size_t n = 0;

	if (!group_next(g, &row))
		return "end";
	for (size_t i = 0; i < sc->ncols; i++) {
		const char *gap = i ? " " : "";

		if (!(row.have >> i & 1))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%s-", gap);
		else if (sc->col[i].type == ATW_T_TEXT)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%s%s", gap, row.v[i].s);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%s%" PRIu64, gap, row.v[i].u);
	}
	return text;
}

static const char *keys(const struct group *g)
{
	static char text[128];
	const struct atw_schema *sc = group_schema(g);

	text[0] = '\0';
	for (size_t i = 0; i < sc->ncols; i++) {
		strcat(text, i ? " " : "");
		strcat(text, sc->col[i].key);
		if (sc->col[i].hidden)
			strcat(text, "(hidden)");
	}
	return text;
}

TEST(sums)
{
	struct group *g;

	CHECK_EQ(group_create("state", &schema, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "state count size");
	add(g, 1, "", 4096, 31);
	add(g, 0, "", 1, 31);
	add(g, 1, "", 8192, 31);
	CHECK_STR(next(g), "1 2 12288");
	CHECK_STR(next(g), "0 1 1");
	CHECK_STR(next(g), "end");
	group_destroy(g);
}

/* Where there is no `size`: all of bytes or pages; those not shown only if asked for. */
TEST(sums_of_pages)
{
	static const struct atw_column of_pages[] = {
		{ .key = "task", .type = ATW_T_TEXT }, { .key = "pid", .type = ATW_T_COUNT },
		{ .key = "vsize", .type = ATW_T_PAGES }, { .key = "rss", .type = ATW_T_BYTES },
		{ .key = "pages", .type = ATW_T_COUNT },
		{ .key = "swapped", .type = ATW_T_PAGES, .hidden = true },
	};
	static const struct atw_schema areas = { "areas", of_pages, 6 };
	const union atw_value v[] = {
		{ .s = "a" }, { .u = 7 }, { .u = 3 }, { .u = 8192 }, { .u = 2 }, { .u = 1 },
	};
	struct group *g;

	CHECK_EQ(group_create("task", &areas, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "task count vsize rss pages swapped(hidden)");
	CHECK_EQ(group_add(g, &(struct atw_row){ v, 63 }, &err), ATW_OK);
	CHECK_EQ(group_add(g, &(struct atw_row){ v, 31 }, &err), ATW_OK);
	CHECK_STR(next(g), "a 2 6 16384 4 1");
	CHECK_STR(next(g), "end");
	group_destroy(g);
	CHECK_EQ(group_create("swapped", &areas, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "swapped count vsize rss pages total");
	group_destroy(g);
}

TEST(texts_and_missing_values)
{
	struct group *g;

	CHECK_EQ(group_create("task", &schema, &g, &err), ATW_OK);
	add(g, 0, "nginx", 1, 31);
	add(g, 0, "", 2, 31);
	add(g, 0, "nginx", 4, 31);
	add(g, 0, "lost", 8, 31 & ~(1 << TASK));
	add(g, 0, "lost too", 16, 31 & ~(1 << TASK));
	CHECK_STR(next(g), "nginx 2 5");
	CHECK_STR(next(g), " 1 2");
	CHECK_STR(next(g), "- 2 24");
	CHECK_STR(next(g), "end");
	group_destroy(g);
}

TEST(missing_is_not_zero)
{
	struct group *g;

	CHECK_EQ(group_create("state", &schema, &g, &err), ATW_OK);
	add(g, 0, "", 5, 31 & ~(1 << SIZE));
	add(g, 1, "", 5, 31);
	add(g, 1, "", 5, 31 & ~(1 << SIZE));
	add(g, 0, "", 5, 31 & ~(1 << STATE));
	CHECK_STR(next(g), "0 1 -");
	CHECK_STR(next(g), "1 2 5");
	CHECK_STR(next(g), "- 1 5");
	group_destroy(g);
}

TEST(a_key_has_one_meaning)
{
	struct group *g;

	CHECK_EQ(group_create("size", &schema, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "size count total");
	add(g, 0, "", 4096, 31);
	add(g, 0, "", 4096, 31);
	CHECK_STR(next(g), "4096 2 8192");
	group_destroy(g);
	CHECK_EQ(group_create("count", &schema, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "count rows size");
	group_destroy(g);
}

TEST(without_size_all_bytes_are_summed)
{
	static const struct atw_column c[] = {
		{ .key = "task", .type = ATW_T_TEXT },
		{ .key = "rss", .type = ATW_T_BYTES },
		{ .key = "pid", .type = ATW_T_COUNT },
		{ .key = "swap", .type = ATW_T_BYTES, .hidden = true },
	};
	static const struct atw_schema sc = { "ps", c, 4 };
	const union atw_value v[] = {
		{ .s = "a" }, { .u = 10 }, { .u = 3 }, { .u = 20 },
	};
	struct group *g;

	CHECK_EQ(group_create("task", &sc, &g, &err), ATW_OK);
	CHECK_STR(keys(g), "task count rss swap");
	group_add(g, &(struct atw_row){ v, 15 }, &err);
	group_add(g, &(struct atw_row){ v, 15 }, &err);
	CHECK_STR(next(g), "a 2 20 40");
	group_destroy(g);
}

TEST(sums_stay_at_their_maximum)
{
	struct group *g;

	CHECK_EQ(group_create("state", &schema, &g, &err), ATW_OK);
	add(g, 0, "", UINT64_MAX - 1, 31);
	add(g, 0, "", 4096, 31);
	add(g, 0, "", 4096, 31);
	CHECK_STR(next(g), "0 3 18446744073709551615");
	group_destroy(g);
}

TEST(many_groups)
{
	struct group *g;
	struct atw_row row;
	uint64_t n = 0;

	CHECK_EQ(group_create("size", &schema, &g, &err), ATW_OK);
	for (uint64_t i = 0; i < 60000; i++)
		add(g, 0, "", i % 20000 << 12, 31);
	for (; group_next(g, &row); n++) {
		CHECK_EQ(row.v[0].u, n << 12);
		CHECK_EQ(row.v[1].u, 3);
		CHECK_EQ(row.v[2].u, 3 * (n << 12));
	}
	CHECK_EQ(n, 20000);
	group_destroy(g);
}

TEST(errors)
{
	struct group *g;

	CHECK_EQ(group_create("stat", &schema, &g, &err), ATW_E_USAGE);
	CHECK_EQ(err.param, ATW_PARAM_GROUP);
	CHECK_STR(err.text, "unknown column 'stat'; "
		  "known: state, task, size, rss, count");
	CHECK_STR(err.hint, "did you mean 'state'?");
}
