/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * font.h - estimated text widths, without access to the font.
 *
 * The viewer of a picture chooses the font behind "sans-serif". These widths are those of
 * a wide font, so a label that fits by them fits in any usual font.
 */
#ifndef PLOT_FONT_H
#define PLOT_FONT_H

#include <atwalk/base.h>

#include "base/buf.h"

/* Width in points of a text that is escaped already; style: enum scene_style. */
double font_width(const char *text, size_t len, double size, unsigned style);
/*
 * The longest part of an escaped text that fits, with an ellipsis in its middle if it is
 * shortened: both ends of a path are significant. false: too few letters fit.
 */
bool font_fit(struct buf *b, const char *text, double size, unsigned style, double width);

#endif
