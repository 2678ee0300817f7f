/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write_paper.h - writer of captures in the LPMA format (Movall et al.), if all fields
 * fit.
 */
#pragma once

#include "census/census.h"

struct paper_writer;
/* `fd` remains owned by the caller. `level`: of zstd; 0: plain text. */
int paper_writer_open(int fd, int level, struct paper_writer **ret, struct atw_err *err);
/*
 * ATW_E_UNSUPPORTED: a field does not fit, or a value would be read back as another: the
 * message names field, task and VMA.
 */
struct census_sink paper_writer_sink(struct paper_writer *w);
/* ATW_OK: all output has been written. */
int paper_writer_end(struct paper_writer *w, struct atw_err *err);
/* NULL is accepted. */
void paper_writer_close(struct paper_writer *w);
