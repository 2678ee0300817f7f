/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_plain.h - what /proc has of a process's pages, read without the library:
 * as others do it, and as fast as it goes.
 */
#pragma once

#include "live_process.h"
#include "measure.h"
#include "target/procfs.h"

#define PRESENT ((uint64_t)1 << 63)
#define ONCE ((uint64_t)1 << 56)
#define FRAME (((uint64_t)1 << 55) - 1)
#define COMPOUND ((uint64_t)3 << 15)     /* its entry may be wrong about that */

struct area_range {
	uint64_t start, end;
};

/* A read of the plan: bytes of a file. */
struct piece {
	off_t at;
	uint32_t len;
};

struct plan {
	struct piece *words, *frames, *counts;
	size_t nwords, nframes;
	size_t ncounts;          /* of frames not marked as mapped once by their entry */
	uint64_t asked;          /* words of frames that are read, wanted or not */
};

struct looked_at {
	struct process process;
	int pagemap, flags, counts;
	uint64_t pages, present;
	struct plan plan;
	uint64_t *buf;           /* BUF words */
};

enum { BUF = 65536, PIECE = 4096 };

/*
 * What a page adds to the sum. Of the flags those that stay: UPTODATE, MMAP,
 * ANON, SWAPBACKED, COMPOUND_HEAD and _TAIL, THP.
 */
static inline uint64_t page_sum(uint64_t pfn, uint64_t flags, uint64_t count)
{
	return pfn * 7 + (flags & 0x41d808) * 3 + count;
}

static inline uint64_t word_at(int fd, uint64_t i)
{
	uint64_t u;

	return pread(fd, &u, 8, (off_t)(i * 8)) == 8 ? u : 0;
}

static inline size_t words_at(int fd, uint64_t *buf, size_t n, uint64_t i)
{
	ssize_t got = pread(fd, buf, n * 8, (off_t)(i * 8));

	return got > 0 ? (size_t)got / 8 : 0;
}

/* Areas of the process between lo and hi, as a loop that reads its maps. */
struct areas {
	FILE *f;
	const struct process *p;
};

static inline void areas_open(struct areas *a, const struct process *p)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->pid);
	a->f = fopen(path, "re");
	if (!a->f)
		err(1, "%s", path);
	a->p = p;
}

static inline bool areas_next(struct areas *a, struct area_range *ret)
{
	char line[8192];

	while (fgets(line, sizeof(line), a->f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &ret->start, &ret->end) == 2 &&
		    ret->start < a->p->hi && ret->end > a->p->lo) {
			if (ret->start < a->p->lo)
				ret->start = a->p->lo;
			if (ret->end > a->p->hi)
				ret->end = a->p->hi;
			return true;
		}
	fclose(a->f);
	return false;
}

/* ---- pagemap alone ---- */

static inline struct answer read_pagemap(const struct looked_at *l, size_t piece)
{
	struct answer a = { 0 };
	struct area_range r;
	struct areas s;

	areas_open(&s, &l->process);
	while (areas_next(&s, &r))
		for (uint64_t i = r.start / PAGE, end = r.end / PAGE, n; i < end; i += n) {
			n = words_at(l->pagemap, l->buf, end - i < piece ? end - i : piece, i);
			if (!n)
				break;
			for (uint64_t k = 0; k < n; k++)
				a.count += l->buf[k] >> 63;
		}
	return a;
}

static inline struct answer pagemap_pieces(void *arg) { return read_pagemap(arg, PIECE); }
static inline struct answer pagemap_words(void *arg) { return read_pagemap(arg, 1); }

/* ---- as others do it, with flags and counts ---- */

/* ptexplore: each word of each area, each word of each frame. */
static inline struct answer like_ptexplore(void *arg)
{
	const struct looked_at *l = arg;
	struct answer a = { 0 };
	struct area_range r;
	struct areas s;

	areas_open(&s, &l->process);
	while (areas_next(&s, &r))
		for (uint64_t va = r.start; va < r.end; va += PAGE) {
			uint64_t word = word_at(l->pagemap, va / PAGE), pfn = word & FRAME;

			if (!(word & PRESENT))
				continue;
			a.count++;
			a.sum += page_sum(pfn, word_at(l->flags, pfn), word_at(l->counts, pfn));
		}
	return a;
}

/* page-types -p: words by 64K of them, then each word of each frame. */
static inline struct answer like_page_types(void *arg)
{
	const struct looked_at *l = arg;
	struct answer a = { 0 };
	struct area_range r;
	struct areas s;

	areas_open(&s, &l->process);
	while (areas_next(&s, &r))
		for (uint64_t i = r.start / PAGE, end = r.end / PAGE, n; i < end; i += n) {
			n = words_at(l->pagemap, l->buf, end - i < BUF ? end - i : BUF, i);
			if (!n)
				break;
			for (uint64_t k = 0; k < n; k++) {
				uint64_t pfn = l->buf[k] & FRAME;

				if (!(l->buf[k] & PRESENT))
					continue;
				a.count++;
				a.sum += page_sum(pfn, word_at(l->flags, pfn),
						  word_at(l->counts, pfn));
			}
		}
	return a;
}

/* ---- the least there is to do ---- */

/* Reading up to this many unneeded frames costs less than another read. */
enum { MERGE = 4 };

static inline int by_frame(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static inline size_t plan_frames(struct piece *to, const uint64_t *pfn, size_t n,
				 uint64_t *asked)
{
	size_t made = 0;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && pfn[end] - pfn[end - 1] <= MERGE &&
		     pfn[end] - pfn[i] < PIECE; end++)
			;
		to[made++] = (struct piece){
			(off_t)(pfn[i] * 8), (uint32_t)(pfn[end - 1] - pfn[i] + 1) * 8,
		};
		*asked += pfn[end - 1] - pfn[i] + 1;
	}
	return made;
}

/* Which reads bring all of it: worked out before anything is timed. */
static inline void plan_make(struct looked_at *l)
{
	struct plan *p = &l->plan;
	struct area_range r;
	struct areas s;
	uint64_t *pfn, *often, unused = 0;
	size_t n = 0, noften = 0;

	*p = (struct plan){ 0 };
	l->pages = 0;
	areas_open(&s, &l->process);
	while (areas_next(&s, &r)) {
		l->pages += (r.end - r.start) / PAGE;
		p->nwords += (r.end - r.start) / PAGE / PIECE + 1;
	}
	l->present = pagemap_pieces(l).count;
	p->words = calloc(p->nwords, sizeof(*p->words));
	p->frames = calloc(l->present + 1, sizeof(*p->frames));
	p->counts = calloc(l->present + 1, sizeof(*p->counts));
	pfn = calloc(l->present + 1, sizeof(*pfn));
	often = calloc(l->present + 1, sizeof(*often));
	if (!p->words || !p->frames || !p->counts || !pfn || !often)
		errx(1, "out of memory");
	p->nwords = 0;
	areas_open(&s, &l->process);
	while (areas_next(&s, &r))
		for (uint64_t i = r.start / PAGE, end = r.end / PAGE, m; i < end; i += m) {
			m = words_at(l->pagemap, l->buf, end - i < PIECE ? end - i : PIECE, i);
			if (!m)
				break;
			p->words[p->nwords++] = (struct piece){ (off_t)(i * 8), (uint32_t)m * 8 };
			for (uint64_t k = 0; k < m && n < l->present; k++) {
				uint64_t frame = l->buf[k] & FRAME;

				if (!(l->buf[k] & PRESENT))
					continue;
				pfn[n++] = frame;
				if (!(l->buf[k] & ONCE) || word_at(l->flags, frame) & COMPOUND)
					often[noften++] = frame;
			}
		}
	qsort(pfn, n, sizeof(*pfn), by_frame);
	p->nframes = plan_frames(p->frames, pfn, n, &p->asked);
	qsort(often, noften, sizeof(*often), by_frame);
	p->ncounts = plan_frames(p->counts, often, noften, &unused);
	free(pfn);
	free(often);
}

static inline bool read_pieces(int fd, const struct piece *p, size_t n, void *buf)
{
	bool ok = true;

	for (size_t i = 0; i < n; i++)
		ok &= pread(fd, buf, p[i].len, p[i].at) == (ssize_t)p[i].len;
	return ok;
}

/* Reads the words of the plan; their values are not used. */
static inline struct answer read_plan(const struct looked_at *l, const struct piece *counts,
				      size_t ncounts)
{
	const struct plan *p = &l->plan;
	bool ok = read_pieces(l->pagemap, p->words, p->nwords, l->buf);

	ok &= read_pieces(l->flags, p->frames, p->nframes, l->buf);
	ok &= read_pieces(l->counts, counts, ncounts, l->buf);
	return (struct answer){ ok ? l->present : 0, 0 };
}

static inline struct answer bare(void *arg)
{
	const struct looked_at *l = arg;

	return read_plan(l, l->plan.frames, l->plan.nframes);
}

/* Those counts alone that nothing said before. */
static inline struct answer bare_counts(void *arg)
{
	const struct looked_at *l = arg;

	return read_plan(l, l->plan.counts, l->plan.ncounts);
}

/* No mapcounts are read: this is the minimum for flags through /proc. */
static inline struct answer bare_flags(void *arg)
{
	return read_plan(arg, NULL, 0);
}

/* ---- a process to look at ---- */

static inline int open_or_die(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* What all looks share; false, with a line for the user: it may not be read. */
static inline bool look_open(struct looked_at *l)
{
	l->flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	l->counts = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	if (l->flags >= 0 && l->counts >= 0 && !proc_hides_frames() &&
	    sysconf(_SC_PAGESIZE) == (long)PAGE)
		return true;
	printf("  not measured: it takes CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH, which root has, and pages of 4 KiB\n");
	return false;
}

static inline void look_at(struct looked_at *l, const struct process *p)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)p->pid);
	l->process = *p;
	l->pagemap = open_or_die(path);
	l->buf = malloc(BUF * sizeof(*l->buf));
	if (!l->buf)
		errx(1, "out of memory");
	plan_make(l);
}

static inline void look_away(struct looked_at *l)
{
	close(l->pagemap);
	free(l->plan.words);
	free(l->plan.frames);
	free(l->plan.counts);
	free(l->buf);
}
