/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cairo.c - output of a scene as PostScript, PDF or PNG through cairo. Titles and links
 * are left out, because these formats have no tooltips.
 */
#include "plot/draw.h"

#ifdef HAVE_CAIRO

#include <cairo-pdf.h>
#include <cairo-ps.h>
#include <cairo.h>
#include <dlfcn.h>

enum {
	PNG_SIDE = 32000,                /* cairo's limit is 32767 */
	PNG_PIXELS = 100 * 1000 * 1000,  /* 400 MB while it is drawn */
};

/*
 * Functions of cairo, without the prefix "cairo_". The library is loaded when a picture
 * is drawn: linked, it and its dependencies would make every start of the program slower
 * and larger.
 */
#define CALLS(CALL) \
	CALL(create) \
	CALL(destroy) \
	CALL(fill) \
	CALL(image_surface_create) \
	CALL(line_to) \
	CALL(move_to) \
	CALL(paint) \
	CALL(pdf_surface_create_for_stream) \
	CALL(pdf_surface_set_metadata) \
	CALL(ps_surface_create_for_stream) \
	CALL(rectangle) \
	CALL(scale) \
	CALL(select_font_face) \
	CALL(set_font_size) \
	CALL(set_line_cap) \
	CALL(set_line_width) \
	CALL(set_source_rgb) \
	CALL(show_page) \
	CALL(show_text) \
	CALL(status) \
	CALL(status_to_string) \
	CALL(stroke) \
	CALL(surface_destroy) \
	CALL(surface_finish) \
	CALL(surface_status) \
	CALL(surface_write_to_png_stream) \
	CALL(text_extents)

struct cairo {
#define MEMBER(name) __typeof__(cairo_##name) *name;
	CALLS(MEMBER)
#undef MEMBER
};

static int plot_cairo_load(struct cairo *ret, struct atw_err *err)
{
	void *lib = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
	bool whole = lib != NULL;

#define FIND(name) \
	whole = whole && (ret->name = (__typeof__(cairo_##name) *)dlsym(lib, "cairo_" #name));
	CALLS(FIND)
#undef FIND
	if (whole)
		return ATW_OK;
	atw_err_set(err, ATW_E_UNSUPPORTED, "no PostScript, PDF or PNG without cairo: %s", dlerror());
	atw_err_hint(err, "Write SVG, or install libcairo2.");
	return ATW_E_UNSUPPORTED;
}

int cairo_is_there(struct atw_err *err)
{
	struct cairo c;

	return plot_cairo_load(&c, err);
}

static cairo_status_t plot_cairo_take_bytes(void *arg, const unsigned char *data,
					    unsigned len)
{
	struct writer *w = arg;

	writer_put(w, data, len);
	writer_row_end(w);
	return w->error ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static void plot_cairo_set_color(const struct cairo *c, cairo_t *cr, uint32_t color)
{
	c->set_source_rgb(cr, (color >> 16 & 0xff) / 255.0, (color >> 8 & 0xff) / 255.0,
			     (color & 0xff) / 255.0);
}

static void plot_cairo_paint_text(const struct cairo *c, cairo_t *cr,
				  const struct scene *s, const struct scene_item *i)
{
	const char *text = scene_string(s, i->text);
	cairo_text_extents_t e;

	c->select_font_face(cr, i->style & SCENE_MONO ? "monospace" : "sans-serif",
			       CAIRO_FONT_SLANT_NORMAL,
			       i->style & SCENE_BOLD ? CAIRO_FONT_WEIGHT_BOLD
						     : CAIRO_FONT_WEIGHT_NORMAL);
	c->set_font_size(cr, i->size);
	c->text_extents(cr, text, &e);
	c->move_to(cr, i->x - (i->anchor == SCENE_START ? 0 :
				  i->anchor == SCENE_END ? e.x_advance : e.x_advance / 2),
		      i->y);
	c->show_text(cr, text);
}

static void plot_cairo_paint(const struct cairo *c, cairo_t *cr, const struct scene *s)
{
	plot_cairo_set_color(c, cr, SCENE_PAPER);
	c->paint(cr);
	c->set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
	for (size_t n = 0; n < s->n; n++) {
		const struct scene_item *i = &s->item[n];

		plot_cairo_set_color(c, cr, i->color);
		switch ((enum scene_kind)i->kind) {
		case SCENE_RECT:
			c->rectangle(cr, i->x, i->y, i->w, i->h);
			c->fill(cr);
			break;
		case SCENE_LINE:
			c->set_line_width(cr, i->size);
			c->move_to(cr, i->x, i->y);
			c->line_to(cr, i->w, i->h);
			c->stroke(cr);
			break;
		case SCENE_TEXT:
			plot_cairo_paint_text(c, cr, s, i);
			break;
		case SCENE_GROUP:
		case SCENE_GROUP_END:
			break;
		}
	}
	c->show_page(cr);
}

/* Converts the final status of a surface. The caller reports errors of the writer. */
static int plot_cairo_settle(const struct cairo *c, cairo_status_t status,
			     const struct writer *w, struct atw_err *err)
{
	if (status == CAIRO_STATUS_SUCCESS || w->error)
		return ATW_OK;
	return atw_err_set(err, status == CAIRO_STATUS_NO_MEMORY ? ATW_E_NOMEM : ATW_E_IO,
			   "the picture cannot be painted: %s",
			   c->status_to_string(status));
}

static cairo_status_t plot_cairo_paint_surface(const struct cairo *c,
					       cairo_surface_t *surface, double scale,
					       const struct scene *s)
{
	cairo_t *cr = c->create(surface);
	cairo_status_t status;

	c->scale(cr, scale, scale);
	plot_cairo_paint(c, cr, s);
	status = c->status(cr);
	c->destroy(cr);
	return status;
}

static int plot_cairo_write_pages(const struct cairo *c, cairo_surface_t *surface,
				  const struct scene *s, struct writer *w,
				  struct atw_err *err)
{
	cairo_status_t status = plot_cairo_paint_surface(c, surface, 1, s);

	c->surface_finish(surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = c->surface_status(surface);
	c->surface_destroy(surface);
	return plot_cairo_settle(c, status, w, err);
}

int cairo_write_ps(const struct scene *s, struct writer *w, struct atw_err *err)
{
	struct cairo lib, *c = &lib;
	int r = plot_cairo_load(c, err);

	return r < 0 ? r
		     : plot_cairo_write_pages(
			       c,
			       c->ps_surface_create_for_stream(plot_cairo_take_bytes, w,
							       s->width, s->height),
			       s, w, err);
}

int cairo_write_pdf(const struct scene *s, struct writer *w, struct atw_err *err)
{
	struct cairo lib, *c = &lib;
	cairo_surface_t *surface;
	int r = plot_cairo_load(c, err);

	if (r < 0)
		return r;
	surface = c->pdf_surface_create_for_stream(plot_cairo_take_bytes, w, s->width,
						   s->height);
	if (s->title)
		c->pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
					    scene_string(s, s->title));
	return plot_cairo_write_pages(c, surface, s, w, err);
}

int cairo_write_png(const struct scene *s, struct writer *w, struct atw_err *err)
{
	double scale = PICTURE_PNG_SCALE, side = s->width > s->height ? s->width : s->height;
	struct cairo lib, *c = &lib;
	cairo_surface_t *surface;
	cairo_status_t status;
	int r = plot_cairo_load(c, err);

	if (r < 0)
		return r;
	if (scale * side > PNG_SIDE || scale * scale * s->width * s->height > PNG_PIXELS)
		scale = 1;
	if (scale * side > PNG_SIDE || scale * scale * s->width * s->height > PNG_PIXELS) {
		atw_err_set(err, ATW_E_LIMIT,
			    "the picture is %.0f by %.0f points, too large for a PNG",
			    s->width, s->height);
		atw_err_hint(err, "SVG and PDF take it.");
		return ATW_E_LIMIT;
	}
	surface = c->image_surface_create(CAIRO_FORMAT_RGB24,
					     (int)(s->width * scale + 0.5),
					     (int)(s->height * scale + 0.5));
	status = plot_cairo_paint_surface(c, surface, scale, s);
	if (status == CAIRO_STATUS_SUCCESS)
		status =
			c->surface_write_to_png_stream(surface, plot_cairo_take_bytes, w);
	c->surface_destroy(surface);
	return plot_cairo_settle(c, status, w, err);
}

#else

int cairo_is_there(struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "this build writes no PostScript, PDF or PNG: it has no cairo");
	atw_err_hint(err, "Write SVG, or install libcairo2-dev and build again.");
	return ATW_E_UNSUPPORTED;
}

int cairo_write_ps(const struct scene *s, struct writer *w, struct atw_err *err)
{
	return cairo_is_there(err);
}

int cairo_write_pdf(const struct scene *s, struct writer *w, struct atw_err *err)
{
	return cairo_write_ps(s, w, err);
}

int cairo_write_png(const struct scene *s, struct writer *w, struct atw_err *err)
{
	return cairo_write_ps(s, w, err);
}

#endif
