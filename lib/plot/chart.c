/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chart.c - parts of pictures that several layouts draw: title, legend, order by weight. */
#include "plot/chart.h"

#include "base/num.h"

#include <inttypes.h>

double chart_subtitle(struct scene *s, double y, const char *title, const char *below)
{
	double width = s->width - 2 * CHART_MARGIN;

	scene_fit(s, CHART_MARGIN, y + 36, SCENE_START, 18, SCENE_BOLD, SCENE_INK, width, title);
	scene_fit(s, CHART_MARGIN, y + 56, SCENE_START, 12, 0, SCENE_SOFT, width, below);
	return y + 72;
}

double chart_title(struct scene *s, const char *title, const char *below)
{
	scene_title(s, title);
	return chart_subtitle(s, 0, title, below);
}

static void chart_free_text(struct scene *s, struct buf *text)
{
	if (text->failed)
		s->status = ATW_E_NOMEM;
	buf_deinit(text);
}

double chart_head(struct scene *s, const char *title, struct buf *below)
{
	double y = chart_title(s, title, below->data);

	chart_free_text(s, below);
	return y;
}

void chart_group(struct scene *s, struct buf *tip, const char *link, unsigned style)
{
	scene_group(s, tip->data, link, style);
	chart_free_text(s, tip);
}

double chart_legend(struct scene *s, double x, double y, double width,
		    const struct chart_key *key, size_t n)
{
	double at = x;

	for (size_t i = 0; i < n; i++) {
		double w = 16 + font_width(key[i].name, strlen(key[i].name), 12, 0);

		if (at > x && at + w > x + width) {
			at = x;
			y += 20;
		}
		scene_rect(s, at, y, 11, 11, key[i].color);
		if (palette_light(key[i].color) > 0.9)
			scene_frame(s, at + 0.5, y + 0.5, 10, 10, 1, SCENE_REST);
		scene_text(s, at + 16, y + 10, SCENE_START, 12, 0, SCENE_INK, key[i].name);
		at += w + 18;
	}
	return n ? y + 26 : y;
}

uint64_t chart_sum(const uint64_t *v, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; v && i < n; i++)
		sum = chart_add(sum, v[i]);
	return sum;
}

/* ---- axes ---- */

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

/* The next larger round number; 0: it exceeds 64 bits. */
static uint64_t chart_next_step(enum axis_unit unit, uint64_t step)
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
		uint64_t next = chart_next_step(unit, step);

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

static char *chart_in_threes(uint64_t v, char buf[AXIS_TEXT])
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
		return chart_in_threes(v, buf);
	}
}

static char *chart_seconds_text(uint64_t v, char buf[AXIS_TEXT])
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
		return chart_seconds_text(v, buf);
	if (v < 10000)
		return chart_in_threes(v, buf);
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
