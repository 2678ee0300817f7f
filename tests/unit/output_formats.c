/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output_formats.c - one set of rows, every byte of each format. */
#include "output_capture.h"

static const char *const states[] = { "present", "swap" };
static const char *const flags[] = { "present", "writable", NULL, "dirty" };
static const struct atw_names state_names = { 2, states, NULL };
static const struct atw_names flag_names = { 4, flags, NULL };
static const struct atw_names right_names = { 4, NULL, "rwxu" };

static const struct atw_column cols[] = {
	{ .key = "address", .type = ATW_T_VA },
	{ .key = "size", .type = ATW_T_BYTES },
	{ .key = "physical", .type = ATW_T_PA },
	{ .key = "state", .type = ATW_T_ENUM, .names = &state_names },
	{ .key = "flags", .type = ATW_T_FLAGS, .names = &flag_names },
	{ .key = "rights", .type = ATW_T_LETTERS, .names = &right_names },
	{ .key = "entry", .type = ATW_T_HEX, .hidden = true },
	{ .key = "pid", .type = ATW_T_COUNT },
	{ .key = "task", .type = ATW_T_TEXT },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

static const union atw_value page[] = {
	U(0x7f0000001000), U(4096), U(0x1234000), U(0), U(1 | 2 | 8),
	U(1 | 2 | 8), U(0x8000000001234067), U(812), S("nginx"),
};
/* What the tables of names do not know. */
static const union atw_value odd[] = {
	U(UINT64_MAX), U(3 << 20 | 1 << 19), U(0), U(5),
	U(8 | 4 | 1ull << 40), U(4 | 1 << 8), U(0), U(0),
	S("a \"b\",\n\033[31m\xff "),
};
static const union atw_value empty[] = {
	U(0), U(0), U(0), U(1), U(0), U(0), U(0), U(UINT64_MAX), S(""),
};
#define ALL 0x1ff
static const struct atw_row rows[] = {
	{ page, ALL }, { odd, ALL }, { empty, ALL }, { page, 1 },
};

TEST(plain)
{
	CHECK_STR(capture((struct atw_output_opts){ 0 }, &schema, rows, 4),
"ADDRESS                SIZE  PHYSICAL            STATE    FLAGS                     RIGHTS       PID  TASK\n"
"0x00007f0000001000       4K  0x0000000001234000  present  present,writable,dirty    rw-u         812  nginx\n"
"0xffffffffffffffff     3.5M  0x0000000000000000  0x5      dirty,0x10000000004       --x-+0x100         0  a \"b\",\\x0a\\x1b[31m\\xff\\x20\n"
"0x0000000000000000       0B  0x0000000000000000  swap     -                         ----    18446744073709551615  -\n"
"0x00007f0000001000      n/a  n/a                 n/a      n/a                       n/a          n/a  n/a\n");
}

TEST(csv)
{
	CHECK_STR(capture((struct atw_output_opts){ .format = "csv" }, &schema,
			  rows, 4),
"address,size,physical,state,flags,rights,pid,task\n"
"0x00007f0000001000,4096,0x0000000001234000,present,\"present,writable,dirty\",rw-u,812,nginx\n"
"0xffffffffffffffff,3670016,0x0000000000000000,0x5,\"dirty,0x10000000004\",--x-+0x100,0,\"a \"\"b\"\",\n\\x1b[31m\\xff \"\n"
"0x0000000000000000,0,0x0000000000000000,swap,,----,18446744073709551615,\"\"\n"
"0x00007f0000001000,,,,,,,\n");
}

/* Text that a spreadsheet would take for a formula, and what can be taken back. */
TEST(csv_has_no_formulas)
{
	static const struct { const char *text, *cell; } table[] = {
		{ "=cmd|'/c calc'!A0", "\"'=cmd|'/c calc'!A0\"" },
		{ "+1", "\"'+1\"" }, { "-bash", "\"'-bash\"" }, { "@SUM(1)", "\"'@SUM(1)\"" },
		{ "=1,\"2\"", "\"'=1,\"\"2\"\"\"" }, { "\t=1", "\"'\t=1\"" },
		{ "'=1", "\"''=1\"" }, { "''-x", "\"'''-x\"" }, { "=\033", "\"'=\\x1b\"" },
		{ "'quoted'", "'quoted'" }, { "a=1", "a=1" }, { "'", "'" }, { "[heap]", "[heap]" },
	};
	const struct atw_output_opts o = { .format = "csv", .columns = "rights,task" };
	char want[200];

	for (size_t i = 0; i < NELEM(table); i++) {
		union atw_value v[NELEM(cols)] = { [5] = U(0), [8] = S(table[i].text) };

		snprintf(want, sizeof(want), "rights,task\n----,%s\n", table[i].cell);
		CHECK_STR(capture(o, &schema, &(struct atw_row){ v, ALL }, 1), want);
	}
}

#define JSON_ROWS(between, last) \
"{\"address\":\"0x00007f0000001000\",\"size\":4096,\"physical\":\"0x0000000001234000\",\"state\":\"present\",\"flags\":[\"present\",\"writable\",\"dirty\"],\"rights\":\"rw-u\",\"pid\":812,\"task\":\"nginx\"}" between \
"{\"address\":\"0xffffffffffffffff\",\"size\":3670016,\"physical\":\"0x0000000000000000\",\"state\":\"0x5\",\"flags\":[\"dirty\",\"0x10000000004\"],\"rights\":\"--x-+0x100\",\"pid\":0,\"task\":\"a \\\"b\\\",\\n\\u001b[31m\\u00ff \"}" between \
"{\"address\":\"0x0000000000000000\",\"size\":0,\"physical\":\"0x0000000000000000\",\"state\":\"swap\",\"flags\":[],\"rights\":\"----\",\"pid\":18446744073709551615,\"task\":\"\"}" between \
"{\"address\":\"0x00007f0000001000\",\"size\":null,\"physical\":null,\"state\":null,\"flags\":null,\"rights\":null,\"pid\":null,\"task\":null}" last

TEST(json)
{
	CHECK_STR(capture((struct atw_output_opts){ .format = "json" }, &schema,
			  rows, 4), "[\n" JSON_ROWS(",\n", "\n]\n"));
}

TEST(jsonl)
{
	CHECK_STR(capture((struct atw_output_opts){ .format = "jsonl" }, &schema,
			  rows, 4), JSON_ROWS("\n", "\n"));
}

TEST(no_rows)
{
	struct atw_output_opts o = { .columns = "address,pid" };

	CHECK_STR(capture(o, &schema, NULL, 0), "ADDRESS                  PID\n");
	o.format = "csv";
	CHECK_STR(capture(o, &schema, NULL, 0), "address,pid\n");
	o.format = "json";
	CHECK_STR(capture(o, &schema, NULL, 0), "[]\n");
	o.format = "jsonl";
	CHECK_STR(capture(o, &schema, NULL, 0), "");
}

TEST(a_null_text_is_missing)
{
	const union atw_value v[] = { S(NULL) };
	const struct atw_column c[] = { { .key = "task", .type = ATW_T_TEXT } };
	const struct atw_schema sc = { "test", c, 1 };
	const struct atw_row row = { v, 1 };
	struct atw_output_opts o = { 0 };

	CHECK_STR(capture(o, &sc, &row, 1), "TASK\nn/a\n");
	o.format = "csv";
	CHECK_STR(capture(o, &sc, &row, 1), "task\n\n");
	o.format = "json";
	CHECK_STR(capture(o, &sc, &row, 1), "[\n{\"task\":null}\n]\n");
	o.sort = o.group = "task";
	o.format = "jsonl";
	CHECK_STR(capture(o, &sc, &row, 1), "{\"task\":null,\"count\":1}\n");
}

TEST(units)
{
	static const struct atw_column c[] = {
		{ .key = "size", .type = ATW_T_BYTES, .width = 5 },
		{ .key = "pid", .type = ATW_T_COUNT, .width = 3 },
	};
	static const struct atw_schema sc = { "test", c, 2 };
	static const union atw_value v[][2] = {
		{ U(4096), U(4096) }, { U(2 << 20), U(1) }, { U(146432), U(1) },
		{ U(1), U(1) }, { U(0), U(1) },
	};
	static const struct atw_row r[] = {
		{ v[0], 3 }, { v[1], 3 }, { v[2], 3 }, { v[3], 3 }, { v[4], 3 },
	};
	struct atw_output_opts o = { .columns = "size" };

	CHECK_STR(capture(o, &sc, r, 5), " SIZE\n   4K\n   2M\n 143K\n   1B\n   0B\n");
	o.units = ATW_UNITS_BYTES;
	CHECK_STR(capture(o, &sc, r, 5),
		  "           SIZE\n           4096\n        2097152\n"
		  "         146432\n              1\n              0\n");
	o.units = ATW_UNITS_PAGES;
	CHECK_STR(capture(o, &sc, r, 5),
		  "      SIZE\n         1\n       512\n     35.75\n      0.01\n         0\n");
	o.page_shift = 14;
	CHECK_STR(capture(o, &sc, r, 2), "      SIZE\n      0.25\n       128\n");
	/* Numbers stay numbers of bytes where a program reads them. */
	o.format = "csv";
	CHECK_STR(capture(o, &sc, r, 2), "size\n4096\n2097152\n");
	o.format = "jsonl";
	o.columns = NULL;
	CHECK_STR(capture(o, &sc, r, 1), "{\"size\":4096,\"pid\":4096}\n");
}

TEST(color_is_for_the_head_alone)
{
	struct atw_output_opts o = { .columns = "pid,task", .color = true };

	CHECK_STR(capture(o, &schema, rows, 1),
		  "\033[1m     PID  TASK\033[0m\n     812  nginx\n");
	o.format = "csv";
	CHECK_STR(capture(o, &schema, rows, 1), "pid,task\n812,nginx\n");
}

TEST(wide_characters_keep_columns_aligned)
{
	static const struct atw_column c[] = {
		{ .key = "task", .type = ATW_T_TEXT, .width = 8 },
		{ .key = "pid", .type = ATW_T_COUNT, .width = 3 },
	};
	static const struct atw_schema sc = { "test", c, 2 };
	static const union atw_value v[][2] = {
		{ S("stra\xc3\x9f" "e"), U(1) }, { S("strasse"), U(2) },
		{ S("much too long"), U(3) },
	};
	static const struct atw_row r[] = { { v[0], 3 }, { v[1], 3 }, { v[2], 3 } };

	CHECK_STR(capture((struct atw_output_opts){ 0 }, &sc, r, 3),
		  "TASK      PID\n"
		  "stra\xc3\x9f" "e      1\n"
		  "strasse     2\n"
		  "much too long    3\n");
}

TEST(notes_are_plain_only)
{
	struct atw_output_opts o = { .columns = "task" };

	CHECK_STR(capture_note(o, &schema, rows, 1, "1 page\n\tof \033[1mnginx"),
		  "TASK\nnginx\n\n1 page\n\tof \\x1b[1mnginx\n");
	CHECK_STR(capture_note(o, &schema, rows, 1, "done\n"),
		  "TASK\nnginx\n\ndone\n");
	o.format = "csv";
	CHECK_STR(capture_note(o, &schema, rows, 1, "x"), "task\nnginx\n");
	o.format = "json";
	CHECK_STR(capture_note(o, &schema, rows, 0, "x"), "[]\n");
}

TEST(times)
{
	static const struct atw_column column[] = { { .key = "time", .type = ATW_T_TIME } };
	static const struct atw_schema sc = { "times", column, 1 };
	static const union atw_value v[] = { { .u = 0 }, { .u = 1795842907500000 }, { .u = UINT64_MAX } };
	const struct atw_row row[] = { { &v[0], 1 }, { &v[1], 1 }, { &v[2], 1 }, { &v[0], 0 } };
	struct atw_output_opts o = { .format = "csv" };

	CHECK_STR(capture(o, &sc, row, 4),
		  "time\n1970-01-01T00:00:00.000000Z\n2026-11-28T05:15:07.500000Z\n"
		  "586524-01-19T08:01:49.551615Z\n\n");
	o.format = "jsonl";
	CHECK_STR(capture(o, &sc, row + 1, 1), "{\"time\":\"2026-11-28T05:15:07.500000Z\"}\n");
	o.format = "plain";
	CHECK_STR(capture(o, &sc, row + 1, 1), "TIME\n2026-11-28T05:15:07.500000Z\n");
}

TEST(kinds)
{
	static const char *const names[] = { "plain", "csv", "json", "jsonl", "html", "parquet", "pprof" };
	size_t i;

	for (i = 0; i < NELEM(names); i++) {
		CHECK(atw_sink_kind(i));
		CHECK_STR(atw_sink_kind(i)->name, names[i]);
		CHECK(atw_sink_kind(i)->help);
	}
	CHECK(!atw_sink_kind(i));
}

/* Its numbers have a sign, except for addresses and raw words. */
TEST(parquet_range)
{
	static const struct atw_column one[] = { { .key = "pid", .type = ATW_T_COUNT } };
	static const struct atw_column va[] = { { .key = "address", .type = ATW_T_VA } };
	static const struct atw_column pa[] = { { .key = "physical", .type = ATW_T_PA } };
	static const struct atw_schema count = { "test", one, 1 }, address = { "test", va, 1 },
				       physical = { "test", pa, 1 };
	static const union atw_value big[] = { U(UINT64_MAX) }, most[] = { U(INT64_MAX) };
	static const struct atw_row beyond = { big, 1 }, within = { most, 1 }, none = { big, 0 };
	struct atw_output_opts o = { .format = "parquet" };

	CHECK_STR(capture(o, &count, &beyond, 1),
		  "error: column pid: 18446744073709551615 does not fit a signed number of 64 bits");
	CHECK(!strncmp(capture(o, &count, &within, 1), "PAR1", 4));
	CHECK(!strncmp(capture(o, &count, &none, 1), "PAR1", 4));
	CHECK(!strncmp(capture(o, &address, &beyond, 1), "PAR1", 4));
	CHECK(!strncmp(capture(o, &physical, &beyond, 1), "PAR1", 4));
}
