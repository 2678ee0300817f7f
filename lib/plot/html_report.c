/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_report.c - HTML page with sections of text, tables and pictures. */
#include "plot/html_report.h"

#include <stdlib.h>

#include "output/html_page.h"
#include "plot/draw.h"
#include "output/outfile.h"

struct html {
	struct outfile target;
	struct writer w;
	bool section;                    /* a section is open */
};

static int html_report_flush(struct html *h, struct atw_err *err)
{
	return writer_flush(&h->w) ? ATW_OK
				   : writer_failed(&h->w, outfile_name(&h->target), err);
}

int html_open(const char *path, const char *title, struct html **ret, struct atw_err *err)
{
	struct html *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return atw_err_nomem(err);
	h->target.fd = -1;
	rc = outfile_open(path, &h->target, err) ?: writer_init(&h->w, h->target.fd, err);
	if (rc < 0) {
		html_close(h);
		return rc;
	}
	html_page_begin(&h->w, title);
	*ret = h;
	return ATW_OK;
}

static void html_report_end_section(struct html *h)
{
	if (h->section)
		writer_str(&h->w, "</section>\n");
	h->section = false;
}

void html_about(struct html *h, const char *text)
{
	html_element(&h->w, "p", "about", text);
}

void html_section(struct html *h, const char *id, const char *title, const char *about)
{
	html_report_end_section(h);
	writer_str(&h->w, "<section id=\"");
	writer_str(&h->w, id);
	writer_str(&h->w, "\">\n");
	html_element(&h->w, "h2", NULL, title);
	if (about)
		html_element(&h->w, "p", NULL, about);
	h->section = true;
}

void html_text(struct html *h, const char *text)
{
	struct buf b = { 0 };

	writer_str(&h->w, "<pre>");
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct buf line = { 0 };

		/*
		 * Leading and trailing blanks are significant here, so text_xml() shows
		 * them.
		 */
		buf_add(&line, text, len);
		while (len && line.data && line.data[len - 1] == ' ')
			line.data[--len] = '\0';
		text += strcspn(text, "\n");
		len = line.data ? strspn(line.data, " ") : 0;
		for (size_t i = 0; i < len; i++)
			buf_char(&b, ' ');
		text_xml(&b, line.data ? line.data + len : "");
		b.failed |= line.failed;
		buf_deinit(&line);
		if (*text) {
			buf_char(&b, '\n');
			text++;
		}
	}
	writer_buf(&h->w, &b);
	buf_deinit(&b);
	writer_str(&h->w, "</pre>\n");
}

int html_picture(struct html *h, const struct scene *s, struct atw_err *err)
{
	int rc = scene_done(s, err);

	if (rc < 0)
		return rc;
	svg_write(s, &h->w, true);
	return h->w.error ? html_report_flush(h, err) : ATW_OK;
}

int html_table(struct html *h, const struct atw_output_opts *o, const struct atw_schema *sc,
	       struct atw_output **ret, struct atw_err *err)
{
	struct atw_output_opts part = *o;
	/* The table has its own writer, so the page is flushed first. */
	int rc = html_report_flush(h, err);

	part.path = h->target.path;
	return rc < 0 ? rc : output_open_part(&part, sc, &sink_html_table, h->target.fd, ret,
					      err);
}

int html_commit(struct html *h, struct atw_err *err)
{
	int rc;

	html_report_end_section(h);
	html_page_end(&h->w);
	rc = html_report_flush(h, err);
	return rc < 0 ? rc : outfile_commit(&h->target, err);
}

void html_close(struct html *h)
{
	if (!h)
		return;
	writer_deinit(&h->w);
	outfile_close(&h->target);
	free(h);
}
