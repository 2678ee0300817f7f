/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - I/O statistics and rate limit for reads of a running machine, shared by all
 * readers of one command.
 */
#pragma once

#include <sys/types.h>

#include <atwalk/base.h>

/* Slices are multiples of this size, so that none ends inside of a table entry. */
enum { PACE_WORDS = 64 };

struct pace_count {
	uint64_t bytes, calls;
};

struct pace {
	uint64_t rate;           /* bytes a second; 0: unlimited */
	uint64_t next;           /* ns of CLOCK_MONOTONIC: time of the next read */
	struct pace_count memory, proc;  /* totals: from a source, from /proc */
};

/* With NULL nothing is counted or delayed. */

/*
 * How many of `len` bytes may be read at once: 10 ms worth, rounded to whole entries of
 * any table.
 */
size_t pace_slice(const struct pace *p, size_t len);
/* Before a read: waits until it is allowed. */
void pace_wait(struct pace *p);
/* After the read, which was one call. `c` is one of the counts of `p`. */
void pace_done(struct pace *p, struct pace_count *c, uint64_t bytes);

/* Adds the totals of another one. */
void pace_add(struct pace *p, const struct pace *other);

/* pread(2) of a file in /proc in slices; short only at the end of the file. */
ssize_t pace_pread(struct pace *p, int fd, void *buf, size_t len, off_t at);
