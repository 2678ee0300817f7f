/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.h - a small machine out of a fuzzer's input: a paging mode, eight
 * pages of memory, and the entries in them.
 *
 *	mode, pages that are missing, how they are missing, options: a byte each
 *	then entries: page, slot (2), how many less one, target (2), word (8)
 *
 * Target 0 leaves the word as it is; another one puts the address of a page
 * into it, so that most of what mutations make are tables that lead somewhere.
 */
#pragma once

#include "fuzz.h"

enum { PAGES = 8, PAGE_MAX = 65536 };

/* `s` comes first: a pointer to it is a pointer to the struct. */
struct machine {
	struct atw_source s;
	struct mmu_space sp;
	unsigned shift;
	uint8_t missing, how;
	uint8_t options;
	uint8_t bytes[PAGES * PAGE_MAX];
};

static enum atw_extent_kind machine_page(const struct machine *m, uint64_t page)
{
	static const enum atw_extent_kind kinds[] = {
		ATW_NONE, ATW_EXCLUDED, ATW_DATA, /* reads fail */
	};

	return m->missing >> page & 1 ? kinds[(m->how >> page & 1) + (m->options >> 7)]
				      : ATW_DATA;
}

static ssize_t machine_peek(struct atw_source *s, atw_pa pa, size_t len,
			    const void **ret, struct atw_err *err)
{
	struct machine *m = (struct machine *)s;
	uint64_t page = pa.u >> m->shift, end;

	if (page >= PAGES)
		return 0;
	if (m->missing >> page & 1)
		return machine_page(m, page) != ATW_DATA ? 0 :
		       atw_err_set(err, ATW_E_DAMAGED, "page %u is broken",
				   (unsigned)page);
	end = (page + 1) << m->shift;
	*ret = m->bytes + pa.u;
	return (ssize_t)(len < end - pa.u ? len : end - pa.u);
}

static ssize_t machine_read(struct atw_source *s, atw_pa pa, void *buf,
			    size_t len, struct atw_err *err)
{
	const void *p = NULL;
	ssize_t n = machine_peek(s, pa, len, &p, err);

	if (n > 0)
		memcpy(buf, p, (size_t)n);
	return n;
}

static int machine_extent(struct atw_source *s, atw_pa pa, struct atw_extent *ret)
{
	struct machine *m = (struct machine *)s;
	uint64_t page = pa.u >> m->shift;

	if (page >= PAGES)
		return ATW_END;
	*ret = (struct atw_extent){ pa, ((page + 1) << m->shift) - pa.u,
				    machine_page(m, page) };
	return ATW_OK;
}

static const struct atw_source_ops machine_lends = {
	.name = "machine", .help = "",
	.read = machine_read, .peek = machine_peek, .extent = machine_extent,
};
static const struct atw_source_ops machine_copies = {
	.name = "machine", .help = "",
	.read = machine_read, .extent = machine_extent,
};

/* The word, pointing to `pa` as far as the mode keeps addresses in place. */
static uint64_t machine_point(const struct atw_paging *pg, uint64_t word, uint64_t pa)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct atw_bits *b = &pg->addr[i];
		uint64_t field = b->hi ? UINT64_MAX >> (63 - b->hi + b->lo) : 0;

		if (b->hi && (!b->mask || (word & b->mask) == b->value))
			word = (word & ~(field << b->lo)) |
			       (pa >> b->to & field) << b->lo;
	}
	return word;
}

static void machine_entries(struct machine *m, struct input *in)
{
	const struct atw_paging *pg = &m->sp.paging;
	unsigned ws = pg->word_size;
	size_t slots = ((size_t)1 << m->shift) / ws;

	while (in->len) {
		uint64_t page = take(in, 1) % PAGES, slot = take(in, 2);
		uint64_t n = 1 + take(in, 1), target = take(in, 2), word = take(in, 8);

		/* The high byte counts from the table's end. */
		slot = slot & 0x8000 ? slots - 1 - (slot & 0x7fff) % slots : slot % slots;
		if (target)
			word = machine_point(pg, word, (target - 1) << m->shift);
		for (; n && slot < slots; n--, slot++) {
			memcpy(m->bytes + (page << m->shift) + slot * ws, &word, ws);
			/* The high byte of the target: pages one after the other. */
			if (target >> 8)
				word = machine_point(pg, word,
						     (++target - 1) << m->shift);
		}
	}
}

static size_t machine_modes(void)
{
	size_t n = 0;

	while (atw_paging_at(n))
		n++;
	return n;
}

/* What is left of the input is behind the header. */
static void machine_head(struct machine *m, struct input *in)
{
	static const char *const ext[] = { NULL, "thead", "lpa2", "cbit=47" };
	uint64_t mode = take(in, 1);

	m->missing = (uint8_t)take(in, 1);
	m->how = (uint8_t)take(in, 1);
	m->options = (uint8_t)take(in, 1);
	m->sp = (struct mmu_space){ .mem = &m->s };
	m->sp.paging = *atw_paging_at(mode % machine_modes());
	if (mode / machine_modes() % 4)
		atw_paging_extend(&m->sp.paging, ext[mode / machine_modes() % 4], NULL);
	m->shift = m->sp.paging.page_shift;
	m->s.ops = m->options & 1 ? &machine_copies : &machine_lends;
	m->sp.low = (struct mmu_root){ ATW_PA(0), true };
	m->sp.high.pa = ATW_PA((uint64_t)(m->options >> 1 & 7) << m->shift);
	m->sp.high.have = m->sp.paging.halves == ATW_SPLIT;
	memset(m->bytes, 0, (size_t)PAGES << m->shift);
}

static inline struct machine *machine_new(struct input *in)
{
	static struct machine m;

	machine_head(&m, in);
	machine_entries(&m, in);
	return &m;
}
