/* SPDX-License-Identifier: GPL-2.0-or-later */
/* draw.h - a scene to a file: SVG always; PostScript, PDF and PNG by cairo. */
#ifndef PLOT_DRAW_H
#define PLOT_DRAW_H

#include "output/writer.h"
#include "plot/scene.h"

struct outfile;

struct picture_format {
	const char *name, *help;
	bool binary;                     /* nothing for a terminal */
	bool cairo;                      /* only where there is one */
	int (*write)(const struct scene *s, struct writer *w, struct atw_err *err);
};

/* By number; NULL past the end. */
const struct picture_format *picture_format(size_t i);
/* By name; NULL: it is no picture's. */
const struct picture_format *picture_find(const char *name);
/* NULL and "-" are standard output. A file appears under its name once it is whole. */
int picture_write(const struct scene *s, const struct picture_format *f, const char *path,
		  struct atw_err *err);

/* The same to a target that is open, which waits to be committed. */
int picture_put(const struct scene *s, const struct picture_format *f, struct outfile *t,
		struct atw_err *err);

/* Could it be written there? Before the work for it is done. */
int picture_check(const struct picture_format *f, const char *path, struct atw_err *err);

/* cairo.c: these; ATW_E_UNSUPPORTED in a build without it. */
int cairo_is_there(struct atw_err *err);
int cairo_write_ps(const struct scene *s, struct writer *w, struct atw_err *err);
int cairo_write_pdf(const struct scene *s, struct writer *w, struct atw_err *err);
int cairo_write_png(const struct scene *s, struct writer *w, struct atw_err *err);

enum { PICTURE_PNG_SCALE = 2 };          /* pixels of a point, if it is not too large */

#endif
