/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control_own.h - state shared by the files that implement control.h. */
#pragma once

#include <pthread.h>

#include "kmap/lib/control.h"

enum control_kind {
	C_ENABLED,
	C_ACCESSES,
	C_LIVE,
	C_CALLS,
	C_STATS,
	C_CLEAR,
	C_CLEAR_PRINTED,
	C_KMAP,
	C_STREAM,
	C_GRAPH,
	C_GRAPH_ROWS,
	C_CLEAR_GRAPH,
	C_GLOBALS,
	C_ALLOCATION_ROWS,
	C_ACCESS_ROWS,
	C_MARK,
};

/* A place in the file between two objects, and what is before it. */
struct control_mark {
	off_t at;
	uint64_t objects, accesses, parts;
};

struct kmap_controls {
	struct kshare *s;
	struct kmap_drain *d;
	pthread_mutex_t lock;
	pthread_mutex_t copying;         /* held to stop the recorder; taken first */
	int fd;                          /* the file, to be read; -1: see why */
	char why[160];
	char folder[4096];               /* where there is room for copies */
	struct control_mark view;        /* kmap begins there */
	struct control_mark printed;     /* and was read up to there */
	bool live;                       /* kmap has what lives */
	bool streaming;                  /* kmap_stream has a reader */
	uint64_t streamed;               /* bytes that it got */
	bool over, ended, cut;
	struct kmap_reading *open;       /* all that were not closed */
	unsigned opens, copies;          /* so many; and that have a file */
};

enum { PIECES = 3, OPENS = 4096, COPIES = 32 };

struct control_piece {
	int fd;
	off_t at;
	uint64_t len;
};

/* Where kmap_stream is: its reader has everything before `at`. */
struct stream {
	off_t header, headers;           /* those first, up to there */
	off_t at;
	struct control_mark whole; /* objects that it has wholly are before that */
	struct control_mark now;   /* what `at` is in, if it is at a line's beginning */
	bool in_line;
	struct control_mark first;
	char end[128];                   /* its last line, once there is one */
	size_t end_len, end_at;
};

struct kmap_reading {
	struct kmap_controls *c;
	struct kmap_reading *next, **at;         /* of those that are open */
	unsigned kind;
	char *text;                      /* of small ones */
	struct control_piece piece[PIECES]; /* of kmap */
	int copy;
	struct control_mark end;         /* kmap has what was freed up to there */
	uint64_t freed;                  /* that ends behind so many of its bytes */
	struct control_rows *rows;       /* made of kmap */
	struct stream stream;
};

/* All with the lock. */
int control_here(struct kmap_controls *c, struct control_mark *ret, off_t *headers,
		 struct atw_err *err);
/* What waits to be written is. */
int control_drain_all(struct kmap_controls *c, struct atw_err *err);
/* Returns `error`, a negative errno, with `status` and a sentence in err. */
ATW_PRINTF(4, 5) int control_refuse(struct atw_err *err, int error, int status,
				    const char *fmt, ...);
/* Refuses what is about calls. */
int control_no_calls(struct atw_err *err);
/* Until control_go_on() nothing changes; the lock is given away in between. With `copying`. */
void control_stand_still(struct kmap_controls *c);
void control_go_on(struct kmap_controls *c);
/* While it stands still; to be freed. */
char *control_stats(struct kmap_controls *c);
/* With the lock; likewise. */
char *control_graph(const struct kmap_controls *c);
char *control_globals(const struct kmap_controls *c);

/* kmap's text, at any place of it. */
typedef ssize_t (*control_source)(void *arg, char *buf, size_t len, uint64_t at);
/* `freed`: how many bytes of kmap there are up to what lives. */
struct control_rows;
int control_rows_open(bool accesses, uint64_t freed, control_source source, void *arg,
		      struct control_rows **ret);
ssize_t control_rows_read(struct control_rows *t, char *buf, size_t len, uint64_t at);
/* NULL is fine. */
void control_rows_close(struct control_rows *t);
