/* SPDX-License-Identifier: GPL-2.0-or-later */
/* palette.c - colour palettes and contrast. */
#include "plot/palette.h"

static const uint32_t colors[PALETTE_COLORS] = {
	0x0072b2,                /* blue */
	0xe69f00,                /* orange */
	0x009e73,                /* bluish green */
	0xf0e442,                /* yellow */
	0xd55e00,                /* vermilion */
	0x56b4e9,                /* sky blue */
	0xcc79a7,                /* reddish purple */
	0x404040,                /* black, softened for large areas */
};

/* From pale sand to night blue; each step is darker than the one before. */
static const uint32_t shades[PALETTE_SHADES] = {
	0xfdf3d8, 0xf6dca0, 0xe8c172, 0xc9a667, 0x9f8f73, 0x757a7c, 0x50657f, 0x2f4d78,
	0x12305f,
};

static unsigned palette_part_of(uint32_t color, unsigned shift)
{
	return color >> shift & 0xff;
}

/* Interpolates two colours by channel. */
static uint32_t palette_between(uint32_t a, uint32_t b, double part)
{
	uint32_t mixed = 0;

	for (unsigned shift = 0; shift <= 16; shift += 8) {
		double from = palette_part_of(a, shift), to = palette_part_of(b, shift);

		mixed |= (uint32_t)(from + (to - from) * part + 0.5) << shift;
	}
	return mixed;
}

uint32_t palette_pale(uint32_t color, double part)
{
	return palette_between(color, 0xffffff, part);
}

uint32_t palette_color(unsigned n)
{
	unsigned round = n / PALETTE_COLORS;

	return palette_pale(colors[n % PALETTE_COLORS],
			    round == 0 ? 0 : round == 1 ? 0.45 : 0.7);
}

uint32_t palette_shade(double part)
{
	double at;
	unsigned i;

	/* NaN counts as 0. */
	if (!(part > 0))
		return shades[0];
	if (part >= 1)
		return shades[PALETTE_SHADES - 1];
	at = part * (PALETTE_SHADES - 1);
	i = (unsigned)at;
	return palette_between(shades[i], shades[i + 1], at - i);
}

/*
 * The transfer curve of sRGB is x^2.4 with a linear foot. This cubic approximates it
 * within 0.003 and needs no libm; the result only selects black or white text.
 */
static double palette_linear(unsigned channel)
{
	double x = channel / 255.0;

	return x * (x * (x * 0.305306011 + 0.682171111) + 0.012522878);
}

double palette_light(uint32_t color)
{
	return 0.2126 * palette_linear(palette_part_of(color, 16)) +
	       0.7152 * palette_linear(palette_part_of(color, 8)) +
	       0.0722 * palette_linear(palette_part_of(color, 0));
}

uint32_t palette_on(uint32_t color)
{
	/* Contrast to white is 1.05 / (light + 0.05), to black (light + 0.05) / 0.05. */
	return palette_light(color) > 0.20 ? SCENE_INK : SCENE_PAPER;
}
