/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * part.h - rows of an output that another thread formats, as bytes which its owner adds to
 * the output in their turn.
 */
#pragma once

#include "record/record.h"

struct output_part;

/* What the rows of a part come to. */
struct output_part_sums {
	uint64_t rows;
	uint64_t unknown;        /* see struct tally */
	uint64_t v[64];
};

/*
 * Can rows be formatted apart? Not before the first one was emitted and widths of columns
 * are known; nor where all rows are put in another order, counted against a limit, or have
 * columns of plugins; nor in each format. Once they can, they always can.
 */
bool output_parts(const struct atw_output *out);

/*
 * `out` has parts; its owner goes on using it meanwhile. `send` receives whole rows, any
 * number at once.
 */
int output_part_open(const struct atw_output *out,
		     int (*send)(void *arg, const void *data, size_t len, struct atw_err *err),
		     void *arg, struct output_part **ret, struct atw_err *err);
/* NULL is fine. */
void output_part_close(struct output_part *p);

/* A row that passed the filter. */
int output_part_row(struct output_part *p, const struct atw_row *row, struct atw_err *err);
/* Above the next row, as atw_output_heading(). */
int output_part_heading(struct output_part *p, const char *text, struct atw_err *err);
/* Sends all of it, and returns what it came to since the last call. */
int output_part_flush(struct output_part *p, struct output_part_sums *ret, struct atw_err *err);

/* ---- in the owner's thread ---- */

int output_take(struct atw_output *out, const void *data, size_t len, struct atw_err *err);
void output_take_sums(struct atw_output *out, const struct output_part_sums *s);
