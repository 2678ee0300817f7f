// SPDX-License-Identifier: GPL-2.0-or-later
/* formats.c - table of the formats of traces. */
#include "trace/formats.h"

#include <inttypes.h>
#include <string.h>

#include "trace/parsers.h"
#include "base/message.h"

const struct trace_format trace_formats[] = {
	{ "lackey", "memory trace of the tool Lackey of Valgrind", lackey_detect, NULL,
	  lackey_parse },
	{ "dynamorio", "view tool or memtrace samples of DynamoRIO", dynamorio_detect, NULL,
	  dynamorio_parse },
	{ "csv", "rows with a head, separated by commas, semicolons or tabs", columns_detect,
	  columns_init, columns_parse },
	/* The last one: lines of nothing but numbers are valid, too. */
	{ "perf", "perf script", perf_detect, perf_init, perf_parse },
};
const size_t trace_formats_count = sizeof(trace_formats) / sizeof(trace_formats[0]);

const struct trace_format *trace_format_named(const char *name)
{
	for (size_t i = 0; i < trace_formats_count; i++)
		if (!strcmp(trace_formats[i].name, name))
			return &trace_formats[i];
	return NULL;
}

const struct trace_format *trace_format_detect(const struct atw_blob *line, size_t n)
{
	n = n < TRACE_FIRST_LINES ? n : TRACE_FIRST_LINES;
	for (size_t i = 0; i < trace_formats_count; i++)
		if (trace_formats[i].detect(line, n))
			return &trace_formats[i];
	return NULL;
}

int trace_parser_init(struct trace_parser *ret, const struct trace_format *format,
		      const struct trace_options *opts, const struct atw_blob *line,
		      size_t n, struct atw_err *err)
{
	static const struct trace_options none;
	struct trace_parser p = { .format = format };
	int r = ATW_OK;

	opts = opts ? opts : &none;
	n = n < TRACE_FIRST_LINES ? n : TRACE_FIRST_LINES;
	if (opts->fields && format->init != perf_init)
		return atw_err_set(err, ATW_E_USAGE,
				   "fields can only be named for 'perf script', not for %s",
				   format->what);
	if (format->init)
		r = format->init(&p, opts, line, n, err);
	else if (opts->address)
		r = atw_err_set(err, ATW_E_USAGE,
				"no column can be selected in the format '%s': its lines have one address",
				format->name);
	if (r == ATW_OK)
		*ret = p;
	else if (r == ATW_E_MISSING && opts->column_hint)
		atw_err_hint(err, "%s", message(opts->column_hint));
	return r;
}

int trace_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		struct atw_err *err)
{
	struct trace_ref ref = { .count = 1 };
	int r;

	p->line++;
	if (line.len > TRACE_LINE_MAX)
		return atw_err_set(err, ATW_E_LIMIT,
				   "line %" PRIu64 " has %zu bytes, more than %d",
				   p->line, line.len, TRACE_LINE_MAX);
	while (line.len && ((const char *)line.data)[line.len - 1] == '\r')
		line.len--;
	r = p->format->parse(p, line, &ref, err);
	if (r != ATW_OK)
		return r;
	if (p->code) {
		ref.address = ref.ip;
		ref.has &= ~(uint32_t)TRACE_HAS_ADDRESS;
		if (ref.has & TRACE_HAS_IP)
			ref.has |= TRACE_HAS_ADDRESS;
		ref.kind = TRACE_KIND_FETCH;
	}
	*ret = ref;
	return ATW_OK;
}
