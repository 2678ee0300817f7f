/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void kmap_series_deinit(struct kmap_series *s)
{
	free(s->v);
	*s = (struct kmap_series){ 0 };
}

int64_t kmap_series_new(struct kmap_series *s)
{
	if (s->n == KMAP_SERIES)
		return KMAP_SERIES - 1;
	if (!array_reserve((void **)&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return -1;
	memset(s->v[s->n], 0, sizeof(s->v[s->n]));
	return (int64_t)s->n++;
}

static void series_move_steps(struct kmap_series *s, unsigned shift, uint64_t from)
{
	for (size_t i = 0; i < s->n; i++) {
		int64_t to[KMAP_STEPS] = { 0 };

		for (unsigned k = 0; k < KMAP_STEPS; k++)
			if (s->v[i][k]) {
				uint64_t step = ((s->from + k) >> (shift - s->shift)) - from;

				to[step] = (int64_t)((uint64_t)to[step] + (uint64_t)s->v[i][k]);
			}
		memcpy(s->v[i], to, sizeof(to));
	}
	s->shift = shift;
	s->from = from;
}

/*
 * Steps so long, and from such a one on, that the time has its own. What was taken in
 * once stays in, so this happens a few times for each length and no more.
 */
static void series_make_room(struct kmap_series *s, uint64_t time)
{
	unsigned shift = s->shift;
	uint64_t from, spare;

	if (!s->any) {
		s->any = true;
		s->from = s->low = s->high = time;
		return;
	}
	s->low = time < s->low ? time : s->low;
	s->high = time > s->high ? time : s->high;
	while ((s->high >> shift) - (s->low >> shift) >= KMAP_STEPS)
		shift++;
	from = s->low >> shift;
	/* Objects come in the order of their end: times before the first will follow. */
	if (time == s->low) {
		spare = KMAP_STEPS - 1 - ((s->high >> shift) - from);
		from -= spare < from ? spare : from;
	}
	series_move_steps(s, shift, from);
}

void kmap_series_add(struct kmap_series *s, size_t i, uint64_t time, int64_t bytes)
{
	uint64_t step = time >> s->shift;
	int64_t *at;

	if (!s->any || step < s->from || step - s->from >= KMAP_STEPS) {
		series_make_room(s, time);
		step = time >> s->shift;
	}
	s->low = time < s->low ? time : s->low;
	s->high = time > s->high ? time : s->high;
	at = &s->v[i][step - s->from];
	*at = (int64_t)((uint64_t)*at + (uint64_t)bytes);
}
