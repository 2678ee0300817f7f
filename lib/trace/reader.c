// SPDX-License-Identifier: GPL-2.0-or-later
/* reader.c - references of a trace in a file or a pipe. */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum { READER_BYTES = 1 << 18 };

struct trace_reader {
	struct trace_parser parser;
	const char *path;
	int fd;
	bool own;                /* the descriptor */
	bool end;                /* of the file */
	size_t at, len;          /* what was not parsed: [at, len) */
	char buf[READER_BYTES];
};

static int reader_failed(const struct trace_reader *r, const char *what, struct atw_err *err)
{
	return atw_err_set(err, io_status(errno), "cannot %s '%s': %s", what, r->path,
			   strerror(errno));
}

/* Read more behind what is there. ATW_END: the file has no more. */
static int reader_fill(struct trace_reader *r, struct atw_err *err)
{
	ssize_t n;

	if (r->end)
		return ATW_END;
	if (r->at) {
		memmove(r->buf, r->buf + r->at, r->len - r->at);
		r->len -= r->at;
		r->at = 0;
	}
	n = io_read_some(r->fd, r->buf + r->len, sizeof(r->buf) - r->len);
	if (n < 0)
		return reader_failed(r, "read", err);
	r->end = !n;
	r->len += (size_t)n;
	return n ? ATW_OK : ATW_END;
}

/* Lines from r->at on, without their ends; the last one of a file may have none. */
static size_t reader_first_lines(const struct trace_reader *r,
				 struct atw_blob line[TRACE_FIRST_LINES])
{
	const char *s = r->buf + r->at, *end = r->buf + r->len, *nl;
	size_t n = 0;

	for (; n < TRACE_FIRST_LINES && s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl && !r->end)
			break;
		line[n++] = (struct atw_blob){ s, (size_t)((nl ? nl : end) - s) };
		if (!nl)
			break;
	}
	return n;
}

static int reader_start(struct trace_reader *r, const struct trace_format *format,
			const struct trace_options *opts, struct atw_err *err)
{
	struct atw_blob line[TRACE_FIRST_LINES];
	size_t n = 0;
	int rc = ATW_OK;

	while (rc == ATW_OK && n < TRACE_FIRST_LINES && r->len < sizeof(r->buf)) {
		rc = reader_fill(r, err);
		n = reader_first_lines(r, line);
	}
	if (rc < 0)
		return rc;
	if (!n && !format)
		return atw_err_set(err, ATW_E_FORMAT, "%s: it contains no line",
				   r->path);
	if (memchr(r->buf, 0, r->len))
		return atw_err_set(err, ATW_E_FORMAT,
				   "%s: is not text: it has bytes that are 0", r->path);
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
	struct trace_reader *r = malloc(sizeof(*r));
	int rc;

	if (!r)
		return atw_err_nomem(err);
	r->own = strcmp(path, "-") != 0;
	r->path = r->own ? path : "standard input";
	r->at = r->len = 0;
	r->end = false;
	r->fd = r->own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	rc = r->fd < 0 ? reader_failed(r, "open", err) : reader_start(r, format, opts, err);
	if (rc < 0)
		trace_reader_close(r);
	else
		*ret = r;
	return rc;
}

/* The end of a line that does not fit is skipped; its length is counted. */
static int reader_long_line(struct trace_reader *r, struct atw_err *err)
{
	struct trace_ref ref;
	size_t len = r->len - r->at;
	const char *nl = NULL;
	int rc = ATW_OK;

	while (!nl && rc == ATW_OK) {
		r->at = r->len = 0;
		rc = reader_fill(r, err);
		nl = rc == ATW_OK ? memchr(r->buf, '\n', r->len) : NULL;
		len += nl ? (size_t)(nl - r->buf) : r->len;
	}
	if (rc < 0)
		return rc;
	r->at = nl ? (size_t)(nl - r->buf) + 1 : r->len;
	return trace_parse(&r->parser, (struct atw_blob){ r->buf, len }, &ref, err);
}

int trace_reader_next(struct trace_reader *r, struct trace_ref *ret, struct atw_blob *line,
		      struct atw_err *err)
{
	int rc;

	for (;;) {
		const char *s = r->buf + r->at;
		const char *nl = memchr(s, '\n', r->len - r->at);

		if (!nl && !r->end) {
			if (r->len - r->at == sizeof(r->buf))
				return reader_long_line(r, err);
			rc = reader_fill(r, err);
			if (rc < 0)
				return rc;
			continue;
		}
		if (!nl && r->at == r->len)
			return ATW_END;
		*line = (struct atw_blob){ s, nl ? (size_t)(nl - s) : r->len - r->at };
		r->at += line->len + (nl != NULL);
		rc = trace_parse(&r->parser, *line, ret, err);
		if (rc != ATW_END)
			return rc;
	}
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
	if (r && r->own && r->fd >= 0)
		close(r->fd);
	free(r);
}
