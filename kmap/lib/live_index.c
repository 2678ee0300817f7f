/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_index.h"

#include <stdlib.h>

#include "base/hash.h"

enum { FIRST = 1 << 12 };

void live_index_free(struct live_index *x)
{
	free(x->place);
	*x = (struct live_index){ 0 };
}

static size_t live_index_home(const struct live_index *x, uint64_t key)
{
	return hash_u64(key) & (x->room - 1);
}

/* Where the key is, or would be. */
static size_t live_index_lookup(const struct live_index *x, uint64_t key)
{
	size_t i = live_index_home(x, key);

	while (x->place[i].key && x->place[i].key != key)
		i = (i + 1) & (x->room - 1);
	return i;
}

uint32_t live_index_find(const struct live_index *x, uint64_t key)
{
	size_t i = x->room ? live_index_lookup(x, key) : 0;

	return x->room && x->place[i].key ? x->place[i].id : 0;
}

static bool live_index_grow(struct live_index *x)
{
	struct live_index more = { .room = x->room ? x->room * 2 : FIRST, .n = x->n };

	more.place = calloc(more.room, sizeof(*more.place));
	if (!more.place)
		return false;
	for (size_t i = 0; i < x->room; i++)
		if (x->place[i].key)
			more.place[live_index_lookup(&more, x->place[i].key)] =
				x->place[i];
	free(x->place);
	*x = more;
	return true;
}

bool live_index_set(struct live_index *x, uint64_t key, uint32_t id)
{
	size_t i;

	if (x->n >= x->room / 2 && !live_index_grow(x))
		return false;
	i = live_index_lookup(x, key);
	x->n += !x->place[i].key;
	x->place[i] = (struct live_place){ key, id };
	return true;
}

/* Those behind it that would not be found any more move up. */
void live_index_drop(struct live_index *x, uint64_t key)
{
	size_t hole = x->room ? live_index_lookup(x, key) : 0, i = hole;

	if (!x->room || !x->place[hole].key)
		return;
	x->n--;
	for (;;) {
		x->place[hole].key = 0;
		do {
			i = (i + 1) & (x->room - 1);
			if (!x->place[i].key)
				return;
		} while (((i - live_index_home(x, x->place[i].key)) & (x->room - 1)) <
			 ((i - hole) & (x->room - 1)));
		x->place[hole] = x->place[i];
		hole = i;
	}
}
