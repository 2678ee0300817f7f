/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html_page.h - the frame of an HTML page, in one file that loads nothing else: no
 * network, no fonts, no external scripts. Its contents can be read without a script; with
 * one, tables can be sorted and pictures can be explored.
 *
 * It is also well-formed XML, as is all code that is written into it.
 */
#pragma once

#include "output/sink.h"

/* Titles and texts are escaped here. */
void html_page_begin(struct writer *w, const char *title);
void html_page_end(struct writer *w);
/* An element with a text; `class` NULL: none. */
void html_element(struct writer *w, const char *element, const char *class,
		  const char *text);

/* The part of the script that sorts, filters and shows rows of tables. */
extern const char html_script_table[];

/* A table as part of a page; the sink "html" is a page with one table. */
extern const struct atw_sink_ops sink_html_table;
