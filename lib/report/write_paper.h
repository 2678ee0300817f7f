/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_paper.h - a capture in the paper's own form, where all of its fields fit. */
#ifndef REPORT_WRITE_PAPER_H
#define REPORT_WRITE_PAPER_H

#include "census/census.h"

struct paper_writer;
/* `fd` stays the caller's. `level`: of zstd; 0: plain text. */
int paper_writer_open(int fd, int level, struct paper_writer **ret, struct atw_err *err);
/*
 * ATW_E_UNSUPPORTED: a field does not fit, or a figure would be read back as another: the
 * sentence names field, task and area.
 */
struct census_sink paper_writer_sink(struct paper_writer *w);
/* Everything has left when this returns ATW_OK. */
int paper_writer_end(struct paper_writer *w, struct atw_err *err);
/* NULL is fine. */
void paper_writer_close(struct paper_writer *w);

#endif
