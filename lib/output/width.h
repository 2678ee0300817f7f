/* SPDX-License-Identifier: GPL-2.0-or-later */
/* width.h - the columns of the plain table: how wide, and what of a text they show. */
#ifndef OUTPUT_WIDTH_H
#define OUTPUT_WIDTH_H

#include "output/sink.h"

/* When columns begin: by its type, its head, and what was measured. */
void width_choose(const struct atw_sink *k, struct cell *c);
/* A row that will come, before that. */
void width_measure(struct atw_sink *k, const struct atw_row *row);
/* A text as it is shown: harmless, and where rows are measured not too long. */
void width_text(const struct atw_sink *k, const struct cell *c, const char *s,
		struct buf *ret);

#endif
