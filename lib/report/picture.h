/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture.h - reports that can be drawn.
 *
 * A picture listens to the stream as a report does, or takes the report's rows, or
 * both, and draws what it kept; no report knows of it. Listed in pictures.def.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "census/model.h"
#include "plot/chart.h"

struct census_picture {
	/* Its name is the report's. Of the rest only these: on, looks, start, feed, drop. */
	struct census_report of;
	/* NULL: it needs no rows. They are of the report's schema. */
	int (*row)(void *state, const struct atw_row *row, struct atw_err *err);
	/* Into a scene that was initialised; after the report has finished. */
	int (*draw)(void *state, struct scene *s, struct atw_err *err);
};

/* NULL: that report is no picture. By number; NULL past the end. */
const struct census_picture *census_picture_find(const struct census_report *report);
const struct census_picture *census_picture_kind(size_t i);

/* Number of the report's column of that name; -1: it has none. */
int picture_column(const char *report, const char *key);
static inline bool picture_has(const struct atw_row *row, int column)
{
	return column >= 0 && row->have >> column & 1;
}
/* "pages of 4K"; the text lasts as long as `buf`. */
const char *picture_pages(uint64_t page, char buf[48]);
/*
 * "nginx, 812": there may be several of one name. A name too long for `buf` ends in
 * an ellipsis.
 */
const char *picture_process(const char *name, uint64_t pid, char buf[64]);

#endif
