/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kdump_image.h - a small kdump-compressed dump in memory, for tests. What it
 * writes follows the C structs of diskdump.h as each ABI lays them out.
 *
 * Frames are given as letters: 'd' stored as it is, 'c' stored compressed with
 * zlib, 'e' excluded, '.' no memory.
 */
#pragma once

#include "test.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define BLOCK 4096u

enum abi { ABI_64, ABI_32, ABI_32_PADDED };

struct image {
	enum abi abi;
	unsigned version;
	const char *frames;
	const char *release, *machine, *vmcoreinfo;
	const void *notes;
	size_t notes_len;
	bool split;
	uint64_t start, end;     /* of a part */
	uint32_t status;
	bool one_bitmap;
	const char *signature;

	/* Filled in. */
	uint8_t *p;
	size_t len;
	size_t status_at, sub, bitmap1, bitmap2, descs, data;
};

static inline void put_le(uint8_t *p, uint64_t v, size_t n)
{
	memcpy(p, &v, n);
}

/* Every byte of every frame is different enough to tell frames apart. */
static inline uint8_t frame_byte(uint64_t pfn, size_t i)
{
	return (uint8_t)(pfn * 37 + i / 64 + 1);
}

static inline void image_frame(uint64_t pfn, uint8_t *p)
{
	for (size_t i = 0; i < BLOCK; i++)
		p[i] = frame_byte(pfn, i);
}

static inline void image_sub(struct image *m, uint64_t max, uint64_t vmci,
			     uint64_t notes)
{
	/* Where each field is: start, end, vmcoreinfo, note, start64, end64, max64. */
	static const uint8_t at[][7] = {
		[ABI_64] = { 16, 24, 32, 48, 80, 88, 96 },
		[ABI_32] = { 12, 16, 20, 32, 56, 64, 72 },
		[ABI_32_PADDED] = { 12, 16, 24, 40, 72, 80, 88 },
	};
	const uint8_t *f = at[m->abi];
	size_t word = m->abi == ABI_64 ? 8 : 4;
	uint8_t *s = m->p + m->sub;
	size_t vlen = m->vmcoreinfo ? strlen(m->vmcoreinfo) : 0;

	put_le(s, 0x1000000, word);
	put_le(s + word, 31, 4);
	if (m->version >= 2 && m->split) {
		put_le(s + word + 4, 1, 4);
		put_le(s + f[0], m->start, word);
		put_le(s + f[1], m->end, word);
	}
	if (m->version >= 3 && vlen) {
		put_le(s + f[2], vmci, 8);
		put_le(s + f[2] + 8, vlen, word);
		memcpy(m->p + vmci, m->vmcoreinfo, vlen);
	}
	if (m->version >= 4 && m->notes_len) {
		put_le(s + f[3], notes, 8);
		put_le(s + f[3] + 8, m->notes_len, word);
		memcpy(m->p + notes, m->notes, m->notes_len);
	}
	if (m->version >= 6) {
		if (m->split) {
			put_le(s + f[4], m->start, 8);
			put_le(s + f[5], m->end, 8);
		}
		put_le(s + f[6], max, 8);
	}
}

static inline void image_main(struct image *m, uint64_t max, unsigned sub_blocks,
			      unsigned bitmap_blocks)
{
	m->status_at = m->abi == ABI_64 ? 424 : 412;
	memcpy(m->p, m->signature ? m->signature : "KDUMP   ", 8);
	put_le(m->p + 8, m->version, 4);
	strcpy((char *)m->p + 12, "Linux");
	strcpy((char *)m->p + 12 + 65, "host");
	if (m->release)
		strcpy((char *)m->p + 12 + 2 * 65, m->release);
	if (m->machine)
		strcpy((char *)m->p + 12 + 4 * 65, m->machine);
	put_le(m->p + m->status_at, m->status, 4);
	put_le(m->p + m->status_at + 4, BLOCK, 4);
	put_le(m->p + m->status_at + 8, sub_blocks, 4);
	put_le(m->p + m->status_at + 12, bitmap_blocks, 4);
	put_le(m->p + m->status_at + 16, max, 4);
	put_le(m->p + m->status_at + 36, 3, 4);          /* nr_cpus */
}

static inline void image_page(struct image *m, uint64_t pfn, uint8_t *desc)
{
	uint8_t page[BLOCK];
	size_t n = BLOCK;
	uint32_t flags = 0;

	image_frame(pfn, page);
#ifdef HAVE_ZLIB
	if (m->frames[pfn] == 'c') {
		uLongf z = BLOCK;
		uint8_t packed[BLOCK];

		if (compress(packed, &z, page, BLOCK) == Z_OK) {
			memcpy(page, packed, z);
			n = z;
			flags = 1;
		}
	}
#endif
	put_le(desc, m->len, 8);
	put_le(desc + 8, n, 4);
	put_le(desc + 12, flags, 4);
	memcpy(m->p + m->len, page, n);
	m->len += n;
}

static inline void image_make(struct image *m)
{
	uint64_t max = strlen(m->frames), n = 0;
	unsigned sub_blocks = 2, bitmap_blocks = m->one_bitmap ? 1 : 2;
	uint64_t start = m->split ? m->start : 0, end = m->split ? m->end : max;

	m->sub = BLOCK;
	m->bitmap1 = (1 + sub_blocks) * BLOCK;
	m->bitmap2 = m->one_bitmap ? m->bitmap1 : m->bitmap1 + BLOCK;
	m->descs = m->bitmap1 + bitmap_blocks * BLOCK;
	m->p = calloc(1, m->descs + max * (BLOCK + 24) + 1);
	image_main(m, max, sub_blocks, bitmap_blocks);
	image_sub(m, max, BLOCK + 104, 2 * BLOCK);
	for (uint64_t i = 0; i < max; i++) {
		bool stored = m->frames[i] == 'd' || m->frames[i] == 'c';

		if (m->frames[i] != '.')
			m->p[m->bitmap1 + i / 8] |= (uint8_t)(1 << i % 8);
		if (stored)
			m->p[m->bitmap2 + i / 8] |= (uint8_t)(1 << i % 8);
		else if (m->one_bitmap)
			m->p[m->bitmap1 + i / 8] &= (uint8_t)~(1 << i % 8);
		if (stored && i >= start && i < end)
			n++;
	}
	m->data = m->len = m->descs + n * 24;
	n = 0;
	for (uint64_t i = start; i < end && i < max; i++)
		if (m->frames[i] == 'd' || m->frames[i] == 'c')
			image_page(m, i, m->p + m->descs + 24 * n++);
}

/* makedumpfile -F: in records of `piece` bytes, the last first. */
static inline uint8_t *image_flatten(const struct image *m, size_t piece,
				     bool backwards, size_t *len)
{
	size_t n = (m->len + piece - 1) / piece;
	uint8_t *p = calloc(1, 4096 + n * 16 + m->len + 16), *at = p + 4096;

	strcpy((char *)p, "makedumpfile");
	p[23] = p[31] = 1;
	for (size_t i = 0; i < n; i++) {
		uint64_t off = (backwards ? n - 1 - i : i) * piece;
		size_t k = m->len - off < piece ? m->len - off : piece;

		put_le(at, __builtin_bswap64(off), 8);
		put_le(at + 8, __builtin_bswap64(k), 8);
		memcpy(at + 16, m->p + off, k);
		at += 16 + k;
	}
	memset(at, 0xff, 16);
	*len = (size_t)(at + 16 - p);
	return p;
}
