/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people write behind --filter, --columns, --sort and --group, a line
 * each, over a few rows of every type; the bytes come out in every format.
 */
#include <fcntl.h>

#include "fuzz.h"
#include "record/filter.h"

static const char *const states[] = { "present", "swap", NULL, "absent" };
static const char *const flags[] = { "dirty", "present", "sw52", NULL, "nx" };
static const char *const rights[] = { "readable", "writable", "executable", "user" };
static const struct atw_names state_names = { 4, states, NULL };
static const struct atw_names flag_names = { 5, flags, NULL };
static const struct atw_names right_names = { 4, rights, "rwxu" };

static const struct atw_column columns[] = {
	{ .key = "address", .type = ATW_T_VA, .help = "" },
	{ .key = "physical", .type = ATW_T_PA, .help = "" },
	{ .key = "entry", .type = ATW_T_HEX, .help = "", .hidden = true },
	{ .key = "size", .type = ATW_T_BYTES, .help = "", .width = 6 },
	{ .key = "count", .type = ATW_T_PAGES, .help = "", .sum = true },
	{ .key = "state", .type = ATW_T_ENUM, .help = "", .names = &state_names },
	{ .key = "flags", .type = ATW_T_FLAGS, .help = "", .names = &flag_names },
	{ .key = "rights", .type = ATW_T_LETTERS, .help = "", .names = &right_names },
	{ .key = "task", .type = ATW_T_TEXT, .help = "" },
	{ .key = "last", .type = ATW_T_COUNT, .help = "" },
};
enum { NCOLS = sizeof(columns) / sizeof(columns[0]), ROWS = 6 };
static const struct atw_schema schema = { "fuzz", columns, NCOLS };

static struct atw_row row(unsigned i, union atw_value v[NCOLS])
{
	static const char *const tasks[] = {
		"nginx", "", "a b", "\"q\"\n\x1b[31m", "\xff\xfe,;\xff\xfe,;\xff\xfe,;\xff\xfe,;\xff\xfe,;",
		"kworker/0:1",
	};

	for (unsigned c = 0; c < NCOLS; c++)
		v[c].u = (uint64_t)i * 0x123456789abcd << c;
	v[3].u = i == 5 ? UINT64_MAX : (uint64_t)4096 << i;
	v[5].u = i % 4;
	v[6].u = i * 7 % 32;
	v[7].u = i * 5 % 16;
	v[8].s = tasks[i];
	return (struct atw_row){ v, i == 4 ? 0 : i == 3 ? 0x155 : 0x1ff };
}

static void filter(const char *expr)
{
	union atw_value v[NCOLS];
	struct filter *f = NULL, *not = NULL;
	struct atw_err err = { 0 };
	char *negated;
	int r = filter_create(expr, &schema, &f, &err);

	check_err(r, &err);
	if (r < 0)
		return;
	/* "not (...)" says the opposite of each row, unless it nests too deep. */
	if (asprintf(&negated, "not (%s)", expr) < 0)
		abort();
	r = filter_create(negated, &schema, &not, &err);
	FUZZ_CHECK(r == ATW_OK || strstr(err.text, "parentheses"), "%s: %s", negated,
		   err.text);
	for (unsigned i = 0; i < ROWS && r == ATW_OK; i++) {
		struct atw_row w = row(i, v);

		FUZZ_CHECK(filter_match(f, &w) != filter_match(not, &w), "row %u: %s", i,
			   expr);
	}
	filter_destroy(f);
	filter_destroy(not);
	free(negated);
}

static void output(const struct atw_output_opts *o)
{
	union atw_value v[NCOLS];
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	int r = atw_output_open(o, &schema, &out, &err);

	check_err(r, &err);
	for (unsigned i = 0; i < ROWS && r == ATW_OK; i++) {
		struct atw_row w = row(i, v);

		r = atw_output_row(out, &w, &err);
		check_err(r, &err);
	}
	if (r == ATW_OK) {
		atw_output_note(out, "%s", "a note");
		check_err(atw_output_commit(out, &err), &err);
	}
	atw_output_close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const formats[] = { "plain", "csv", "json", "jsonl" };
	static int null = -1;
	struct input in = { data, len };
	unsigned how = (unsigned)take(&in, 1);
	char path[32], *line[4];
	struct atw_output_opts o = {
		.format = formats[how & 3], .path = path, .units = (how >> 2) % 3,
		.color = how & 32, .page_shift = how >> 6 ? 12 : 0,
		.ahead = how & 64, .limit = how >> 6, .page_units = how & 16,
	};

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", null);
	for (unsigned i = 0; i < 4; i++)
		line[i] = take_line(&in);
	filter(line[0]);
	o.filter = line[0];
	output(&o);
	o.filter = NULL;
	o.columns = line[1];
	o.sort = line[2];
	output(&o);
	o.group = line[3];
	output(&o);
	for (unsigned i = 0; i < 4; i++)
		free(line[i]);
	return 0;
}
