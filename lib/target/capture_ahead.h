/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_ahead.h - blocks of whole lines of a capture, read before they are asked for, so
 * that threads parse their runs meanwhile.
 */
#pragma once

#include "target/captured.h"

/* Takes over what `s` has read. NULL: no memory, and `s` goes on without. */
struct capture_ahead *capture_ahead_open(struct capture_stream *s, unsigned threads);
/* NULL is accepted. */
void capture_ahead_close(struct capture_ahead *a);
/*
 * The text of `s` is the next block. Sets s->last and s->fatal and returns a failure to
 * read as if it had been read now.
 */
int capture_ahead_more(struct capture_ahead *a, struct capture_stream *s);
