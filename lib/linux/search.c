/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.c - pattern search in physical memory. */
#include "linux/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "walk/memory.h"

/* Memory is searched in windows that overlap by the length of the pattern minus 1. */
enum { WINDOW = 1024 * 1024 };
/*
 * From _stext on; the maximum of x86_64 is 1 GiB with KASLR, but real images are smaller.
 */
#define IMAGE_MAX (UINT64_C(256) << 20)
/* Limit of calls of fn: memory full of the signature is assumed to be an attack. */
enum { PLACES_MAX = 10000 };

struct search {
	struct atw_source *mem;
	struct meter *meter;
	const void *what;
	size_t len;
	unsigned align;
	search_fn *fn;
	void *arg;
	unsigned places;
	char *window;
};

size_t search_read(struct search *s, atw_pa at, void *buf, size_t len)
{
	ssize_t got = atw_read(s->mem, at, buf, len, NULL);

	return got > 0 ? (size_t)got : 0;
}

const unsigned char search_types[8] = { 0x9f, 0xeb, 1, 0, 24, 0, 0, 0 };

const char search_first_task[SEARCH_FIRST_TASKS][SEARCH_COMM] = { "swapper/0", "swapper" };

uint64_t search_types_length(struct search *s, atw_pa at)
{
	enum { LEAST = 64 * 1024, MOST = 64 * 1024 * 1024 };
	char head[24];
	uint64_t len;

	if (search_read(s, at, head, sizeof(head)) != sizeof(head))
		return 0;
	len = btf_length((struct atw_blob){ head, sizeof(head) });
	return len < LEAST || len > MOST ? 0 : len;
}

/* Is the word of 4 bytes at one of the multiples of 4 bytes in a block? */
enum { BLOCK = 64 };
static bool search_in_block(const char *p, uint32_t want)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	const words wanted = (words){ 0 } + want;
	words any = { 0 };

	for (unsigned i = 0; i < BLOCK; i += sizeof(words)) {
		words v;

		memcpy(&v, p + i, sizeof(v));
		any |= (words)(v == wanted);
	}
	return any[0] | any[1] | any[2] | any[3];
}

/*
 * The next match from p on. Patterns at multiples of 4 or 8 need one comparison each,
 * which is several times as fast as a search at every byte.
 */
static const char *search_next_place(const struct search *s, const char *p,
				     const char *end)
{
	const char *last = end - s->len;
	uint32_t want;

	if (s->align == 1)
		return p <= last ? memmem(p, (size_t)(end - p), s->what, s->len) : NULL;
	memcpy(&want, s->what, sizeof(want));
	for (; p <= last; p += s->align) {
		while (end - p >= BLOCK && !search_in_block(p, want))
			p += BLOCK;
		if (p <= last && !memcmp(p, s->what, s->len))
			return p;
	}
	return NULL;
}

/* The bytes of a window at physical address `at`. */
static int search_in_window(struct search *s, const char *p, size_t len, uint64_t at)
{
	const char *end = p + len, *hit = p + (-at & (s->align - 1));

	while (hit < end && (hit = search_next_place(s, hit, end))) {
		int r;

		if (s->places++ == PLACES_MAX)
			return ATW_E_LIMIT;
		r = s->fn(s->arg, ATW_PA(at + (uint64_t)(hit - p)), s);
		if (r)
			return r;
		hit += s->align;
	}
	return 0;
}

/* The end of the contiguous bytes that begin at or behind `at`; false: there are none. */
static bool search_next_run(struct search *s, uint64_t *at, uint64_t end, uint64_t *stop)
{
	struct atw_extent e;
	bool found = false;

	while (*at < end && atw_extent_at(s->mem, ATW_PA(found ? *stop : *at), &e) == ATW_OK) {
		uint64_t past = e.start.u + e.len;

		if (found && (e.kind != ATW_DATA || e.start.u != *stop))
			return true;
		if (e.start.u >= end)
			break;
		if (e.kind == ATW_DATA) {
			if (!found && *at < e.start.u)
				*at = e.start.u;
			found = true;
			*stop = past && past < end ? past : end;
			if (*stop == end)
				return true;
		} else if (!past || past >= end) {
			break;
		} else {
			*at = past;
		}
	}
	return found;
}

/* Search everything in [first, end) that the source has. */
static int search_in_range(struct search *s, uint64_t first, uint64_t end)
{
	uint64_t at = first, stop;
	int r = 0;

	for (; !r && search_next_run(s, &at, end, &stop); at = stop)
		while (!r && stop - at >= s->len) {
			size_t len = stop - at < WINDOW ? (size_t)(stop - at) : WINDOW;
			const char *p = memory_lent(s->mem, ATW_PA(at), len, NULL);
			size_t got = len;

			if (!p) {
				p = s->window;
				got = search_read(s, ATW_PA(at), s->window, len);
			}
			if (got >= s->len)
				r = search_in_window(s, p, got, at);
			meter_add(s->meter, len);
			if (got == stop - at)
				break;
			/* A match may begin where this window ends. */
			if (got == len)
				at += got - s->len + 1;
			else
				at = ((at + got) | 4095) + 1;    /* unreadable */
			if (at >= stop)
				break;
		}
	return r;
}

bool search_live_image(struct atw_source *mem, uint64_t *start, uint64_t *end)
{
	uint64_t len;

	return atw_fact_u64(mem, "image.start", start) == ATW_OK &&
	       atw_fact_u64(mem, "image.len", &len) == ATW_OK && add_u64(*start, len, end);
}

int search_memory(struct atw_source *mem, struct meter *meter, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg)
{
	_auto_free char *window = malloc(WINDOW);
	struct search s = { mem, meter, what, len, align, fn, arg, 0, window };
	int r;

	if (!window)
		return ATW_E_NOMEM;
	if (atw_source_is_here(mem))
		return 0;
	meter_begin(meter, mem);
	r = search_in_range(&s, 0, UINT64_MAX);
	meter_end(meter);
	return r;
}

int search_kernel(struct atw_kernel *k, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg)
{
	_auto_free char *window = malloc(WINDOW);
	struct search s = { k->mem, &k->meter, what, len, align, fn, arg, 0, window };
	uint64_t start, end = 0;
	struct kmem *m;
	atw_pa text = ATW_PA(0);
	int r = 0;

	if (!window)
		return ATW_E_NOMEM;
	if (atw_source_is_here(k->mem))
		return search_live_image(k->mem, &start, &end)
			       ? search_in_range(&s, start, end)
			       : 0;
	meter_begin(&k->meter, k->mem);
	if (k->stext && kernel_kmem(k, &m, NULL) == ATW_OK &&
	    kmem_physical(m, k->stext, &text, NULL) == ATW_OK) {
		end = text.u + IMAGE_MAX;
		r = search_in_range(&s, text.u, end);
	}
	if (!r && text.u)
		r = search_in_range(&s, 0, text.u);
	if (!r)
		r = search_in_range(&s, end, UINT64_MAX);
	meter_end(&k->meter);
	return r;
}

/* ---- progress ---- */

static uint64_t search_stored(struct atw_source *mem)
{
	uint64_t sum = 0, at = 0;
	struct atw_extent e;

	while (atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK) {
		sum += e.kind == ATW_DATA ? e.len : 0;
		at = e.start.u + e.len;
		if (at <= e.start.u)
			break;
	}
	return sum;
}

void meter_begin(struct meter *m, struct atw_source *mem)
{
	if (!m || !m->fn || m->depth++)
		return;
	m->done = 0;
	m->all = search_stored(mem);
	m->fn(m->arg, 0, m->all);
}

void meter_add(struct meter *m, uint64_t bytes)
{
	if (!m || !m->fn || m->depth > 1)
		return;
	m->done += bytes;
	/* Completion is reported only by meter_end(). */
	if (m->done < m->all)
		m->fn(m->arg, m->done, m->all);
}

void meter_end(struct meter *m)
{
	if (!m || !m->fn || --m->depth)
		return;
	m->fn(m->arg, m->all, m->all);
}
