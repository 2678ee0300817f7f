// SPDX-License-Identifier: GPL-2.0-or-later
/* pace.c - rate limit and I/O statistics. */
#include "host/pace.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	SLICES = 100,            /* per second */
};

static uint64_t pace_slice_bytes(const struct pace *p)
{
	uint64_t n = p->rate / SLICES & ~(uint64_t)(PACE_WORDS - 1);

	return n ? n : PACE_WORDS;
}

size_t pace_slice(const struct pace *p, size_t len)
{
	return p && p->rate && pace_slice_bytes(p) < len ? (size_t)pace_slice_bytes(p)
							 : len;
}

/*
 * A reader that wakes up late catches up with one slice at most: the average rate is as
 * set, without bursts.
 */
void pace_wait(struct pace *p)
{
	uint64_t at, late = SECOND / SLICES;
	struct timespec t;

	if (!p || !p->rate)
		return;
	at = now();
	if (p->next + late < at)
		p->next = p->next ? at - late : at;
	if (p->next <= at)
		return;
	t = (struct timespec){ (time_t)(p->next / SECOND), (long)(p->next % SECOND) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void pace_done(struct pace *p, struct pace_count *c, uint64_t bytes)
{
	if (!p)
		return;
	c->bytes += bytes;
	c->calls++;
	if (!p->rate)
		return;
	/* 64 bits hold the nanoseconds of 16 GiB, and no slice is that large. */
	for (uint64_t part; bytes; bytes -= part) {
		part = bytes < SECOND ? bytes : SECOND;
		p->next += part * SECOND / p->rate;
	}
}

void pace_add(struct pace *p, const struct pace *other)
{
	p->memory.bytes += other->memory.bytes;
	p->memory.calls += other->memory.calls;
	p->proc.bytes += other->proc.bytes;
	p->proc.calls += other->proc.calls;
}

ssize_t pace_pread(struct pace *p, int fd, void *buf, size_t len, off_t at)
{
	size_t done = 0;

	do {
		size_t part = pace_slice(p, len - done);
		ssize_t n;

		pace_wait(p);
		do
			n = pread(fd, (char *)buf + done, part, at + (off_t)done);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return done ? (ssize_t)done : n;
		pace_done(p, p ? &p->proc : NULL, (uint64_t)n);
		done += (size_t)n;
		if ((size_t)n < part)
			break;
	} while (done < len);
	return (ssize_t)done;
}
