/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - memory reports on targets, and captures. */
#ifndef ATWALK_REPORT_H
#define ATWALK_REPORT_H

#include <atwalk/column.h>
#include <atwalk/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct atw_report_column - a column of a report
 * @name: name of the column in --columns, and key in JSON
 * @help: description, one line
 * @names: names of the values for ENUM and FLAGS; NULL elements are unused
 * @nnames: number of elements in @names
 * @type: enum atw_column_type
 * @letters: for LETTERS: a letter for each bit, such as "rwx"; the names are words for the
 *	same bits in filters, and may be NULL
 */
struct atw_report_column {
	const char *name;
	const char *help;
	const char *const *names;
	uint32_t nnames;
	uint32_t type;
	const char *letters;
};

/**
 * struct atw_report_row - a row of a report
 * @cell: values of all columns
 * @known: bit i is set if the value of column i is known; otherwise ignore the value
 * @ncells: number of columns
 */
struct atw_report_row {
	const union atw_cell *cell;
	uint64_t known;
	uint32_t ncells;
};

/**
 * struct atw_report_opts - options of atw_report_open()
 * @size: sizeof(struct atw_report_opts)
 * @by: what a row of report "use" is: "process", "user", "cgroup" or "unit"; NULL:
 *	process
 * @bare: if not 0, report "basic" has rows for tasks without memory as well
 * @addresses: if not 0, sizes are those of address ranges instead of pages in memory
 * @progress: called for each process that is read; NULL: nothing is called
 * @arg: argument of @progress
 */
struct atw_report_opts {
	size_t size;
	const char *by;
	uint32_t bare;
	uint32_t addresses;
	atw_progress_fn *progress;
	void *arg;
};

struct atw_report;

/**
 * atw_report_name - names of the reports
 * @i: index of the report, from 0
 * @title: set to the title of the report, a static string; may be NULL
 *
 * Return: a static string, such as "basic" or "use"; NULL if @i is the number of
 * reports or larger.
 */
ATW_API const char *atw_report_name(size_t i, const char **title);

/**
 * atw_report_open - compute a report
 * @name: name of the report
 * @target: targets with ATW_CAP_PROCESSES; "growth" and "thrash" take several
 *	snapshots of one machine in order of time, all other reports take one target
 * @n: number of targets
 * @opts: options; NULL: all defaults
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Reads each target once and keeps the rows of the report. The targets may be closed
 * afterwards.
 *
 * Return: ATW_OK; ATW_E_USAGE: the report does not exist, or does not have one of the
 * options; ATW_E_STOPPED, ATW_E_NOMEM and others.
 */
ATW_API int atw_report_open(const char *name, struct atw_target *const *target, size_t n,
			    const struct atw_report_opts *opts, struct atw_report **ret,
			    struct atw_err *err);

/**
 * atw_report_column - a column of a report
 * @report: the cursor
 * @i: index of the column, from 0
 *
 * Return: the column, which is valid until @report is closed; NULL if @i is the number
 * of columns or larger.
 */
ATW_API const struct atw_report_column *atw_report_column(const struct atw_report *report,
						   size_t i);

/**
 * atw_report_find_column - index of a column
 * @report: the cursor
 * @name: name of the column
 *
 * Return: the index of the column; ATW_E_NONE, which is negative, if it does not exist.
 */
ATW_API int atw_report_find_column(const struct atw_report *report, const char *name);

/**
 * atw_report_next - the next row
 * @report: the cursor
 * @ret: the row; valid until the next call on @report
 * @err: the error, or the first thing that is missing; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more rows, and the report is
 * incomplete because something could not be read or the target lacks data: @err has the
 * first reason and the number of reasons.
 */
ATW_API int atw_report_next(struct atw_report *report, const struct atw_report_row **ret,
			    struct atw_err *err);

/**
 * atw_report_close - close a report
 * @report: the cursor; may be NULL
 */
ATW_API void atw_report_close(struct atw_report *report);

struct atw_filter;

/**
 * atw_filter_open - compile a filter of rows
 * @expr: expression, as --filter of atwalk(1): "writable and size>=2M"
 * @column: columns of the rows; they, and what they point to, must stay valid until the
 *	filter is closed
 * @n: number of columns, 1 to 64
 * @ret: the filter
 * @err: the error, with what is wrong in @expr; may be NULL
 *
 * The rows may be those of a report, or rows of the caller's own.
 *
 * Return: ATW_OK; ATW_E_USAGE: the expression is wrong, or a column has no name, an unknown
 * type or too many names; ATW_E_NOMEM.
 */
ATW_API int atw_filter_open(const char *expr, const struct atw_report_column *const *column,
			    size_t n, struct atw_filter **ret, struct atw_err *err);

/**
 * atw_filter_match - test a row
 * @filter: the filter
 * @row: the row; its texts are read
 *
 * A comparison with a value that is not known is false.
 *
 * Return: true if the expression is true for the row; false if an argument is NULL, or the
 * row has fewer cells than the filter has columns.
 */
ATW_API bool atw_filter_match(const struct atw_filter *filter,
			      const struct atw_report_row *row);

/**
 * atw_filter_close - close a filter
 * @filter: the filter; may be NULL
 */
ATW_API void atw_filter_close(struct atw_filter *filter);

/**
 * struct atw_capture_opts - options of atw_capture_write()
 * @size: sizeof(struct atw_capture_opts)
 * @level: level of zstd compression, 1 to 19; 0: no compression
 * @frames: if not 0, record the use of every frame of RAM
 * @threads: if not 0, record the threads of processes
 * @pid: record this process only; 0: record all processes
 * @progress: called for each process that is read; NULL: nothing is called
 * @arg: argument of @progress
 */
struct atw_capture_opts {
	size_t size;
	uint32_t level;
	uint32_t frames;
	uint32_t threads;
	uint32_t pid;
	atw_progress_fn *progress;
	void *arg;
};

/**
 * atw_capture_write - write a capture of a target
 * @target: a target with ATW_CAP_PROCESSES that is not a capture
 * @opts: options; NULL: all defaults
 * @fd: file descriptor that is open for writing; it is not closed
 * @err: the error, or what could not be read; may be NULL
 *
 * The format is that of atwalk-capture(5).
 *
 * Return: ATW_OK: the capture is complete; ATW_E_PARTIAL: the capture was written, and
 * lists what could not be read; other errors leave an incomplete file.
 */
ATW_API int atw_capture_write(struct atw_target *target, const struct atw_capture_opts *opts,
			      int fd, struct atw_err *err);

#ifdef __cplusplus
}
#endif
#endif
