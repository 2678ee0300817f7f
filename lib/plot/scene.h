/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scene.h - a picture before it has a format: rectangles, lines and texts, in the
 * order they are painted. Pure memory; the outputs write it (plot/draw.h).
 *
 *	scene_init(&s, 640, 480);
 *	scene_group(&s, "nginx: 12 pages", NULL, 0);
 *	scene_rect(&s, 10, 10, 120, 16, palette_color(0));
 *	scene_text(&s, 14, 22, SCENE_START, 11, 0, SCENE_INK, "nginx");
 *	scene_end(&s);
 *	rc = scene_done(&s, err);
 *
 * Lengths are points, x to the right and y down. What fails is remembered, so
 * that a drawing needs one check at its end.
 */
#pragma once

#include <atwalk/base.h>

#include "base/buf.h"
#include "plot/palette.h"

enum {
	SCENE_ITEMS = 400000,            /* larger pictures are not legible */
	SCENE_TEXTS = 64 << 20,          /* bytes of all texts */
	SCENE_DEPTH = 64,                /* nested groups */
	SCENE_LENGTH = 100000,           /* points, of either side */
};

enum scene_kind { SCENE_RECT, SCENE_LINE, SCENE_TEXT, SCENE_GROUP, SCENE_GROUP_END };
enum scene_anchor { SCENE_START, SCENE_MIDDLE, SCENE_END };
enum scene_style {
	SCENE_BOLD = 1, SCENE_MONO = 2,  /* of a text; default: regular, sans-serif */
	SCENE_ZOOM = 4,                  /* of a group: the viewer can zoom into it */
};

struct scene_item {
	uint8_t kind, anchor, style;
	float x, y;                      /* baseline of a text */
	float w, h;                      /* end of a line */
	float size;                      /* font size; line width */
	uint32_t color;
	uint32_t text, link;             /* scene_string(); 0: none. A group's title */
};

struct scene {
	double width, height;
	struct scene_item *item;
	size_t n, cap;
	struct buf texts;                /* escaped UTF-8, each with its NUL */
	unsigned open;                   /* groups */
	uint32_t title;                  /* scene_string(): title of the picture */
	int status;                      /* the first failure, or ATW_OK */
};

void scene_init(struct scene *s, double width, double height);
void scene_deinit(struct scene *s);
/* The size may be changed until scene_done(). */
void scene_size(struct scene *s, double width, double height);
/* For screen readers, and for lists of pictures. */
void scene_title(struct scene *s, const char *title);

void scene_rect(struct scene *s, double x, double y, double w, double h, uint32_t color);
/* The outline only. */
void scene_frame(struct scene *s, double x, double y, double w, double h, double wide,
		 uint32_t color);
void scene_line(struct scene *s, double x0, double y0, double x1, double y1, double wide,
		uint32_t color);
/* Untrusted text: it is escaped here. */
void scene_text(struct scene *s, double x, double y, enum scene_anchor anchor,
		double size, unsigned style, uint32_t color, const char *text);
/*
 * As scene_text(), but shortened in its middle to `width` points, or left out if too few
 * letters would fit. false: nothing was drawn.
 */
bool scene_fit(struct scene *s, double x, double y, enum scene_anchor anchor, double size,
	       unsigned style, uint32_t color, double width, const char *text);
/*
 * Elements until scene_end() form a group. The title is its tooltip. A link must be
 * "#NAME", a place in the same document; others are dropped, because names from memory
 * are untrusted and could link anywhere.
 */
void scene_group(struct scene *s, const char *title, const char *link, unsigned style);
void scene_end(struct scene *s);

/* Fails if an element failed or a group is still open. */
int scene_done(const struct scene *s, struct atw_err *err);
/* "" for 0. */
const char *scene_string(const struct scene *s, uint32_t at);

/* ---- font ---- */

/*
 * Estimated text widths, without access to the font.
 *
 * The viewer of a picture chooses the font behind "sans-serif". These widths are those of
 * a wide font, so a label that fits by them fits in any usual font.
 */

/* Width in points of a text that is escaped already; style: enum scene_style. */
double font_width(const char *text, size_t len, double size, unsigned style);
/*
 * The longest part of an escaped text that fits, with an ellipsis in its middle if it is
 * shortened: both ends of a path are significant. false: too few letters fit.
 */
bool font_fit(struct buf *b, const char *text, double size, unsigned style, double width);
