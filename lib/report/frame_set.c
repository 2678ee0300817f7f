/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_set.c - sets of page frames: bits in chunks. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/frame_set.h"

void frames_deinit(struct frame_set *s)
{
	for (size_t i = 0; i < s->chunks.slots; i++)
		free(table_ptr(s->chunks.slot[i].value));
	table_deinit(&s->chunks);
	*s = (struct frame_set){ 0 };
}

static int frame_set_too_many(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_LIMIT, "the frames it names would be more than %" PRIu64
			   " pages of memory", FRAMES_MOST * FRAMES_CHUNK);
}

static int frame_set_chunk_of(struct frame_set *s, uint64_t nr, uint64_t **ret,
			      struct atw_err *err)
{
	struct table_slot *c;

	if (!s->last || s->nr != nr) {
		c = table_get(&s->chunks, nr);
		if (!c)
			return atw_err_nomem(err);
		if (!c->value) {
			uint64_t *bits;

			if (s->chunks.n >= FRAMES_MOST)
				return frame_set_too_many(err);
			bits = calloc(FRAMES_CHUNK / 64, sizeof(*bits));
			if (!bits)
				return atw_err_nomem(err);
			table_set(&s->chunks, c, (uintptr_t)bits);
		}
		s->nr = nr;
		s->last = table_ptr(c->value);
	}
	*ret = s->last;
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
		int r = frame_set_chunk_of(s, frame / FRAMES_CHUNK, &bits, err);

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
