/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_large.c - detection of large pages in /proc/PID/pagemap. Its words do not have
 * the page size; PAGEMAP_SCAN does. Without PAGEMAP_SCAN the size of a candidate remains
 * unknown.
 */
#include "target/procfs_vmas.h"

#include "linux/kpf.h"

/* All of a large page's words, as they would be if it were one. */
static bool procfs_large_may_be_huge(const struct procfs_pages *c, size_t i, size_t n)
{
	uint64_t first = c->word[i], step = c->m->hidden ? 0 : 1;
	uint64_t frame = first & PAGEMAP_FRAME, flags;

	if (!(first & PAGEMAP_PRESENT) || (!c->m->hidden && frame & (n - 1)))
		return false;
	for (size_t k = 1; k < n; k++)
		if (((c->word[i + k] ^ first) & PAGEMAP_PRESENT) ||
		    (c->word[i + k] & PAGEMAP_FRAME) != frame + k * step)
			return false;
	/* Small pages in a row are no rare thing: ask their first one. */
	return c->m->file[KFLAGS] < 0 ||
	       pace_pread(c->m->o.pace, c->m->file[KFLAGS], &flags, 8, (off_t)(frame * 8)) != 8 ||
	       flags & (kpf(KPF_THP) | kpf(KPF_HUGE) | kpf(KPF_ZERO_PAGE));
}

void pagemap_find_huge(struct procfs_pages *c)
{
	size_t n = c->pmd / c->page, i = (-c->base & (c->pmd - 1)) / c->page;
	/* What valgrind does not know the kernel writes is not to look unwritten. */
	struct pagescan_region v[2] = { { 0 } };

	for (; i + n <= c->n; i += n) {
		struct pagescan_arg a = {
			.start = c->base + i * c->page, .end = c->base + (i + n) * c->page,
			.category_mask = PAGESCAN_HUGE, .return_mask = PAGESCAN_HUGE,
		};
		int got;

		c->unsized[i] = false;
		if (!procfs_large_may_be_huge(c, i, n))
			continue;
		got = c->m->no_scan ? -1 : pagemap_scan(c, &a, v, 2);
		c->huge[i] = got == 1 && v[0].start == a.start && v[0].end == a.end;
		c->unsized[i] = got < 0;
		c->any_unsized |= got < 0;
	}
}

/* Does the large page of the words from i on lie in the area as a whole? */
static bool procfs_large_is_unsized(const struct procfs_pages *c, size_t i)
{
	return c->unsized[i] && c->base + i * c->page >= c->proc->area[c->now].start;
}

bool pagemap_unsized(const struct procfs_pages *c, size_t i, size_t *stop)
{
	size_t large = c->pmd / c->page, first = (-c->base & (c->pmd - 1)) / c->page;
	size_t at = i < first ? first : i - (i - first) % large;

	for (; at + large <= *stop; at += large)
		if (procfs_large_is_unsized(c, at)) {
			*stop = at <= i ? at + large : at;
			return at <= i;
		}
	return false;
}
