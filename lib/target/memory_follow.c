/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_follow.c - a provider with a kernel and a source of its own that lists the tasks
 * of another one, for another thread. Mapcounts and classes of frames are read once, for all
 * of them: classes by all of them. Large tasks are listed in parts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/memory_vmas.h"

/* Borrowed: nothing of it is changed any more, but by walk_prepare(). */
static void follow_share(struct walk_provider *w, const struct walk_provider *lead)
{
	w->look = lead->look;
	w->classes = lead->classes;
	w->classes.tried = true;
}

void walk_lead(struct provider *p)
{
	struct walk_provider *w = walk_of(p);

	memory_find_memmap(w);
	if (w->memmap)
		memory_classes_begin(w);
}

int walk_follow(struct provider *p, struct provider *lead, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	const struct walk_provider *l = walk_of(lead);
	struct atw_source *mem = atw_kernel_space(w->o.kernel)->mem;

	memory_find_memmap(w);
	w->space = malloc((lead->ntasks + 1) * sizeof(*w->space));
	if (!w->space)
		return atw_err_nomem(err);
	memcpy(w->space, l->space, lead->ntasks * sizeof(*w->space));
	for (size_t i = 0; i < lead->ntasks; i++)
		w->space[i].mm.space.mem = mem;
	follow_share(w, l);
	return provider_take(p, lead, err);
}

/* ---- parts of a task ---- */

/* Bytes of areas: 8192 small pages, or a 64th of all there is. */
enum { PART = 32 << 20, PARTS = 64 };

/* Are all areas together less than two parts? An extract may lack their size, which is 0. */
static bool follow_is_short(uint64_t all)
{
	enum { CREDIBLE = 1 << 20 };

	return all >= CREDIBLE && all < 2 * PART;
}

/* Where a part ends that has so many bytes of an area behind `start`. */
static uint64_t follow_part_end(const struct atw_area *a, uint64_t start, uint64_t bytes)
{
	if (a->end.u - start <= bytes + PART)
		return a->end.u;
	return (start + bytes + PART - 1) & ~(uint64_t)(PART - 1);
}

/* Each process of a dump is as it is: its areas may be read again and again. */
int walk_part(struct provider *p, size_t task, uint64_t from, uint64_t *ret)
{
	struct walk_provider *w = walk_of(p);
	const uint64_t mm = w->space[task].at;
	struct atw_areas *areas;
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	uint64_t all = 0, bytes;
	bool found = false;

	areas_size(w->o.kernel, mm, &all);
	/* A walk that ends before the last table ends there, and not each part anew. */
	if (!a || w->running || follow_is_short(all) ||
	    (!from && mmu_walk_is_cut(&w->space[task].mm.space, ATW_VA(0), ATW_VA(p->user_last))) ||
	    areas_open_unnamed(w->o.kernel, mm, &areas, NULL) != ATW_OK)
		return ATW_END;
	bytes = MAX(all / PARTS, (uint64_t)PART);
	areas_begin_at(areas, from);
	while (!found && atw_areas_next(areas, a, NULL) == ATW_OK) {
		uint64_t start = MAX(a->start.u, from);

		if (a->end.u - 1 > p->user_last)
			break;
		found = a->end.u - start >= bytes;
		if (found)
			*ret = follow_part_end(a, start, bytes);
		else
			bytes -= a->end.u - start;
	}
	atw_areas_close(areas);
	return found ? ATW_OK : ATW_END;
}

void walk_prepare(struct provider *p, unsigned part, unsigned parts)
{
	if (walk_of(p)->memmap)
		memory_classes_read_part(walk_of(p), part, parts);
}

void walk_unfollow(struct walk_provider *w)
{
	if (!w->p.follows)
		return;
	w->look = (struct look){ 0 };
	w->classes = (struct frame_classes){ 0 };
}
