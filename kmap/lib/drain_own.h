/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drain_own.h - state shared by the files that implement drain.h. */
#pragma once

#include "base/pack.h"
#include "base/turns.h"
#include "kmap/lib/drain.h"
#include "kmap/lib/table.h"

enum { DRAIN_BUFFER = 1 << 18 };

struct drain_name {
	struct kmap_key key;             /* task id: number and generation */
	uint32_t at;                     /* in the recorder's memory */
};

struct drain_said {
	struct kmap_key key;             /* number */
	int32_t task_id;
};

struct kmap_drain {
	struct kshare *s;
	struct kmap_drain_opts o;
	struct pack *pack;       /* NULL: plain */
	uint64_t in_frame;
	struct kmap_drained sum;
	off_t start;             /* where in the file ours begins; -1: it is none */
	off_t whole;             /* up to here it makes sense, and with room behind that */
	off_t whole_soon;        /* as soon as there is; 0: nothing is */
	off_t headers;           /* bytes before the first object */
	off_t last_line;         /* and before the last line; 0: not yet */
	struct kmap_named named;         /* functions that were */
	struct kmap_table tasks;         /* names by task id: struct drain_name */
	struct kmap_table said;          /* by number: struct drain_said */
	uint32_t ntasks;                 /* of the recorder's, so many are there */
	int32_t recent[256];             /* 1 + task id of names written recently */
	struct turn *turn;       /* text and sums go to its tape; NULL: to the file */
	size_t used;
	char buffer[DRAIN_BUFFER];
};

/* Text and sums of an item, until it is its turn. */
struct drain_tape {
	char *text;
	size_t len, room;
	struct kmap_drained sum;
};

/* Its edges; a table that makes no sense is none: it comes from beside. */
static inline uint32_t drain_edges_of(const struct kmap_drain *d,
				      const struct kshare_object *o)
{
	uint32_t n = o->table ? 1u << (o->bits & 31) : 0;

	return o->table >= d->s->at.max_edges || n > d->s->at.max_edges - o->table ? 0 : n;
}

static inline uint32_t drain_sites_of(const struct kmap_drain *d)
{
	uint32_t n = atomic_load_explicit(&d->s->nsites, memory_order_acquire);

	return n < d->s->at.max_sites ? n : d->s->at.max_sites;
}

/* ---- drain.c ---- */

/* A name in the guest may have any bytes; a newline in it would end the line. */
struct atw_blob drain_one_line(const char *s, size_t max, char buf[KMAP_LINE]);
/* A line of atwalk's own: see kmap_drain_header(). */
int drain_put_header(struct kmap_drain *d, const char *key, const char *value, struct atw_err *err);
/* Is it to be written at the end? */
bool drain_is_left(const struct kmap_drain *d, uint32_t id);
int drain_write_object(struct kmap_drain *d, uint32_t id, struct atw_err *err);
/* What only a recorder's memory that others write to can have: more than there is room for. */
int drain_too_many(struct atw_err *err);
void drain_add_sums(struct kmap_drained *to, const struct kmap_drained *more);

/* ---- drain_bytes.c ---- */

/* A line; objects begin with theirs. */
int drain_put(struct kmap_drain *d, const struct kmap_record *rec, struct atw_err *err);
/* What is in the buffer goes to the file, or to the tape. */
int drain_put_out(struct kmap_drain *d, struct atw_err *err);
/* Lines from elsewhere, behind that. `between`: objects may end here. */
int drain_put_text(struct kmap_drain *d, const char *text, size_t n, bool between,
		   struct atw_err *err);

/* ---- drain_rest.c ---- */

/* What is left of the objects 1..n-1, by o.jobs threads; `most`: accesses that there can be. */
int drain_rest_by_jobs(struct kmap_drain *d, uint32_t n, uint64_t most, struct atw_err *err);

/* ---- drain_names.c ---- */

/* What an object has of code is named before it: a reader need not wait for the end. */
int drain_name_code(struct kmap_drain *d, const struct kshare_object *o, struct atw_err *err);
/* The same in two parts: all instructions that were counted, and what it has besides. */
int drain_name_sites(struct kmap_drain *d, struct atw_err *err);
int drain_name_object(struct kmap_drain *d, const struct kshare_object *o, struct atw_err *err);
/* Names of threads are written again. */
void drain_forget_tasks(struct kmap_drain *d);
int drain_put_task_slowly(struct kmap_drain *d, int32_t task_id, struct atw_err *err);
/* Writes the name of a thread before its accesses, whenever it has changed. */
static inline int drain_put_task(struct kmap_drain *d, int32_t task_id, struct atw_err *err)
{
	return task_id < 0 || d->recent[kshare_pid(task_id) & 255] == task_id + 1
		       ? ATW_OK : drain_put_task_slowly(d, task_id, err);
}
