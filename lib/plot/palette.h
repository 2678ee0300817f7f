/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * palette.h - colours, 0xRRGGBB.
 *
 * Okabe and Ito, "Color Universal Design" (2008): eight that people with any kind
 * of colour vision tell apart. The order is ours, so that neighbours in a bar also
 * differ in grey.
 */
#ifndef PLOT_PALETTE_H
#define PLOT_PALETTE_H

#include <stdint.h>

#define SCENE_PAPER UINT32_C(0xffffff)
#define SCENE_INK   UINT32_C(0x1a1a1a)
#define SCENE_SOFT  UINT32_C(0x5f5f5f)   /* texts that matter less */
#define SCENE_RULE  UINT32_C(0xdcdcdc)   /* lines of a grid */
#define SCENE_REST  UINT32_C(0xb4b4b4)   /* whatever has no colour of its own */
#define SCENE_PALE  UINT32_C(0xf2f2f2)

enum { PALETTE_COLORS = 8, PALETTE_SHADES = 9 };

/* 0 to 7, then again from the first, paler each time round. */
uint32_t palette_color(unsigned n);
/* Of a scale, 0 least to 1 most; darker as it goes up, in colours and in grey. */
uint32_t palette_shade(double part);
/* Towards white: 0 the colour itself, 1 white. */
uint32_t palette_pale(uint32_t color, double part);
/* What can be read on it: ink or paper. */
uint32_t palette_on(uint32_t color);
/* How bright it looks, 0 to 1: relative luminance as WCAG 2 defines it. */
double palette_light(uint32_t color);

#endif
