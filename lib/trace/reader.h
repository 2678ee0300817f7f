/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.h - references of a trace in a file or a pipe, in memory that does not grow. */
#pragma once

#include "trace/formats.h"

struct trace_reader;

/*
 * Open a file or, for "-", standard input. The first TRACE_FIRST_LINES lines are read to
 * detect the format, unless `format` selects it. ATW_E_FORMAT: it is none of the table.
 */
int trace_reader_open(const char *path, const struct trace_format *format,
		      const struct trace_options *opts, struct trace_reader **ret,
		      struct atw_err *err);
/*
 * The next reference; lines without one are skipped. `line` and texts of `ret` are valid
 * until the next call. ATW_END: end of the file. ATW_E_FORMAT and ATW_E_LIMIT are about one
 * line, and the next call continues behind it; ATW_E_IO ends the file.
 */
int trace_reader_next(struct trace_reader *r, struct trace_ref *ret, struct atw_blob *line,
		      struct atw_err *err);
const struct trace_format *trace_reader_format(const struct trace_reader *r);
/* Lines so far; of these, the number of the last one. */
uint64_t trace_reader_lines(const struct trace_reader *r);
void trace_reader_close(struct trace_reader *r);
