/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_head.h - head of an HTML page, from H: lines: source, machine and time. */
#pragma once

#include "base/buf.h"
#include "census/model.h"

/* Receives records as a report does, and emits no rows. */
extern const struct census_report report_head;
/* "capture.cap; host vm; Linux 6.1.0, x86_64; 2026-11-20 23:01:02 UTC", to `b`. */
void report_head_text(const void *state, char *const *source, size_t n, struct buf *b);
