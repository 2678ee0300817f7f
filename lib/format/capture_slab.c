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

/* ---- program headers in a U: line ---- */

/* "offset:address:file size:memory size:flags" */
static bool capture_load_parse(const char *s, size_t len, struct capture_load *ret)
{
	uint64_t v[5];

	for (unsigned i = 0; i < 5; i++) {
		const char *e = len ? memchr(s, ':', len) : NULL;
		size_t n = e ? (size_t)(e - s) : len;

		/* num_hex() accepts 0x. */
		if (!e != (i == 4) || (n > 1 && (s[1] | 32) == 'x') || !num_hex(s, n, &v[i]))
			return false;
		s += n + (i < 4);
		len -= n + (i < 4);
	}
	*ret = (struct capture_load){ v[0], v[1], v[2], v[3], v[4] };
	return true;
}

int capture_load(struct atw_blob *loads, struct capture_load *ret, struct atw_err *err)
{
	const char *s = loads->data, *bar;
	struct capture_load load;
	uint64_t last;
	size_t n;

	if (!loads->len)
		return ATW_END;
	bar = memchr(s, '|', loads->len);
	n = bar ? (size_t)(bar - s) : loads->len;
	*loads = (struct atw_blob){ s + n + (bar != NULL), loads->len - n - (bar != NULL) };
	if (!capture_load_parse(s, n, &load) || (bar && !loads->len))
		return atw_err_set(err, ATW_E_FORMAT, "no OFFSET:ADDRESS:SIZE:SIZE:FLAGS with a "
				   "bar between each two");
	if (__builtin_add_overflow(load.va, load.size, &last) ||
	    __builtin_add_overflow(load.offset, load.file_size, &last))
		return atw_err_set(err, ATW_E_DAMAGED, "a load of %" PRIX64 " bytes at %" PRIX64
				   ": beyond 64 bits", load.size, load.va);
	*ret = load;
	return ATW_OK;
}

size_t capture_write_load(const struct capture_load *load, bool first, char *buf, size_t len)
{
	char text[CAPTURE_LOAD_TEXT];
	int n = snprintf(text, sizeof(text), "%s%" PRIX64 ":%" PRIX64 ":%" PRIX64 ":%" PRIX64
			 ":%" PRIX64, first ? "" : "|", load->offset, load->va,
			 load->file_size, load->size, load->flags);

	if ((size_t)n > len)
		return 0;
	memcpy(buf, text, (size_t)n);
	return (size_t)n;
}
