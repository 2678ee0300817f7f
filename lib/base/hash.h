/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - hashes of keys that others choose: dumps, captures, and the names of files
 * and tasks.
 *
 * Which keys collide depends on random numbers drawn in each run, so that keys which all
 * collide cannot be prepared. The result of a lookup does not depend on them, but the
 * order of places in a table does: no output may be in that order.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <atwalk/base.h>

struct hash_key {
	unsigned __int128 mul, add;
	uint64_t sip[2];
};

/* Drawn before main() begins. */
extern __attribute__((visibility("hidden"))) struct hash_key hash_drawn;

/* For tests and fuzzers, which want the same again; before anything is hashed. */
void hash_seed(uint64_t seed);

/*
 * Multiply, add, shift, twice as wide as what comes out: of any two words all pairs of
 * hashes are as likely (Dietzfelbinger 1996), and any of its bits are as good.
 */
static inline uint64_t hash_u64(uint64_t x)
{
	return (uint64_t)((hash_drawn.mul * x + hash_drawn.add) >> 64);
}

static inline uint64_t hash_two(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a) + b);
}

/* SipHash-1-3. `more`: another part of the key. */
uint64_t hash_bytes(uint64_t more, const void *data, size_t len);

#endif
