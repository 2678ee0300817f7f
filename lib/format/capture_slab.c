/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_slab.c - slab caches: H: slab lines of atwalk-capture(5), and /proc/slabinfo. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/capture.h"

enum { FIELDS = 15 };

/* Splits at blanks into at most `most` words; more words are another format. */
static size_t capture_slab_split(struct atw_blob text, struct atw_blob *ret, size_t most)
{
	const char *s = text.data, *end = s + text.len;
	size_t n = 0;

	while (s < end) {
		const char *word;

		while (s < end && *s == ' ')
			s++;
		for (word = s; s < end && *s != ' ';)
			s++;
		if (s == word)
			break;
		if (n == most)
			return 0;
		ret[n++] = (struct atw_blob){ word, (size_t)(s - word) };
	}
	return n;
}

static bool capture_slab_number(struct atw_blob b, uint64_t *ret)
{
	return num_dec(b.data, b.len, ret);
}

static bool capture_slab_sound(const struct capture_slab *s)
{
	return (!s->has_active || s->active <= s->objects) && !(s->pages >> CAPTURE_PA_BITS);
}

bool capture_slab(struct atw_blob value, struct capture_slab *ret)
{
	struct capture_slab s = { 0 };
	struct atw_blob v[5];

	if (capture_slab_split(value, v, 5) != 5)
		return false;
	s.has_active = v[2].len != 1 || *(const char *)v[2].data != '-';
	if (!capture_slab_number(v[0], &s.size) ||
	    !capture_slab_number(v[1], &s.objects) ||
	    (s.has_active && !capture_slab_number(v[2], &s.active)) ||
	    !capture_slab_number(v[3], &s.slabs) ||
	    !capture_slab_number(v[4], &s.pages) || !capture_slab_sound(&s))
		return false;
	*ret = s;
	return true;
}

size_t capture_slab_text(const struct capture_slab *s, char buf[CAPTURE_SLAB_TEXT])
{
	char active[24] = "-";

	if (s->has_active)
		snprintf(active, sizeof(active), "%" PRIu64, s->active);
	return (size_t)snprintf(buf, CAPTURE_SLAB_TEXT, "%" PRIu64 " %" PRIu64 " %s %" PRIu64
				" %" PRIu64, s->size, s->objects, active, s->slabs, s->pages);
}

/*
 * "name active objects size objects/slab pages/slab : tunables 0 0 0 : slabdata active
 * slabs 0": mm/slab_common.c, cache_show()
 */
bool capture_slabinfo(struct atw_blob line, struct atw_blob *name, struct capture_slab *ret)
{
	struct capture_slab s = { .has_active = true };
	struct atw_blob v[FIELDS + 1];
	uint64_t each;

	if (capture_slab_split(line, v, FIELDS + 1) < FIELDS ||
	    *(const char *)v[0].data == '#' || v[6].len != 1 ||
	    *(const char *)v[6].data != ':' || !capture_slab_number(v[1], &s.active) ||
	    !capture_slab_number(v[2], &s.objects) ||
	    !capture_slab_number(v[3], &s.size) || !capture_slab_number(v[5], &each) ||
	    !capture_slab_number(v[14], &s.slabs) ||
	    __builtin_mul_overflow(s.slabs, each, &s.pages))
		return false;
	/* Both numbers change while the file is read. */
	if (s.active > s.objects)
		s.active = s.objects;
	if (!capture_slab_sound(&s))
		return false;
	*name = v[0];
	*ret = s;
	return true;
}
