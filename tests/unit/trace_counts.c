/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References that are equal are one sum; those that differ in anything are not. */
#include "test.h"
#include "trace/counts.h"

TEST(sums)
{
	const struct trace_ref base = {
		.has = TRACE_HAS_ADDRESS | TRACE_HAS_IP | TRACE_HAS_SIZE | TRACE_HAS_TID,
		.kind = TRACE_KIND_READ, .address = 0x1000, .ip = 0x400000, .size = 8, .tid = 7,
		.count = 1,
	};
	struct trace_ref v[7];
	struct trace_counts c = { 0 };

	for (size_t i = 0; i < 7; i++)
		v[i] = base;
	v[1].address++;
	v[2].ip++;
	v[3].size = 4;
	v[4].tid++;
	v[5].kind = TRACE_KIND_BOTH;
	v[6].has &= ~(uint32_t)TRACE_HAS_IP;
	for (unsigned n = 0; n < 3000; n++)
		for (size_t i = 0; i < 7; i++)
			CHECK(trace_counts_add(&c, &v[i]));
	CHECK_EQ(c.n, 7);
	for (size_t i = 0; i < 7; i++) {
		struct trace_ref got = trace_counts_get(&c, i);

		v[i].count = 3000;
		CHECK(!memcmp(&got, &v[i], sizeof(got)));
		CHECK_EQ(trace_counts_of(&c, &v[i]), 3000);
	}
	v[0].count = UINT64_MAX;
	CHECK(trace_counts_add(&c, &v[0]));
	CHECK_EQ(trace_counts_of(&c, &v[0]), UINT64_MAX);
	v[0].address = 0;
	CHECK_EQ(trace_counts_of(&c, &v[0]), 0);
	trace_counts_deinit(&c);
	CHECK_EQ(c.n, 0);
}

TEST(many)
{
	struct trace_ref ref = { .has = TRACE_HAS_ADDRESS, .count = 2 };
	struct trace_counts c = { 0 };

	for (unsigned n = 0; n < 2; n++)
		for (ref.address = 0; ref.address < 50000; ref.address++)
			CHECK(trace_counts_add(&c, &ref));
	CHECK_EQ(c.n, 50000);
	for (size_t i = 0; i < c.n; i++)
		CHECK(c.v[i].address == i && c.v[i].count == 4);
	trace_counts_deinit(&c);
}
