/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * palette.h - colours as 0xRRGGBB.
 *
 * Okabe and Ito, "Color Universal Design" (2008): eight colours that can be distinguished
 * with any kind of colour vision. They are reordered so that neighbours in a bar also
 * differ in grey.
 */
#pragma once

#include <stdint.h>

#define SCENE_PAPER UINT32_C(0xffffff)
#define SCENE_INK   UINT32_C(0x1a1a1a)
#define SCENE_SOFT  UINT32_C(0x5f5f5f)   /* secondary text */
#define SCENE_RULE  UINT32_C(0xdcdcdc)   /* grid lines */
#define SCENE_REST  UINT32_C(0xb4b4b4)   /* elements without a colour of their own */
#define SCENE_PALE  UINT32_C(0xf2f2f2)

enum { PALETTE_COLORS = 8, PALETTE_SHADES = 9 };

/* Colours 0 to 7, then the same again, paler each time. */
uint32_t palette_color(unsigned n);
/* Colour of a scale, 0 to 1; monotonically darker, also in grey. */
uint32_t palette_shade(double part);
/* Blend with white: 0 is the colour itself, 1 is white. */
uint32_t palette_pale(uint32_t color, double part);
/* A text colour with sufficient contrast: black or white. */
uint32_t palette_on(uint32_t color);
/* Relative luminance as WCAG 2 defines it, 0 to 1. */
double palette_light(uint32_t color);
