/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * draw.c - choice of the output format by name, and output to a file. Not part of the
 * public library, because only the program uses cairo.
 */
#include "plot/draw.h"

#include "base/cleanup.h"
#include "output/outfile.h"

static int draw_write_svg(const struct scene *s, struct writer *w, struct atw_err *err)
{
	svg_write(s, w, false);
	return ATW_OK;
}

static const struct picture_format formats[] = {
	{"svg", "a picture for browsers, with texts to point at", false, false,
	 draw_write_svg},
	{"ps", "PostScript", false, true, cairo_write_ps},
	{"pdf", "a picture for documents", true, true, cairo_write_pdf},
	{"png", "pixels", true, true, cairo_write_png},
};

const struct picture_format *picture_format(size_t i)
{
	return i < ARRAY_SIZE(formats) ? &formats[i] : NULL;
}

const struct picture_format *picture_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int draw_check_terminal(const struct picture_format *f, const struct outfile *t,
			       struct atw_err *err)
{
	if (!f->binary || !isatty(t->fd))
		return ATW_OK;
	atw_err_set(err, ATW_E_USAGE, "%s: a terminal shows no %s", outfile_name(t), f->name);
	atw_err_hint(err, "Name a file with -o.");
	return ATW_E_USAGE;
}

int picture_check(const struct picture_format *f, const char *path, struct atw_err *err)
{
	struct outfile t = { .fd = -1 };
	int rc = f->cairo ? cairo_is_there(err) : ATW_OK;

	if (rc == ATW_OK)
		rc = outfile_open(path, &t, err);
	if (rc < 0)
		return rc;
	rc = draw_check_terminal(f, &t, err);
	outfile_close(&t);
	return rc;
}

int picture_put(const struct scene *s, const struct picture_format *f, struct outfile *t,
		struct atw_err *err)
{
	struct writer w;
	int rc = scene_done(s, err) ?:
		 draw_check_terminal(f, t, err) ?:
		 writer_init(&w, t->fd, err);

	if (rc < 0)
		return rc;
	w.prompt = false;
	rc = f->write(s, &w, err);
	if (rc == ATW_OK && !writer_flush(&w))
		rc = writer_failed(&w, outfile_name(t), err);
	writer_deinit(&w);
	return rc;
}
