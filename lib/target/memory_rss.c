/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_rss.c - which pages of address spaces are anonymous, shared memory or of files,
 * by the kernel's counters in place of the struct pages.
 *
 * Counters are used for a space only if they agree with its page tables; a process that
 * changes in between has its struct pages read.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "linux/kpf.h"
#include "target/memory_vmas.h"

static uint64_t memory_rss_flags(enum rss_kind kind)
{
	return (kind == RSS_ANON ? kpf(KPF_ANON) : 0) |
	       (kind == RSS_FILE ? 0 : kpf(KPF_SWAPBACKED));
}

static enum rss_kind memory_rss_kind(uint64_t flags)
{
	return flags & kpf(KPF_ANON) ? RSS_ANON
	       : flags & kpf(KPF_SWAPBACKED) ? RSS_SHMEM : RSS_FILE;
}

/* Subtracts pages with a struct page that was read. false: there are fewer. */
static bool memory_rss_take(struct walk_provider *w, look_run run, struct rss *left)
{
	const uint64_t step = (uint64_t)1 << look_order(run);

	for (uint32_t t = 0; t < look_times(run); t++) {
		unsigned kind = kinds_get(&w->kinds, look_pfn(run) + t * step);
		const struct page_origin *o = &w->kinds.kind[kind];
		enum rss_kind of = memory_rss_kind(o->flags);

		if (!kind || o->stale)
			return false;
		if (!o->known || o->flags & (kpf(KPF_ZERO_PAGE) | kpf(KPF_HUGE)))
			continue;
		if (left->pages[of] < step)
			return false;
		left->pages[of] -= step;
	}
	return true;
}

/* Do the counters of the space have all its pages? Leaves the small ones in *left. */
static bool memory_rss_agrees(struct walk_provider *w, size_t task, struct rss *left)
{
	const struct look_space *sp = &w->look.space[task];
	const struct soles *s = &w->look.soles;
	uint64_t small = s->frames ? s->pages[task] + s->first[task + 1] - s->first[task] : 0;

	if (sp->odd || sp->ended)
		return false;
	for (size_t i = sp->first; i < sp->first + sp->n; i++) {
		look_run run = w->look.run[i];

		if (!look_class(run))
			small += look_times(run);
		else if (look_class(run) != LOOK_SPECIAL && !memory_rss_take(w, run, left))
			return false;
	}
	return left->pages[RSS_ANON] + left->pages[RSS_SHMEM] + left->pages[RSS_FILE] == small;
}

int memory_rss(struct walk_provider *w, struct atw_err *err)
{
	const size_t n = w->p.ntasks;
	_auto_free uint64_t *mm = calloc(n + 1, sizeof(*mm));
	int r;

	w->sums.rss = calloc(n + 1, sizeof(*w->sums.rss));
	w->sums.only = calloc(n + 1, sizeof(*w->sums.only));
	if (!mm || !w->sums.rss || !w->sums.only)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		mm[i] = w->p.task[i].shared ? 0 : w->space[i].at;
	r = rss_read(w->o.kernel, mm, n, w->sums.rss, err);
	for (size_t i = 0; i < n; i++) {
		struct rss *of = &w->sums.rss[i];

		of->known = r == ATW_OK && of->known && memory_rss_agrees(w, i, of);
	}
	if (r < 0) {
		free(w->sums.only);
		w->sums.only = NULL;
	}
	return r == ATW_E_NOMEM ? r : ATW_OK;
}

void memory_rss_drop(struct walk_provider *w)
{
	free(w->sums.rss);
	free(w->sums.only);
	w->sums.rss = NULL;
	w->sums.only = NULL;
}

/*
 * Divides the small pages among the kinds. Which of them are mapped how often is not
 * known: all divisions have the same sums.
 */
size_t memory_rss_divide(struct provider_sum *v, size_t n, struct rss left)
{
	size_t all = n, part;

	for (size_t i = 0; i < n; i++) {
		uint64_t pages = v[i].pages, some;

		if (v[i].known || v[i].uncounted || v[i].order)
			continue;
		for (unsigned kind = 0; kind < RSS_KINDS && pages; kind++) {
			some = left.pages[kind] < pages ? left.pages[kind] : pages;
			if (!some)
				continue;
			left.pages[kind] -= some;
			pages -= some;
			/* The last part stays in place; before it, a kind is used up. */
			part = pages ? all++ : i;
			v[part] = v[i];
			v[part].pages = some;
			v[part].flags = memory_rss_flags(kind);
			v[part].known = true;
		}
	}
	return all;
}
