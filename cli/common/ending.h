/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ending.h - cleanup on signals that end the program. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Those that end it: SIGINT, SIGTERM, SIGHUP. */
void ending_signals(sigset_t *ret);
/*
 * On such a signal, call `tidy`, at any moment, and then take the signal's default
 * action. Of SIGPIPE as well. Signals that were ignored at the start stay ignored.
 */
void ending_catch(void (*tidy)(void));
/*
 * A signal only calls `notify`, so that the program can end in order. Another signal, a
 * second later or more, ends the program at once, as above.
 */
void ending_notify(void (*notify)(void));

/* ---- a process held by a pidfd: the kernel reports its end, of a zombie as well ---- */

/* Of the process, if `pid` is a thread of it; to be closed. -1: there is none. */
int pidfd_hold(uint64_t pid);
/* Readable when it has ended; -1 never does. */
bool pidfd_has_ended(int fd);
