/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svg.h - output of a scene as SVG 1.1: a file, or an element of an HTML page. */
#ifndef PLOT_SVG_H
#define PLOT_SVG_H

#include "output/writer.h"
#include "plot/scene.h"

/* `inside`: within HTML: without the XML head, and with a class for the page's script. */
void svg_write(const struct scene *s, struct writer *w, bool inside);

#endif
