/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terms of PMU events are parsed and placed into their configuration bits. */
#include "base/bytes.h"
#include "test.h"

#include "host/pmu_event.h"

TEST(terms_one_after_the_other)
{
	struct atw_blob events = blob_of("event=0xcd,umask=0x1,ldlat=3,edge\n");
	static const struct { const char *name; uint64_t value; } want[] = {
		{ "event", 0xcd }, { "umask", 1 }, { "ldlat", 3 }, { "edge", 1 },
	};
	struct pmu_term t;
	size_t pos = 0;

	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(pmu_term_next(events, &pos, &t, NULL), ATW_OK);
		CHECK_EQ(t.name.len, strlen(want[i].name));
		CHECK(!memcmp(t.name.data, want[i].name, t.name.len));
		CHECK_EQ(t.value, want[i].value);
	}
	CHECK_EQ(pmu_term_next(events, &pos, &t, NULL), ATW_END);
	pos = 0;
	CHECK_EQ(pmu_term_next(blob_of("\n"), &pos, &t, NULL), ATW_END);
}

TEST(what_is_no_term)
{
	static const char *const bad[] = { "=3", "event=", "event=0x", "event=3x", ",", "a=1,,b=2",
					   "event=99999999999999999999" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct atw_err err = { 0 };
		struct pmu_term t;
		size_t pos = 0;
		int r;

		while ((r = pmu_term_next(blob_of(bad[i]), &pos, &t, &err)) == ATW_OK)
			;
		CHECK_EQ(r, ATW_E_FORMAT);
	}
}

/* Intel's loads: SDM volume 3B, MEM_TRANS_RETIRED.LOAD_LATENCY and MSR_PEBS_LD_LAT. */
TEST(where_terms_go)
{
	static const struct { const char *name, *format; uint64_t value; } terms[] = {
		{ "event", "config:0-7\n", 0xcd }, { "umask", "config:8-15\n", 1 },
		{ "ldlat", "config1:0-15\n", 3 }, { "wide", "config2:0-63\n", UINT64_MAX },
	};
	struct pmu_event e = { 0 };

	for (size_t i = 0; i < 4; i++) {
		struct pmu_term t = { blob_of(terms[i].name), terms[i].value };

		CHECK_EQ(pmu_term_put(&e, &t, blob_of(terms[i].format), NULL), ATW_OK);
	}
	CHECK_EQ(e.config[0], 0x1cd);
	CHECK_EQ(e.config[1], 3);
	CHECK_EQ(e.config[2], UINT64_MAX);
}

/* AMD's events have twelve bits, in two places. */
TEST(a_value_in_pieces)
{
	struct pmu_term t = { blob_of("event"), 0x1c7 };
	struct pmu_event e = { { 0xff00, 0, 0 } };

	CHECK_EQ(pmu_term_put(&e, &t, blob_of("config:0-7,32-35"), NULL), ATW_OK);
	CHECK_EQ(e.config[0], UINT64_C(0x10000ffc7));
}

TEST(where_nothing_can_be_put)
{
	static const char *const bad[] = {
		"", "config", "config:", "config:8-7", "config:0-64", "config:0-7,", "config:x",
		"config3:0-7", "config:0-7;", "config:0-1", "config:,0-7", "config:0-",
	};
	struct pmu_term t = { blob_of("umask"), 0xff };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct pmu_event e = { 0 };
		struct atw_err err = { 0 };

		CHECK_EQ(pmu_term_put(&e, &t, blob_of(bad[i]), &err), ATW_E_FORMAT);
	}
}

