/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ending.h - a signal that ends the program, and what is to be tidied up before. */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include <signal.h>

/* Those that end it: SIGINT, SIGTERM, SIGHUP. */
void ending_signals(sigset_t *ret);
/*
 * `tidy`, which may be called at any moment, and then what the signal does by itself.
 * Of SIGPIPE as well. Not of signals that whoever started us had ignored.
 */
void ending_catch(void (*tidy)(void));
/*
 * A signal calls `ask` and nothing more: the program is to come to its end. One that
 * comes a second later or more ends it, as above: who asks again does not want to wait.
 */
void ending_ask(void (*ask)(void));

#endif
