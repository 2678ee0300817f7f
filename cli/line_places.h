/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_places.h - cache lines of a range: where each lies, and its sets in the caches. */
#pragma once

#include "host/caches.h"
#include "host/nodes.h"
#include "target/places.h"

#include "atwalk.h"
#include "listing.h"

enum { LINE_SETS = 2 };          /* levels with sets that are known */

/* A line; or all lines of a place that is not present. */
struct line_place {
	uint64_t address, size;
	uint64_t pa;             /* with `have_pa` */
	bool have_pa, have_state, have_node;
	bool have_set[LINE_SETS];        /* by level, from 1 */
	enum state state;
	uint32_t node;
	uint64_t set[LINE_SETS];
};

/* Lines with a known place, by set. */
struct line_sets {
	uint32_t *used;          /* by set; NULL: none is known */
	uint32_t sets, ways, most;       /* most: in one set */
	uint32_t taken;          /* sets with any */
};

struct line_places {
	const struct common *c;
	struct session *src;
	struct listing *list;
	uint32_t line;           /* bytes */
	uint64_t page;
	struct sys_caches caches;        /* of this machine, if the source is */
	struct line_sets set[LINE_SETS];
	struct atw_memmap *memmap;       /* nodes, if they are wanted: */
	struct sys_nodes nodes;
	bool have_nodes;
	/* Targets without page tables: the process at hand. */
	struct provider *prov;
	struct vma_cursor *vmas;
	size_t task;
	uint64_t pid;
	struct place_range at;         /* the place met last by line_places_at() */
	bool have_at;
	uint64_t present, other, lost;   /* lines */
	uint64_t unread;         /* reasons, which have been printed */
};

/*
 * `src` NULL: places are not known. `here`: the lines are of this machine. Prints
 * warnings.
 */
void line_places_init(struct line_places *p, const struct common *c, struct session *src,
		      struct listing *list, uint32_t line, bool here);
void line_places_deinit(struct line_places *p);
/* For each line of first..last, of the session's process. */
typedef int line_place_fn(void *arg, const struct line_place *line, struct atw_err *err);
int line_places_each(struct line_places *p, uint64_t first, uint64_t last,
		     line_place_fn *fn, void *arg, struct atw_err *err);
/* A single line. `pa`: where it is known to lie; NULL: it is looked up, if `own`. */
int line_places_at(struct line_places *p, uint64_t address, const uint64_t *pa, bool own,
		   struct line_place *ret, struct atw_err *err);
/* A line alone is a row of its whole page: first and last line of what is asked for. */
void line_places_range(const struct line_places *p, const struct address *a,
		       uint64_t *ret_first, uint64_t *ret_last);
/* How the lines use the sets of caches. */
void line_places_note(const struct line_places *p, struct atw_output *out);
/* Prints why the exit status is EXIT_PARTIAL; returns it, or `status`. */
int line_places_status(const struct line_places *p, int status);
