// SPDX-License-Identifier: GPL-2.0-or-later
/* owners.c - table of frames with their exclusive group. */
#include "report/owners.h"

#include <stdlib.h>

#include "base/hash.h"

enum {
	MANY = -1,               /* as an owner: more than one group */
	FIRST = 1024,            /* slots of the first table */
	MOST = 1 << 21,          /* chunks: 512 GiB of shared memory, with a GiB of
				  * tables */
};

void owners_deinit(struct owners *o)
{
	for (size_t i = 0; i < o->slots; i++)
		free(o->chunk[i].frame);
	free(o->chunk);
	*o = (struct owners){ 0 };
}

static size_t owners_slot_of(const struct owners *o, uint64_t nr)
{
	size_t i = hash_u64(nr) & (o->slots - 1);

	while (o->chunk[i].nr && o->chunk[i].nr != nr)
		i = (i + 1) & (o->slots - 1);
	return i;
}

static bool owners_grow(struct owners *o)
{
	struct owners old = *o;

	if (o->n * 2 < o->slots)
		return true;
	o->slots = old.slots ? old.slots * 2 : FIRST;
	o->chunk = calloc(o->slots, sizeof(*o->chunk));
	if (!o->chunk) {
		*o = old;
		return false;
	}
	for (size_t i = 0; i < old.slots; i++)
		if (old.chunk[i].nr)
			o->chunk[owners_slot_of(o, old.chunk[i].nr)] = old.chunk[i];
	free(old.chunk);
	o->last = 0;
	return true;
}

static int owners_find(struct owners *o, uint64_t nr, struct owners_chunk **ret,
		       struct atw_err *err)
{
	struct owners_chunk *c;

	if (o->n && o->chunk[o->last].nr == nr) {
		*ret = &o->chunk[o->last];
		return ATW_OK;
	}
	if (!owners_grow(o))
		return atw_err_nomem(err);
	o->last = owners_slot_of(o, nr);
	c = &o->chunk[o->last];
	if (!c->nr) {
		if (o->n == MOST)
			return atw_err_set(err, ATW_E_LIMIT,
				"more memory is shared than a machine is believed to have");
		c->frame = calloc(OWNERS_CHUNK, sizeof(*c->frame));
		if (!c->frame)
			return atw_err_nomem(err);
		c->nr = nr;
		o->n++;
	}
	*ret = c;
	return ATW_OK;
}

int owners_add(struct owners *o, uint64_t pfn, uint64_t refs, uint64_t times, uint32_t group,
	       unsigned *ret, struct atw_err *err)
{
	struct owners_chunk *c = NULL;
	struct owners_frame *f;
	int r = owners_find(o, pfn / OWNERS_CHUNK + 1, &c, err);

	if (r < 0)
		return r;
	f = &c->frame[pfn % OWNERS_CHUNK];
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
