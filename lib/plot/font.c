/* SPDX-License-Identifier: GPL-2.0-or-later */
/* font.c - text widths of a typical wide sans-serif font. */
#include "plot/font.h"

#include <string.h>

#include "plot/scene.h"

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

static bool font_starts(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* The width of the character that starts there; 0 inside of one. */
static double font_em(const char *p, unsigned style)
{
	unsigned char c = (unsigned char)*p;

	if (!font_starts(*p))
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
		sum += font_em(text + i, style);
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
			while (from > head && !font_starts(text[from]));
		else
			do
				to = ++from;
			while (to < tail && !font_starts(text[to]));
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
