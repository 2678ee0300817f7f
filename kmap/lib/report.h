/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - the analyses of a KMAP: each reads a model that is whole. */
#pragma once

#include "report/report.h"
#include "kmap/lib/cluster.h"
#include "plot/chart.h"

/* A report's model and its options. */
struct kmap_query {
	const struct kmap_model *m;
	const struct kmap_names *n;
	enum kmap_level level;           /* KMAP_LEVELS: none was given */
	const char *about;               /* of pictures: "a sample, 1 in 64"; "": nothing */
	const struct kmap_cut *cut;      /* into clusters of functions */
	size_t cuts;
};

enum { KMAP_MOST_CUTS = 32 };

struct kmap_report {
	const char *name, *title, *help;
	const struct atw_schema *schema;
	/* Level at which code is aggregated by default; KMAP_LEVELS: it is not. */
	enum kmap_level level;
	int (*rows)(const struct kmap_query *a, const struct census_out *out, struct atw_err *err);
	/* Into a scene that was initialised. NULL: it is no picture. */
	int (*draw)(const struct kmap_query *a, struct scene *s, struct atw_err *err);
	/* How many cuts into clusters it takes, and columns that they are for; 0, NULL: none. */
	unsigned cuts;
	const char *cut_columns;
};
/* By number; NULL past the end. By name; NULL: there is none. */
const struct kmap_report *kmap_report_kind(size_t i);
const struct kmap_report *kmap_report_find(const char *name, size_t len);

#define REPORT(name) extern const struct kmap_report kmap_report_##name;
#include "kmap/lib/reports.def"
#undef REPORT

/* ---- what they share ---- */

/* What code of one unit did to objects of one cache. */
struct kmap_pair {
	struct kmap_key key;             /* cache, unit */
	uint64_t reads, writes, frees;
	uint64_t readers, writers;       /* instructions; once for each place that allocates */
};

struct kmap_view {
	struct kmap_units units;
	struct kmap_table pair;
	bool fallen;                     /* the level it would be by itself is not known */
};
/*
 * At the level of the user, or else at `level`; if the data for that is missing, by
 * function.
 */
int kmap_view_init(struct kmap_view *v, const struct kmap_query *a, enum kmap_level level,
		   struct atw_err *err);
void kmap_view_deinit(struct kmap_view *v);
#define _auto_view __attribute__((cleanup(kmap_view_deinit)))
static inline struct kmap_pair *kmap_pair(const struct kmap_view *v, size_t i)
{
	return (struct kmap_pair *)v->pair.v + i;
}
/* Adds a note if `fallen`. */
void kmap_view_note(const struct kmap_view *v, const struct kmap_query *a,
		    const struct census_out *out);

/* Where an object in the file stands for all of its site, they cannot be counted. */
void kmap_note_sites(const struct kmap_query *a, const struct census_out *out);
/* Of objects with an unknown time of end; `what` is what becomes of them. */
void kmap_note_timeless(const struct kmap_query *a, const char *what, const struct census_out *out);
/* In a sample of accesses, objects without an access may have been accessed. */
void kmap_note_idle(const struct kmap_query *a, const struct census_out *out);

/* Columns of a cache, from `at` on: its name and its type. */
void kmap_row_cache(struct report_row *r, unsigned at, const struct kmap_cache *c);
#define KMAP_CACHE_COLUMNS \
	COLUMN("cache", TEXT, 20, "slab cache"), \
	COLUMN("type", TEXT, 10, "kind of memory")
/* Columns of where objects are allocated, as far as it is known: address, function, file. */
void kmap_row_site(struct report_row *r, unsigned at, const struct kmap_query *a,
		   const struct kmap_site *s);
/* Columns, from `at` on, of what a sample of accesses shows, and how exactly. */
void kmap_row_estimate(struct report_row *r, unsigned at, const struct kmap_query *a,
		       const struct kmap_sums *s);
#define KMAP_ESTIMATE_COLUMNS(at) \
	[at] = HIDDEN_COLUMN("estimate", COUNT, 10, \
			     "accesses that there were, by the sample"), \
	[(at) + 1] = HIDDEN_COLUMN("error", COUNT, 10, \
				   "so many more or less, with a confidence of 95 %")
/* "getname_flags+0x12 names_cache"; without an allocation site, "[STACK_PAGE]". */
void kmap_site_word(const struct kmap_query *a, const struct kmap_site *s, struct buf *b);

/* The numbers below `n`, the heaviest first. NULL: no memory. */
typedef uint64_t kmap_weight_fn(const void *of, size_t i);
struct chart_order *kmap_by_weight(size_t n, kmap_weight_fn *weight, const void *of,
				   struct atw_err *err);
/* What rows are sorted by: numbers of which the smallest come first, and then `at`. */
struct kmap_sorted {
	uint64_t key[3];
	size_t at;
};
/* For qsort(3). */
int kmap_by_keys(const void *a, const void *b);
static inline uint64_t kmap_sum(uint64_t a, uint64_t b)
{
	return chart_add(a, b);
}

/* "accesses", and what else must be known to read a picture. */
const char *kmap_of(const struct kmap_query *a, const char *what, char buf[160]);

/* What caches and units are called, in one block. NULL: no memory. */
const char **kmap_cache_words(const struct kmap_model *m, struct atw_err *err);
const char **kmap_unit_words(const struct kmap_units *u, struct atw_err *err);

/* The usual keys of bars. */
extern const struct chart_key kmap_reads_writes[2];
/* Bars of things: `bar` adds the name of one, and sets its `nkeys` numbers. */
struct kmap_bars {
	const char *title, *of, *things;
	enum axis_unit unit;
	const struct chart_key *key;
	size_t nkeys, n;
	void (*bar)(const struct kmap_query *a, const void *arg, size_t i, struct buf *name,
		    uint64_t *value);
	const void *arg;
};
int kmap_draw_bars(const struct kmap_query *a, const struct kmap_bars *b, struct scene *s,
		   struct atw_err *err);
