/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of memory references are decoded as perf_event_open(2) describes them. */
#include <linux/perf_event.h>

#include "test.h"
#include "trace/sample.h"

static uint64_t header(uint32_t type, uint16_t size)
{
	return type | (uint64_t)size << 48;
}

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
	      PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | \
	      PERF_SAMPLE_DATA_PAGE_SIZE)

static int decode(uint64_t type, const void *data, size_t len, struct trace_ref *ret)
{
	return trace_sample_decode(type, (struct atw_blob){ data, len }, ret, NULL);
}

TEST(all_parts)
{
	union perf_mem_data_src src = { .mem_op = PERF_MEM_OP_STORE, .mem_lvl = PERF_MEM_LVL_HIT };
	const uint64_t record[] = {
		header(PERF_RECORD_SAMPLE, 80), 0x401136, UINT64_C(1235) << 32 | 1234, 99,
		0x7f0000000040, 3, 500, src.val, 0x1234040, 4096,
	};
	struct trace_ref ref = { 0 };

	CHECK_EQ(decode(TYPE, record, sizeof(record), &ref), ATW_OK);
	CHECK_EQ(ref.ip, 0x401136);
	CHECK_EQ(ref.pid, 1234);
	CHECK_EQ(ref.tid, 1235);
	CHECK_EQ(ref.time, 99);
	CHECK_EQ(ref.address, 0x7f0000000040);
	CHECK_EQ(ref.cpu, 3);
	CHECK_EQ(ref.weight, 500);
	CHECK_EQ(ref.source, src.val);
	CHECK_EQ(ref.physical, 0x1234040);
	CHECK_EQ(ref.page_size, 4096);
	CHECK_EQ(ref.kind, TRACE_KIND_WRITE);
	CHECK_EQ(ref.count, 1);
	CHECK_EQ(ref.has, TRACE_HAS_ADDRESS | TRACE_HAS_PHYSICAL | TRACE_HAS_IP | TRACE_HAS_PID |
			  TRACE_HAS_TID | TRACE_HAS_CPU | TRACE_HAS_TIME | TRACE_HAS_WEIGHT |
			  TRACE_HAS_SOURCE | TRACE_HAS_PAGE_SIZE);
}

TEST(parts_of_other_orders)
{
	const uint64_t record[] = { header(PERF_RECORD_SAMPLE, 56), 7, 8, 0x2000, 9, 10,
				    UINT64_C(11) << 32 | 12 };
	struct trace_ref ref = { 0 };

	/* The identifier comes first, the same number again behind the address. */
	CHECK_EQ(decode(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_STRUCT, record, sizeof(record), &ref),
		 ATW_OK);
	CHECK_EQ(ref.ip, 8);
	CHECK_EQ(ref.address, 0x2000);
	CHECK_EQ(ref.weight, 12);
	CHECK_EQ(ref.kind, TRACE_KIND_UNKNOWN);
	CHECK_EQ(ref.has, TRACE_HAS_ADDRESS | TRACE_HAS_IP | TRACE_HAS_WEIGHT);
}

TEST(kinds)
{
	static const struct { uint64_t op; enum trace_kind kind; } known[] = {
		{ PERF_MEM_OP_LOAD, TRACE_KIND_READ }, { PERF_MEM_OP_STORE, TRACE_KIND_WRITE },
		{ PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, TRACE_KIND_BOTH },
		{ PERF_MEM_OP_EXEC, TRACE_KIND_FETCH }, { PERF_MEM_OP_NA, TRACE_KIND_UNKNOWN },
		{ PERF_MEM_OP_PFETCH, TRACE_KIND_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const uint64_t record[] = { header(PERF_RECORD_SAMPLE, 24), 0x2000, known[i].op };
		struct trace_ref ref = { 0 };

		CHECK_EQ(decode(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC, record, sizeof(record), &ref),
			 ATW_OK);
		CHECK_EQ(ref.kind, known[i].kind);
	}
}

TEST(records_that_are_none)
{
	const uint64_t lost[] = { header(PERF_RECORD_LOST, 24), 1, 2 };
	const uint64_t nowhere[] = { header(PERF_RECORD_SAMPLE, 24), 0x401136, 0 };
	const uint64_t sample[] = { header(PERF_RECORD_SAMPLE, 24), 0x401136, 0x2000 };
	struct trace_ref ref = { 0 };
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;

	CHECK_EQ(decode(type, lost, sizeof(lost), &ref), ATW_END);
	CHECK_EQ(decode(type, nowhere, sizeof(nowhere), &ref), ATW_END);
	CHECK_EQ(decode(PERF_SAMPLE_IP, sample, sizeof(sample), &ref), ATW_END);
	for (size_t len = 8; len < sizeof(sample); len++)
		CHECK_EQ(decode(type, sample, len, &ref), ATW_E_DAMAGED);
	for (size_t len = 0; len < 8; len++)
		CHECK_EQ(decode(type, sample, len, &ref), ATW_E_DAMAGED);
	CHECK_EQ(decode(type | PERF_SAMPLE_CALLCHAIN, sample, sizeof(sample), &ref),
		 ATW_E_UNSUPPORTED);
	CHECK_EQ(ref.has, 0);
}
