/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - text form of recorded memory references.
 *
 *	# atwalk references 1
 *	# backend qemu
 *	# counts exact
 *	# program /usr/bin/cat
 *	# load 0x4000000000
 *	# columns address size kind tid ip count
 *	4000004010 4 w 1234 4000001139 100
 *	# lost 0
 *	# end 1
 *
 * Addresses are hexadecimal, all other numbers decimal, and "-" is a value that the
 * backend does not have. Comments that are not listed in recording.c are ignored. The
 * last line has the number of rows: without it the recording is truncated. Pure.
 */
#pragma once

#include "trace/trace.h"

enum {
	RECORDING_VERSION = 1,
	RECORDING_ROW = 128,     /* bytes that a row needs at most */
	RECORDING_HEAD = 32768,  /* the same for all lines before, or behind, the rows */
};

struct trace_recording {
	char backend[16];
	bool sampled;            /* else every reference was counted */
	uint64_t scale;          /* references per count; 1 unless sampled; 0: unknown */
	uint32_t line;           /* bytes that the addresses of rows were rounded to; 0: none */
	char program[4096];      /* path of the program that ran; "": unknown */
	bool has_load;
	uint64_t load;           /* added to addresses in the program's file when it was loaded */

	/* Known when the recording ends. */
	uint64_t lost;           /* references that are missing */
	uint64_t children;       /* processes that the program started, not recorded */
	char cut[160];           /* why recording ended before the program; "": it did not */
	uint64_t rows;           /* that were read or written so far */

	/* State of a reader. */
	bool begun, ended;
	uint64_t lines;          /* that were read so far */
};

/* ---- writing: return the number of bytes, or 0 if they do not fit ---- */

size_t recording_write_head(const struct trace_recording *rec, char *buf, size_t len);
/* Adds to rec->rows. */
size_t recording_write(struct trace_recording *rec, const struct trace_ref *ref, char *buf,
		       size_t len);
size_t recording_write_end(const struct trace_recording *rec, char *buf, size_t len);

/* ---- reading, from a zeroed struct ---- */

/* Does a file that begins like this claim to be a recording, of any version? */
bool recording_is(struct atw_blob begin);
/*
 * A line, with or without its line end. ATW_OK: *ret is its reference; ATW_END: it has none.
 * ATW_E_UNSUPPORTED: another version; ATW_E_FORMAT: not a recording, or not a line of one;
 * ATW_E_LIMIT: longer than RECORDING_HEAD, and not one byte of it was read.
 */
int recording_read(struct trace_recording *rec, struct atw_blob line, struct trace_ref *ret,
		   struct atw_err *err);
/* At the end of the file. ATW_E_DAMAGED: it is truncated. */
int recording_finish(const struct trace_recording *rec, struct atw_err *err);
