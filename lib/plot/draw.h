/* SPDX-License-Identifier: GPL-2.0-or-later */
/* draw.h - output of a scene: SVG always; PostScript, PDF and PNG through cairo. */
#pragma once

#include "output/writer.h"
#include "plot/scene.h"

struct outfile;

struct picture_format {
	const char *name, *help;
	bool binary;                     /* not written to a terminal */
	bool cairo;                      /* only in builds with cairo */
	int (*write)(const struct scene *s, struct writer *w, struct atw_err *err);
};

/* Formats by number; NULL past the end. */
const struct picture_format *picture_format(size_t i);
/* By name; NULL: not a format of pictures. */
const struct picture_format *picture_find(const char *name);
/* To an open output, which the caller commits. */
int picture_put(const struct scene *s, const struct picture_format *f, struct outfile *t,
		struct atw_err *err);

/* Check early whether the output can be written, before the data are collected. */
int picture_check(const struct picture_format *f, const char *path, struct atw_err *err);

/* cairo.c: these formats; ATW_E_UNSUPPORTED in a build without cairo. */
int cairo_is_there(struct atw_err *err);
int cairo_write_ps(const struct scene *s, struct writer *w, struct atw_err *err);
int cairo_write_pdf(const struct scene *s, struct writer *w, struct atw_err *err);
int cairo_write_png(const struct scene *s, struct writer *w, struct atw_err *err);

enum { PICTURE_PNG_SCALE = 2 };          /* pixels per point, unless the picture gets
					  * too large */

/* ---- svg ---- */

/* Output of a scene as SVG 1.1: a file, or an element of an HTML page. */

/* `inside`: within HTML: without the XML head, and with a class for the page's script. */
void svg_write(const struct scene *s, struct writer *w, bool inside);
