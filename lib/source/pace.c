// SPDX-License-Identifier: GPL-2.0-or-later
/* pace - counts what is read, and sleeps where that was to be slow. */
#include "source/pace.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/wrap.h"

enum {
	WORDS = 64,              /* no slice ends within a word of any table */
	SLICES = 100,            /* a second */
};

/* ---- the brake ---- */

static uint64_t slice(const struct pace *p)
{
	uint64_t n = p->rate / SLICES & ~(uint64_t)(WORDS - 1);

	return n ? n : WORDS;
}

size_t pace_slice(const struct pace *p, size_t len)
{
	return p && p->rate && slice(p) < len ? (size_t)slice(p) : len;
}

/*
 * A reader that wakes up late makes up for one slice and no more: on the average the rate
 * is as set, and there are no bursts.
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

/* ---- as a source ---- */

struct paced {
	struct pace *pace;
};

static ssize_t paced_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			  struct atw_err *err)
{
	struct pace *p = ((struct paced *)s->impl)->pace;
	size_t part = pace_slice(p, len);
	ssize_t n;

	/* Slices end where words do, wherever the first one begins. */
	if (part < len)
		part -= (size_t)(pa.u % WORDS);
	pace_wait(p);
	n = s->below->ops->read(s->below, pa, buf, part, err);
	pace_done(p, &p->memory, n > 0 ? (uint64_t)n : 0);
	return n;
}

/* Pieces that are a slice together, all at once. */
static void read_some(struct atw_source *s, struct pace *p, struct atw_piece *piece, size_t n,
		      struct atw_err *err)
{
	uint64_t bytes = 0;

	pace_wait(p);
	atw_read_many(s->below, piece, n, err);
	for (size_t i = 0; i < n; i++)
		bytes += piece[i].got > 0 ? (uint64_t)piece[i].got : 0;
	pace_done(p, &p->memory, bytes);
}

static void paced_many(struct atw_source *s, struct atw_piece *piece, size_t n,
		       struct atw_err *err)
{
	struct pace *p = ((struct paced *)s->impl)->pace;

	for (size_t i = 0, end; i < n; i = end) {
		size_t len = piece[i].len, most = p->rate ? (size_t)slice(p) : SIZE_MAX;

		if (len > most) {        /* alone, and in slices */
			piece[i].got = atw_read(s, piece[i].pa, piece[i].buf, len, err);
			end = i + 1;
			continue;
		}
		for (end = i + 1; end < n && piece[end].len <= most - len; end++)
			len += piece[end].len;
		read_some(s, p, piece + i, end - i, err);
	}
}

static const struct atw_source_ops paced_ops = {
	.size = sizeof(struct atw_source_ops),
	.name = "pace",
	.help = "counts reads, and reads slowly",
	.close = wrap_close,
	.read = paced_read,
	.read_many = paced_many,
	.extent = wrap_extent,
	.fact = wrap_fact,
	.describe = wrap_describe,
	.buffer_open = wrap_buffer_open,
	.buffer_close = wrap_buffer_close,
	.mapped = wrap_mapped,
};

int pace_source(struct atw_source *below, struct pace *p, struct atw_source **ret,
		struct atw_err *err)
{
	struct atw_source *s = wrap_new(&paced_ops, below, sizeof(struct paced), err);

	if (!s)
		return ATW_E_NOMEM;
	((struct paced *)s->impl)->pace = p;
	*ret = s;
	return ATW_OK;
}
