/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * font.h - how wide a text will be, without the font.
 *
 * A viewer of a picture has other fonts behind "sans-serif", so these widths are those
 * of a wide one: a label that fits by them fits in any usual font.
 */
#ifndef PLOT_FONT_H
#define PLOT_FONT_H

#include <atwalk/base.h>

#include "base/buf.h"

/* Points of a text that is harmless already; style: enum scene_style. */
double font_width(const char *text, size_t len, double size, unsigned style);
/*
 * As much of a harmless text as is at most so wide, with an ellipsis in its
 * middle where some is missing: of a path both ends say something. false: too
 * few letters would be left to say anything.
 */
bool font_fit(struct buf *b, const char *text, double size, unsigned style, double width);

#endif
