/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scene.c - display list of rectangles, lines and texts. */
#include "plot/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void scene_init(struct scene *s, double width, double height)
{
	*s = (struct scene){ .width = width, .height = height };
	/* Offset 0 means no text. */
	buf_add(&s->texts, "", 1);
}

void scene_deinit(struct scene *s)
{
	free(s->item);
	buf_deinit(&s->texts);
	*s = (struct scene){ 0 };
}

void scene_size(struct scene *s, double width, double height)
{
	s->width = width;
	s->height = height;
}

static void scene_fail(struct scene *s, int status)
{
	if (s->status == ATW_OK)
		s->status = status;
}

static void scene_add(struct scene *s, struct scene_item item)
{
	if (s->status != ATW_OK)
		return;
	if (s->n >= SCENE_ITEMS)
		scene_fail(s, ATW_E_LIMIT);
	else if (!ARRAY_ROOM(s->item, s->n, s->cap))
		scene_fail(s, ATW_E_NOMEM);
	else
		s->item[s->n++] = item;
}

/* Store a text that is escaped already; 0: it is empty. */
static uint32_t scene_keep(struct scene *s, const char *text, size_t len)
{
	size_t at = s->texts.len;

	if (!len || s->status != ATW_OK)
		return 0;
	if (at + len > SCENE_TEXTS) {
		scene_fail(s, ATW_E_LIMIT);
		return 0;
	}
	buf_add(&s->texts, text, len);
	buf_add(&s->texts, "", 1);
	if (s->texts.failed)
		scene_fail(s, ATW_E_NOMEM);
	return (uint32_t)at;
}

static uint32_t scene_keep_plain(struct scene *s, const char *text)
{
	struct buf b = { 0 };
	uint32_t at = 0;

	if (!text || !*text)
		return 0;
	text_plain(&b, text);
	if (b.failed)
		scene_fail(s, ATW_E_NOMEM);
	else
		at = scene_keep(s, b.data, b.len);
	buf_deinit(&b);
	return at;
}

void scene_rect(struct scene *s, double x, double y, double w, double h, uint32_t color)
{
	if (w <= 0 || h <= 0)
		return;
	scene_add(s, (struct scene_item){
		.kind = SCENE_RECT, .x = (float)x, .y = (float)y, .w = (float)w,
		.h = (float)h, .color = color,
	});
}

void scene_line(struct scene *s, double x0, double y0, double x1, double y1, double wide,
		uint32_t color)
{
	scene_add(s, (struct scene_item){
		.kind = SCENE_LINE, .x = (float)x0, .y = (float)y0, .w = (float)x1,
		.h = (float)y1, .size = (float)wide, .color = color,
	});
}

void scene_frame(struct scene *s, double x, double y, double w, double h, double wide,
		 uint32_t color)
{
	scene_line(s, x, y, x + w, y, wide, color);
	scene_line(s, x + w, y, x + w, y + h, wide, color);
	scene_line(s, x + w, y + h, x, y + h, wide, color);
	scene_line(s, x, y + h, x, y, wide, color);
}

void scene_title(struct scene *s, const char *title)
{
	s->title = scene_keep_plain(s, title);
}

static void scene_put_text(struct scene *s, double x, double y, enum scene_anchor anchor,
			   double size, unsigned style, uint32_t color, uint32_t text)
{
	if (text)
		scene_add(s, (struct scene_item){
			.kind = SCENE_TEXT, .x = (float)x, .y = (float)y,
			.anchor = (uint8_t)anchor, .size = (float)size,
			.style = (uint8_t)style, .color = color, .text = text,
		});
}

void scene_text(struct scene *s, double x, double y, enum scene_anchor anchor,
		double size, unsigned style, uint32_t color, const char *text)
{
	scene_put_text(s, x, y, anchor, size, style, color, scene_keep_plain(s, text));
}

bool scene_fit(struct scene *s, double x, double y, enum scene_anchor anchor, double size,
	       unsigned style, uint32_t color, double width, const char *text)
{
	struct buf whole = { 0 }, part = { 0 };
	bool drawn = false;

	/* Most cells of a full picture have no room for any text. */
	if (width < 2 * size || !text || !*text)
		return false;
	text_plain(&whole, text);
	if (whole.data && font_fit(&part, whole.data, size, style, width) && !part.failed) {
		scene_put_text(s, x, y, anchor, size, style, color,
			       scene_keep(s, part.data, part.len));
		drawn = true;
	}
	if (whole.failed || part.failed)
		scene_fail(s, ATW_E_NOMEM);
	buf_deinit(&whole);
	buf_deinit(&part);
	return drawn;
}

void scene_group(struct scene *s, const char *title, const char *link, unsigned style)
{
	uint32_t text = scene_keep_plain(s, title);

	if (++s->open > SCENE_DEPTH)
		scene_fail(s, ATW_E_LIMIT);
	scene_add(s, (struct scene_item){.kind = SCENE_GROUP,
					 .style = (uint8_t)style,
					 .text = text,
					 .link = link && *link == '#'
							 ? scene_keep_plain(s, link)
							 : 0});
}

void scene_end(struct scene *s)
{
	if (s->open)
		s->open--;
	else
		scene_fail(s, ATW_E_USAGE);
	scene_add(s, (struct scene_item){.kind = SCENE_GROUP_END});
}

int scene_done(const struct scene *s, struct atw_err *err)
{
	switch (s->status) {
	case ATW_OK:
		break;
	case ATW_E_NOMEM:
		return atw_err_nomem(err);
	case ATW_E_LIMIT:
		atw_err_set(err, ATW_E_LIMIT, "the picture has more than %d parts, "
			    "%d MiB of text or %d groups in each other",
			    SCENE_ITEMS, SCENE_TEXTS >> 20, SCENE_DEPTH);
		atw_err_hint(err, "Filter its rows, or choose a coarser picture.");
		return ATW_E_LIMIT;
	default:
		return atw_err_set(err, ATW_E_USAGE, "the picture ends a group it did not begin");
	}
	if (s->open)
		return atw_err_set(err, ATW_E_USAGE,
				   "%u of the picture's groups are not ended", s->open);
	/* The comparison is written so that NaN is refused, too. */
	if (!(s->width >= 1 && s->width <= SCENE_LENGTH &&
	      s->height >= 1 && s->height <= SCENE_LENGTH))
		return atw_err_set(err, ATW_E_LIMIT,
				   "a picture is at least 1 and at most %d points wide and high",
				   SCENE_LENGTH);
	return ATW_OK;
}

const char *scene_string(const struct scene *s, uint32_t at)
{
	return at < s->texts.len ? s->texts.data + at : "";
}

/* ---- widths of texts ---- */

#define ELLIPSIS "\xe2\x80\xa6"
#define LEAST 6                          /* letters; a text that would become shorter
					  * is left out */

/* Thousandths of an em, from blank to tilde, typical of wide fonts without serifs. */
static const uint16_t widths[] = {
	318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
	636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
	1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
	603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
	500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
	635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
};

static bool scene_char_starts(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* The width of the character that starts there; 0 inside of one. */
static double scene_char_em(const char *p, unsigned style)
{
	unsigned char c = (unsigned char)*p;

	if (!scene_char_starts(*p))
		return 0;
	/* Characters of three bytes or more may be as wide as high (CJK). */
	if (c >= 0xe0 && strncmp(p, ELLIPSIS, 3) != 0)
		return 1.0;
	if (style & SCENE_MONO)
		return 0.602;
	if (c < ' ' || c > '~')
		return c < 0x80 ? 0 : strncmp(p, ELLIPSIS, 3) ? 0.8 : 1.0;
	return widths[c - ' '] / 1000.0;
}

double font_width(const char *text, size_t len, double size, unsigned style)
{
	double sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += scene_char_em(text + i, style);
	return sum * size * (style & SCENE_BOLD ? 1.12 : 1);
}

bool font_fit(struct buf *b, const char *text, double size, unsigned style, double width)
{
	size_t len = strlen(text), head = 0, tail = len, letters = 0;
	double left;

	if (font_width(text, len, size, style) <= width) {
		buf_add(b, text, len);
		return len != 0;
	}
	left = width - font_width(ELLIPSIS, 3, size, style);
	/*
	 * Drop letters from the middle: one from either end is kept in turn, beginning
	 * with the last, because the end of a path matters most.
	 */
	while (head < tail) {
		bool back = letters % 2 == 0;
		size_t from = head, to = tail;

		if (back)
			do
				from = --to;
			while (from > head && !scene_char_starts(text[from]));
		else
			do
				to = ++from;
			while (to < tail && !scene_char_starts(text[to]));
		left -= back ? font_width(text + from, tail - from, size, style)
			     : font_width(text + head, to - head, size, style);
		if (left < 0)
			break;
		if (back)
			tail = from;
		else
			head = to;
		letters++;
	}
	if (letters < LEAST)
		return false;
	buf_add(b, text, head);
	buf_str(b, ELLIPSIS);
	buf_add(b, text + tail, len - tail);
	return true;
}
