// SPDX-License-Identifier: GPL-2.0-or-later
/* large_guest.c - sizes of the guest's pages and of the host's below them. */
#include "target/large_guest.h"

#include <unistd.h>

bool large_guest_init(struct large_guest *g, struct atw_source *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), va;
	uint32_t pid;

	/* A page table of the host is a page of words of 8 bytes. */
	*g = (struct large_guest){ .memory.source = s, .block = page * (page / 8) };
	return s && atw_source_outside(s, ATW_PA(0), &pid, &va) != ATW_E_UNSUPPORTED;
}

void large_guest_deinit(struct large_guest *g)
{
	guest_memory_deinit(&g->memory);
}

/* Where the bytes belong that the host has as one kind. */
static uint64_t *large_guest_class(struct large_guest_sum *s, enum capture_host host, bool is_large,
				   bool congruent)
{
	switch (host) {
	case CAPTURE_HOST_LARGE:
		return is_large ? congruent ? &s->both : &s->apart : &s->host;
	case CAPTURE_HOST_SMALL:
	case CAPTURE_HOST_UNMERGED:
	case CAPTURE_HOST_KSM:
		return is_large ? congruent ? &s->guest : &s->apart : &s->neither;
	case CAPTURE_HOST_ZERO:
	case CAPTURE_HOST_SWAPPED:
	case CAPTURE_HOST_ABSENT:
		return &s->out;
	default:
		return &s->unknown;
	}
}

void large_guest_add(struct large_guest *g, atw_pa pa, uint64_t len, bool is_large)
{
	uint64_t n;

	for (; len; len -= n, pa.u += n) {
		bool congruent = true;
		struct guest_page p;
		uint64_t va;
		uint32_t pid;

		n = guest_memory_look(&g->memory, pa, len, &p);
		n = n && n < len ? n : len;
		if (atw_source_outside(g->memory.source, pa, &pid, &va) == ATW_OK)
			congruent = !((va - pa.u) & (g->block - 1));
		*large_guest_class(&g->sum, p.host, is_large, congruent) += n;
		g->sum.misaligned += congruent ? 0 : n;
		g->sum.on_large += p.host == CAPTURE_HOST_LARGE ? n : 0;
	}
}

void large_guest_sum_add(struct large_guest_sum *to, const struct large_guest_sum *s)
{
	to->both += s->both;
	to->apart += s->apart;
	to->guest += s->guest;
	to->host += s->host;
	to->neither += s->neither;
	to->out += s->out;
	to->unknown += s->unknown;
	to->misaligned += s->misaligned;
	to->on_large += s->on_large;
}
