/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number.h - formatting of numbers without printf(). */
#pragma once

#include "base/digits.h"

#define NUMBER_MAX 32            /* a time; 2^64 - 1 and a point is less */

/* "0x" and 16 digits: the fixed width of an address. */
static inline char *put_hex(char *p, uint64_t v)
{
	p[0] = '0';
	p[1] = 'x';
	p = put_hex8(p + 2, (uint32_t)(v >> 32));
	return put_hex8(p, (uint32_t)v);
}

/* "0x" and as few digits as possible. */
char *put_hex_short(char *p, uint64_t v);

/* Two's complement. */
char *put_signed(char *p, uint64_t v);
/* Thousandths: "1.500". */
char *put_seconds(char *p, uint64_t v);
/* Microseconds since 1970: "2026-11-28T05:10:00.000000Z". */
char *put_time(char *p, uint64_t us);
