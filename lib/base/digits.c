/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digits.h"

static const char pairs[201] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

unsigned dec_digits(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* Backwards from the end, in place: a copy would stall on store forwarding. */
char *put_dec(char *p, uint64_t v)
{
	char *end = p + dec_digits(v), *q = end;

	while (v >= 100) {
		q -= 2;
		memcpy(q, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(q - 2, pairs + v * 2, 2);
	else
		q[-1] = (char)('0' + v);
	return end;
}
