// SPDX-License-Identifier: GPL-2.0-or-later
/* reader.c - references of a trace in a file or a pipe. */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/line_stream.h"

struct trace_reader {
	struct trace_parser parser;
	const char *path;
	int fd;
	bool own;                /* the descriptor */
	struct line_stream lines;
};

/* `fmt` has room for the file and the reason. */
static int reader_failed(const struct trace_reader *r, const char *fmt, struct atw_err *err)
{
	return atw_err_set(err, io_status(errno), fmt, r->path, strerror(errno));
}

static int reader_read(void *arg, void *buf, size_t len, size_t *ret, struct atw_err *err)
{
	struct trace_reader *r = arg;
	ssize_t n = io_read_some(r->fd, buf, len);

	if (n < 0)
		return reader_failed(r, "cannot read '%s': %s", err);
	*ret = (size_t)n;
	return ATW_OK;
}

static int reader_start(struct trace_reader *r, const struct trace_format *format,
			const struct trace_options *opts, struct atw_err *err)
{
	struct line_stream *s = &r->lines;
	struct atw_blob line[TRACE_FIRST_LINES];
	size_t n = 0;
	int rc = line_stream_ahead(s, line, TRACE_FIRST_LINES, &n, err);

	if (rc < 0)
		return rc;
	if (memchr(s->buf, 0, s->len))
		return atw_err_set(err, ATW_E_FORMAT,
				   "%s: is not text: it has bytes that are 0", r->path);
	if (!n && !format && !s->len)
		return atw_err_set(err, ATW_E_MISSING, "%s: it contains no line",
				   r->path);
	if (!n && !format)
		return atw_err_set(err, ATW_E_FORMAT, "%s: line 1 has more than %d bytes",
				   r->path, TRACE_LINE_MAX);
	if (!format)
		format = trace_format_detect(line, n);
	if (!format)
		return atw_err_set(err, ATW_E_FORMAT,
				   "%s: the first lines have no known format", r->path);
	rc = trace_parser_init(&r->parser, format, opts, line, n, err);
	return rc < 0 ? atw_err_wrap(err, "%s", r->path) : ATW_OK;
}

int trace_reader_open(const char *path, const struct trace_format *format,
		      const struct trace_options *opts, struct trace_reader **ret,
		      struct atw_err *err)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return atw_err_nomem(err);
	r->own = strcmp(path, "-") != 0;
	r->path = r->own ? path : "standard input";
	r->fd = r->own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	rc = r->fd < 0 ? reader_failed(r, "cannot open '%s': %s", err)
		       : line_stream_init(&r->lines, reader_read, r, err);
	if (rc == ATW_OK)
		rc = reader_start(r, format, opts, err);
	if (rc < 0)
		trace_reader_close(r);
	else
		*ret = r;
	return rc;
}

int trace_reader_next(struct trace_reader *r, struct trace_ref *ret, struct atw_blob *line,
		      struct atw_err *err)
{
	int rc;

	do {
		rc = line_stream_next(&r->lines, line, err);
		if (rc != ATW_OK)
			return rc;
		rc = trace_parse(&r->parser, *line, ret, err);
	} while (rc == ATW_END);
	return rc;
}

const struct trace_format *trace_reader_format(const struct trace_reader *r)
{
	return r->parser.format;
}

uint64_t trace_reader_lines(const struct trace_reader *r)
{
	return r->parser.line;
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	if (r->own && r->fd >= 0)
		close(r->fd);
	line_stream_deinit(&r->lines);
	free(r);
}
