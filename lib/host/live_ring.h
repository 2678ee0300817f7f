/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_ring.h - records of perf_event_open(2), out of the memory that the kernel shares. */
#pragma once

#include <linux/perf_event.h>

#include <atwalk/base.h>

struct live_ring {
	struct perf_event_mmap_page *page;       /* NULL: not open */
	size_t size;                     /* of the data behind it */
};

enum { LIVE_RING_PAGES = 64 };

/* Of an event's descriptor; `pages`: a power of two, fewer if no more are allowed. */
int live_ring_open(struct live_ring *r, int fd, unsigned pages, struct atw_err *err);
/* Fine on a zeroed struct. */
void live_ring_close(struct live_ring *r);
/* The next record, as much as there is room for, zeroes behind it. false: there is none. */
bool live_ring_next(struct live_ring *r, void *buf, size_t len);
