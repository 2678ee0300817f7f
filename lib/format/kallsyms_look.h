/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms_look.h - internal declarations of kallsyms.c and kallsyms_look.c. */
#pragma once

#include "base/bytes.h"
#include "format/kallsyms.h"

static inline uint64_t kallsyms_address_as(const struct kallsyms_tables *t,
					   enum kallsyms_form form, uint32_t i)
{
	const char *p = t->offsets.data;
	uint64_t off;

	if (form == KALLSYMS_ABSOLUTE)
		return get_le64(p + (size_t)i * 8);
	p += (size_t)i * 4;
	off = (uint64_t)(int64_t)(int32_t)get_le32(p);
	switch (form) {
	case KALLSYMS_PERCPU:
		return (int64_t)off >= 0 ? off : t->base - 1 - off;
	case KALLSYMS_PLACE:
		return t->offsets_va + (uint64_t)i * 4 + off;
	default:
		return t->base + get_le32(p);
	}
}

static inline uint64_t kallsyms_address(const struct kallsyms *k, uint32_t i)
{
	return kallsyms_address_as(&k->t, k->form, i);
}

/* Names searched at once: of all that a kernel is asked for, in one pass. */
enum { KALLSYMS_WORDS = 2, KALLSYMS_BATCH = 64 * KALLSYMS_WORDS };

/* A bit for each name of a batch. */
struct kallsyms_set {
	uint64_t word[KALLSYMS_WORDS];
};

struct kallsyms_batch {
	size_t n;
	const char *name[KALLSYMS_BATCH];
	size_t len[KALLSYMS_BATCH];
	struct kallsyms_set begins[256]; /* by token: names that may begin with it */
	struct kallsyms_set ends[256];   /* and that may end with it, if it is not the first */
	struct kallsyms_set sized[KALLSYMS_NAME];        /* by length; the last: 511 and longer */
	struct kallsyms_set left;        /* not found yet */
	uint32_t index[KALLSYMS_BATCH];
	/* Position of the search. */
	uint32_t at;
	size_t pos;
};

static inline bool kallsyms_set_has(const struct kallsyms_set *s, size_t i)
{
	return s->word[i / 64] >> i % 64 & 1;
}

/* A batch begins zeroed, and has room for KALLSYMS_BATCH names. */
void kallsyms_batch_add(const struct kallsyms *k, struct kallsyms_batch *b, const char *name,
			size_t len);
/*
 * Search until all names are found or the table ends: `left` has a bit for each name that
 * was not found. If a bit is set again, the search continues behind the last symbol.
 */
void kallsyms_batch_run(const struct kallsyms *k, struct kallsyms_batch *b);
