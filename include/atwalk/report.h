/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - analyses of the memory of targets, as rows; and captures. */
#ifndef ATWALK_REPORT_H
#define ATWALK_REPORT_H

#include <atwalk/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a value of a column is to be read. */
enum atw_column_type {
	ATW_COLUMN_ADDRESS = 1,  /* u */
	ATW_COLUMN_HEX = 2,      /* u: a raw word */
	ATW_COLUMN_BYTES = 3,    /* u */
	ATW_COLUMN_COUNT = 4,    /* u */
	ATW_COLUMN_PAGES = 5,    /* u: a number of pages */
	ATW_COLUMN_ENUM = 6,     /* u: number of the name */
	ATW_COLUMN_FLAGS = 7,    /* u: a set of names, bit 0 is the first */
	ATW_COLUMN_TEXT = 8,     /* s: any bytes */
	ATW_COLUMN_MILLISECONDS = 9,     /* u */
	ATW_COLUMN_CHANGE = 10,  /* i: of a count */
	ATW_COLUMN_CHANGE_BYTES = 11,    /* i */
};

/**
 * struct atw_report_column - a column of a report
 * @name: the word of --columns, and the key in JSON
 * @help: one line
 * @names: of ENUM and FLAGS: @nnames of them; those that are NULL are not used
 * @nnames: how many
 * @type: enum atw_column_type
 */
struct atw_report_column {
	const char *name;
	const char *help;
	const char *const *names;
	uint32_t nnames;
	uint32_t type;
};

/* A value; eight bytes for ever. */
union atw_cell {
	uint64_t u;
	int64_t i;
	const char *s;
};

/**
 * struct atw_report_row - a row of a report
 * @cell: a value for each column
 * @known: bit i: the value of column i is known; what is not known is never 0
 * @ncells: how many columns there are
 */
struct atw_report_row {
	const union atw_cell *cell;
	uint64_t known;
	uint32_t ncells;
};

/**
 * struct atw_report_opts - how a report is made
 * @size: sizeof(struct atw_report_opts)
 * @by: report "use": "process", "user", "cgroup" or "unit"; NULL: by process
 * @bare: not 0: report "basic": tasks without memory are rows as well
 * @addresses: not 0: sizes are those of address ranges, not of pages in memory
 */
struct atw_report_opts {
	size_t size;
	const char *by;
	uint32_t bare;
	uint32_t addresses;
};

struct atw_report;

/**
 * atw_report_name - names of the reports
 * @i: number, from 0
 * @title: where the title of the report is stored, static; may be NULL
 *
 * Return: "basic", "use" and so on; static. NULL: there are no more.
 */
ATW_API const char *atw_report_name(size_t i, const char **title);

/**
 * atw_report_open - make a report
 * @name: of the report
 * @target: @n targets with ATW_CAP_PROCESSES. Reports of change ("growth", "thrash") take
 *	several of one machine, in the order of time; others take one
 * @n: how many
 * @opts: NULL: all defaults
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Reads everything that the report needs of each target once, and keeps the rows. Targets
 * may be closed afterwards.
 *
 * Return: ATW_OK; ATW_E_USAGE: there is no such report, or an option is not for it;
 * ATW_E_NOMEM and others.
 */
ATW_API int atw_report_open(const char *name, struct atw_target *const *target, size_t n,
			    const struct atw_report_opts *opts, struct atw_report **ret,
			    struct atw_err *err);

/**
 * atw_report_column - a column of a report
 * @report: the cursor
 * @i: number, from 0
 *
 * Return: the column, which stays until @report is closed; NULL: there are no more.
 */
ATW_API const struct atw_report_column *atw_report_column(const struct atw_report *report,
						   size_t i);

/**
 * atw_report_find_column - number of a column
 * @report: the cursor
 * @name: of the column
 *
 * Return: its number; negative, ATW_E_NONE: the report has no such column.
 */
ATW_API int atw_report_find_column(const struct atw_report *report, const char *name);

/**
 * atw_report_next - the next row
 * @report: the cursor
 * @ret: lent until the next call on @report
 * @err: what failed, or what is missing; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more, and something could not be
 * read, or the report lacks what it is about: @err has the first and how many.
 */
ATW_API int atw_report_next(struct atw_report *report, const struct atw_report_row **ret,
			    struct atw_err *err);

/**
 * atw_report_close - drop a report
 * @report: NULL is allowed
 */
ATW_API void atw_report_close(struct atw_report *report);

/**
 * struct atw_capture_opts - what a capture has
 * @size: sizeof(struct atw_capture_opts)
 * @level: of zstd compression, 1 to 19; 0: plain text
 * @frames: not 0: what every frame of RAM is used for, too
 * @threads: not 0: threads of processes, too
 * @pid: this process only; 0: all
 */
struct atw_capture_opts {
	size_t size;
	uint32_t level;
	uint32_t frames;
	uint32_t threads;
	uint32_t pid;
};

/**
 * atw_capture_write - write a capture of a target
 * @target: with ATW_CAP_PROCESSES, and no capture itself
 * @opts: NULL: all defaults
 * @fd: the file, opened for writing; it stays open
 * @err: what failed, or what is missing; may be NULL
 *
 * The format is that of atwalk-capture(5).
 *
 * Return: ATW_OK: all is written; ATW_E_PARTIAL: likewise, and the capture notes what could
 * not be read; other failures leave an incomplete file.
 */
ATW_API int atw_capture_write(struct atw_target *target, const struct atw_capture_opts *opts,
			      int fd, struct atw_err *err);

#ifdef __cplusplus
}
#endif
#endif
