/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/sample.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#include "base/bytes.h"

/* Whose length depends on their contents. */
#define SAMPLE_VARIABLE \
	(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX)

enum { SAMPLE_HEADER = 8 };

/* The words of a sample in their order, as enum perf_event_sample_format has them. */
static const uint64_t sample_words[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT,
	PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_PHYS_ADDR,
	PERF_SAMPLE_CGROUP, PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE,
};

static enum trace_kind sample_kind(uint64_t source)
{
	union perf_mem_data_src src = { .val = source };
	bool loads = src.mem_op & PERF_MEM_OP_LOAD, stores = src.mem_op & PERF_MEM_OP_STORE;

	if (loads && stores)
		return TRACE_KIND_BOTH;
	if (src.mem_op & PERF_MEM_OP_EXEC)
		return TRACE_KIND_FETCH;
	return loads ? TRACE_KIND_READ : stores ? TRACE_KIND_WRITE : TRACE_KIND_UNKNOWN;
}

static void sample_take(struct trace_ref *ref, uint64_t type, uint64_t word, uint64_t part)
{
	const struct { uint64_t part; uint32_t has; uint64_t *to; } words[] = {
		{ PERF_SAMPLE_IP, TRACE_HAS_IP, &ref->ip },
		{ PERF_SAMPLE_TIME, TRACE_HAS_TIME, &ref->time },
		{ PERF_SAMPLE_ADDR, TRACE_HAS_ADDRESS, &ref->address },
		{ PERF_SAMPLE_DATA_SRC, TRACE_HAS_SOURCE, &ref->source },
		{ PERF_SAMPLE_PHYS_ADDR, TRACE_HAS_PHYSICAL, &ref->physical },
		{ PERF_SAMPLE_DATA_PAGE_SIZE, TRACE_HAS_PAGE_SIZE, &ref->page_size },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].part == part) {
			/* 0: not known, but for the source, where that is a word like others. */
			*words[i].to = word;
			ref->has |= word || part == PERF_SAMPLE_DATA_SRC ? words[i].has : 0;
		}
	if (part == PERF_SAMPLE_TID) {
		ref->pid = (uint32_t)word;
		ref->tid = (uint32_t)(word >> 32);
		ref->has |= TRACE_HAS_PID | TRACE_HAS_TID;
	} else if (part == PERF_SAMPLE_CPU) {
		ref->cpu = (uint32_t)word;
		ref->has |= TRACE_HAS_CPU;
	} else if (part == PERF_SAMPLE_DATA_SRC) {
		ref->kind = sample_kind(word);
	} else if (part & PERF_SAMPLE_WEIGHT) {
		/* Of the structured weight, var1_dw is the latency. */
		ref->weight = type & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)word : word;
		ref->has |= TRACE_HAS_WEIGHT;
	}
}

int trace_sample_decode(uint64_t sample_type, struct atw_blob record, struct trace_ref *ret,
			struct atw_err *err)
{
	struct trace_ref ref = { .count = 1 };
	uint64_t at = SAMPLE_HEADER;

	if (sample_type & SAMPLE_VARIABLE)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "cannot decode samples of type 0x%" PRIx64, sample_type);
	if (!blob_at(record, 0, SAMPLE_HEADER))
		return atw_err_set(err, ATW_E_DAMAGED, "a record of %zu bytes has no header",
				   record.len);
	if (get_le32(record.data) != PERF_RECORD_SAMPLE)
		return ATW_END;
	for (size_t i = 0; i < sizeof(sample_words) / sizeof(sample_words[0]); i++) {
		const void *word;

		if (!(sample_type & sample_words[i]))
			continue;
		word = blob_at(record, at, 8);
		if (!word)
			return atw_err_set(err, ATW_E_DAMAGED, "a sample of %zu bytes is truncated",
					   record.len);
		sample_take(&ref, sample_type, get_le64(word), sample_words[i]);
		at += 8;
	}
	if (!(ref.has & TRACE_HAS_ADDRESS))
		return ATW_END;
	*ret = ref;
	return ATW_OK;
}
