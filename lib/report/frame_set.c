/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_set.c - sets of page frames: bits in chunks, in a hash table. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "report/frame_set.h"

void frames_deinit(struct frame_set *s)
{
	for (size_t i = 0; i < s->slots; i++)
		free(s->chunk[i].bits);
	free(s->chunk);
	*s = (struct frame_set){ 0 };
}

static size_t frame_set_slot_of(const struct frame_set *s, uint64_t nr)
{
	size_t i = hash_u64(nr) & (s->slots - 1);

	while (s->chunk[i].nr && s->chunk[i].nr != nr)
		i = (i + 1) & (s->slots - 1);
	return i;
}

static bool frame_set_grow(struct frame_set *s)
{
	struct frame_set bigger = { .n = s->n, .slots = s->slots ? 2 * s->slots : 256 };

	bigger.chunk = calloc(bigger.slots, sizeof(*bigger.chunk));
	if (!bigger.chunk)
		return false;
	for (size_t i = 0; i < s->slots; i++)
		if (s->chunk[i].nr)
			bigger.chunk[frame_set_slot_of(&bigger, s->chunk[i].nr)] =
				s->chunk[i];
	free(s->chunk);
	*s = bigger;
	return true;
}

static int frame_set_too_many(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_LIMIT, "the frames it names would be more than %" PRIu64
			   " pages of memory", FRAMES_MOST * FRAMES_CHUNK);
}

static int frame_set_chunk_of(struct frame_set *s, uint64_t nr, uint64_t **ret,
			      struct atw_err *err)
{
	struct frames_chunk *c;

	if (s->slots && s->chunk[s->last].nr == nr) {
		*ret = s->chunk[s->last].bits;
		return ATW_OK;
	}
	if (2 * (s->n + 1) > s->slots && !frame_set_grow(s))
		return atw_err_nomem(err);
	s->last = frame_set_slot_of(s, nr);
	c = &s->chunk[s->last];
	if (!c->nr) {
		if (s->n >= FRAMES_MOST)
			return frame_set_too_many(err);
		c->bits = calloc(FRAMES_CHUNK / 64, sizeof(*c->bits));
		if (!c->bits)
			return atw_err_nomem(err);
		c->nr = nr;
		s->n++;
	}
	*ret = c->bits;
	return ATW_OK;
}

int frames_add(struct frame_set *s, uint64_t frame, uint64_t pages, uint64_t *ret,
	       struct atw_err *err)
{
	uint64_t fresh = 0;

	/* A single run that is too large is refused at once. */
	if (pages > FRAMES_MOST * FRAMES_CHUNK)
		return frame_set_too_many(err);
	while (pages) {
		uint64_t at = frame % FRAMES_CHUNK, *bits = NULL;
		int r = frame_set_chunk_of(s, frame / FRAMES_CHUNK + 1, &bits, err);

		if (r != ATW_OK)
			return r;
		while (pages && at < FRAMES_CHUNK) {
			unsigned from = at % 64;
			uint64_t n = 64 - from < pages ? 64 - from : pages;
			uint64_t mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << from;

			fresh += (uint64_t)__builtin_popcountll(mask & ~bits[at / 64]);
			bits[at / 64] |= mask;
			at += n;
			frame += n;
			pages -= n;
		}
	}
	*ret = fresh;
	return ATW_OK;
}

int frames_add_pages(struct frame_set *s, const struct census_pages *p, uint64_t page,
		     uint64_t *ret, struct atw_err *err)
{
	return frames_add(s, p->pa / page, p->same ? 1 : p->pages, ret, err);
}
