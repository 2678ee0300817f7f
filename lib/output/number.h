/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number.h - digits, without a detour through printf. */
#ifndef OUTPUT_NUMBER_H
#define OUTPUT_NUMBER_H

#include <stdint.h>
#include <string.h>

#define NUMBER_MAX 21            /* 2^64 - 1 and a point; "0x" and 16 digits is less */

/* Eight hexadecimal digits: each nibble to a byte of its own, all at once. */
static inline char *put_hex8(char *p, uint32_t v)
{
	uint64_t x = v, over9;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	over9 = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	x += 0x3030303030303030 + over9 * ('a' - '0' - 10);
	x = __builtin_bswap64(x);
	memcpy(p, &x, 8);
	return p + 8;
}

/* "0x" and 16 digits, which is what an address always looks like. */
static inline char *put_hex(char *p, uint64_t v)
{
	p[0] = '0';
	p[1] = 'x';
	p = put_hex8(p + 2, (uint32_t)(v >> 32));
	return put_hex8(p, (uint32_t)v);
}

/* "0x" and no more digits than needed. */
char *put_hex_short(char *p, uint64_t v);

char *put_dec(char *p, uint64_t v);
/* Two's complement. */
char *put_signed(char *p, uint64_t v);
/* Thousandths: "1.500". */
char *put_seconds(char *p, uint64_t v);
/* How many characters put_dec() writes. */
unsigned dec_digits(uint64_t v);

#endif
