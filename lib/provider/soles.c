/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "provider/soles.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/huge.h"

bool soles_init(struct soles *s, uint64_t frames, size_t spaces)
{
	*s = (struct soles){ 0 };
	if (!frames || frames > UINT32_MAX || spaces > SOLES_SPACES)
		return false;
	/* Huge pages would clear far more than is met: blocks of a process are few. */
	s->space = huge_alloc(frames * sizeof(*s->space), false);
	s->frames = frames;
	s->spaces = spaces;
	s->met = calloc((frames >> SOLES_BLOCK_BITS) + 1, sizeof(*s->met));
	s->pages = calloc(spaces + 1, sizeof(*s->pages));
	s->first = calloc(spaces + 2, sizeof(*s->first));
	if (s->space && s->met && s->pages && s->first)
		return true;
	soles_deinit(s);
	return false;
}

void soles_deinit(struct soles *s)
{
	huge_free(s->space, s->frames * sizeof(*s->space));
	free(s->met);
	free(s->pages);
	free(s->first);
	free(s->former);
	*s = (struct soles){ 0 };
}

bool soles_share_first(struct soles *s, struct counts *c, uint64_t pfn)
{
	uint16_t was = s->space[pfn];

	if (was) {
		if (!array_reserve((void **)&s->former, &s->cap, s->n + 1, sizeof(*s->former)) ||
		    !counts_add_one(c, pfn))
			return false;
		s->former[s->n++] = (struct sole_former){ was - 1u, (uint32_t)pfn };
		s->pages[was - 1]--;
	}
	s->space[pfn] = SOLES_SHARED;
	return true;
}

bool soles_sort(struct soles *s)
{
	struct sole_former *v;

	if (!s->frames)
		return true;
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

size_t soles_next(const struct soles *s, uint64_t *at, uint64_t *pfn, uint16_t *space, size_t most)
{
	uint64_t i = *at;
	size_t n = 0;

	while (i < s->frames && n < most) {
		uint64_t end = (i | (SOLES_BLOCK - 1)) + 1;

		if (!s->met[i >> SOLES_BLOCK_BITS]) {
			i = end;
			continue;
		}
		end = end < s->frames ? end : s->frames;
		for (; i < end && n < most; i++) {
			pfn[n] = i;
			space[n] = (uint16_t)(s->space[i] - 1);
			n += s->space[i] && s->space[i] != SOLES_SHARED;
		}
	}
	*at = i;
	return n;
}

bool soles_count(const struct soles *s, struct counts *c)
{
	enum { MANY = 512 };
	uint64_t at = 0, pfn[MANY];
	uint16_t space[MANY];
	bool good = true;
	size_t n;

	while (good && (n = soles_next(s, &at, pfn, space, MANY)))
		for (size_t i = 0; i < n && good; i++)
			good = counts_add_one(c, pfn[i]);
	return good;
}
