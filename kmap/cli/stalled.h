/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stalled.h - output to a socket or a pipe with a reader that reads nothing. Such a write
 * has no end, so a program that catches signals to end in order must give the reader up.
 */
#pragma once

#include <stdbool.h>

enum { STALLED_S = 3 };

/* Of this descriptor; files never stall. Before signals are caught. */
void stalled_watch(int fd);
/*
 * For signal handlers: the program is to end. From now on a reader that reads nothing
 * for STALLED_S seconds is given up: writes fail, and what it has not read is lost.
 */
void stalled_begin_end(void);
/* Was the reader given up? */
bool stalled_gave_up(void);
