/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_words.c - batched reads of /proc/kpageflags. */
#include "host/frame_words.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sorted.h"

/* Gaps up to this size are read, too: a call costs 0.25 us, a frame 65 ns. */
enum { GAP = 4 };
enum { PLACE_BITS = 16 };

void frames_clear(struct frames *f)
{
	f->n = 0;
}

void frames_sort(struct frames *f)
{
	f->sorted = radix_sort(f->key[0], f->key[1], f->n, PLACE_BITS);
}

static uint64_t frame_words_first_of(uint64_t key)
{
	return key >> PLACE_BITS;
}

static uint64_t frame_words_last_of(const struct frames *f, uint64_t key)
{
	return frame_words_first_of(key) +
	       (f->more[key & (FRAMES_MAX - 1)] & (FRAMES_DOWN - 1));
}

int frames_read(struct frames *f, int fd, const char *name, uint64_t none, uint64_t *ret,
		struct atw_err *err)
{
	const uint64_t *k = f->sorted;

	for (size_t i = 0, end; i < f->n; i = end) {
		uint64_t first = frame_words_first_of(k[i]),
			 last = frame_words_last_of(f, k[i]), have;
		ssize_t n;

		for (end = i + 1; end < f->n; end++) {
			uint64_t its_last = frame_words_last_of(f, k[end]);

			/* The same frame may occur many times. */
			if (frame_words_first_of(k[end]) > last + GAP ||
			    its_last - first >= ARRAY_SIZE(f->buf))
				break;
			last = MAX(last, its_last);
		}
		n = pace_pread(f->pace, fd, f->buf, (last - first + 1) * 8, (off_t)(first * 8));
		/* Beyond the last frame the file ends, or even the offset is invalid. */
		if (n < 0 && errno != EINVAL && errno != EOVERFLOW)
			return atw_err_set(err, ATW_E_IO, "%s: %s", name, strerror(errno));
		have = n < 0 ? 0 : (uint64_t)n / 8;
		for (; i < end; i++) {
			uint64_t at = frame_words_first_of(k[i]) - first,
				 stop = frame_words_last_of(f, k[i]) - first + 1;
			size_t place = k[i] & (FRAMES_MAX - 1);
			size_t step = f->more[place] & FRAMES_DOWN ? SIZE_MAX : 1;

			for (; at < stop; at++, place += step)
				ret[place] = at < have ? f->buf[at] : none;
		}
	}
	return ATW_OK;
}
