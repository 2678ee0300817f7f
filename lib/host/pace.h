/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - I/O statistics and rate limit of reading a running machine, shared by all
 * readers of one command.
 */
#ifndef HOST_PACE_H
#define HOST_PACE_H

#include <sys/types.h>

#include <atwalk/base.h>

/* No slice ends within a word of any table: of so many bytes. */
enum { PACE_WORDS = 64 };

struct pace_count {
	uint64_t bytes, calls;
};

struct pace {
	uint64_t rate;           /* bytes a second; 0: as fast as it goes */
	uint64_t next;           /* ns of CLOCK_MONOTONIC: nothing is read before */
	struct pace_count memory, proc;  /* read so far: of a source, of /proc */
};

/* A pace of NULL measures nothing and delays no reader. */

/*
 * How many of `len` bytes may be read at once: 10 ms worth, and whole words of
 * any table, so that no entry is read in two pieces.
 */
size_t pace_slice(const struct pace *p, size_t len);
/* Before something is read: until it may be. */
void pace_wait(struct pace *p);
/* After it: in one call. `c` is one of the counts of `p`. */
void pace_done(struct pace *p, struct pace_count *c, uint64_t bytes);

/* pread(2) of a file in /proc, slice by slice; short where the file ends. */
ssize_t pace_pread(struct pace *p, int fd, void *buf, size_t len, off_t at);

#endif
