/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * picture.h - drawings of reports.
 *
 * A picture receives the stream as a report does, or the report's rows, or both, and
 * draws what it kept; reports do not depend on pictures. Listed in pictures.def.
 */
#pragma once

#include "census/model.h"
#include "plot/chart.h"

enum { PICTURE_COLUMNS = 8 };

struct census_picture {
	/*
	 * Its name is that of the report. Only these members are used: on, looks, state,
	 * opts, init, feed, deinit.
	 */
	struct census_report of;
	/* NULL: no rows needed. Rows have these columns of the report, in this order. */
	const char *column[PICTURE_COLUMNS + 1];
	int (*row)(void *state, const struct atw_row *row, struct atw_err *err);
	/* Draws into an initialised scene, after the report has finished. */
	int (*draw)(void *state, struct scene *s, struct atw_err *err);
};

/* NULL: the report has no picture. */
const struct census_picture *census_picture_find(const struct census_report *report);
/* Passes on a row of the report. */
int census_picture_row(const struct census_picture *picture, const struct census_report *report,
		       void *state, const struct atw_row *row, struct atw_err *err);

static inline bool picture_has(const struct atw_row *row, unsigned column)
{
	return row->have >> column & 1;
}
/* "pages of 4K"; valid as long as `buf`. */
const char *picture_pages(uint64_t page, char buf[48]);
/* "nginx, 812": names are not unique. A name too long for `buf` ends in an ellipsis. */
const char *picture_process(const char *name, uint64_t pid, char buf[64]);
