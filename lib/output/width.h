/* SPDX-License-Identifier: GPL-2.0-or-later */
/* width.h - column widths of the plain table, and shortening of texts. */
#ifndef OUTPUT_WIDTH_H
#define OUTPUT_WIDTH_H

#include "output/sink.h"

/* At the start of the table: by type, head and measured rows. */
void width_choose(const struct atw_sink *k, struct cell *c);
/* Measures a row before the table starts. */
void width_measure(struct atw_sink *k, const struct atw_row *row);
/* A text as shown: escaped and, if rows are measured, shortened. */
void width_text(const struct atw_sink *k, const struct cell *c, const char *s,
		struct buf *ret);

#endif
