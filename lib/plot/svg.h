/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svg.h - a scene as SVG 1.1: one file, or an element of an HTML page. */
#ifndef PLOT_SVG_H
#define PLOT_SVG_H

#include "output/writer.h"
#include "plot/scene.h"

/* `inside`: within HTML: no head is written, and the script finds it by its class. */
void svg_write(const struct scene *s, struct writer *w, bool inside);

#endif
