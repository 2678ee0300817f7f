/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate.h - columns that plugins add to the rows of an output, a batch at a time. */
#pragma once

#include "output/batch.h"

/* The annotator of a plugin, checked. */
struct annotator {
	const char *plugin;      /* its name */
	void *instance;
	struct atw_annotator of;
	struct plugin_columns in, out;
	bool lenient;            /* left out where rows lack what it reads */
};

struct annotation;

/*
 * Begins with each of `n` annotators in turn; a later one may read what an earlier one adds.
 * `flags`: enum atw_listing_flag. *ret is NULL if none of them is for these rows.
 */
int annotate_open(const struct annotator *v, size_t n, const struct atw_schema *sc,
		  uint32_t flags, struct annotation **ret, struct atw_err *err);
/* The columns of the rows, and those that were added behind them. */
const struct atw_schema *annotate_schema(const struct annotation *a);
/* Keeps a row; true in *full: annotate_run() must follow. */
int annotate_add(struct annotation *a, const struct atw_row *row, bool *full,
		 struct atw_err *err);
/* The rows that are kept get their columns; then annotate_next() has them in order. */
int annotate_run(struct annotation *a, struct atw_err *err);
/* Valid until the next call. false: that was the last one. */
bool annotate_next(struct annotation *a, struct atw_row *ret);
/* NULL is accepted. */
void annotate_close(struct annotation *a);
