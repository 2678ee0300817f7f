/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_index.h - which object begins at an address: a table that grows. */
#ifndef KMAP_LIVE_INDEX_H
#define KMAP_LIVE_INDEX_H

#include <atwalk/base.h>

struct live_index {
	struct live_place { uint64_t key; uint32_t id; } *place;
	size_t room, n;
};

/* Fine on a zeroed struct. */
void live_index_free(struct live_index *x);
/* 0: none. Keys are not 0. */
uint32_t live_index_find(const struct live_index *x, uint64_t key);
/* What was there before is not any more. false: out of memory. */
bool live_index_set(struct live_index *x, uint64_t key, uint32_t id);
void live_index_drop(struct live_index *x, uint64_t key);

#endif
