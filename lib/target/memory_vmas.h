/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_vmas.h - declarations shared by the parts of the provider walk, which reads page tables
 * and kernel structures of all sources with readable physical memory.
 */
#pragma once

#include "linux/cached.h"
#include "target/frame_use.h"
#include "target/large.h"
#include "target/look.h"
#include "linux/areas.h"
#include "linux/rss.h"
#include "target/provider.h"
#include "walk/memory.h"

/* A table has at most so many entries: 64 KiB pages, words of 8 bytes. */
enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };

/* What of a task the page tables need; one each, in the order of p.task. */
struct space {
	struct lnx_task task;    /* that has it */
	struct atw_mm mm;
	uint64_t at;             /* of the mm_struct */
};

/* Pages by a key. */
struct page_sums {
	struct table table;
	struct table_slot *last;         /* slot of the key added last */
};

enum { SUMS_FEW = 1024 };

struct walk_sums {
	struct page_sums by;             /* how often they are mapped and what they are */
	struct page_sums alone;          /* of all spaces: which, and what they are */
	uint64_t few[SUMS_FEW];          /* small pages by how often they are mapped */
	uint32_t most;                   /* of these, that there are */
	struct provider_sum *sum;
	size_t sums_cap;
	struct rss *rss;                 /* by space, of small pages; NULL: not read */
	bool *only;                      /* by space: small pages are looked up; NULL: all are */
};

/* memory_ahead.c: runs of the look at the space that is listed. */
struct walk_soon {
	size_t at, end;          /* the page that was asked for last; behind the last run */
	size_t added;            /* runs before it have been; of the last of these, off pages */
	uint64_t off;
};

/* Flags of leaves by what of their words the mode's tables look at. */
enum { LEAF_MEMOS = 32 };

struct leaf_memo {
	uint64_t attrs, flags;
	uint8_t level, properties;
	bool used;
};

/* Facts that frames have in common. */
struct frame_class {
	uint64_t flags, count;
	uint8_t order;
	bool used;
};

/* memory_classes.c: all frames that are mapped as small pages. */
struct frame_classes {
	/*
	 * Of each frame, at its place in struct soles: index in class[], mappings << 16;
	 * 0: not known. NULL: nothing is known of any.
	 */
	uint32_t *of;
	size_t words;
	struct frame_class *class;       /* a hash table */
	bool tried;
};

struct walk_provider {
	struct provider p;
	struct walk_provider_opts o;
	struct space *space;
	size_t spaces_cap;
	struct named_files files;        /* of all areas so far */
	struct atw_memmap *memmap;       /* NULL: the kernel does not say */
	struct large_live live;
	struct thp_settings thp;         /* of no running system */
	bool thp_tried;
	struct page_marks marks;
	bool running;
	struct cached_files *cached;     /* of the frames so far; NULL: not wanted */

	/* Of all spaces. */
	struct look look;
	struct frame_classes classes;
	struct kinds kinds;
	bool kinds_wanted;               /* of every frame of the space at hand */
	struct walk_sums sums;
};

struct memory_vmas {
	struct vma_cursor cur;
	struct atw_areas *areas;
};

/* The range of addresses for which struct pages were announced, and how many at once. */
struct walk_tables {
	uint64_t first, end;     /* end: exclusive */
	uint32_t most;
};

struct memory_pages {
	struct page_cursor cur;
	struct walk_provider *w;
	const struct mmu_space *sp;
	struct mmu_walk *walk;
	const struct mmu_seen *seen;     /* what `run` is of; NULL: nothing */
	struct page_run run;
	uint32_t ahead;                  /* struct pages that were announced */
	/* The lowest table at hand, and the entry up to which classes were prefetched. */
	uint64_t soon_table;
	uint32_t soon_end;
	/* Pages, counted from the run's first: those from the one on are as the first. */
	uint64_t alike, alike_end;
	uint64_t each_end;               /* q.each: those before it were announced */
	struct walk_soon soon;
	struct walk_tables tables;
	/* What leaves of the space look like. */
	uint64_t leaf_attrs[ATW_MAX_LEVELS];
	struct leaf_memo leaf_memo[LEAF_MEMOS];
	struct sure leaf;                /* of the lowest level */
	uint64_t pa[SLOTS], word[SLOTS];
};

static inline struct walk_provider *walk_of(struct provider *p)
{
	return (struct walk_provider *)p;
}

static inline struct memory_pages *memory_pages_of(struct page_cursor *c)
{
	return (struct memory_pages *)c;
}

/* Discard what was announced, which makes room for others. */
static inline void memory_pages_anew(struct memory_pages *c)
{
	memmap_anew(c->w->memmap);
	c->tables = (struct walk_tables){ 0 };
}

/* Of all that there are, one that has ended has nothing any more. */
bool walk_has_ended(struct walk_provider *w, size_t task, int r);
/* Finds struct pages, if facts of frames are wanted. */
void memory_find_memmap(struct walk_provider *w);

/* ---- memory_runs.c: what page tables say ---- */

int walk_pages_open(struct page_cursor *c, struct atw_err *err);
int walk_pages_next(struct page_cursor *c, const struct page_run **ret,
		    struct atw_err *err);
void walk_pages_close(struct page_cursor *c);
int walk_count(struct provider *p, struct atw_err *err);
/* Which properties entries have; once, before all else. */
void walk_find_used(struct walk_provider *w, const struct atw_paging *pg);

/* ---- memory_ahead.c: struct pages that will be asked for ---- */

void walk_soon_begin(struct memory_pages *c);
/* That of this frame, and those that follow it. false: nothing is known of it. */
bool walk_soon(struct memory_pages *c, uint64_t pfn);
/*
 * That of slot i of a run of small pages, and of those behind it. false: it is not of a
 * running machine.
 */
bool walk_soon_tables(struct memory_pages *c, const struct page_run *r, uint32_t i);

/* ---- memory_facts.c: what struct pages say ---- */

/* The op `facts`. */
int walk_facts(struct page_cursor *c, const struct page_run *r, uint32_t i, uint64_t off,
	       uint64_t mapped, struct frame_facts *ret, struct atw_err *err);

/* ---- memory_classes.c: flags, count and order of frames, read once a look ---- */

/* false: they are not known by class. */
bool memory_classes_facts(struct memory_pages *c, const struct page_run *r, uint32_t i,
			  struct frame_facts *ret);
/*
 * Announces the frames of slots from i on that have no class. false: no frame has one.
 */
bool memory_classes_look_ahead(struct memory_pages *c, const struct page_run *r, uint32_t i);
/* true: all parts of them are to be read; false: that was tried, or is of no use. */
bool memory_classes_begin(struct walk_provider *w);
/* A part of all frames; `parts`: 16 at most. Parts may be read by several threads. */
void memory_classes_read_part(struct walk_provider *w, unsigned part, unsigned parts);
void memory_classes_drop(struct walk_provider *w);

/* NULL: nothing is known of the frame. */
static inline uint32_t *memory_classes_word(const struct walk_provider *w, uint64_t pfn)
{
	const struct soles *s = &w->look.soles;
	uint32_t place = w->classes.of && pfn < s->frames ? s->block[pfn >> SOLES_BLOCK_BITS].place : 0;

	return place ? &w->classes.of[soles_index(place, pfn)] : NULL;
}

/* Prefetch of the word of a frame that will be looked up. */
static inline void memory_classes_soon(const struct walk_provider *w, uint64_t pa)
{
	__builtin_prefetch(memory_classes_word(w, pa >> w->p.page_shift));
}

/* ---- memory_follow.c: a provider for another thread ---- */

/* The ops of these names. */
void walk_lead(struct provider *p);
int walk_follow(struct provider *p, struct provider *lead, struct atw_err *err);
int walk_part(struct provider *p, size_t task, uint64_t from, uint64_t *ret);
void walk_prepare(struct provider *p, unsigned part, unsigned parts);
/* Before the provider is closed. */
void walk_unfollow(struct walk_provider *w);

/* ---- memory_sums.c: all spaces in one look ---- */

int walk_count_live(struct walk_provider *w, struct atw_err *err);
int walk_sum_up(struct provider *p, bool kinds, struct atw_err *err);
int walk_sums(struct provider *p, size_t task, struct provider_sums *ret, struct atw_err *err);
void walk_sums_close(struct walk_provider *w);

/* ---- memory_frames.c: use of frames of RAM, from their struct pages ---- */

/* Input of walk_ram_frames(), and where its runs go. */
struct ram_frames {
	struct atw_memmap *map;
	struct atw_source *mem;          /* a guest's, to tell what the host has of them; or NULL */
	unsigned page_shift;
	struct cached_files *cached;     /* what of them are files is added to it; NULL: not wanted */
	uint64_t *unmade;                /* likewise the number of those without a struct page */
	provider_frames_fn *tell;
	void *arg;
};

/* The op `frames`. */
int walk_ram_frames(const struct ram_frames *of, uint64_t first, uint64_t last,
		    struct atw_err *err);
/* The op `cached`. */
int walk_cached(struct provider *p, const struct about_to *to, struct atw_err *err);

/* ---- memory_rss.c: kinds of pages by the kernel's counters ---- */

/* Reads w->sums.rss; kinds of large pages are known. Fails only if there is no memory. */
int memory_rss(struct walk_provider *w, struct atw_err *err);
void memory_rss_drop(struct walk_provider *w);
/* Returns the new number, up to RSS_KINDS more; *left has as many small pages as v[]. */
size_t memory_rss_divide(struct provider_sum *v, size_t n, struct rss left);
