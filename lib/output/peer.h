/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.h - output to a listening socket, so that nothing is written to a disk of this
 * machine. No names of hosts are looked up: a static program would need the system's
 * libraries for it, and the machine may have none.
 */
#ifndef OUTPUT_PEER_H
#define OUTPUT_PEER_H

#include <stdbool.h>

#include <atwalk/base.h>

/* "tcp:ADDRESS:PORT" or "unix:PATH"? A file of such a name is "./tcp:...". */
bool peer_is(const char *where);
/* A TCP listener that takes nothing for so long is given up: ETIMEDOUT. */
enum { PEER_STALLED_MS = 5 * 60 * 1000 };
/* *ret is the caller's to close. */
int peer_connect(const char *where, int *ret, struct atw_err *err);
/* Nothing more will be written; ATW_OK: the receiver has all that was. */
int peer_deliver(int fd, struct atw_err *err);

#endif
