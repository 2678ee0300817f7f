/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scene_look.h - what a scene looks like, as numbers. */
#pragma once

#include "test.h"

#include "plot/scene.h"

static inline struct scene_item look_box(const struct scene *s, const struct scene_item *i)
{
	struct scene_item box = *i;

	if (i->kind == SCENE_LINE) {
		box.x = i->x < i->w ? i->x : i->w;
		box.y = i->y < i->h ? i->y : i->h;
		box.w = i->x < i->w ? i->w - i->x : i->x - i->w;
		box.h = i->y < i->h ? i->h - i->y : i->y - i->h;
	} else if (i->kind == SCENE_TEXT) {
		const char *text = scene_string(s, i->text);

		box.w = (float)font_width(text, strlen(text), i->size, i->style);
		box.h = i->size;
		box.y = i->y - 0.8f * i->size;
		if (i->anchor != SCENE_START)
			box.x -= i->anchor == SCENE_END ? box.w : box.w / 2;
	}
	return box;
}

/* The first item that is not in the picture, or -1. */
static inline long look_outside(const struct scene *s)
{
	for (size_t n = 0; n < s->n; n++) {
		struct scene_item b;

		if (s->item[n].kind > SCENE_TEXT)
			continue;
		b = look_box(s, &s->item[n]);
		if (b.x < -0.01 || b.y < -0.01 || b.x + b.w > s->width + 0.01 ||
		    b.y + b.h > s->height + 0.01)
			return (long)n;
	}
	return -1;
}

/* How many pairs of texts lie on each other. */
static inline size_t look_overlaps(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct scene_item a = look_box(s, &s->item[i]);

		for (size_t k = i + 1; s->item[i].kind == SCENE_TEXT && k < s->n; k++) {
			struct scene_item b = look_box(s, &s->item[k]);

			if (s->item[k].kind == SCENE_TEXT && a.x + a.w > b.x + 0.01 &&
			    b.x + b.w > a.x + 0.01 && a.y + a.h > b.y + 0.01 &&
			    b.y + b.h > a.y + 0.01) {
				printf("note - \"%s\" lies on \"%s\"\n",
				       scene_string(s, s->item[i].text),
				       scene_string(s, s->item[k].text));
				n++;
			}
		}
	}
	return n;
}

/* The first text that begins so, or NULL. */
static inline const struct scene_item *look_text(const struct scene *s, const char *begin)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].kind == SCENE_TEXT &&
		    !strncmp(scene_string(s, s->item[i].text), begin, strlen(begin)))
			return &s->item[i];
	return NULL;
}

/* How many groups have a title that contains this. */
static inline size_t look_titles(const struct scene *s, const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->item[i].kind == SCENE_GROUP &&
		     strstr(scene_string(s, s->item[i].text), part);
	return n;
}

/* Sums the area of all rectangles of a colour. */
static inline double look_area(const struct scene *s, uint32_t color)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].kind == SCENE_RECT && s->item[i].color == color)
			sum += (double)s->item[i].w * s->item[i].h;
	return sum;
}
