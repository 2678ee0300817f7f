/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * behind.h - rows that a thread formats and writes, behind the one that emits them. They
 * are copied in batches, of which one is filled while the one before is formatted. What is
 * less than a batch costs no thread.
 */
#pragma once

#include "record/record.h"

struct behind;

/*
 * For an output of a schema without lists. NULL: no memory; rows are then formatted when they
 * are emitted.
 */
struct behind *behind_open(struct atw_output *out);
/* What was not formatted yet is dropped. NULL is accepted. */
void behind_close(struct behind *b);

/*
 * They return a failure of any row before, which is the last call then. The row has all
 * columns, of which those that are shown are taken.
 */
int behind_row(struct behind *b, const struct atw_row *row, struct atw_err *err);
int behind_text(struct behind *b, const char *text, size_t len, struct atw_err *err);
/* All of them have been formatted: sink and writer are the caller's again. */
int behind_wait(struct behind *b, struct atw_err *err);
