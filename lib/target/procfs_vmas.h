/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_vmas.h - declarations shared by the parts of the provider pagemap, which reads /proc
 * of the running kernel, a process at a time, a window of its words at a time.
 */
#pragma once

#include "base/buf.h"
#include "format/pagemap.h"
#include "linux/soft.h"
#include "host/frame_words.h"
#include "target/large.h"
#include "host/nodes.h"
#include "target/provider.h"
#include "host/host_file.h"

struct area {
	uint64_t start, end;
	uint8_t rights;          /* ATW_UR ... */
	bool device;             /* PAGEMAP_SCAN may keep silent about it */
	bool pfnmap;             /* and pagemap, too: it has no words for frames there */
	bool pfnmap_asked;
};

/* Files that tell of frames, in the order of file[] and fact[]. */
enum { KFLAGS, KCOUNTS, KCGROUPS, KFILES };

struct pagemap {
	struct provider p;
	struct pagemap_provider_opts o;
	const struct atw_paging *mode;   /* NULL: a machine that has none here */
	struct atw_soft_abi soft;
	bool soft_known, has_swap;
	bool hidden;                     /* frame numbers read as 0 */
	int file[KFILES];
	bool ksm_broken, ksm_unused, no_scan;
	struct sys_nodes nodes;
	struct extents ram;
	bool ram_tried;
	bool zones_tried;                /* and the next two are read */
	uint64_t blocks;                 /* bytes of those that memory is taken into use by */
	struct sys_late late;
	uint64_t page, pmd;              /* bytes */
};

/* A process as it was when it was entered. Cursors share it. */
struct procfs_process {
	unsigned users;
	uint32_t pid;
	uint32_t thread;                 /* as proc_stat() has it */
	int fd;                          /* of its pagemap */
	struct buf maps;
	uint64_t heap;                   /* where [heap] ends; 0: there is none */
	struct area *area;
	size_t nareas, areas_cap;
	struct large_live large;
};

struct procfs_vmas {
	struct vma_cursor cur;
	struct procfs_process *proc;
	size_t maps_at;                  /* next line */
};

struct procfs_pages {
	struct page_cursor cur;
	struct pagemap *m;
	struct procfs_process *proc;
	uint64_t page, pmd;              /* bytes */
	uint64_t at, last;
	bool ended;
	size_t now;                      /* the area that `at` is in or before */
	uint64_t base;                   /* address of word[0] */
	size_t n;
	bool sparse, dense;              /* look for holes; the last scan had few */
	struct pagescan_region region[PAGESCAN_REGIONS];
	size_t nregions, next_region;
	uint64_t scanned;                /* regions are known up to here */
	struct page_run run;
	bool facts;                      /* fact[] is of word[] */
	bool facts_each;                 /* of each page of large ones too */
	size_t alike, alike_end;         /* words found to have the same; end 0: none yet */

	uint64_t word[FRAMES_MAX], pa[FRAMES_MAX];
	uint64_t fact[KFILES][FRAMES_MAX];
	bool huge[FRAMES_MAX];           /* of the first page of each large one */
	bool unsized[FRAMES_MAX];        /* where a large one may begin: it may be one */
	bool any_unsized;
	struct frames frames;
};

static inline struct pagemap *pagemap_of(struct provider *p)
{
	return (struct pagemap *)p;
}

static inline struct procfs_pages *procfs_pages_of(struct page_cursor *c)
{
	return (struct procfs_pages *)c;
}

/* ---- procfs_process.c: the process of a cursor ---- */

/*
 * Reads process `pid` into *proc, which is NULL at first; a process that other cursors have
 * stays as it is. `start`: when it began, if known. ATW_END: it has ended, or is another.
 */
int procfs_enter(struct pagemap *m, struct procfs_process **proc, uint32_t pid,
		 uint64_t start, struct atw_err *err);
/* The cursor needs it no longer; *proc is NULL afterwards. */
void procfs_drop(struct procfs_process **proc);

/* ---- procfs_runs.c: which pages ---- */

/* Names of a run's flags. */
extern const struct atw_names pagemap_flags;

/* The first of words i to n, not included, of a page that is there in some way; or n. */
static inline size_t pagemap_there(const struct procfs_pages *c, size_t i, size_t n)
{
	const uint64_t there = PAGEMAP_PRESENT | PAGEMAP_SWAP;
	const uint64_t *w = c->word;

	for (; i + 4 <= n && !((w[i] | w[i + 1] | w[i + 2] | w[i + 3]) & there); i += 4)
		;
	while (i < n && !(w[i] & there))
		i++;
	return i;
}

/* The pages of c->proc, which was entered. */
void pagemap_runs_begin(struct procfs_pages *c, uint64_t first, uint64_t last);
/* The word of the page at va. false: the process has none, for it has ended. */
bool pagemap_word(struct procfs_pages *c, uint64_t va, uint64_t *ret);
/* PAGEMAP_SCAN; negative: there is none. */
int pagemap_scan(struct procfs_pages *c, struct pagescan_arg *a, struct pagescan_region *v,
		 size_t len);
/* The op `pages_next`. */
int pagemap_runs_next(struct page_cursor *c, const struct page_run **ret, struct atw_err *err);

/* ---- procfs_large.c: which of them are large ---- */

/* Of the words at hand, c->huge and c->unsized. */
void pagemap_find_huge(struct procfs_pages *c);
/*
 * May word i, of the area c->now, be a part of a large page? *stop is lowered to the
 * first word behind it of which the answer is another.
 */
bool pagemap_unsized(const struct procfs_pages *c, size_t i, size_t *stop);

/* ---- procfs_frames.c: what is known of them ---- */

/* Which files there are to ask, and what p.lacks is said to be missing. */
void pagemap_frames_open(struct pagemap *m);
void pagemap_frames_close(struct pagemap *m);
/* A word of /proc/kpageflags without what it says and does not mean. */
uint64_t pagemap_true_flags(const struct pagemap *m, uint64_t word);
/* The op `facts`. */
int pagemap_facts(struct page_cursor *c, const struct page_run *r, uint32_t i, uint64_t off,
		  uint64_t mapped, struct frame_facts *ret, struct atw_err *err);

/* ---- procfs_ram.c: all frames there are ---- */

/* The op `frames`. */
int pagemap_ram_frames(struct provider *p, uint64_t first, uint64_t last,
		       provider_frames_fn *tell, void *arg, struct atw_err *err);
