/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded.h - the bytes that were read of a running machine.
 *
 * record_open() wraps a source and keeps what was read last of each byte: a reader
 * of a machine that runs reads again what led it somewhere, and goes on with that.
 * record_replay() is a source that holds still and has these bytes.
 */
#ifndef EXTRACT_RECORDED_H
#define EXTRACT_RECORDED_H

#include "source/source.h"

#include "extract/marks.h"

/* `below` is borrowed. */
int record_open(struct atw_source *below, struct atw_source **ret, struct atw_err *err);
/* To be closed before `s`, with atw_source_close(). */
int record_replay(struct atw_source *s, struct atw_source **ret, struct atw_err *err);
/* NULL is fine. */
void record_close(struct atw_source *s);

/* What a replay answers for bytes that were never read. */
enum record_missing {
	RECORD_NOTHING,          /* the source has none there */
	RECORD_FILL,             /* they are read now, and kept */
	RECORD_ZERO,             /* zero, in pages of which something was read */
};
void record_missing(struct atw_source *replay, enum record_missing what);

/* Was a read not kept, because there was no memory for it? */
bool record_failed(const struct atw_source *s);
/* From here on these bytes are what was read there. */
void record_put(struct atw_source *s, uint64_t pa, const void *data, size_t len);
/* Take from the marks what was never read. They are sorted. */
void record_trim(const struct atw_source *s, struct byte_marks *m);

#endif
