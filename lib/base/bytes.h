/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bytes.h - bounds-checked reads of integers from untrusted bytes.
 *
 * All integers that are read from a file go through these functions: the address may be
 * unaligned, either byte order is supported, and nothing past the end of the blob is
 * read.
 */
#pragma once

#include <string.h>

#include <atwalk/base.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "atwalk runs on little-endian hosts"
#endif

static inline bool blob_is(struct atw_blob b, const char *word)
{
	return b.len == strlen(word) && !memcmp(b.data, word, b.len);
}

static inline bool text_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static inline bool blob_begins(struct atw_blob b, const char *with)
{
	return b.len >= strlen(with) && !memcmp(b.data, with, strlen(with));
}

static inline uint16_t get_le16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t get_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t get_le64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint16_t get_be16(const void *p) { return __builtin_bswap16(get_le16(p)); }
static inline uint32_t get_be32(const void *p) { return __builtin_bswap32(get_le32(p)); }
static inline uint64_t get_be64(const void *p) { return __builtin_bswap64(get_le64(p)); }

/* The bytes of a string; NULL has none. */
static inline struct atw_blob blob_of(const char *s)
{
	return (struct atw_blob){ s, s ? strlen(s) : 0 };
}

/* As a terminated text, cut to `size` bytes. */
static inline void blob_text(struct atw_blob b, char *to, size_t size)
{
	size_t n = b.len < size ? b.len : size - 1;

	n = b.data ? strnlen(b.data, n) : 0;
	if (n)
		memcpy(to, b.data, n);
	to[n] = '\0';
}

/* `len` bytes at `off` of the blob, or NULL when any of them is outside it. */
static inline const void *blob_at(struct atw_blob b, uint64_t off, uint64_t len)
{
	if (off > b.len || len > b.len - off)
		return NULL;
	return (const char *)b.data + off;
}

/* a + b, or false when it does not fit. */
static inline bool add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

/* Adds to a sum that stays at 2^64-1 when it would not fit. false: it does not fit. */
static inline bool sum_u64(uint64_t *sum, uint64_t more)
{
	if (add_u64(*sum, more, sum))
		return true;
	*sum = UINT64_MAX;
	return false;
}

/* v << shift, that stays at 2^64-1 when it would not fit. */
static inline uint64_t shl_u64(uint64_t v, unsigned shift)
{
	return v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
}

static inline bool mul_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}
