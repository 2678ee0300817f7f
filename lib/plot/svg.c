/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svg.c - output of a scene as SVG. */
#include "plot/draw.h"

#include <math.h>

#include "base/text.h"

#define XMLNS "http://www.w3.org/2000/svg"

struct svg {
	const struct scene *s;
	struct buf b;                    /* of one item */
	uint64_t links;                  /* bit n: the nth open group is a link */
	unsigned open;
};

/* Hundredths of a point with as few digits as possible; independent of the locale. */
static void svg_put_length(struct buf *b, double v)
{
	double limit = 10.0 * SCENE_LENGTH;
	long n = v > limit ? (long)limit * 100 : v < -limit ? (long)-limit * 100 :
		 isnan(v) ? 0 : (long)(v * 100 + (v < 0 ? -0.5 : 0.5));
	unsigned long u = n < 0 ? 0ul - (unsigned long)n : (unsigned long)n;

	if (n < 0)
		buf_char(b, '-');
	if (u % 100 == 0)
		buf_printf(b, "%lu", u / 100);
	else if (u % 10 == 0)
		buf_printf(b, "%lu.%lu", u / 100, u % 100 / 10);
	else
		buf_printf(b, "%lu.%02lu", u / 100, u % 100);
}

static void svg_put_pair(struct buf *b, const char *name, double v)
{
	buf_char(b, ' ');
	buf_str(b, name);
	buf_str(b, "=\"");
	svg_put_length(b, v);
	buf_char(b, '"');
}

static void svg_put_color(struct buf *b, const char *name, uint32_t color)
{
	buf_printf(b, " %s=\"#%06x\"", name, color & 0xffffff);
}

static void svg_put_text_item(struct svg *v, const struct scene_item *i)
{
	struct buf *b = &v->b;

	buf_str(b, "<text");
	svg_put_pair(b, "x", i->x);
	svg_put_pair(b, "y", i->y);
	svg_put_pair(b, "font-size", i->size);
	if (i->anchor != SCENE_START)
		buf_printf(b, " text-anchor=\"%s\"",
			   i->anchor == SCENE_MIDDLE ? "middle" : "end");
	if (i->style & SCENE_BOLD)
		buf_str(b, " font-weight=\"bold\"");
	if (i->style & SCENE_MONO)
		buf_str(b, " font-family=\"monospace\"");
	if (i->color != SCENE_INK)
		svg_put_color(b, "fill", i->color);
	buf_char(b, '>');
	text_xml(b, scene_string(v->s, i->text));
	buf_str(b, "</text>");
}

static void svg_put_group(struct svg *v, const struct scene_item *i)
{
	struct buf *b = &v->b;

	/* scene_done() has checked that there are at most SCENE_DEPTH. */
	if (i->link)
		v->links |= UINT64_C(1) << v->open % 64;
	else
		v->links &= ~(UINT64_C(1) << v->open % 64);
	v->open++;
	buf_str(b, i->link ? "<a href=\"" : "<g");
	if (i->link) {
		text_xml(b, scene_string(v->s, i->link));
		buf_char(b, '"');
	}
	if (i->style & SCENE_ZOOM)
		buf_str(b, " class=\"zoom\"");
	buf_char(b, '>');
	if (i->text) {
		buf_str(b, "<title>");
		text_xml(b, scene_string(v->s, i->text));
		buf_str(b, "</title>");
	}
}

/* Does the line continue the previous one in the same style? */
static bool svg_goes_on(const struct scene_item *i, const struct scene_item *next)
{
	return next->kind == SCENE_LINE && next->x == i->w && next->y == i->h &&
	       next->size == i->size && next->color == i->color;
}

/*
 * Connected lines become one polyline: a curve has hundreds, and browsers are slow with
 * many elements. Returns the number of items; 0: a single line.
 */
static size_t svg_put_curve(struct svg *v, const struct scene_item *i, size_t left)
{
	struct buf *b = &v->b;
	size_t n = 1;

	while (i->kind == SCENE_LINE && n < left && svg_goes_on(&i[n - 1], &i[n]))
		n++;
	if (n == 1)
		return 0;
	buf_str(b, "<polyline points=\"");
	svg_put_length(b, i->x);
	buf_char(b, ',');
	svg_put_length(b, i->y);
	for (size_t k = 0; k < n; k++) {
		buf_char(b, ' ');
		svg_put_length(b, i[k].w);
		buf_char(b, ',');
		svg_put_length(b, i[k].h);
	}
	buf_str(b, "\" fill=\"none\" stroke-linejoin=\"round\"");
	svg_put_color(b, "stroke", i->color);
	if (i->size != 1)
		svg_put_pair(b, "stroke-width", i->size);
	buf_str(b, "/>\n");
	return n;
}

static void svg_put_item(struct svg *v, const struct scene_item *i)
{
	struct buf *b = &v->b;

	switch ((enum scene_kind)i->kind) {
	case SCENE_RECT:
		buf_str(b, "<rect");
		svg_put_pair(b, "x", i->x);
		svg_put_pair(b, "y", i->y);
		svg_put_pair(b, "width", i->w);
		svg_put_pair(b, "height", i->h);
		svg_put_color(b, "fill", i->color);
		buf_str(b, "/>");
		break;
	case SCENE_LINE:
		buf_str(b, "<line");
		svg_put_pair(b, "x1", i->x);
		svg_put_pair(b, "y1", i->y);
		svg_put_pair(b, "x2", i->w);
		svg_put_pair(b, "y2", i->h);
		svg_put_color(b, "stroke", i->color);
		if (i->size != 1)
			svg_put_pair(b, "stroke-width", i->size);
		buf_str(b, "/>");
		break;
	case SCENE_TEXT:
		svg_put_text_item(v, i);
		break;
	case SCENE_GROUP:
		svg_put_group(v, i);
		break;
	case SCENE_GROUP_END:
		v->open--;
		buf_str(b, v->links >> v->open % 64 & 1 ? "</a>" : "</g>");
		break;
	}
	buf_char(b, '\n');
}

static void svg_put_head(struct svg *v, bool inside)
{
	struct buf *b = &v->b;

	if (!inside)
		buf_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_str(b, "<svg");
	if (inside)
		buf_str(b, " class=\"picture\"");
	else
		buf_str(b, " xmlns=\"" XMLNS "\"");
	svg_put_pair(b, "width", v->s->width);
	svg_put_pair(b, "height", v->s->height);
	buf_str(b, " viewBox=\"0 0 ");
	svg_put_length(b, v->s->width);
	buf_char(b, ' ');
	svg_put_length(b, v->s->height);
	buf_str(b, "\" font-family=\"sans-serif\" fill=\"#1a1a1a\" stroke-linecap=\"round\""
		   " role=\"img\"");
	if (v->s->title) {
		buf_str(b, " aria-label=\"");
		text_xml(b, scene_string(v->s, v->s->title));
		buf_char(b, '"');
	}
	buf_str(b, ">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

/* Flush the buffer; if it ran out of memory, the output fails. */
static void svg_hand_on(struct svg *v, struct writer *w)
{
	writer_buf(w, &v->b);
	writer_row_end(w);
	v->b.len = 0;
}

void svg_write(const struct scene *s, struct writer *w, bool inside)
{
	struct svg v = { .s = s };

	svg_put_head(&v, inside);
	for (size_t i = 0, n; i < s->n; i += n) {
		n = svg_put_curve(&v, &s->item[i], s->n - i);
		if (!n) {
			svg_put_item(&v, &s->item[i]);
			n = 1;
		}
		/* Buffered, because one write per line would be slow. */
		if (v.b.len > 2048)
			svg_hand_on(&v, w);
	}
	buf_str(&v.b, "</svg>\n");
	svg_hand_on(&v, w);
	buf_deinit(&v.b);
}
