/* SPDX-License-Identifier: GPL-2.0-or-later */
/* soles.c - frames with one mapping, and the address space that has it. */
#include "target/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/huge.h"

bool soles_init(struct soles *s, uint64_t end, size_t spaces)
{
	uint64_t frames = SOLES_BLOCK;

	*s = (struct soles){ 0 };
	if (!end || end > (uint64_t)UINT32_MAX / 2 || spaces > SOLES_MOST)
		return false;
	while (frames < end)
		frames *= 2;
	/* Only what is met takes memory: address space for all of it costs nothing. */
	s->space = huge_alloc(frames * sizeof(*s->space), true);
	s->frames = frames;
	s->spaces = spaces;
	s->block = calloc((frames >> SOLES_BLOCK_BITS) + 1, sizeof(*s->block));
	s->pages = calloc(spaces + 1, sizeof(*s->pages));
	s->first = calloc(spaces + 2, sizeof(*s->first));
	if (s->space && s->block && s->pages && s->first)
		return true;
	soles_deinit(s);
	return false;
}

void soles_deinit(struct soles *s)
{
	huge_free(s->space, s->frames * sizeof(*s->space));
	free(s->block);
	free(s->pages);
	free(s->first);
	free(s->former);
	*s = (struct soles){ 0 };
}

/* The space that had it alone has it in a list. */
static bool soles_end(struct soles *s, uint64_t pfn, uint16_t note)
{
	uint32_t space = note - 1u;

	if (!ARRAY_ROOM(s->former, s->n, s->cap))
		return false;
	s->former[s->n++] = (struct sole_former){ space, (uint32_t)pfn };
	s->pages[space]--;
	return true;
}

static bool soles_leave_one(struct soles *s, struct counts *c, uint64_t pfn, uint16_t *note)
{
	uint16_t n = *note;
	bool good = true;

	if (n && n < SOLES_COUNT) {
		good = soles_end(s, pfn, n);
		n = SOLES_COUNT + 1;
	}
	for (; good && n > SOLES_COUNT; n--)
		good = counts_add_one(c, pfn);
	*note = SOLES_COUNTED;
	s->block[pfn >> SOLES_BLOCK_BITS].left = true;
	return good;
}

bool soles_leave(struct soles *s, struct counts *c, uint64_t pfn, uint64_t pages)
{
	uint64_t end = pfn < s->frames && pages < s->frames - pfn ? pfn + pages : s->frames;
	bool good = true;

	for (; pfn < end && good; pfn++) {
		uint16_t *note = soles_meet(s, pfn);

		good = *note == SOLES_COUNTED || soles_leave_one(s, c, pfn, note);
	}
	return good;
}

bool soles_add_slowly(struct soles *s, struct counts *c, uint64_t pfn)
{
	uint16_t *note = soles_meet(s, pfn);

	if (*note < SOLES_COUNT) {
		if (!soles_end(s, pfn, *note))
			return false;
		*note = SOLES_COUNT + 2;
		return true;
	}
	if (*note != SOLES_COUNTED && !soles_leave_one(s, c, pfn, note))
		return false;
	return counts_add_one(c, pfn);
}

uint64_t soles_run(const struct soles *s, struct counts *c, uint64_t pfn, uint64_t most,
		   uint64_t *ret_same)
{
	uint64_t i = 1, left;
	const uint16_t *note;
	uint32_t place;

	if (pfn >= s->frames)
		return counts_run(c, pfn, most, ret_same);
	left = SOLES_BLOCK - (pfn & (SOLES_BLOCK - 1));
	left = most < left ? most : left;
	place = s->block[pfn >> SOLES_BLOCK_BITS].place;
	if (!place)
		return counts_run(c, pfn, left, ret_same);
	note = soles_in(s, place, pfn);
	while (i < left && note[i] == *note)
		i++;
	*ret_same = i;
	if (!*note || *note == SOLES_COUNTED || counts_may_be_large(c, pfn))
		counts_run(c, pfn, i, ret_same);
	return soles_get(s, c, pfn);
}

/* Frames that a space has alone, but for large pages. */
static bool soles_leave_large(struct soles *s, struct counts *c)
{
	bool good = true;

	for (uint64_t pfn = 0; c->orders & ~(uint64_t)1 && pfn < s->frames && good; pfn++) {
		uint32_t place = s->block[pfn >> SOLES_BLOCK_BITS].place;
		uint16_t *note = place ? soles_in(s, place, pfn) : NULL;

		if (!note)
			pfn |= SOLES_BLOCK - 1;
		else if (!counts_may_be_large(c, pfn))
			pfn |= COUNTS_CROWD - 1;
		else if (*note && *note < SOLES_COUNT && counts_get(c, pfn)) {
			good = soles_end(s, pfn, *note);
			*note = SOLES_COUNT + 1;
		}
	}
	return good;
}

bool soles_sort(struct soles *s, struct counts *c)
{
	struct sole_former *v;

	if (!s->frames)
		return true;
	if (!soles_leave_large(s, c))
		return false;
	v = malloc((s->n + 1) * sizeof(*v));
	if (!v)
		return false;
	/* first[i + 1] is where space i goes on, and in the end where the next begins. */
	memset(s->first, 0, (s->spaces + 2) * sizeof(*s->first));
	for (size_t i = 0; i < s->n; i++)
		s->first[s->former[i].space + 2]++;
	for (size_t i = 2; i < s->spaces + 2; i++)
		s->first[i] += s->first[i - 1];
	for (size_t i = 0; i < s->n; i++)
		v[s->first[s->former[i].space + 1]++] = s->former[i];
	free(s->former);
	s->former = v;
	s->cap = s->n + 1;
	return true;
}

/* Of one block. They lie in no order, so that no branch depends on a single one. */
static size_t soles_next_of(const struct soles *s, const bool *only, uint64_t *at,
			    uint64_t end, uint64_t *pfn, uint16_t *space, size_t most)
{
	const uint16_t *note = soles_in(s, s->block[*at >> SOLES_BLOCK_BITS].place, *at);
	uint64_t i = *at, four;
	size_t n = 0;

	for (; i < end && n + 4 <= most; i += 4, note += 4) {
		memcpy(&four, note, sizeof(four));
		for (unsigned k = 0; four && k < 4; k++) {
			uint16_t u = note[k];

			pfn[n] = i + k;
			space[n] = u;
			n += only ? u && u < SOLES_COUNT && only[u - 1]
				  : u && u != SOLES_COUNTED;
		}
	}
	*at = i;
	return n;
}

size_t soles_next(const struct soles *s, const bool *only, uint64_t *at, uint64_t end,
		  uint64_t *pfn, uint16_t *space, size_t most)
{
	size_t n = 0;

	while (*at < end && n + 4 <= most) {
		uint64_t next = (*at | (SOLES_BLOCK - 1)) + 1;

		if (s->block[*at >> SOLES_BLOCK_BITS].place)
			n += soles_next_of(s, only, at, next, pfn + n, space + n, most - n);
		else
			*at = next;
	}
	return n;
}

bool soles_have(const struct soles *s, uint64_t pfn, uint64_t pages)
{
	uint64_t last = (pfn + pages - 1) >> SOLES_BLOCK_BITS;

	for (uint64_t i = pfn >> SOLES_BLOCK_BITS; i <= last; i++)
		if (i >= s->frames >> SOLES_BLOCK_BITS || s->block[i].left)
			return false;
	return true;
}

bool soles_count(const struct soles *s, struct counts *c)
{
	bool good = true;

	for (uint64_t i = 0; i < s->frames && good; i++) {
		uint16_t n;

		if (!s->block[i >> SOLES_BLOCK_BITS].place) {
			i |= SOLES_BLOCK - 1;
			continue;
		}
		n = soles_note(s, i);
		n = n < SOLES_COUNT ? !!n : n == SOLES_COUNTED ? 0 : n - SOLES_COUNT;
		for (; n && good; n--)
			good = counts_add_one(c, i);
	}
	return good;
}
