/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_vmas.h - declarations shared by the parts of the provider capture, which reads
 * atwalk-capture(5). Areas and pages of a task are read side by side, each by its own
 * cursor, because they are in one file and nothing is kept.
 */
#pragma once

#include "target/captured.h"
#include "target/provider.h"

enum {
	CAPTURE_SLOTS = 4096,        /* of a run that is handed over */
	CAPTURE_PARTS = 65536,       /* of one large page: runs that say different things */
	CAPTURE_HOLES = 4096,        /* places of an area of which nothing is known */
	CAPTURE_LARGEST = 47,        /* log2 of the bytes of the largest page there may be */
};

/* A place in the lines of one task. */
struct capture_cursor {
	struct capture_stream *s;
	bool open;                   /* there may be more of this task */
	bool fault;                  /* a line was wrong; reset by the reader */
	bool cut;                    /* the file ended, and should not have */
	uint64_t upto;               /* nothing behind it is read */
	uint64_t wrong;              /* runs, of all tasks so far */
	uint64_t pid;
};

/* What is known of some frames, all of them the same. */
struct capture_part {
	uint64_t pages, count, flags, refs;
	uint32_t has;                /* CAPTURE_M_... */
	uint8_t folio;
	bool device;
};

struct capture_provider {
	struct provider p;
	const struct captured *c;
	uint64_t page;               /* bytes */
	size_t *of;                  /* of each of p.task: which in c->task */
	bool table;                  /* entries as they are; else words of pagemap */
	bool swaps;                  /* the machine had something to swap to */
};

struct capture_vmas {
	struct vma_cursor cur;
	struct capture_cursor lines;
	bool pending;                /* `next` was read already */
	struct capture_record next;
};

struct capture_pages {
	struct page_cursor cur;
	const struct capture_provider *m;
	struct capture_cursor lines;
	uint64_t at, last;           /* what is still to be listed */
	bool ended;
	struct atw_blob text;        /* rest of the M: line */
	bool have;                   /* a run was read and not used up */
	struct capture_run run;      /* what is left of it */
	bool fresh;                  /* all of it is left */
	struct {
		bool open, any, rights_known;
		uint8_t rights;
		uint64_t start, last, upto;  /* upto: where the last run ends */
		uint64_t resident, listed;   /* pages */
	} area;
	struct { uint64_t first, last; } hole[CAPTURE_HOLES];
	size_t nholes;
	uint64_t hidden_from;        /* holes from here on are no errors */
	struct page_run given;
	uint64_t pa[CAPTURE_SLOTS], word;
	struct capture_part part[CAPTURE_PARTS];
	size_t nparts, now;          /* now: the part asked for last */
	uint64_t before;             /* pages before it */
	bool parts_full;
};

static inline struct capture_provider *capture_of(struct provider *p)
{
	return (struct capture_provider *)p;
}

static inline struct capture_pages *capture_pages_of(struct page_cursor *c)
{
	return (struct capture_pages *)c;
}

/* ---- capture_vmas.c ---- */

/* Start at the lines of a task, or of the task that owns the areas of its space. */
int capture_cursor_begin(const struct capture_provider *m, struct capture_cursor *k,
			 size_t task, struct atw_err *err);
/* The next of them; ATW_END: that was all. Wrong ones are passed. */
int capture_cursor_next(struct capture_cursor *k, struct capture_record *ret,
			struct atw_err *err);
/* What a V: line says of its area; false: it does not say. */
bool capture_area_rights(const struct captured *c, const struct capture_record *rec,
			 uint8_t *ret);
/* What an L: line gives as its reason. */
void capture_why(struct atw_err *ret, struct atw_blob text);

/* ---- capture_fill.c ---- */

static inline bool capture_is_present(const struct capture_run *run)
{
	return run->entry & CAPTURE_PRESENT;
}
/* c->run is the next, if c->have; what lies before it is known then. */
int capture_fill(struct capture_pages *c, struct atw_err *err);
/* Those before `upto` are of no use any more. */
void capture_drop_holes(struct capture_pages *c, uint64_t upto);

/* ---- capture_runs.c ---- */

int capture_pages_open(struct page_cursor *c, struct atw_err *err);
int capture_pages_next(struct page_cursor *c, const struct page_run **ret,
		       struct atw_err *err);
void capture_pages_close(struct page_cursor *c);
int capture_facts(struct page_cursor *c, const struct page_run *r, uint32_t i,
		  uint64_t off, uint64_t mapped, struct frame_facts *ret,
		  struct atw_err *err);
