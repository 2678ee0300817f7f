/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of profilers and emulators. The first line has options: a format, a column and
 * fields; the rest is the file.
 */
#include "trace/formats.h"
#include "fuzz.h"

static size_t split(struct input in, struct atw_blob line[TRACE_FIRST_LINES])
{
	size_t n = 0;

	while (in.len && n < TRACE_FIRST_LINES) {
		const uint8_t *nl = memchr(in.p, '\n', in.len);
		size_t len = nl ? (size_t)(nl - in.p) : in.len;

		line[n++] = (struct atw_blob){ in.p, len };
		in.p += len + (nl != NULL);
		in.len -= len + (nl != NULL);
	}
	return n;
}

static void inside(struct atw_blob part, struct atw_blob line)
{
	const char *s = part.data, *from = line.data;

	if (!part.len)
		return;
	FUZZ_CHECK(s >= from && s + part.len <= from + line.len, "a text outside of the line");
	touch(part.data, part.len);
}

static void parse(struct trace_parser *p, const struct atw_blob *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct trace_ref none = { 0 };
		struct trace_ref ref = none;
		struct atw_err err = { 0 };
		int r = trace_parse(p, first[i], &ref, &err);

		FUZZ_CHECK(p->line == i + 1, "a line was not counted");
		check_err(r, &err);
		if (r != ATW_OK) {
			FUZZ_CHECK(!memcmp(&ref, &none, sizeof(ref)), "changed on failure");
			continue;
		}
		FUZZ_CHECK(ref.count, "a line that stands for nothing");
		FUZZ_CHECK(ref.has & TRACE_HAS_ADDRESS || !ref.address, "an unmarked value");
		FUZZ_CHECK(ref.has & TRACE_HAS_PID || !ref.pid, "an unmarked value");
		inside(ref.task, first[i]);
		inside(ref.symbol, first[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	struct atw_blob line[TRACE_FIRST_LINES];
	char *opts = take_line(&in), *address = strchr(opts, ' '), *fields = NULL;
	const struct trace_format *format;
	struct trace_parser p;
	struct atw_err err = { 0 };
	size_t n = split(in, line);
	int r;

	if (address) {
		*address++ = '\0';
		fields = strchr(address, ' ');
		if (fields)
			*fields++ = '\0';
	}
	format = trace_format_named(opts);
	if (!format)
		format = trace_format_detect(line, n);
	if (format) {
		const struct trace_options o = {
			.address = address && *address ? address : NULL,
			.fields = fields && *fields ? fields : NULL,
		};

		r = trace_parser_init(&p, format, &o, line, n, &err);
		check_err(r, &err);
		if (r == ATW_OK)
			parse(&p, line, n);
	}
	free(opts);
	return 0;
}
