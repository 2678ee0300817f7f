/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_ahead.h - pages of a source that threads unpack before they are read.
 *
 * The reader says which pages it will need; threads take them in this order. What the
 * reader then asks for is there, or under way, or it does that itself. While a page is
 * under way the reader unpacks another. So the order in which pages are read, and every
 * error, are those of a single thread.
 */
#pragma once

#include <atwalk/base.h>

/* Pages that are unpacked and not read yet, at most. */
enum { PAGE_AHEAD_SLOTS = 512 };

struct page_ahead_ops {
	/*
	 * Unpacks page `key` to `page`; called by several threads at once, each with a
	 * `state` of its own. false: not now, and its reader will find the reason.
	 */
	bool (*page)(void *arg, void *state, uint64_t key, void *page);
	size_t state;            /* bytes of a state, which begins zeroed */
	void (*drop)(void *state);
};

struct page_ahead;
/*
 * With `threads` beside the reader. `arg` and all it leads to must not change meanwhile.
 * NULL: no memory. Threads that cannot be started are done without.
 */
struct page_ahead *page_ahead_open(const struct page_ahead_ops *ops, void *arg, size_t page_size,
			   unsigned threads);
/* NULL is accepted. */
void page_ahead_close(struct page_ahead *u);

/* The following are called by one thread, the reader. */

/* These pages will be read. Those for which there is no room are forgotten. */
void page_ahead_want(struct page_ahead *u, const uint64_t *key, size_t n);
/* Copies the page to `to` if it was wanted and could be unpacked. It is forgotten then. */
bool page_ahead_take(struct page_ahead *u, uint64_t key, void *to);
