/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash.c - keyed hash functions and their random keys. */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

#include "base/bytes.h"

struct hash_key hash_drawn;

/* splitmix64: returns the mix of a state that it advances. */
static uint64_t hash_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void hash_from_words(const uint64_t w[6])
{
	hash_drawn.mul = (unsigned __int128)w[0] << 64 | w[1];
	hash_drawn.add = (unsigned __int128)w[2] << 64 | w[3];
	hash_drawn.sip[0] = w[4];
	hash_drawn.sip[1] = w[5];
}

void hash_seed(uint64_t seed)
{
	uint64_t w[6];

	for (unsigned i = 0; i < 6; i++)
		w[i] = hash_next(&seed);
	hash_from_words(w);
}

/*
 * Runs before main(), so that no caller has to check for it. Without getrandom(2), or
 * before it has entropy, the 16 bytes of AT_RANDOM are used.
 */
__attribute__((constructor)) static void hash_draw(void)
{
	uint64_t w[6];
	const void *given;

	if (getrandom(w, sizeof(w), GRND_NONBLOCK) == (ssize_t)sizeof(w)) {
		hash_from_words(w);
		return;
	}
	given = (const void *)getauxval(AT_RANDOM);
	memset(w, 0, sizeof(w));
	if (given)
		memcpy(w, given, 16);
	hash_seed(w[0]);
	hash_drawn.mul ^= (unsigned __int128)w[1] << 64;
	hash_drawn.sip[1] ^= w[1];
}

static uint64_t hash_left(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

static void hash_round_of(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = hash_left(v[1], 13) ^ v[0];
	v[0] = hash_left(v[0], 32);
	v[2] += v[3];
	v[3] = hash_left(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = hash_left(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = hash_left(v[1], 17) ^ v[2];
	v[2] = hash_left(v[2], 32);
}

static void hash_take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	hash_round_of(v);
	v[0] ^= word;
}

uint64_t hash_bytes(uint64_t more, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t k0 = hash_drawn.sip[0], k1 = hash_drawn.sip[1], tail = (uint64_t)len << 56;
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	};

	if (more)
		hash_take(v, more);
	for (; len >= 8; p += 8, len -= 8)
		hash_take(v, get_le64(p));
	for (size_t i = 0; i < len; i++)
		tail |= (uint64_t)p[i] << 8 * i;
	hash_take(v, tail);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		hash_round_of(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
