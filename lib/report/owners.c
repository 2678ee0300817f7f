// SPDX-License-Identifier: GPL-2.0-or-later
/* owners.c - table of frames with their exclusive group. */
#include "report/owners.h"

#include <stdlib.h>

enum {
	MANY = -1,               /* as an owner: more than one group */
	MOST = 1 << 21,          /* chunks: 512 GiB of shared memory, in a GiB of chunks */
};

void owners_deinit(struct owners *o)
{
	for (size_t i = 0; i < o->chunks.slots; i++)
		free(table_ptr(o->chunks.slot[i].value));
	table_deinit(&o->chunks);
	*o = (struct owners){ 0 };
}

static int owners_find(struct owners *o, uint64_t nr, struct owners_frame **ret,
		       struct atw_err *err)
{
	struct table_slot *c;

	if (!o->last || o->nr != nr) {
		c = table_get(&o->chunks, nr);
		if (!c)
			return atw_err_nomem(err);
		if (!c->value) {
			struct owners_frame *f;

			if (o->chunks.n == MOST)
				return atw_err_set(err, ATW_E_LIMIT,
						   "more memory is shared than a machine "
						   "is believed to have");
			f = calloc(OWNERS_CHUNK, sizeof(*f));
			if (!f)
				return atw_err_nomem(err);
			table_set(&o->chunks, c, (uintptr_t)f);
		}
		o->nr = nr;
		o->last = table_ptr(c->value);
	}
	*ret = o->last;
	return ATW_OK;
}

int owners_add(struct owners *o, uint64_t pfn, uint64_t refs, uint64_t times, uint32_t group,
	       unsigned *ret, struct atw_err *err)
{
	struct owners_frame *f = NULL;
	int r = owners_find(o, pfn / OWNERS_CHUNK, &f, err);

	if (r < 0)
		return r;
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
