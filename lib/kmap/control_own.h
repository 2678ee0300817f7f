/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_own.h - what the files of control.h share. */
#ifndef KMAP_CONTROL_OWN_H
#define KMAP_CONTROL_OWN_H

#include <pthread.h>

#include "kmap/control.h"

enum kind {
	C_ENABLED, C_ACCESSES, C_LIVE, C_CALLS, C_STATS, C_CLEAR, C_CLEAR_PRINTED, C_KMAP,
	C_STREAM, C_NO_CALLS, C_NO_GLOBALS, C_NO_ROWS,
};

/* A place in the file between two objects, and what is before it. */
struct mark {
	off_t at;
	uint64_t objects, accesses, parts;
};

struct kmap_controls {
	struct kshare *s;
	struct kmap_drain *d;
	pthread_mutex_t lock;
	pthread_mutex_t copying;         /* by whom the recorder stands still; taken first */
	int fd;                          /* the file, to be read; -1: see why */
	char why[160];
	char folder[4096];               /* where there is room for copies */
	struct mark view;                /* kmap begins there */
	struct mark printed;             /* and was read up to there */
	bool live;                       /* kmap has what lives */
	bool streaming;                  /* kmap_stream has a reader */
	uint64_t streamed;               /* bytes that it got */
	bool over, ended, cut;
	struct kmap_reading *open;       /* all that were not closed */
};

/* Both with the lock. */
int control_here(struct kmap_controls *c, struct mark *ret, off_t *headers, struct atw_err *err);
/* Until control_go_on() nothing changes; the lock is given away in between. Takes `copying`. */
void control_stand_still(struct kmap_controls *c);
void control_go_on(struct kmap_controls *c);
/* While it stands still; to be freed. */
char *control_stats(struct kmap_controls *c);

#endif
