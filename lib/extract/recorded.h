/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorded.h - record and replay of reads of a running machine.
 *
 * record_open() wraps a source and keeps the last value of each byte that was read: a
 * reader of a running machine re-reads the pointers that it followed, and continues with
 * their new values. record_replay() is a source with these bytes that does not change.
 */
#ifndef EXTRACT_RECORDED_H
#define EXTRACT_RECORDED_H

#include "source/source.h"

#include "extract/marks.h"

/* `below` is borrowed. */
int record_open(struct atw_source *below, struct atw_source **ret, struct atw_err *err);
/* To be closed before `s`, with atw_source_close(). */
int record_replay(struct atw_source *s, struct atw_source **ret, struct atw_err *err);
/* NULL is accepted. */
void record_close(struct atw_source *s);

/* Results of a replay for bytes that were not recorded. */
enum record_missing {
	RECORD_NOTHING,          /* missing */
	RECORD_FILL,             /* read now, and recorded */
	RECORD_ZERO,             /* zero, in pages with recorded bytes */
};
void record_missing(struct atw_source *replay, enum record_missing what);

/* Was a read not recorded because memory ran out? */
bool record_failed(const struct atw_source *s);
/* Record these bytes as read from there. */
void record_put(struct atw_source *s, uint64_t pa, const void *data, size_t len);
/* Remove bytes from the marks that were not recorded. Marks are sorted. */
void record_trim(const struct atw_source *s, struct byte_marks *m);

#endif
