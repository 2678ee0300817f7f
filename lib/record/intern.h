/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - one copy of each text. Ten million rows name a few hundred tasks
 * and areas; equal texts are equal pointers, which stay where they are.
 */
#ifndef RECORD_INTERN_H
#define RECORD_INTERN_H

#include <atwalk/base.h>

struct intern_chunk;

struct intern {
	struct intern_chunk *chunks;
	const char **slot;       /* open addressing; NULL is free */
	size_t nslots, n;        /* nslots is a power of two */
};

void intern_deinit(struct intern *in);
/* NULL: no memory. */
const char *intern_text(struct intern *in, const char *s, size_t len);

/* Go on from `h` with these bytes. */
uint64_t hash_bytes(uint64_t h, const void *data, size_t len);

/* Spread a word's bits over the whole of it. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

#endif
