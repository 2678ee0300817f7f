/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chart.c - parts of pictures that several layouts draw: title, legend, order by weight. */
#include "plot/chart.h"

#include "plot/font.h"

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
