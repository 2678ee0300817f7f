/* SPDX-License-Identifier: GPL-2.0-or-later */
/* num.c - parsing and formatting of numbers and sizes. */
#include "base/num.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"

static bool num_digits(const char *s, size_t len, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned d = scan_digit[(uint8_t)s[i]];

		if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*ret = v;
	return true;
}

static bool num_has_0x(const char *s, size_t len)
{
	return len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

bool num_hex(const char *s, size_t len, uint64_t *ret)
{
	return num_has_0x(s, len) ? num_digits(s + 2, len - 2, 16, ret)
				  : num_digits(s, len, 16, ret);
}

bool num_dec(const char *s, size_t len, uint64_t *ret)
{
	return num_digits(s, len, 10, ret);
}

bool num_any(const char *s, size_t len, uint64_t *ret)
{
	return num_has_0x(s, len) ? num_digits(s + 2, len - 2, 16, ret)
				  : num_digits(s, len, 10, ret);
}

static const char *num_end_of(const char *s, const char *end, const char *stops)
{
	while (s < end && (!*s || !strchr(stops, *s)))
		s++;
	return s;
}

bool num_list_next(const char **at, const char *end, uint64_t *first, uint64_t *last)
{
	const char *s = *at, *stop = num_end_of(s, end, ", \n");
	const char *dash = num_end_of(s, stop, "-");

	if (!num_dec(s, (size_t)(dash - s), first))
		return false;
	*last = *first;
	if (dash < stop &&
	    (!num_dec(dash + 1, (size_t)(stop - dash - 1), last) || *last < *first))
		return false;
	*at = stop < end ? stop + 1 : stop;
	return true;
}

/* The digits in front of a unit, by length, and its shift: "2M", "2MB", "2MiB". */
static unsigned num_unit(const char *s, size_t *len)
{
	static const char units[] = "KMGTPE";

	/* In hexadecimal a trailing B is a digit, so the rest is parsed as decimal. */
	if (*len > 1 && (s[*len - 1] == 'B' || s[*len - 1] == 'b')) {
		--*len;
		if (*len > 2 && s[*len - 1] == 'i')
			--*len;
	}
	if (*len > 1) {
		char c = s[*len - 1];
		const char *u;

		if (c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		u = strchr(units, c);
		if (u && c) {
			--*len;
			return 10 * (unsigned)(u - units + 1);
		}
	}
	return 0;
}

bool num_size(const char *s, size_t len, uint64_t *ret)
{
	unsigned shift;
	uint64_t v;

	if (num_any(s, len, &v)) {
		*ret = v;
		return true;
	}
	shift = num_unit(s, &len);
	if (!num_any(s, len, &v) || (v << shift) >> shift != v)
		return false;
	*ret = v << shift;
	return true;
}

bool num_size_decimal(const char *s, size_t len, uint64_t *ret)
{
	enum { DIGITS = 17 };            /* 10^17 << 60 fits in 128 bits */
	const char *dot = memchr(s, '.', len);
	size_t whole = dot ? (size_t)(dot - s) : 0;
	uint64_t v, part, tens = 1;
	unsigned shift;

	if (!dot)
		return num_size(s, len, ret);
	shift = num_unit(s, &len);
	if (!shift || len - whole - 1 > DIGITS || !num_dec(s, whole, &v) ||
	    !num_dec(dot + 1, len - whole - 1, &part) || (v << shift) >> shift != v)
		return false;
	for (size_t i = whole + 1; i < len; i++)
		tens *= 10;
	*ret = (v << shift) + (uint64_t)(((unsigned __int128)part << shift) / tens);
	return true;
}

char *num_human(uint64_t bytes, char buf[16])
{
	static const char units[] = "BKMGTPE";
	unsigned u = 0;
	uint64_t whole = bytes, rest = 0;

	while (whole >= 1024 && u < sizeof(units) - 2) {
		rest = whole & 1023;
		whole >>= 10;
		u++;
	}
	/* Exact multiples have no decimals: 4K is exactly 4096 bytes. */
	if (!u)
		snprintf(buf, 16, "%uB", (unsigned)whole);
	else if (bytes & (((uint64_t)1 << (10 * u)) - 1))
		snprintf(buf, 16, "%u.%u%c", (unsigned)whole,
			 (unsigned)(rest * 10 / 1024), units[u]);
	else
		snprintf(buf, 16, "%u%c", (unsigned)whole, units[u]);
	return buf;
}
