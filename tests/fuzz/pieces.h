/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pieces.h - a text that comes in pieces, for readers that take one so: in whatever
 * pieces, they must say the same. A digest is what they said.
 */
#pragma once

#include "fuzz.h"

/* Added to a digest. */
static inline void add(uint64_t *digest, uint64_t v)
{
	*digest = (*digest ^ v) * 0x9e3779b97f4a7c15;
}

struct pieces {
	void (*begin)(void);
	/* One record, which the reader keeps for `record`. */
	int (*next)(struct atw_blob text, bool last, size_t *pos, struct atw_err *err);
	void (*record)(uint64_t *digest);
	int (*finish)(uint64_t *digest, struct atw_err *err);
	int ends;                /* a status after which it reads no more; 0: none */
};

/* A piece, in memory of its own, so that the sanitizers see its end. */
static inline size_t piece(const struct pieces *p, const uint8_t *data, size_t len, bool last,
			   uint64_t *digest, bool *over)
{
	uint8_t *copy = malloc(len + !len);
	size_t pos = 0, before;
	struct atw_err err;
	int r;

	if (!copy)
		abort();
	if (len)
		memcpy(copy, data, len);
	do {
		before = pos;
		r = p->next((struct atw_blob){ copy, len }, last, &pos, &err);
		check_err(r, &err);
		FUZZ_CHECK(pos <= len && (pos > before || r == ATW_END), "no way ahead");
		if (r != ATW_END)
			add(digest, (uint64_t)r);
		if (r == ATW_OK)
			p->record(digest);
		*over = p->ends && r == p->ends;
	} while (r != ATW_END && !*over);
	free(copy);
	return pos;
}

/* All of it, `step` bytes at a time. */
static inline uint64_t read_in_pieces(const struct pieces *p, struct input text, size_t step)
{
	size_t start = 0, end = 0;
	uint64_t digest = 0;
	struct atw_err err;
	bool over = false;
	int r;

	p->begin();
	do {
		end = text.len - end > step ? end + step : text.len;
		start += piece(p, text.p + start, end - start, end == text.len, &digest, &over);
	} while (end < text.len && !over);
	FUZZ_CHECK(over || start == text.len, "%zu of %zu bytes were read", start, text.len);
	r = p->finish(&digest, &err);
	check_err(r, &err);
	add(&digest, over ? 0 : (uint64_t)r);
	return digest;
}

/* `step`: any byte, which says in what pieces. */
static inline void check_pieces(const struct pieces *p, struct input text, size_t step)
{
	/* Pieces are few, for each is copied. */
	step = (step + 1) * (1 + text.len / 256);
	FUZZ_CHECK(read_in_pieces(p, text, step) == read_in_pieces(p, text, text.len + 1),
		   "in pieces of %zu it is something else", step);
}
