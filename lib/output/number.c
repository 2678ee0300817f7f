/* SPDX-License-Identifier: GPL-2.0-or-later */
/* number.c - fast formatting of numbers. */
#include "output/number.h"

#include <stdio.h>
#include <time.h>

char *put_signed(char *p, uint64_t v)
{
	if (v >> 63) {
		*p++ = '-';
		v = -v;
	}
	return put_dec(p, v);
}

char *put_seconds(char *p, uint64_t v)
{
	unsigned rest = (unsigned)(v % 1000);

	p = put_dec(p, v / 1000);
	*p++ = '.';
	*p++ = (char)('0' + rest / 100);
	*p++ = (char)('0' + rest / 10 % 10);
	*p++ = (char)('0' + rest % 10);
	return p;
}

char *put_hex_short(char *p, uint64_t v)
{
	unsigned digits = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	*p++ = '0';
	*p++ = 'x';
	while (digits--)
		*p++ = "0123456789abcdef"[v >> 4 * digits & 15];
	return p;
}

char *put_time(char *p, uint64_t us)
{
	const time_t seconds = (time_t)(us / 1000000);
	struct tm tm = { 0 };

	/* No year has more than six digits. */
	gmtime_r(&seconds, &tm);
	return p + snprintf(p, NUMBER_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%06uZ",
			    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			    tm.tm_sec, (unsigned)(us % 1000000));
}
