/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printk_image.h - a kernel's log as it lies in memory, from address 0 on. */
#pragma once

#include <string.h>

#include "base/bytes.h"
#include "format/printk.h"

enum {
	P_DESCS = 128, P_COUNT_BITS = 3, P_DESC = 24, P_INFO = 88,
	P_INFOS = P_DESCS + (P_DESC << P_COUNT_BITS),
	P_DATA = P_INFOS + (P_INFO << P_COUNT_BITS), P_SIZE_BITS = 8,
	P_ALL = P_DATA + (1 << P_SIZE_BITS),
};

/* As VMCOREINFO of Linux 6.12 has it. */
static const struct printk_layout printk_6_12 = {
	.desc_ring = 0, .text_ring = 48, .count_bits = 0, .descs = 8, .infos = 16, .head_id = 24,
	.tail_id = 32, .size_bits = 0, .data = 8, .desc_size = P_DESC, .state = 0, .lpos = 8,
	.begin = 0, .next = 8, .info_size = P_INFO, .seq = 0, .time = 8, .len = 16, .caller = 20,
};

struct printk_image {
	uint8_t b[P_ALL];
};

static inline void printk_u64(struct printk_image *m, size_t at, uint64_t v)
{
	memcpy(m->b + at, &v, 8);
}

static inline void printk_ids(struct printk_image *m, uint64_t tail, uint64_t head)
{
	memset(m, 0, sizeof(*m));
	m->b[0] = P_COUNT_BITS;
	printk_u64(m, 8, P_DESCS);
	printk_u64(m, 16, P_INFOS);
	printk_u64(m, 24, head | (uint64_t)2 << 62);
	printk_u64(m, 32, tail | (uint64_t)2 << 62);
	m->b[48] = P_SIZE_BITS;
	printk_u64(m, 56, P_DATA);
}

/* A record at position `begin` of the text; returns the one behind it. */
static inline uint64_t printk_line(struct printk_image *m, uint64_t id, unsigned state,
				   uint64_t begin, const char *text, unsigned level)
{
	size_t len = strlen(text), d = P_DESCS + id % (1 << P_COUNT_BITS) * P_DESC;
	size_t i = P_INFOS + id % (1 << P_COUNT_BITS) * P_INFO;
	uint64_t next = begin + (8 + len + 7) / 8 * 8, at;

	if (begin >> P_SIZE_BITS != (next - 1) >> P_SIZE_BITS)
		next = (((begin >> P_SIZE_BITS) + 1) << P_SIZE_BITS) + (8 + len + 7) / 8 * 8;
	at = P_DATA + ((next - (8 + len + 7) / 8 * 8) & ((1 << P_SIZE_BITS) - 1));
	printk_u64(m, d, id | (uint64_t)state << 62);
	printk_u64(m, d + 8, begin);
	printk_u64(m, d + 16, next);
	printk_u64(m, i, 100 + id);
	printk_u64(m, i + 8, id * 1000000000 + 42);
	m->b[i + 16] = (uint8_t)len;
	m->b[i + 18] = 3;
	m->b[i + 19] = (uint8_t)(level << 5 | 7);
	m->b[i + 20] = 17;
	printk_u64(m, at, id);
	memcpy(m->b + at + 8, text, len);
	return next;
}
