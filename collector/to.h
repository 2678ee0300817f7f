/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * to.h - where a capture goes: what target.h knows, or somebody who listens, so that
 * nothing lands on the machine that is looked at.
 */
#ifndef COLLECTOR_TO_H
#define COLLECTOR_TO_H

#include "output/outfile.h"

struct to {
	const char *name;        /* what errors call it */
	int fd;
	bool socket;
	struct outfile target;    /* if it is no socket */
};

/* "tcp:ADDRESS:PORT", "unix:PATH", or what outfile_open() takes. */
int to_open(const char *where, struct to *ret, struct atw_err *err);
/*
 * A file is in its place, and whoever listens has everything, when this returns
 * ATW_OK.
 */
int to_commit(struct to *t, struct atw_err *err);
/* Without a commit, nothing is left behind. Fine on what was never opened. */
void to_close(struct to *t);

#endif
