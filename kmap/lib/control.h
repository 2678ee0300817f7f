/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - controls of a running recording: the files that Memorizer has in debugfs,
 * under every name that it gave them. Folder and socket are implemented elsewhere: here
 * names are read and written, and a refusal is a negative errno with a sentence.
 *
 * kmap has what was freed since the last clear, read from the output file, and then what
 * lives, copied while the recorder stands still. So nothing is kept twice; and where the
 * output cannot be read again, kmap is not available.
 *
 * All functions may be called by several threads at once.
 */
#pragma once

#include <sys/types.h>

#include "kmap/lib/drain.h"

struct kmap_controls;

enum { KMAP_CONTROL_TEXT = 64 };         /* longer is written to none of them */

struct kmap_control {
	const char *name;
	unsigned kind;
	bool reads, writes;
};

/* `out`: the file's name, for errors. `d` is used with the lock only. */
int kmap_controls_open(struct kshare *s, struct kmap_drain *d, const char *out,
		       struct kmap_controls **ret, struct atw_err *err);
/* NULL is fine, here and below. No other thread may use it; what is open is closed. */
void kmap_controls_close(struct kmap_controls *c);
void kmap_controls_lock(struct kmap_controls *c);
void kmap_controls_unlock(struct kmap_controls *c);
/* The recorder has ended: stop waiting for it. Not with the lock. */
void kmap_controls_over(struct kmap_controls *c);
/*
 * The last line is written, with or without a cut mark. Returns when the reader of
 * kmap_stream has all of it, or made no progress for a second.
 */
void kmap_controls_ended(struct kmap_controls *c, bool cut);

/* By number, NULL behind the last; by name, NULL: there is none. */
const struct kmap_control *kmap_control_at(size_t i);
const struct kmap_control *kmap_control_find(const char *name);

int kmap_control_write(struct kmap_controls *c, const struct kmap_control *f, const char *text,
		       size_t len, struct atw_err *err);

/*
 * Reading one: what it has is fixed when it is opened, but for kmap_stream, which waits for
 * more, is read from its beginning to its end whatever `at` says, and asks `stop` now and
 * then whether its reader is gone (-EINTR). 0: that is all.
 */
struct kmap_reading;
int kmap_reading_open(struct kmap_controls *c, const struct kmap_control *f,
		      struct kmap_reading **ret, struct atw_err *err);
ssize_t kmap_reading_read(struct kmap_reading *r, char *buf, size_t len, uint64_t at,
			  bool (*stop)(void *arg), void *arg);
void kmap_reading_close(struct kmap_reading *r);
