/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames.c - physical frames of the public API. */
#include "api/api.h"
#include "linux/memmap.h"
#include "linux/machine.h"

const char *atw_frame_flag_name(unsigned bit)
{
	return lnx_page_flag_name(bit);
}

void api_frame_set(struct atw_frame *ret, uint64_t pa, unsigned page_shift,
		   const struct frame_facts *f)
{
	*ret = (struct atw_frame){
		.pa = ATW_PA(pa),
		.flags = f->page.flags,
		.mapcount = f->page.count,
		.refcount = f->page.refcount,
		.head = ATW_PA(f->page.head << page_shift),
		.cgroup = f->cgroup,
		.cache = f->page.cache,
		.known = (f->have & FACT_FLAGS ? ATW_FRAME_FLAGS : 0) |
			 (f->have & FACT_COUNT ? ATW_FRAME_MAPCOUNT : 0) |
			 (f->have & FACT_REFS ? ATW_FRAME_REFCOUNT : 0) |
			 (f->have & FACT_HEAD ? ATW_FRAME_HEAD : 0) |
			 (f->have & FACT_NODE ? ATW_FRAME_NODE : 0) |
			 (f->have & FACT_ORDER ? ATW_FRAME_ORDER : 0) |
			 (f->have & FACT_CGROUP ? ATW_FRAME_CGROUP : 0),
		.node = f->page.node,
		.order = f->page.order,
	};
}

struct atw_frames {
	struct atw_target *target;
	struct atw_memmap *map;
	unsigned page_shift;
	uint64_t first_pa, last_pa; /* asked for */
	struct extents ram;
	size_t at;         /* the next range of it */
	uint64_t pfn, end; /* of this range: the next one; behind the last */
	struct api_lost lost;
	struct frame_facts facts;
	struct atw_frame row;
};

/* ---- the cursor ---- */

static int frames_find_ram(struct atw_frames *c, struct atw_err *err)
{
	struct atw_err why = {0};
	int r = kernel_ram(c->target->t->kernel, &c->ram, &why);

	/* Frames that were named need no list of RAM. */
	if (r == ATW_E_MISSING && c->last_pa != UINT64_MAX)
		return extents_add(&c->ram, c->first_pa, c->last_pa - c->first_pa + 1, 0,
				   ATW_DATA, err);
	return atw_err_give(err, r, &why);
}

int atw_frames_open(struct atw_target *target, const struct atw_frames_opts *opts,
		    struct atw_frames **ret, struct atw_err *err)
{
	struct atw_frames_opts o;
	struct atw_frames *c;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		api_given(ret, "ret", err) ?:
		atw_target_need(target, ATW_CAP_FRAMES, err);

	if (r == ATW_OK && o.last.u && o.last.u < o.first.u)
		r = atw_err_set(err, ATW_E_USAGE, "options: `last` is below `first`");
	if (r == ATW_OK)
		r = API_NEW(&c, err);
	if (r != ATW_OK)
		return r;
	c->target = target;
	c->page_shift = target->t->space.paging.page_shift;
	c->first_pa = o.first.u;
	c->last_pa = o.last.u ? o.last.u : UINT64_MAX;
	r = atw_memmap_open(target->t->kernel, &c->map, err) ?: frames_find_ram(c, err);
	if (r < 0)
		atw_frames_close(c);
	else
		*ret = c;
	return r;
}

/* The next range of RAM that has frames which are asked for, as c->pfn and c->end. */
static bool frames_next_range(struct atw_frames *c)
{
	while (c->at < c->ram.n) {
		const struct extent *e = &c->ram.v[c->at++];
		uint64_t last = e->start + (e->len - 1);
		uint64_t page = (uint64_t)1 << c->page_shift;
		uint64_t from = e->start > c->first_pa ? e->start : c->first_pa & -page;

		if (last > (c->last_pa | (page - 1)))
			last = c->last_pa | (page - 1);
		if (from > last)
			continue;
		c->pfn = (from + page - 1) >> c->page_shift;
		c->end = (last >> c->page_shift) + ((last & (page - 1)) == page - 1);
		if (c->pfn < c->end)
			return true;
	}
	return false;
}

static int frames_step(struct atw_frames *c)
{
	struct atw_err why = {0};
	uint64_t none;
	int r;

	for (;;) {
		if (c->pfn >= c->end && !frames_next_range(c))
			return ATW_END;
		r = atw_memmap_page(c->map, c->pfn, &c->facts.page, &why);
		if (r == ATW_OK)
			return r;
		none = memmap_none(c->map, c->pfn);
		if (!none)
			api_lost_add(&c->lost, NULL, &why);
		c->pfn += none ? none : 1;
	}
}

int atw_frames_next(struct atw_frames *frames, const struct atw_frame **ret,
		    struct atw_err *err)
{
	struct frame_facts *f;
	int r = api_both(frames, "the list of frames", ret, err);

	if (r < 0)
		return r;
	if (frames_step(frames) == ATW_END)
		return api_lost_end(&frames->lost, err);
	f = &frames->facts;
	f->have = FACT_FLAGS | FACT_COUNT | FACT_HEAD |
		  (f->page.refcount >= 0 ? FACT_REFS : 0) |
		  (f->page.have_node ? FACT_NODE : 0) |
		  (f->page.have_order ? FACT_ORDER : 0);
	if (atw_memmap_cgroup(frames->map, f->page.head, &f->cgroup) == ATW_OK)
		f->have |= FACT_CGROUP;
	api_frame_set(&frames->row, frames->pfn++ << frames->page_shift,
		      frames->page_shift, f);
	*ret = &frames->row;
	return ATW_OK;
}

void atw_frames_close(struct atw_frames *frames)
{
	if (!frames)
		return;
	atw_memmap_close(frames->map);
	extents_deinit(&frames->ram);
	free(frames);
}
