/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of memory references are read as they were written, or refused. */
#include "base/bytes.h"
#include "test.h"
#include "trace/recording.h"

/* ATW_OK when all lines are; the last reference goes to *ret. */
static int read_text(struct trace_recording *rec, const char *text, struct trace_ref *ret,
		     struct atw_err *err)
{
	*rec = (struct trace_recording){ 0 };
	while (*text) {
		const char *end = strchrnul(text, '\n');
		int r = recording_read(rec, (struct atw_blob){ text, (size_t)(end - text) }, ret, err);

		if (r < 0)
			return r;
		text = *end ? end + 1 : end;
	}
	return recording_finish(rec, err);
}

#define HEAD "# atwalk references 1\n"

TEST(written_and_read)
{
	struct trace_recording w = {
		.backend = "qemu", .scale = 1, .program = "/a b\n\\", .has_load = true,
		.load = 0x4000000000, .lost = 7, .children = 2, .cut = "the limit",
	}, rec;
	const struct trace_ref ref = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_SIZE | TRACE_HAS_TID | TRACE_HAS_IP,
		.kind = TRACE_KIND_BOTH, .address = 0x4000004010, .ip = 0x4000001139, .size = 4,
		.tid = 1234, .count = UINT64_C(1) << 40,
	};
	struct trace_ref got = { 0 };
	struct atw_err err = { 0 };
	char text[RECORDING_HEAD * 2 + RECORDING_ROW];
	size_t n;

	n = recording_write_head(&w, text, RECORDING_HEAD);
	CHECK(n);
	n += recording_write(&w, &ref, text + n, RECORDING_ROW);
	n += recording_write_end(&w, text + n, RECORDING_HEAD);
	text[n] = '\0';
	CHECK_STR(text, "# atwalk references 1\n# backend qemu\n# counts exact\n"
			"# program /a b\\012\\134\n# load 0x4000000000\n"
			"# columns address size kind tid ip count\n"
			"4000004010 4 b 1234 4000001139 1099511627776\n"
			"# lost 7\n# children 2\n# cut the limit\n# end 1\n");
	CHECK(recording_is((struct atw_blob){ text, n }));
	CHECK_EQ(read_text(&rec, text, &got, &err), ATW_OK);
	CHECK(!memcmp(&got, &ref, sizeof(ref)));
	CHECK_STR(rec.backend, w.backend);
	CHECK_STR(rec.program, w.program);
	CHECK_STR(rec.cut, w.cut);
	CHECK(!rec.sampled && rec.has_load && rec.ended);
	CHECK_EQ(rec.load, w.load);
	CHECK_EQ(rec.lost, 7);
	CHECK_EQ(rec.children, 2);
	CHECK_EQ(rec.rows, 1);
	CHECK_EQ(rec.scale, 1);
}

TEST(sampled_is_never_exact)
{
	struct trace_recording w = { .backend = "pmu", .sampled = true, .scale = 10007, .line = 64 }, rec;
	struct trace_ref got;
	struct atw_err err = { 0 };
	char text[2 * RECORDING_HEAD];
	size_t n = recording_write_head(&w, text, RECORDING_HEAD);

	n += recording_write_end(&w, text + n, RECORDING_HEAD);
	text[n] = '\0';
	CHECK_EQ(read_text(&rec, text, &got, &err), ATW_OK);
	CHECK(rec.sampled && !rec.has_load);
	CHECK_EQ(rec.scale, 10007);
	CHECK_EQ(rec.line, 64);
	/* Without its scale, a sample stands for an unknown number of references. */
	CHECK_EQ(read_text(&rec, HEAD "# counts sampled\n# end 0\n", &got, &err), ATW_OK);
	CHECK(rec.sampled && rec.scale == 0);
}

TEST(fields_that_a_backend_does_not_have)
{
	struct trace_recording rec, w = { 0 };
	struct trace_ref got;
	struct atw_err err = { 0 };
	char row[RECORDING_ROW];

	CHECK_EQ(read_text(&rec, HEAD "ffffffffffffffff - - - - 3\r\n# end 1", &got, &err), ATW_OK);
	CHECK_EQ(got.address, UINT64_MAX);
	CHECK_EQ(got.has, TRACE_HAS_ADDRESS);
	CHECK_EQ(got.kind, TRACE_KIND_UNKNOWN);
	CHECK_EQ(got.count, 3);
	CHECK_EQ(recording_write(&w, &got, row, sizeof(row)), 27);
	CHECK(!memcmp(row, "ffffffffffffffff - - - - 3\n", 27));
}

TEST(a_row_that_does_not_fit)
{
	const struct trace_ref ref = { .has = TRACE_HAS_ADDRESS, .address = 1, .count = 1 };
	struct trace_recording rec = { 0 };
	char row[8];

	CHECK_EQ(recording_write(&rec, &ref, row, sizeof(row)), 0);
	CHECK_EQ(rec.rows, 0);
}

TEST(lines_that_are_none)
{
	static const struct { const char *text; int status; } bad[] = {
		{ "", ATW_E_FORMAT },
		{ "1 8 r 1 1 1\n", ATW_E_FORMAT },
		{ "# atwalk references 2\n", ATW_E_UNSUPPORTED },
		{ "# atwalk references \n", ATW_E_UNSUPPORTED },
		{ HEAD, ATW_E_DAMAGED },
		{ HEAD "1 8 r 1 1 1\n", ATW_E_DAMAGED },
		{ HEAD "1 8 r 1 1 1\n# end 2\n", ATW_E_DAMAGED },
		{ HEAD "# end 0\n1 8 r 1 1 1\n", ATW_E_DAMAGED },
		{ HEAD "# counts guessed\n", ATW_E_FORMAT },
		{ HEAD "# lost many\n", ATW_E_FORMAT },
		{ HEAD "# line 48\n", ATW_E_FORMAT },
		{ HEAD "# line 0\n", ATW_E_FORMAT },
		{ HEAD "- 8 r 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 0 r 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 8 q 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 0\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 -\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 4294967296 r 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 4294967296 1 1\n", ATW_E_FORMAT },
		{ HEAD "11111111111111111 8 r 1 1 1\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 99999999999999999999\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 18446744073709551616\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 184467440737095516150\n", ATW_E_FORMAT },
		{ HEAD "# lost 18446744073709551616\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 1\n# line 64\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 1\n# counts sampled\n", ATW_E_FORMAT },
		{ HEAD "1 8 r 1 1 1\n# scale 7\n", ATW_E_FORMAT },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct atw_err err = { 0 };
		struct trace_recording rec;
		struct trace_ref got;
		int r = read_text(&rec, bad[i].text, &got, &err);

		if (r != bad[i].status || err.status != r || !err.text[0])
			TEST_FAIL("'%s': %d, '%s'", bad[i].text, r, err.text);
	}
}

TEST(the_largest_numbers)
{
	struct trace_recording rec;
	struct trace_ref got;
	struct atw_err err = { 0 };

	CHECK_EQ(read_text(&rec, HEAD "1 8 r 4294967295 1 18446744073709551615\n"
				 "# lost 18446744073709551615\n# end 1\n", &got, &err), ATW_OK);
	CHECK_EQ(got.tid, UINT32_MAX);
	CHECK_EQ(got.count, UINT64_MAX);
	CHECK_EQ(rec.lost, UINT64_MAX);
	/* A number that cannot be read leaves no part of it. */
	CHECK_EQ(read_text(&rec, HEAD "# lost 18446744073709551616\n", &got, &err), ATW_E_FORMAT);
	CHECK_EQ(rec.lost, 0);
	CHECK_STR(err.text, "line 2: invalid value of 'lost' in a recording: '18446744073709551616'");
	CHECK_EQ(read_text(&rec, HEAD "\n1 8\n", &got, &err), ATW_E_FORMAT);
	CHECK(!strncmp(err.text, "line 3: '1 8' is not a row", 26));
}

TEST(a_line_that_is_too_long)
{
	struct trace_recording rec = { 0 };
	struct trace_ref got;
	struct atw_err err = { 0 };

	CHECK_EQ(recording_read(&rec, (struct atw_blob){ HEAD, sizeof(HEAD) - 1 }, &got, &err), ATW_END);
	/* Its bytes are not read: there are fewer. */
	CHECK_EQ(recording_read(&rec, (struct atw_blob){ "1", 1 << 20 }, &got, &err), ATW_E_LIMIT);
	CHECK_STR(err.text, "line 2 has 1048576 bytes, more than 32768");
}

TEST(comments_of_later_versions)
{
	struct trace_recording rec;
	struct trace_ref got;
	struct atw_err err = { 0 };

	CHECK_EQ(read_text(&rec, HEAD "#\n# \n#x y\n# color blue\n\n#  lost 4\n# end 0\n", &got, &err),
		 ATW_OK);
	CHECK_EQ(rec.lost, 4);
	CHECK_EQ(rec.rows, 0);
}

TEST(a_text_longer_than_its_room)
{
	char text[512] = HEAD "# backend ";
	struct trace_recording rec;
	struct trace_ref got;
	struct atw_err err = { 0 };
	size_t n = strlen(text);

	memset(text + n, 'q', 200);
	strcpy(text + n + 200, "\n# end 0\n");
	CHECK_EQ(read_text(&rec, text, &got, &err), ATW_OK);
	CHECK_STR(rec.backend, "qqqqqqqqqqqqqqq");
}

TEST(the_longest_head_fits)
{
	struct trace_recording rec = {
		.sampled = true, .scale = UINT64_MAX, .line = 1 << 20, .has_load = true,
		.load = UINT64_MAX, .lost = UINT64_MAX, .children = UINT64_MAX, .rows = UINT64_MAX,
	};
	char text[RECORDING_HEAD];

	memset(rec.backend, 1, sizeof(rec.backend) - 1);
	memset(rec.program, 1, sizeof(rec.program) - 1);
	memset(rec.cut, 1, sizeof(rec.cut) - 1);
	CHECK(recording_write_head(&rec, text, sizeof(text)));
	CHECK(recording_write_end(&rec, text, sizeof(text)));
}
