/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_map.c - page marks: encoding, storage and drawing. */
#include <inttypes.h>
#include <string.h>

#include "report/page_map.h"

/* The first eleven are those of Movall et al.; the others are additions. */
static const char marks[MAP_MARKS + 1] = ".123456789#s0?dx!";

/*
 * Longer sequences of equal lines, or of lines without pages, are folded. The LPMA layout
 * never folds, because VMAs of that time are shorter.
 */
#define FOLD_NOTHING 16
#define FOLD_SAME 64
#define FOLD_PAPER 16384

enum map_mark map_mark(const struct census_pages *p)
{
	if (p->swapped)
		return MAP_SWAPPED;
	if (!p->present)
		return p->run->state ? MAP_ODD : MAP_ABSENT;
	if (p->device)
		return MAP_DEVICE;
	if (p->zero)
		return MAP_ZERO;
	/* A page that is mapped without a mapcount: of the kernel, as [vdso]. */
	if (!(p->known & CENSUS_REFS) || !p->refs)
		return MAP_UNKNOWN;
	return p->refs < MAP_MANY ? (enum map_mark)p->refs : MAP_MANY;
}

/* Seven bits per byte; the first has the mark, and three bits of the number. */
void map_keep(struct buf *b, enum map_mark mark, uint64_t pages)
{
	uint64_t left = pages >> 3;

	buf_char(b, (char)(mark | (pages & 7) << 4 | (left ? 0x80 : 0)));
	for (; left; left >>= 7)
		buf_char(b, (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0)));
}

void map_keep_pages(struct buf *b, uint64_t *at, const struct census_pages *p, uint64_t page)
{
	if (p->va > *at)
		map_keep(b, MAP_ABSENT, (p->va - *at) / page);
	map_keep(b, map_mark(p), p->pages);
	*at = p->va + p->pages * page;
}

bool map_kept(const struct buf *b, size_t *at, size_t end, enum map_mark *mark,
	      uint64_t *pages)
{
	const uint8_t *p = (const uint8_t *)b->data;
	unsigned shift = 3;
	uint8_t c;

	if (*at >= end)
		return false;
	c = p[(*at)++];
	*mark = c & 15;
	*pages = c >> 4 & 7;
	while (c & 0x80 && *at < end) {
		c = p[(*at)++];
		*pages |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	}
	return true;
}

void map_begin(struct map *m, const struct census_out *out)
{
	*m = (struct map){ .out = out, .fold = out->paper ? FOLD_PAPER : FOLD_NOTHING };
}

static void page_map_flush(struct map *m)
{
	m->out->text(m->out->arg, "[%-64.*s]\n", (int)m->n, m->line);
	m->n = 0;
}

static void page_map_fill(struct map *m, char c, uint64_t pages)
{
	while (pages) {
		unsigned n = MAP_LINE - m->n < pages ? MAP_LINE - m->n : (unsigned)pages;

		memset(m->line + m->n, c, n);
		m->n += n;
		pages -= n;
		if (m->n == MAP_LINE)
			page_map_flush(m);
	}
}

void map_add(struct map *m, enum map_mark mark, uint64_t pages)
{
	uint64_t room = (MAP_LINE - m->n) % MAP_LINE, lines;
	bool nothing = mark == MAP_ABSENT || mark == MAP_MISSING;
	uint64_t fold = nothing || m->out->paper ? m->fold : FOLD_SAME;
	char c = marks[mark];

	if (pages > room && (pages - room) / MAP_LINE > fold) {
		lines = (pages - room) / MAP_LINE - 1;
		page_map_fill(m, c, room + MAP_LINE);
		m->out->text(m->out->arg, "[... %" PRIu64 " more lines like this one]\n", lines);
		pages -= room + (lines + 1) * MAP_LINE;
	}
	page_map_fill(m, c, pages);
}

void map_end(struct map *m)
{
	if (m->n)
		page_map_flush(m);
}

static void page_map_put(struct map_text *t)
{
	if (!t->pages || t->to->len > t->most)
		return;
	buf_printf(t->to, "%s%c*%" PRIu64, t->to->len ? " " : "", marks[t->mark], t->pages);
	if (t->to->len > t->most)
		buf_str(t->to, " ...");
}

void map_text_add(struct map_text *t, enum map_mark mark, uint64_t pages)
{
	if (mark != t->mark) {
		page_map_put(t);
		t->mark = mark;
		t->pages = 0;
	}
	t->pages += pages;
}

void map_text_end(struct map_text *t)
{
	page_map_put(t);
	t->pages = 0;
}
