/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_plugin_sink.c - sinks of plugins: what they learn of columns of each type, values in
 * batches, and when these are passed on.
 */
#include <stdarg.h>

#include "output/plugin_sink.h"
#include "output_capture.h"

static const char *const words[] = { "no", NULL, "yes" };
static const struct atw_names names = { 3, words, "abc" };
static const struct atw_column element[] = { { .key = "n", .type = ATW_T_COUNT } };
static const struct atw_schema elements = { "elements", element, 1 };
static const struct atw_column cols[] = {
	{ .key = "va", .type = ATW_T_VA }, { .key = "bytes", .type = ATW_T_BYTES },
	{ .key = "rate", .type = ATW_T_COUNT, .rate = true },
	{ .key = "bps", .type = ATW_T_CHANGE_BYTES, .rate = true },
	{ .key = "pages", .type = ATW_T_PAGES, .help = "of memory" },
	{ .key = "word", .type = ATW_T_ENUM, .names = &names },
	{ .key = "rights", .type = ATW_T_LETTERS, .names = &names },
	{ .key = "set", .type = ATW_T_FLAGS, .names = &names },
	{ .key = "text", .type = ATW_T_TEXT }, { .key = "took", .type = ATW_T_SECONDS },
	{ .key = "at", .type = ATW_T_TIME }, { .key = "list", .type = ATW_T_LIST, .of = &elements },
};
static const struct atw_schema schema = { "test", cols, NELEM(cols) };

/* ---- a sink that writes all that it gets ---- */

struct looking {
	unsigned begun, ended, batches;
	struct atw_plugin_stream *to;
	const struct atw_listing *l;
	uint32_t n;
};

static int looking_put(struct looking *x, struct atw_err *err, const char *fmt, ...)
{
	char text[200];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return plugin_stream_write(x->to, text, (size_t)n, err);
}

static int looking_begin(void *instance, const struct atw_listing *l,
			 struct atw_plugin_stream *to, void **ret, struct atw_err *err)
{
	struct looking *x = *ret = instance;

	x->begun++;
	x->to = to;
	x->n = l->ninputs;
	looking_put(x, err, "%s %u\n", l->name, l->flags);
	for (uint32_t i = 0; i < l->ninputs; i++) {
		const struct atw_plugin_column *c = l->inputs[i];

		looking_put(x, err, "%s %u %s %s %u%s%s\n", c->name, c->type,
			    c->unit ? c->unit : "-", c->letters ? c->letters : "-", c->nnames,
			    c->nnames > 2 ? c->names[2] : "", c->help ? c->help : "");
	}
	return ATW_OK;
}

static int looking_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct looking *x = state;

	x->batches++;
	looking_put(x, err, "%u:", b->nrows);
	for (uint32_t i = 0; i < x->n; i++)
		if (!(b->in_known[i][0] & 1))
			looking_put(x, err, " -");
		else if (cols[i].type == ATW_T_TEXT)
			looking_put(x, err, " %s", b->in[i][0].s);
		else
			looking_put(x, err, " %lld", (long long)b->in[i][0].i);
	return looking_put(x, err, "\n");
}

static int looking_finish(void *state, struct atw_err *err)
{
	return looking_put(state, err, "end\n");
}

static void looking_end(void *state)
{
	((struct looking *)state)->ended++;
}

static struct plugin_sink looking(struct looking *x)
{
	struct plugin_sink s = {
		.plugin = "looking", .instance = x,
		.of = { .name = "look", .begin = looking_begin, .rows = looking_rows,
			.finish = looking_finish, .end = looking_end },
	};

	plugin_sink_init(&s);
	return s;
}

static const union atw_value three[] = { U(1), U(2), U(3) };
static const uint64_t have[] = { 1, 1, 1 };
static const struct atw_list list = { 3, three, have };

TEST(columns_of_each_type_and_their_values)
{
	struct looking x = { 0 };
	struct plugin_sink s = looking(&x);
	const union atw_value v[] = {
		U(4096), U(5), U(6), U(UINT64_MAX), U(8), U(2), U(5), U(4), S("a\"b"), U(1500),
		U(99), { .list = &list },
	};
	const struct atw_row rows[] = { { v, (1 << NELEM(cols)) - 1 } };
	const char *got = capture((struct atw_output_opts){ .sink = &s.ops, .listing = 2,
							    .threads = 3 }, &schema, rows, 1);

	CHECK_STR(got, "test 2\nva 1 - - 0\nbytes 3 bytes - 0\nrate 4 /s - 0\n"
		       "bps 11 bytes/s - 0\npages 5 pages - 0of memory\nword 6 - - 3yes\n"
		       "rights 7 - abc 3yes\nset 7 - - 3yes\ntext 8 - - 0\ntook 9 ms - 0\n"
		       "at 13 us - 0\nlist 4 - - 0\n"
		       "1: 4096 5 6 -1 8 2 5 4 a\"b 1500 99 3\nend\n");
	CHECK_EQ(x.begun, 1);
	CHECK_EQ(x.ended, 1);
}

TEST(what_is_not_known_and_no_rows)
{
	struct looking x = { 0 };
	struct plugin_sink s = looking(&x);
	const union atw_value v[NELEM(cols)] = { U(1) };
	const struct atw_row rows[] = { { v, 0 } };
	const struct atw_output_opts o = { .sink = &s.ops, .columns = "va,text,list" };

	CHECK_STR(capture(o, &schema, rows, 1),
		  "test 0\nva 1 - - 0\ntext 8 - - 0\nlist 4 - - 0\n1: - - -\nend\n");
	CHECK_STR(capture(o, &schema, rows, 0), "test 0\nva 1 - - 0\ntext 8 - - 0\nlist 4 - - 0\nend\n");
	CHECK_EQ(x.batches, 1);
	CHECK_EQ(x.ended, 2);
}

TEST(a_flush_passes_on_what_is_kept)
{
	struct looking x = { 0 };
	struct plugin_sink s = looking(&x);
	const union atw_value v[NELEM(cols)] = { U(1) };
	const struct atw_row row = { v, 1 };
	struct atw_output *out;
	int fd = memfd_create("flush", MFD_CLOEXEC);
	char path[32];
	struct atw_output_opts o = { .sink = &s.ops, .columns = "va", .path = path };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(atw_output_open(&o, &schema, &out, NULL), ATW_OK);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(atw_output_row(out, &row, NULL), ATW_OK);
	CHECK_EQ(x.batches, 0);
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_STR(capture_read(fd), "test 0\nva 1 - - 0\n3: 1\n");
	CHECK_EQ(atw_output_flush(out, NULL), ATW_OK);
	CHECK_EQ(x.batches, 1);
	atw_output_close(out);           /* without a commit: `end`, but no `finish` */
	CHECK_STR(capture_read(fd), "test 0\nva 1 - - 0\n3: 1\n");
	CHECK_EQ(x.ended, 1);
	close(fd);
}
