/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.h - stream socket output, so that nothing is written to a disk of this machine.
 * Host names are not resolved: a static program would need the system's libraries for it,
 * which may be missing.
 */
#pragma once

#include <stdbool.h>

#include <atwalk/base.h>

/*
 * "tcp:ADDRESS:PORT" or "unix:PATH"? A file of such a name must be given as "./tcp:...".
 */
bool peer_is(const char *where);
/* Timeout of a TCP receiver that accepts no data: ETIMEDOUT. */
enum { PEER_STALLED_MS = 5 * 60 * 1000 };
/* The caller closes *ret. */
int peer_connect(const char *where, int *ret, struct atw_err *err);
/* Ends the stream; ATW_OK: the receiver has all data. */
int peer_deliver(int fd, struct atw_err *err);
