/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - hashes of untrusted keys: from dumps, captures, and names of files and tasks.
 *
 * The keys of the hash functions are random numbers drawn in each run, so input cannot be
 * prepared to make all keys collide. The result of a lookup does not depend on them, but
 * the order of slots in a table does: no output may be in that order.
 */
#pragma once

#include <atwalk/base.h>

struct hash_key {
	unsigned __int128 mul, add;
	uint64_t sip[2];
};

/* Drawn before main() begins. */
extern __attribute__((visibility("hidden"))) struct hash_key hash_drawn;

/*
 * For tests and fuzzers, which need reproducible hashes; to be called before anything is
 * hashed.
 */
void hash_seed(uint64_t seed);

/*
 * Multiply-add-shift with twice the width of the result: for two different words, all
 * pairs of hashes are equally likely (Dietzfelbinger 1996), so any of the bits may be
 * used.
 */
static inline uint64_t hash_u64(uint64_t x)
{
	return (uint64_t)((hash_drawn.mul * x + hash_drawn.add) >> 64);
}

static inline uint64_t hash_two(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a) + b);
}

/* SipHash-1-3. `more`: a second part of the key. */
uint64_t hash_bytes(uint64_t more, const void *data, size_t len);
