/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * to.h - output of a capture: to a file, as target.h knows it, or to a socket, so that
 * nothing is written to a disk of the machine that is looked at.
 */
#ifndef COLLECTOR_TO_H
#define COLLECTOR_TO_H

#include "output/outfile.h"

struct to {
	const char *name;        /* name for errors */
	int fd;
	bool socket;
	struct outfile target;    /* if it is no socket */
};

/* "tcp:ADDRESS:PORT", "unix:PATH", or what outfile_open() takes. */
int to_open(const char *where, struct to *ret, struct atw_err *err);
/*
 * When this returns ATW_OK, a file is in its place, and the receiver of a socket has all
 * data.
 */
int to_commit(struct to *t, struct atw_err *err);
/* Without a commit, removes the file. May be called on a zeroed struct. */
void to_close(struct to *t);

#endif
