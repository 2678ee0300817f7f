/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "provider/frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * A read costs as much as some frames that nobody wanted: 0.25 us for the call,
 * 65 ns a frame.
 */
enum { GAP = 4 };
enum { PLACE_BITS = 16, DIGIT = 11 };

static bool ordered(const uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] < v[i - 1])
			return false;
	return true;
}

void frames_sort(struct frames *f, const uint64_t *pfn, size_t n)
{
	uint64_t *from = f->key[0], *to = f->key[1], all = 0;

	f->n = 0;
	for (size_t i = 0; i < n && i < FRAMES_MAX; i++)
		if (pfn[i] != UINT64_MAX) {
			from[f->n++] = pfn[i] << PLACE_BITS | i;
			all |= pfn[i];
		}
	/* Digit by digit, lowest first; the place is in order already. */
	for (unsigned shift = 0; shift < 48 && all >> shift && !ordered(from, f->n);
	     shift += DIGIT) {
		uint32_t start[1 << DIGIT] = { 0 }, sum = 0;
		uint64_t *swap = from;

		for (size_t i = 0; i < f->n; i++)
			start[from[i] >> (PLACE_BITS + shift) & ((1 << DIGIT) - 1)]++;
		for (size_t i = 0; i < 1 << DIGIT; i++) {
			uint32_t many = start[i];

			start[i] = sum;
			sum += many;
		}
		for (size_t i = 0; i < f->n; i++)
			to[start[from[i] >> (PLACE_BITS + shift) & ((1 << DIGIT) - 1)]++] = from[i];
		from = to;
		to = swap;
	}
	f->sorted = from;
}

int frames_read(struct frames *f, int fd, const char *name, uint64_t none, uint64_t *ret,
		struct atw_err *err)
{
	const uint64_t *k = f->sorted;

	for (size_t i = 0, end; i < f->n; i = end) {
		uint64_t first = k[i] >> PLACE_BITS, last = first, have;
		ssize_t n;

		for (end = i + 1; end < f->n; end++) {
			uint64_t next = k[end] >> PLACE_BITS;

			if (next - last > GAP || next - first >= FRAMES_MAX)
				break;
			last = next;
		}
		do
			n = pread(fd, f->buf, (last - first + 1) * 8, (off_t)(first * 8));
		while (n < 0 && errno == EINTR);
		/* Beyond the last frame there is nothing, or not even an offset. */
		if (n < 0 && errno != EINVAL && errno != EOVERFLOW)
			return atw_err_set(err, ATW_E_IO, "%s: %s", name, strerror(errno));
		have = n < 0 ? 0 : (uint64_t)n / 8;
		for (; i < end; i++) {
			uint64_t at = (k[i] >> PLACE_BITS) - first;

			ret[k[i] & (FRAMES_MAX - 1)] = at < have ? f->buf[at] : none;
		}
	}
	return ATW_OK;
}
