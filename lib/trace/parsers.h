/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parsers.h - the functions of the formats in the table; see struct trace_format. */
#pragma once

#include "trace/formats.h"

#define TRACE_PARSER(name) \
	bool name##_detect(const struct atw_blob *line, size_t n); \
	int name##_parse(struct trace_parser *p, struct atw_blob line, \
			 struct trace_ref *ret, struct atw_err *err)
#define TRACE_PARSER_INIT(name) \
	int name##_init(struct trace_parser *p, const struct trace_options *opts, \
			const struct atw_blob *line, size_t n, struct atw_err *err)

TRACE_PARSER(lackey);
TRACE_PARSER(dynamorio);
TRACE_PARSER(columns);
TRACE_PARSER_INIT(columns);
TRACE_PARSER(perf);
TRACE_PARSER_INIT(perf);
