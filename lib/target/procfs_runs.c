/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_runs.c - conversion of the words of /proc/PID/pagemap to runs of pages. In
 * sparse ranges PAGEMAP_SCAN finds the present ones.
 */
#include "target/procfs_vmas.h"

#include "record/record.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "target/provider.h"
#include "target/procfs.h"
#include "base/message.h"

#define FLAG_BITS (PAGEMAP_SOFT_DIRTY | PAGEMAP_EXCLUSIVE | PAGEMAP_UFFD_WP | PAGEMAP_FILE)

enum {
	WORDS = 32768,           /* looked up together: neighbours are among them */
	PIECE = 4096,            /* words read at once: more is no faster */
	SMALL_GAP = 64,          /* pages not there that are read all the same */
	SPARSE = 10,             /* fewer than one page in so many: ask for holes */
};

/* ---- words ---- */

bool pagemap_word(struct procfs_pages *c, uint64_t va, uint64_t *ret)
{
	return pace_pread(c->m->o.pace, c->proc->fd, ret, sizeof(*ret),
			  (off_t)(va / c->page * sizeof(*ret))) == sizeof(*ret);
}

int pagemap_scan(struct procfs_pages *c, struct pagescan_arg *a, struct pagescan_region *v, size_t len)
{
	uint64_t word;
	int n;

	a->size = sizeof(*a);
	a->vec = (uint64_t)(uintptr_t)v;
	a->vec_len = len;
	pace_wait(c->m->o.pace);
	do
		n = ioctl(c->proc->fd, PAGESCAN_IOCTL, a);
	while (n < 0 && errno == EINTR);
	/* Of a process that has ended, some kernels find no page, and no error. */
	if (!n && !pagemap_word(c, a->start, &word)) {
		errno = ESRCH;
		n = -1;
	}
	/* Older than 6.7; that a process has ended says nothing of the others. */
	if (n < 0 && errno != ESRCH)
		c->m->no_scan = true;
	else if (n >= 0 && c->m->o.pace)
		pace_done(c->m->o.pace, &c->m->o.pace->proc, (uint64_t)n * sizeof(*v));
	return n;
}

/* Where pages are, from c->at on: regions of the area up to c->scanned. */
static bool procfs_find_regions(struct procfs_pages *c)
{
	uint64_t end = c->proc->area[c->now].end, pages = 0;
	struct pagescan_arg a = {
		.start = c->at & ~(c->page - 1), .max_pages = PIECE,
		.category_anyof_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
		.return_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
	};
	int n;

	a.end = end - 1 > c->last ? (c->last | (c->page - 1)) + 1 : end;
	n = pagemap_scan(c, &a, c->region, PAGESCAN_REGIONS);
	if (n < 0)
		return false;
	c->nregions = pagescan_check(&a, c->region, (size_t)n, c->page, &c->scanned);
	c->next_region = 0;
	if (c->scanned <= c->at)
		return false;
	for (size_t i = 0; i < c->nregions; i++)
		pages += (c->region[i].end - c->region[i].start) / c->page;
	c->dense = pages * SPARSE >= (c->scanned - c->at) / c->page;
	return true;
}

static bool procfs_is_there(uint64_t word)
{
	return word & (PAGEMAP_PRESENT | PAGEMAP_SWAP);
}

/* Words from `first` on, up to `end`, as many as there is room for. */
static int procfs_fill(struct procfs_pages *c, uint64_t first, uint64_t end,
		       struct atw_err *err)
{
	uint64_t room = c->pmd > WORDS * c->page ? c->pmd : WORDS * c->page;
	uint64_t border = (first & ~(room - 1)) + room, there = 0;
	ssize_t got;

	if (border && border < end)
		end = border;
	/* The first words of a large area show whether there is much in it. */
	if (first == c->proc->area[c->now].start && end - first > PIECE * c->page &&
	    PIECE * c->page >= c->pmd)
		end = ((first + PIECE * c->page) & ~(c->pmd - 1));
	c->n = 0;
	c->base = first;
	for (size_t n = (end - first) / c->page; c->n < n; c->n += (size_t)got / 8) {
		size_t piece = n - c->n < PIECE ? n - c->n : PIECE;

		got = pace_pread(c->m->o.pace, c->proc->fd, c->word + c->n, piece * 8,
				 (off_t)((first / c->page + c->n) * 8));
		if (got < 8 && c->n)
			break;
		/* Of all that there are, one that has ended has nothing any more. */
		if (!got && !c->m->o.only)
			return ATW_END;
		if (got < 8)
			return atw_err_set(err, got < 0 ? ATW_E_IO : ATW_E_MISSING,
					   "/proc/%" PRIu32 "/pagemap: %s", c->proc->thread,
					   got < 0 ? strerror(errno) : _("the process has ended"));
		for (size_t i = 0; i < (size_t)got / 8; i++)
			there += procfs_is_there(c->word[c->n + i]);
	}
	c->facts = false;
	memset(c->huge, 0, c->n * sizeof(c->huge[0]));
	c->any_unsized = false;
	if (!c->sparse && !c->m->no_scan && !c->proc->area[c->now].device && c->n >= PIECE / 8 &&
	    there * SPARSE < c->n) {
		c->sparse = true;
		c->scanned = 0;
		c->dense = false;
	}
	if (there >= c->pmd / c->page)
		pagemap_find_huge(c);
	return ATW_OK;
}

/* Small areas close to each other are one read. */
static uint64_t procfs_cluster_end(const struct procfs_pages *c)
{
	uint64_t end = c->proc->area[c->now].end;

	for (size_t i = c->now + 1; i < c->proc->nareas && !c->proc->area[i].device; i++) {
		if (c->proc->area[i].start - end > SMALL_GAP * c->page || c->proc->area[i].end > c->cur.p->user_last)
			break;
		end = c->proc->area[i].end;
	}
	return end;
}

/* ---- runs ---- */

static int procfs_give(struct procfs_pages *c, const struct page_run **ret, uint64_t end)
{
	c->run.size = end - c->run.va;
	if (!c->run.slot)
		c->run.slot = c->run.size;
	if (!end || end - 1 >= c->last)
		c->ended = true;
	c->at = end;
	*ret = &c->run;
	return ATW_OK;
}

static int procfs_give_absent(struct procfs_pages *c, const struct page_run **ret,
			      uint64_t end)
{
	c->run = (struct page_run){ .va = c->at, .count = 1, .state = PAGE_ABSENT };
	return procfs_give(c, ret, end);
}

/* Is pagemap silent about the area, whatever there is? */
static bool procfs_is_pfnmap(struct procfs_pages *c, struct area *a)
{
	if (!a->pfnmap_asked)
		a->pfnmap = large_live_is_pfnmap(&c->proc->large, c->proc->pid, a->start);
	a->pfnmap_asked = true;
	return a->pfnmap;
}

/* Of the area, up to `end`, there are no words. */
static int procfs_give_wordless(struct procfs_pages *c, const struct page_run **ret,
				uint64_t end)
{
	c->run = (struct page_run){
		.va = c->at, .count = 1, .state = PAGE_ABSENT,
		.have = procfs_is_pfnmap(c, &c->proc->area[c->now]) ? RUN_STATE_HIDDEN : 0,
	};
	return procfs_give(c, ret, end);
}

const struct atw_names pagemap_flags = { MARKS, mark_names, NULL };

/* What a word stands for that is neither present nor absent. */
static void procfs_soft(struct procfs_pages *c, struct page_run *r, uint64_t word)
{
	struct atw_soft_word s;

	r->state = PAGE_SWAP;
	if (word & PAGEMAP_GUARD) {
		r->state = PAGE_GUARD;
		return;
	}
	if (!(word & PAGEMAP_FRAME) && c->m->hidden) {
		/* It may be a marker; and it surely is none of swap without any. */
		if (!c->m->has_swap)
			r->have |= RUN_STATE_HIDDEN;
		return;
	}
	/* Symbols are many, and types that are no devices few. */
	if (!c->m->soft_known && c->m->mode && pagemap_swap_type(word) >= c->m->soft.poison) {
		c->m->soft_known = true;
		proc_soft_abi(c->m->mode, c->m->o.pace, &c->m->soft);
	}
	r->have |= RUN_SWAP;
	r->swap_type = (uint8_t)pagemap_swap_type(word);
	r->swap_offset = pagemap_swap_offset(word);
	if (!c->m->mode)
		return;
	s = soft_swap(&c->m->soft, c->m->mode, r->swap_type, r->swap_offset);
	r->state = (uint8_t)provider_soft_state(s.what);
	r->guess = s.guess && r->state != PAGE_SWAP;
	if (s.pa.u) {
		c->pa[0] = s.pa.u;
		r->pa = c->pa;
	}
}

static int procfs_give_words(struct procfs_pages *c, const struct page_run **ret,
			     uint64_t end)
{
	const struct area *a = &c->proc->area[c->now];
	size_t i = (c->at - c->base) / c->page, n, large = c->pmd / c->page;
	size_t stop = (end - c->base) / c->page;
	size_t block = (c->at & ~(c->pmd - 1)) >= c->base
		? ((c->at & ~(c->pmd - 1)) - c->base) / c->page : i;
	const uint64_t same = PAGEMAP_PRESENT | PAGEMAP_SWAP | PAGEMAP_GUARD | FLAG_BITS;
	uint64_t word = c->word[i];
	struct page_run *r = &c->run;

	if (!procfs_is_there(word))
		return procfs_give_wordless(
			c, ret, c->base + pagemap_there(c, i, stop) * c->page);
	*r = (struct page_run){
		.va = c->at, .slot = c->page, .flags = marks_of_word(word),
		.have = RUN_FLAGS | RUN_RIGHTS | RUN_MAP,
		.rights = a->rights, .map = (uint16_t)(word >> 55),
	};
	if (!(word & PAGEMAP_PRESENT)) {
		r->have = RUN_FLAGS | RUN_MAP;
		r->count = 1;
		procfs_soft(c, r, word);
		for (n = i + 1; r->state == PAGE_GUARD && n < stop && c->word[n] == word; n++)
			r->count++;
		return procfs_give(c, ret, r->va + r->count * c->page);
	}
	r->state = a->rights ? PAGE_PRESENT : PAGE_PROTNONE;
	if (!a->rights)
		r->have &= ~(uint32_t)RUN_RIGHTS;
	if (c->huge[block] && block + large <= stop) {
		r->va = c->base + block * c->page;
		r->slot = c->pmd;
		for (n = block; n < stop && c->huge[n] && !((c->word[n] ^ word) & same); n += large)
			c->pa[r->count++] = (c->word[n] & PAGEMAP_FRAME) << c->cur.p->page_shift;
	} else {
		if (c->any_unsized && pagemap_unsized(c, i, &stop))
			r->have |= RUN_SIZE_HIDDEN;
		for (n = i; n < stop && !((c->word[n] ^ word) & same) &&
		     (n == i || !c->huge[n]); n++)
			c->pa[r->count++] = (c->word[n] & PAGEMAP_FRAME) << c->cur.p->page_shift;
	}
	if (!c->m->hidden)
		r->pa = c->pa;
	return procfs_give(c, ret, r->va + r->count * r->slot);
}

static bool procfs_in_buffer(const struct procfs_pages *c)
{
	return c->n && c->at >= c->base && c->at - c->base < c->n * c->page;
}

/* Words for c->at; or, where nothing is for a while, up to *hole. */
static int procfs_more_words(struct procfs_pages *c, uint64_t *hole, struct atw_err *err)
{
	const struct area *a = &c->proc->area[c->now];
	uint64_t end = procfs_cluster_end(c), first = c->at & ~(c->pmd - 1);

	*hole = 0;
	if (c->sparse && c->at >= c->scanned && (c->dense || !procfs_find_regions(c)))
		c->sparse = false;
	if (c->sparse) {
		const struct pagescan_region *v = c->region;
		size_t i = c->next_region;

		while (i < c->nregions && v[i].end <= c->at)
			i++;
		c->next_region = i;
		if (i == c->nregions || v[i].start > c->at) {
			*hole = i == c->nregions ? c->scanned : v[i].start;
			return ATW_OK;
		}
		for (end = v[i].end; i + 1 < c->nregions &&
		     v[i + 1].start - end <= SMALL_GAP * c->page; i++)
			end = v[i + 1].end;
	}
	/* A large page is seen as one from its beginning only. */
	if (first < a->start)
		first = c->at;
	if (end - 1 > c->last)
		end = (c->last | (c->pmd - 1)) + 1 < end && (c->last | (c->pmd - 1)) + 1
			? (c->last | (c->pmd - 1)) + 1 : end;
	return procfs_fill(c, first, end, err);
}

int pagemap_runs_next(struct page_cursor *cur, const struct page_run **ret,
		      struct atw_err *err)
{
	struct procfs_pages *c = procfs_pages_of(cur);
	const struct area *a;
	uint64_t end, hole;
	int r;

	if (c->ended)
		return ATW_END;
	for (; c->now < c->proc->nareas && c->proc->area[c->now].end <= c->at; c->now++)
		c->sparse = false;
	a = &c->proc->area[c->now];
	if (c->now == c->proc->nareas || a->start > c->last)
		return procfs_give_absent(c, ret, c->last + 1);
	if (a->start > c->at)
		return procfs_give_absent(c, ret, a->start);
	if (!procfs_in_buffer(c)) {
		r = procfs_more_words(c, &hole, err);
		c->ended = r == ATW_END;
		if (r != ATW_OK)
			return r;
		if (hole)
			return procfs_give_absent(c, ret, hole);
		if (!procfs_in_buffer(c))
			return atw_err_set(err, ATW_E_IO, "/proc/%" PRIu32 "/pagemap: ends at 0x%" PRIx64,
					   c->proc->thread, c->at);
	}
	end = c->base + c->n * c->page;
	return procfs_give_words(c, ret, a->end < end ? a->end : end);
}

void pagemap_runs_begin(struct procfs_pages *c, uint64_t first, uint64_t last)
{
	c->at = first;
	c->last = last < c->cur.p->user_last ? last : c->cur.p->user_last;
	c->ended = first > c->last;
	c->now = c->n = 0;
	c->sparse = false;
	c->nregions = 0;
}
