/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_set.c - sets of page frames, and their owners, in chunks. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/frame_set.h"

static void frame_chunks_free(struct frame_chunks *c)
{
	for (size_t i = 0; i < c->table.slots; i++)
		free(table_ptr(c->table.slot[i].value));
	table_deinit(&c->table);
	*c = (struct frame_chunks){ 0 };
}

/* Chunk `nr` of so many bytes, zeroed at first. NULL: *status has the reason. */
static void *frame_chunk(struct frame_chunks *c, uint64_t nr, size_t bytes, int *status)
{
	struct table_slot *s;

	if (c->last && c->nr == nr)
		return c->last;
	s = table_get(&c->table, nr);
	*status = s && !s->value && c->table.n >= FRAMES_MOST ? ATW_E_LIMIT : ATW_E_NOMEM;
	if (!s || *status == ATW_E_LIMIT)
		return NULL;
	c->last = s->value ? table_ptr(s->value) : calloc(1, bytes);
	if (c->last)
		table_set(&c->table, s, (uintptr_t)c->last);
	c->nr = nr;
	return c->last;
}

/* ---- sets ---- */

void frames_deinit(struct frame_set *s)
{
	frame_chunks_free(&s->chunks);
}

static int frame_set_too_many(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_LIMIT, "the frames it names would be more than %" PRIu64
			   " pages of memory", FRAMES_MOST * FRAMES_CHUNK);
}

int frames_add(struct frame_set *s, uint64_t frame, uint64_t pages, uint64_t *ret,
	       struct atw_err *err)
{
	uint64_t fresh = 0;
	int r;

	/* A single run that is too large is refused at once. */
	if (pages > FRAMES_MOST * FRAMES_CHUNK)
		return frame_set_too_many(err);
	while (pages) {
		uint64_t at = frame % FRAMES_CHUNK;
		uint64_t *bits = frame_chunk(&s->chunks, frame / FRAMES_CHUNK, FRAMES_CHUNK / 8, &r);

		if (!bits)
			return r == ATW_E_LIMIT ? frame_set_too_many(err) : atw_err_nomem(err);
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

/* ---- owners ---- */

enum { MANY = -1 };              /* as an owner: more than one group */

void owners_deinit(struct owners *o)
{
	frame_chunks_free(&o->chunks);
}

int owners_add(struct owners *o, uint64_t pfn, uint64_t refs, uint64_t times, uint32_t group,
	       unsigned *ret, struct atw_err *err)
{
	struct owners_frame *f;
	int r;

	f = frame_chunk(&o->chunks, pfn / OWNERS_CHUNK, OWNERS_CHUNK * sizeof(*f), &r);
	if (!f)
		return r == ATW_E_LIMIT
			       ? atw_err_set(err, r, "more memory is shared than a machine "
						     "is believed to have")
			       : atw_err_nomem(err);
	f += pfn % OWNERS_CHUNK;
	if (!f->owner) {
		f->owner = group + 1;
		f->left = refs > UINT32_MAX ? UINT32_MAX : (uint32_t)refs;
	} else if (f->owner != group + 1) {
		f->owner = (uint32_t)MANY;
	}
	f->left -= times < f->left ? (uint32_t)times : f->left;
	*ret = !f->left && f->owner == group + 1;
	/* Further mappings than stated would count again. */
	if (*ret)
		f->owner = (uint32_t)MANY;
	return ATW_OK;
}
