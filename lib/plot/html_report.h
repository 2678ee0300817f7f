/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_report.h - a page with several sections: texts, tables, pictures.
 *
 *	html_open(path, "Use of memory", &h, err);
 *	html_about(h, "vmcore; host vm");
 *	html_section(h, "basic", "Processes", "what each of them is made of");
 *	html_picture(h, &scene, err);
 *	html_table(h, &opts, &schema, &out, err);  rows by atw_output_row(),
 *	atw_output_commit(), atw_output_close()
 *	html_commit(h, err);
 *	html_close(h);
 */
#pragma once

#include "record/record.h"

#include "plot/scene.h"

struct html;

/* A file is renamed to its name at the commit. NULL and "-": standard output. */
int html_open(const char *path, const char *title, struct html **ret, struct atw_err *err);
/* A line below the title, before the first section. */
void html_about(struct html *h, const char *text);
/* `id`: letters, digits, -; for "#id". `about` NULL: no line below the heading. */
void html_section(struct html *h, const char *id, const char *title, const char *about);
/* Preformatted lines. */
void html_text(struct html *h, const char *text);
int html_picture(struct html *h, const struct scene *s, struct atw_err *err);
/* The next element may begin once this output is closed. Format and path are ignored. */
int html_table(struct html *h, const struct atw_output_opts *o, const struct atw_schema *sc,
	       struct atw_output **ret, struct atw_err *err);
int html_commit(struct html *h, struct atw_err *err);
/* Without a commit no file is left behind. NULL is accepted. */
void html_close(struct html *h);
