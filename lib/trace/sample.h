/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample.h - decoder of PERF_RECORD_SAMPLE, as perf_event_open(2) describes it, of events
 * that sample memory references. Pure.
 */
#pragma once

#include "trace/trace.h"

/*
 * `record`: with its header. sample_type: of the event, PERF_SAMPLE_*. ATW_END: a record of
 * another type, or a sample without an address. ATW_E_UNSUPPORTED: a sample_type with parts
 * of variable length; ATW_E_DAMAGED: the record is shorter than its type.
 */
int trace_sample_decode(uint64_t sample_type, struct atw_blob record, struct trace_ref *ret,
			struct atw_err *err);
