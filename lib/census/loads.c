/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads.c - placement of mapped files by their program headers. */
#include "census/loads.h"

static uint64_t loads_down(uint64_t page, uint64_t x)
{
	return x & ~(page - 1);
}

static uint64_t loads_up(uint64_t page, uint64_t x)
{
	return loads_down(page, x + (page - 1));
}

static bool loads_covers(uint64_t page, const struct capture_load *l, uint64_t off)
{
	uint64_t first = loads_down(page, l->offset);

	return !(l->flags & CAPTURE_LOAD_RELRO) && l->file_size && off >= first &&
	       off - first < loads_up(page, l->file_size + (l->offset - first));
}

const struct unit *loads_of(struct unit *u)
{
	const struct unit *root = unit_root(u);

	return u->nloads ? u : root->nloads ? root : NULL;
}

/* The load bias, if the VMA belongs to this segment. */
static uint64_t loads_bias(const struct loads_view *v, const struct capture_load *l)
{
	return v->start - (l->va - l->offset) - v->offset;
}

/*
 * The page at a border is mapped twice, so several segments may contain the offset: one
 * that agrees with the previous VMAs is right, else one with the VMA's permissions.
 */
const struct capture_load *loads_place(struct unit *u, uint64_t page,
				       const struct loads_view *v)
{
	const struct unit *h = loads_of(u);
	const struct capture_load *best = NULL;
	int score = -1;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];
		bool lx = l->flags & CAPTURE_LOAD_EXEC, lw = l->flags & CAPTURE_LOAD_WRITE;
		int s;

		if (!loads_covers(page, l, v->offset))
			continue;
		s = (u->placed && loads_bias(v, l) == u->bias ? 4 : 0) +
		    (lx == v->exec ? 2 : 0) + (lw || !v->write ? 1 : 0);
		if (s <= score)
			continue;
		score = s;
		best = l;
	}
	if (!best)
		return NULL;
	u->bias = loads_bias(v, best);
	u->placed = true;
	return best;
}

bool loads_relro(struct unit *u, uint64_t page, uint64_t start)
{
	const struct unit *h = loads_of(u);
	uint64_t va = start - u->bias;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];

		if ((l->flags & CAPTURE_LOAD_RELRO) && va >= loads_down(page, l->va) &&
		    va < loads_down(page, l->va + l->size))
			return true;
	}
	return false;
}

bool loads_bss(struct unit *u, uint64_t page, uint64_t start, uint64_t last)
{
	const struct unit *h = loads_of(u);
	uint64_t va = start - u->bias, end = last - u->bias;

	for (size_t i = 0; h && i < h->nloads; i++) {
		const struct capture_load *l = &h->load[i];

		if (!(l->flags & CAPTURE_LOAD_RELRO) && l->size > l->file_size &&
		    va >= loads_up(page, l->va + l->file_size) && va <= end &&
		    end < loads_up(page, l->va + l->size))
			return true;
	}
	return false;
}
