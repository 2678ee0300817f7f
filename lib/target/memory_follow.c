/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_follow.c - a provider with a kernel and a source of its own that lists the tasks
 * of another one, for another thread. Mapcounts and classes of frames are read once, for all
 * of them: classes by all of them.
 */
#include <stdlib.h>
#include <string.h>

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
