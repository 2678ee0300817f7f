/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - objects, the code that touched them and the processes it ran for, added
 * up as the records of a KMAP come.
 *
 *	kmap_model_open(top, &m, err);
 *	for each record: kmap_model_record(m, &rec, err);
 *	kmap_model_end(m, err);
 *
 * What is kept are places that allocate, instructions, which of these touched what
 * the others made, and processes: of objects only those that were not freed yet, for
 * the same one may come in several parts, and the hottest. So memory grows with the
 * kernel's code and with what lives at one time, not with the length of a recording.
 */
#pragma once

#include "kmap/lib/format.h"
#include "kmap/lib/series.h"
#include "kmap/lib/symbols.h"
#include "kmap/lib/table.h"
#include "record/intern.h"

enum { KMAP_LIVES = 65, KMAP_TOP = 100 };
#define KMAP_NONE UINT32_MAX
/* No recording ends later, unless it says what its clock is: Memorizer wrote such times. */
#define KMAP_TIME_MOST UINT64_C(100000000000)

struct kmap_sums {
	uint64_t objects, bytes;
	uint64_t freed;                  /* objects with a recorded free */
	uint64_t live, live_bytes;       /* with no free that was seen */
	uint64_t reads, writes;
	uint64_t untouched, untouched_bytes;     /* neither read nor written */
	uint64_t unread, unread_bytes;           /* written, never read */
	uint64_t unwritten, unwritten_bytes;     /* read, never written */
	uint64_t missed, nested;         /* KMAP_FREE_LOST, KMAP_FREE_NESTED */
	/*
	 * Of a sample, objects that accesses were looked for of; squares of how often each
	 * object was accessed, added up: hits come in heaps, each of the time one was watched.
	 */
	uint64_t watched;
	unsigned __int128 squares;
	unsigned __int128 stay;          /* bytes times how long they were allocated */
	uint64_t always;                 /* bytes, neither allocation nor free was seen */
};

/*
 * Freed objects of a cache, by how long something took: 0 no time, i 2^(i-1) up to
 * 2^i - 1. Their life is from the allocation to the free, dead they are from the last
 * access on. Only those that there are have one.
 */
struct kmap_time {
	struct kmap_key key;             /* cache, i */
	uint64_t life, life_bytes;
	uint64_t life_untouched;         /* of these, never accessed */
	uint64_t dead, dead_bytes;
};

/* Objects of one kind: a slab cache, or a type of memory. */
struct kmap_cache {
	struct kmap_key key;             /* of the two texts */
	const char *name, *type;         /* NULL: not recorded */
	struct kmap_sums s;
	uint64_t lives;                  /* that have a lifetime */
	uint64_t dead;                   /* that have a dead time */
	uint64_t undated;                /* freed and accessed, and the last access has no time */
};

/* Where objects of one cache are allocated. */
struct kmap_site {
	struct kmap_key key;             /* alloc_ip, cache, name */
	uint32_t cache, code;            /* code: KMAP_NONE if it is no address of code */
	const char *name;                /* "THREAD_STACK" where that stands for it, or NULL */
	struct kmap_sums s;
	uint32_t series;                 /* 1 + number in the model's; 0: none */
};

/* An instruction. */
struct kmap_code {
	struct kmap_key key;             /* its address */
	uint64_t reads, writes, frees;
	uint64_t calls;                  /* by it */
};

struct kmap_edge {
	struct kmap_key key;             /* site, code */
	uint64_t reads, writes, frees;
};

struct kmap_call_edge {
	struct kmap_key key;             /* code, code */
	uint64_t count;
};

struct kmap_line {
	struct kmap_key key;             /* cache, line */
	uint64_t reads, writes;
	uint64_t objects;                /* parts of objects with accesses to it */
};

/* A thread under one name: one that is called something else later is another. */
struct kmap_process {
	struct kmap_key key;             /* pid, name */
	const char *task;                /* NULL: not recorded */
	bool gone;                       /* it is part of another now */
	uint64_t objects, bytes, reads, writes, sites;
};

/* The name of a pid, as of the last record read. */
struct kmap_current {
	struct kmap_key key;             /* pid */
	const char *task;
};

/* A process, and an allocation site with objects that it touched. */
struct kmap_touch {
	struct kmap_key key;             /* process, site */
};

struct kmap_hot {
	uint64_t site, va, size, alloc_time, free_time, reads, writes;
	int64_t pid;
	const char *task;                /* NULL: not recorded */
	bool freed;
	uint64_t number;                 /* in the order of the file */
};

/*
 * An object more of which may come: a recorder that runs out of memory writes what it
 * has of one and goes on with it, and until it is freed that may happen again.
 */
struct kmap_open {
	struct kmap_key key;             /* va, alloc_time, site */
	uint64_t site, size, free_time, free_ip, reads, writes, number;
	bool ended;                      /* its end was seen; free_time 0: but not when */
	uint64_t last_use;               /* if `used` */
	bool used;                       /* times were recorded, */
	bool undated;                    /* but not of a part with accesses */
	bool part_touched, part_used;    /* of the present part */
	uint32_t marks;                  /* enum kmap_mark */
	int64_t pid;
	const char *task;
};

struct kmap_model {
	struct intern texts;
	struct kmap_table cache, time, site, code, edge, call, line, process, touch, current;
	struct kmap_table open;          /* not freed yet, or in parts */
	struct kmap_series series;
	struct kmap_hot *hot;            /* a heap while it is fed; then hottest first */
	size_t hots, top;
	struct kmap_sums s;
	uint64_t life_total, backwards;
	uint64_t timeless;               /* ended, and the time of it is none */
	uint64_t dead, undated;          /* as of caches */
	uint64_t dead_late;              /* the last access was behind their free */
	uint64_t first, last;            /* times that were met; first > last: none */
	uint64_t accesses;               /* lines of them */
	uint64_t unbound;                /* accesses before any object: of none */
	/* What the file says of itself. */
	const char *mode, *clock, *release, *machine;    /* NULL: it does not */
	const char *sampling;            /* of accesses: "watch", "rate" */
	uint64_t scale;                  /* of a sample; 0: not recorded */
	bool whole;                      /* objects are sampled, with all that was done to them */
	struct kmap_own_symbols symbols;
	bool compressed;                 /* an object stands for all of its site */
	bool has_pids;                   /* of accesses */
	bool has_frees;                  /* code that frees was recorded */
	bool has_used;                   /* and when objects were accessed */
	bool has_tasks;                  /* and what threads were called then */
	struct kmap_open now;            /* the object that accesses belong to, */
	bool bound;                      /* if there is one */
	uint64_t objects_read;
};

/* top: so many of the hottest objects; 0: KMAP_TOP */
int kmap_model_open(size_t top, struct kmap_model **ret, struct atw_err *err);
int kmap_model_record(struct kmap_model *m, const struct kmap_record *r, struct atw_err *err);
/* What was still open is settled; nothing comes after it. */
int kmap_model_end(struct kmap_model *m, struct atw_err *err);
/* NULL is fine. */
void kmap_model_close(struct kmap_model *m);

/* kmap_cache(m, i) and so on: element `i` of each table. */
#define KMAP_ELEMENT(name, table, type) \
	static inline struct type *name(const struct kmap_model *m, size_t i) \
	{ \
		return (struct type *)m->table.v + i; \
	}
KMAP_ELEMENT(kmap_cache, cache, kmap_cache)
KMAP_ELEMENT(kmap_site, site, kmap_site)
KMAP_ELEMENT(kmap_code, code, kmap_code)
KMAP_ELEMENT(kmap_edge, edge, kmap_edge)
KMAP_ELEMENT(kmap_call, call, kmap_call_edge)
KMAP_ELEMENT(kmap_line, line, kmap_line)
KMAP_ELEMENT(kmap_process, process, kmap_process)
#undef KMAP_ELEMENT

/* Zeroes, if no object of cache `c` took so long. */
static inline const struct kmap_time *kmap_time(const struct kmap_model *m, size_t c, unsigned i)
{
	static const struct kmap_time none;
	int64_t at = kmap_table_find(&m->time, (struct kmap_key){ c, i, 0 });

	return at < 0 ? &none : (const struct kmap_time *)m->time.v + at;
}

/* Are there times that say how long objects lived? */
static inline bool kmap_timed(const struct kmap_model *m)
{
	return !m->compressed && m->last > m->first;
}

/* Is it a sample? Then no number in it is exact, */
bool kmap_sampled(const struct kmap_model *m);
/* or those of accesses are not, for it is a sample of these. */
bool kmap_accesses_sampled(const struct kmap_model *m);
/* And that by watching a few objects at a time: of others nothing is known. */
bool kmap_watch_sampled(const struct kmap_model *m);
/* Of what these are sums of, are accesses known? 0 is an answer where it was watched. */
bool kmap_accesses_known(const struct kmap_model *m, const struct kmap_sums *s);
/*
 * Accesses that there were, by a sample of them, and how far from that there may have
 * been more or less, with a confidence of 95 %. false: it does not tell.
 */
bool kmap_estimate(const struct kmap_model *m, const struct kmap_sums *s, uint64_t *accesses,
		   uint64_t *error);
/*
 * What a site weighs: the bytes it had allocated on the average from the first time
 * to the last, rounded; those without any times count as if they were always there. In
 * a recording without times the bytes of all its objects.
 */
uint64_t kmap_weight(const struct kmap_model *m, const struct kmap_site *s);
/* "dentry", "[VMALLOC]", "?": what a cache is called in one word. */
const char *kmap_cache_word(const struct kmap_cache *c, char buf[80]);

/* Sums stay where they are when they would overflow. */
static inline void kmap_add(uint64_t *to, uint64_t v)
{
	*to = *to + v < v ? UINT64_MAX : *to + v;
}
