/* SPDX-License-Identifier: GPL-2.0-or-later */
/* axis.c - round steps of an axis and the texts of its marks. */
#include "plot/axis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

/* The next larger round number; 0: it exceeds 64 bits. */
static uint64_t axis_next_step(enum axis_unit unit, uint64_t step)
{
	static const unsigned clock[] = {
		1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE,
		15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
		DAY,
	};
	uint64_t first = step, next;

	if (unit == AXIS_SECONDS && step < DAY) {
		for (size_t i = 0; i < ARRAY_SIZE(clock); i++)
			if (clock[i] > step)
				return clock[i];
	}
	if (unit == AXIS_BYTES || unit == AXIS_SECONDS)
		return step > UINT64_MAX / 2 ? 0 : 2 * step;
	while (first >= 10)
		first /= 10;
	if (__builtin_mul_overflow(first == 2 ? step / 2 : step, first == 2 ? 5 : 2, &next))
		return 0;
	return next;
}

void axis_choose(enum axis_unit unit, uint64_t largest, unsigned steps, struct axis *ret)
{
	uint64_t step = 1, n;

	if (!largest)
		largest = 1;
	if (!steps)
		steps = 1;
	while ((largest - 1) / step + 1 > steps) {
		uint64_t next = axis_next_step(unit, step);

		if (!next)
			break;
		step = next;
	}
	n = (largest - 1) / step + 1;
	ret->unit = unit;
	ret->step = step;
	/* Near the end of 64 bits the axis ends at the largest value. */
	if (__builtin_mul_overflow(n, step, &ret->top))
		ret->top = largest;
}

static char *axis_in_threes(uint64_t v, char buf[AXIS_TEXT])
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, v), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

char *axis_number(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT])
{
	switch (unit) {
	case AXIS_BYTES:
		return num_human(v, buf);
	case AXIS_SECONDS:
		return axis_text(unit, v, buf);
	default:
		return axis_in_threes(v, buf);
	}
}

static char *axis_seconds_text(uint64_t v, char buf[AXIS_TEXT])
{
	unsigned m = (unsigned)(v % HOUR / MINUTE), s = (unsigned)(v % MINUTE);

	if (v >= 2 * DAY && v % DAY == 0)
		snprintf(buf, AXIS_TEXT, "%" PRIu64 "d", v / DAY);
	else if (v >= HOUR && m)
		snprintf(buf, AXIS_TEXT, "%" PRIu64 "h%02u", v / HOUR, m);
	else if (v >= HOUR)
		snprintf(buf, AXIS_TEXT, "%" PRIu64 "h", v / HOUR);
	else if (v >= MINUTE && s)
		snprintf(buf, AXIS_TEXT, "%u:%02u", m, s);
	else if (v >= MINUTE)
		snprintf(buf, AXIS_TEXT, "%umin", m);
	else
		snprintf(buf, AXIS_TEXT, "%us", s);
	return buf;
}

char *axis_text(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT])
{
	static const char letters[] = "kMGTPE";
	uint64_t one = 1000;
	unsigned i = 0;

	if (unit == AXIS_BYTES)
		return num_human(v, buf);
	if (unit == AXIS_SECONDS)
		return axis_seconds_text(v, buf);
	if (v < 10000)
		return axis_in_threes(v, buf);
	while (v / one >= 1000 && i + 2 < sizeof(letters)) {
		one *= 1000;
		i++;
	}
	if (v % one == 0)
		snprintf(buf, AXIS_TEXT, "%" PRIu64 "%c", v / one, letters[i]);
	else
		snprintf(buf, AXIS_TEXT, "%" PRIu64 ".%u%c", v / one,
			 (unsigned)(v % one / (one / 10)), letters[i]);
	return buf;
}
