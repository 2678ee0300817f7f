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

#include "target/page_marks.h"
#include "target/procfs.h"

#define FLAG_BITS (PAGEMAP_SOFT_DIRTY | PAGEMAP_EXCLUSIVE | PAGEMAP_UFFD_WP | PAGEMAP_FILE)

enum {
	WORDS = 32768,           /* looked up together: neighbours are among them */
	PIECE = 4096,            /* words read at once: more is no faster */
	SMALL_GAP = 64,          /* pages not there that are read all the same */
	SPARSE = 10,             /* fewer than one page in so many: ask for holes */
};

/* ---- words ---- */

int pagemap_scan(struct pagemap *m, struct pagescan_arg *a, struct pagescan_region *v, size_t len)
{
	int n;

	a->size = sizeof(*a);
	a->vec = (uint64_t)(uintptr_t)v;
	a->vec_len = len;
	pace_wait(m->o.pace);
	do
		n = ioctl(m->fd, PAGESCAN_IOCTL, a);
	while (n < 0 && errno == EINTR);
	/* Older than 6.7; that a process has ended says nothing of the others. */
	if (n < 0 && errno != ESRCH)
		m->no_scan = true;
	else if (n >= 0 && m->o.pace)
		pace_done(m->o.pace, &m->o.pace->proc, (uint64_t)n * sizeof(*v));
	return n;
}

/* Where pages are, from m->at on: regions of the area up to m->scanned. */
static bool procfs_runs_find_regions(struct pagemap *m)
{
	uint64_t end = m->area[m->now].end, pages = 0;
	struct pagescan_arg a = {
		.start = m->at & ~(m->page - 1), .max_pages = PIECE,
		.category_anyof_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
		.return_mask = PAGESCAN_PRESENT | PAGESCAN_SWAPPED,
	};
	int n;

	a.end = end - 1 > m->last ? (m->last | (m->page - 1)) + 1 : end;
	n = pagemap_scan(m, &a, m->region, PAGESCAN_REGIONS);
	if (n < 0)
		return false;
	m->nregions = pagescan_check(&a, m->region, (size_t)n, m->page, &m->scanned);
	m->next_region = 0;
	if (m->scanned <= m->at)
		return false;
	for (size_t i = 0; i < m->nregions; i++)
		pages += (m->region[i].end - m->region[i].start) / m->page;
	m->dense = pages * SPARSE >= (m->scanned - m->at) / m->page;
	return true;
}

static bool procfs_runs_is_there(uint64_t word)
{
	return word & (PAGEMAP_PRESENT | PAGEMAP_SWAP);
}

/* Words from `first` on, up to `end`, as many as there is room for. */
static int procfs_runs_fill(struct pagemap *m, uint64_t first, uint64_t end,
			    struct atw_err *err)
{
	uint64_t room = m->pmd > WORDS * m->page ? m->pmd : WORDS * m->page;
	uint64_t border = (first & ~(room - 1)) + room, there = 0;
	ssize_t got;

	if (border && border < end)
		end = border;
	/* The first words of a large area show whether there is much in it. */
	if (first == m->area[m->now].start && end - first > PIECE * m->page &&
	    PIECE * m->page >= m->pmd)
		end = ((first + PIECE * m->page) & ~(m->pmd - 1));
	m->n = 0;
	m->base = first;
	for (size_t n = (end - first) / m->page; m->n < n; m->n += (size_t)got / 8) {
		size_t piece = n - m->n < PIECE ? n - m->n : PIECE;

		got = pace_pread(m->o.pace, m->fd, m->word + m->n, piece * 8,
				 (off_t)((first / m->page + m->n) * 8));
		if (got < 8 && m->n)
			break;
		/* Of all that there are, one that has ended has nothing any more. */
		if (!got && !m->o.only)
			return ATW_END;
		if (got < 8)
			return atw_err_set(err, got < 0 ? ATW_E_IO : ATW_E_MISSING,
					   "/proc/%" PRIu32 "/pagemap: %s", m->thread,
					   got < 0 ? strerror(errno) : "the process has ended");
		for (size_t i = 0; i < (size_t)got / 8; i++)
			there += procfs_runs_is_there(m->word[m->n + i]);
	}
	m->facts = false;
	memset(m->huge, 0, m->n * sizeof(m->huge[0]));
	m->any_unsized = false;
	if (!m->sparse && !m->no_scan && !m->area[m->now].device && m->n >= PIECE / 8 &&
	    there * SPARSE < m->n) {
		m->sparse = true;
		m->scanned = 0;
		m->dense = false;
	}
	if (there >= m->pmd / m->page)
		pagemap_find_huge(m);
	return ATW_OK;
}

/* Small areas close to each other are one read. */
static uint64_t procfs_runs_cluster_end(const struct pagemap *m)
{
	uint64_t end = m->area[m->now].end;

	for (size_t i = m->now + 1; i < m->nareas && !m->area[i].device; i++) {
		if (m->area[i].start - end > SMALL_GAP * m->page || m->area[i].end > m->p.user_last)
			break;
		end = m->area[i].end;
	}
	return end;
}

/* ---- runs ---- */

static int procfs_runs_give(struct pagemap *m, const struct page_run **ret, uint64_t end)
{
	m->run.size = end - m->run.va;
	if (!m->run.slot)
		m->run.slot = m->run.size;
	if (!end || end - 1 >= m->last)
		m->ended = true;
	m->at = end;
	*ret = &m->run;
	return ATW_OK;
}

static int procfs_runs_give_absent(struct pagemap *m, const struct page_run **ret,
				   uint64_t end)
{
	m->run = (struct page_run){ .va = m->at, .count = 1, .state = PAGE_ABSENT };
	return procfs_runs_give(m, ret, end);
}

/* Is pagemap silent about the area, whatever there is? */
static bool procfs_runs_is_pfnmap(struct pagemap *m, struct area *a)
{
	if (!a->pfnmap_asked)
		a->pfnmap = large_live_is_pfnmap(&m->large, m->pid, a->start);
	a->pfnmap_asked = true;
	return a->pfnmap;
}

/* Of the area, up to `end`, there are no words. */
static int procfs_runs_give_wordless(struct pagemap *m, const struct page_run **ret,
				     uint64_t end)
{
	m->run = (struct page_run){
		.va = m->at,
		.count = 1,
		.state = PAGE_ABSENT,
		.have = procfs_runs_is_pfnmap(m, &m->area[m->now]) ? RUN_STATE_HIDDEN : 0,
	};
	return procfs_runs_give(m, ret, end);
}

/* Four bits of the word, as the numbers of their names. */
static uint64_t procfs_runs_flags_of(uint64_t word)
{
	return (word & PAGEMAP_SOFT_DIRTY ? 1u << MARK_SOFT_DIRTY : 0) |
	       (word & PAGEMAP_EXCLUSIVE ? 1u << MARK_EXCLUSIVE : 0) |
	       (word & PAGEMAP_FILE ? 1u << MARK_FILE : 0) |
	       (word & PAGEMAP_UFFD_WP ? 1u << MARK_UFFD_WP : 0);
}

const struct atw_names pagemap_flags = { MARKS, mark_names, NULL };

/* What a word stands for that is neither present nor absent. */
static void procfs_runs_soft(struct pagemap *m, struct page_run *r, uint64_t word)
{
	struct atw_soft_word s;

	r->state = PAGE_SWAP;
	if (word & PAGEMAP_GUARD) {
		r->state = PAGE_GUARD;
		return;
	}
	if (!(word & PAGEMAP_FRAME) && m->hidden) {
		/* It may be a marker; and it surely is none of swap without any. */
		if (!m->has_swap)
			r->have |= RUN_STATE_HIDDEN;
		return;
	}
	/* Symbols are many, and types that are no devices few. */
	if (!m->soft_known && m->mode && pagemap_swap_type(word) >= m->soft.poison) {
		m->soft_known = true;
		proc_soft_abi(m->mode, m->o.pace, &m->soft);
	}
	r->have |= RUN_SWAP;
	r->swap_type = (uint8_t)pagemap_swap_type(word);
	r->swap_offset = pagemap_swap_offset(word);
	if (!m->mode)
		return;
	s = soft_swap(&m->soft, m->mode, r->swap_type, r->swap_offset);
	r->state = (uint8_t)provider_soft_state(s.what);
	r->guess = s.guess && r->state != PAGE_SWAP;
	if (s.pa.u) {
		m->pa[0] = s.pa.u;
		r->pa = m->pa;
	}
}

static int procfs_runs_give_words(struct pagemap *m, const struct page_run **ret,
				  uint64_t end)
{
	const struct area *a = &m->area[m->now];
	size_t i = (m->at - m->base) / m->page, n, large = m->pmd / m->page;
	size_t stop = (end - m->base) / m->page;
	size_t block = (m->at & ~(m->pmd - 1)) >= m->base
		? ((m->at & ~(m->pmd - 1)) - m->base) / m->page : i;
	const uint64_t same = PAGEMAP_PRESENT | PAGEMAP_SWAP | PAGEMAP_GUARD | FLAG_BITS;
	uint64_t word = m->word[i];
	struct page_run *r = &m->run;

	if (!procfs_runs_is_there(word))
		return procfs_runs_give_wordless(
			m, ret, m->base + pagemap_there(m, i, stop) * m->page);
	*r = (struct page_run){
		.va = m->at,
		.slot = m->page,
		.flags = procfs_runs_flags_of(word),
		.have = RUN_FLAGS | RUN_RIGHTS | RUN_MAP,
		.rights = a->rights,
		.map = (uint16_t)(word >> 55),
	};
	if (!(word & PAGEMAP_PRESENT)) {
		r->have = RUN_FLAGS | RUN_MAP;
		r->count = 1;
		procfs_runs_soft(m, r, word);
		for (n = i + 1; r->state == PAGE_GUARD && n < stop && m->word[n] == word; n++)
			r->count++;
		return procfs_runs_give(m, ret, r->va + r->count * m->page);
	}
	r->state = a->rights ? PAGE_PRESENT : PAGE_PROTNONE;
	if (!a->rights)
		r->have &= ~(uint32_t)RUN_RIGHTS;
	if (m->huge[block] && block + large <= stop) {
		r->va = m->base + block * m->page;
		r->slot = m->pmd;
		for (n = block; n < stop && m->huge[n] && !((m->word[n] ^ word) & same); n += large)
			m->pa[r->count++] = (m->word[n] & PAGEMAP_FRAME) << m->p.page_shift;
	} else {
		if (m->any_unsized && pagemap_unsized(m, i, &stop))
			r->have |= RUN_SIZE_HIDDEN;
		for (n = i; n < stop && !((m->word[n] ^ word) & same) &&
		     (n == i || !m->huge[n]); n++)
			m->pa[r->count++] = (m->word[n] & PAGEMAP_FRAME) << m->p.page_shift;
	}
	if (!m->hidden)
		r->pa = m->pa;
	return procfs_runs_give(m, ret, r->va + r->count * r->slot);
}

static bool procfs_runs_in_buffer(const struct pagemap *m)
{
	return m->n && m->at >= m->base && m->at - m->base < m->n * m->page;
}

/* Words for m->at; or, where nothing is for a while, up to *hole. */
static int procfs_runs_more_words(struct pagemap *m, uint64_t *hole, struct atw_err *err)
{
	const struct area *a = &m->area[m->now];
	uint64_t end = procfs_runs_cluster_end(m), first = m->at & ~(m->pmd - 1);

	*hole = 0;
	if (m->sparse && m->at >= m->scanned &&
	    (m->dense || !procfs_runs_find_regions(m)))
		m->sparse = false;
	if (m->sparse) {
		const struct pagescan_region *v = m->region;
		size_t i = m->next_region;

		while (i < m->nregions && v[i].end <= m->at)
			i++;
		m->next_region = i;
		if (i == m->nregions || v[i].start > m->at) {
			*hole = i == m->nregions ? m->scanned : v[i].start;
			return ATW_OK;
		}
		for (end = v[i].end; i + 1 < m->nregions &&
		     v[i + 1].start - end <= SMALL_GAP * m->page; i++)
			end = v[i + 1].end;
	}
	/* A large page is seen as one from its beginning only. */
	if (first < a->start)
		first = m->at;
	if (end - 1 > m->last)
		end = (m->last | (m->pmd - 1)) + 1 < end && (m->last | (m->pmd - 1)) + 1
			? (m->last | (m->pmd - 1)) + 1 : end;
	return procfs_runs_fill(m, first, end, err);
}

int pagemap_runs_next(struct provider *p, const struct page_run **ret,
			      struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	const struct area *a;
	uint64_t end, hole;
	int r;

	if (m->ended)
		return ATW_END;
	for (; m->now < m->nareas && m->area[m->now].end <= m->at; m->now++)
		m->sparse = false;
	a = &m->area[m->now];
	if (m->now == m->nareas || a->start > m->last)
		return procfs_runs_give_absent(m, ret, m->last + 1);
	if (a->start > m->at)
		return procfs_runs_give_absent(m, ret, a->start);
	if (!procfs_runs_in_buffer(m)) {
		r = procfs_runs_more_words(m, &hole, err);
		m->ended = r == ATW_END;
		if (r != ATW_OK)
			return r;
		if (hole)
			return procfs_runs_give_absent(m, ret, hole);
		if (!procfs_runs_in_buffer(m))
			return atw_err_set(err, ATW_E_IO, "/proc/%" PRIu32 "/pagemap: ends at 0x%" PRIx64,
					   m->thread, m->at);
	}
	end = m->base + m->n * m->page;
	return procfs_runs_give_words(m, ret, a->end < end ? a->end : end);
}

void pagemap_runs_end(struct provider *p)
{
	pagemap_of(p)->ended = true;
}

void pagemap_runs_begin(struct pagemap *m, uint64_t first, uint64_t last)
{
	m->at = first;
	m->last = last < m->p.user_last ? last : m->p.user_last;
	m->ended = first > m->last;
	m->now = m->n = 0;
	m->sparse = false;
	m->nregions = 0;
}
