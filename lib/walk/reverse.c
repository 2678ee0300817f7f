/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reverse.c - reverse map: virtual addresses that map a physical range.
 *
 * One walk yields runs {physical, length, virtual}. They are sorted by physical start,
 * with the maximum end so far stored in each, so every run that overlaps a range is found
 * by one binary search. Folded subtrees remain folded: a record states that the bytes
 * before an address repeat, and results are multiplied accordingly.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "walk/space.h"

struct run {
	uint64_t pa, len, va;    /* len: of one repetition */
	uint64_t times;          /* repetitions, each `len` bytes of VA after the last */
	uint64_t max_end;        /* maximum end of this run and all before it */
	uint8_t level, rights;
};

/* The range [va - span, va) repeats `times` times from va on. */
struct fold {
	uint64_t va, span, times;
};

struct mmu_reverse {
	struct run *run;
	size_t nruns, runs_cap;
	struct fold *fold;
	size_t nfolds, folds_cap;
	uint64_t lost;
};

static int reverse_add_run(struct mmu_reverse *r, const struct run *n)
{
	struct run *last = r->nruns ? &r->run[r->nruns - 1] : NULL;

	if (last && last->level == n->level && last->rights == n->rights) {
		if (last->times == 1 && n->times == 1 &&
		    last->va + last->len == n->va &&
		    last->pa + last->len == n->pa) {
			last->len += n->len;
			return ATW_OK;
		}
		if (last->pa == n->pa && last->len == n->len &&
		    last->va + last->times * last->len == n->va) {
			last->times += n->times;
			return ATW_OK;
		}
	}
	if (!array_reserve((void **)&r->run, &r->runs_cap, r->nruns + 1,
			   sizeof(*r->run)))
		return ATW_E_NOMEM;
	r->run[r->nruns++] = *n;
	return ATW_OK;
}

static int reverse_add_leaves(struct mmu_reverse *r, const struct mmu_space *sp,
			      const struct mmu_seen *s)
{
	uint64_t slot = (uint64_t)1 << sp->paging.level[s->level].shift;

	for (uint32_t i = 0; i < s->count; i++) {
		struct run n = {
			.pa = mmu_seen_pa(sp, s, i).u, .len = slot,
			.va = s->va.u + i * slot, .times = 1,
			.level = s->level, .rights = s->rights,
		};

		if (reverse_add_run(r, &n) < 0)
			return ATW_E_NOMEM;
	}
	return ATW_OK;
}

/*
 * A fold repeats whole runs, so a run that extends into its template from before is split
 * there. Runs are still in order of VA here.
 */
static int reverse_split_at(struct mmu_reverse *r, uint64_t va)
{
	size_t lo = 0, hi = r->nruns;
	struct run *n, *rest;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->run[mid].va < va)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || va - r->run[lo - 1].va >= r->run[lo - 1].times * r->run[lo - 1].len)
		return ATW_OK;
	if (!array_reserve((void **)&r->run, &r->runs_cap, r->nruns + 1,
			   sizeof(*r->run)))
		return ATW_E_NOMEM;
	n = &r->run[lo - 1];
	rest = n + 1;
	memmove(rest + 1, rest, (r->nruns++ - lo) * sizeof(*rest));
	*rest = *n;
	rest->va = va;
	if (n->times > 1) {      /* repetitions are aligned as tables are */
		n->times = (va - n->va) / n->len;
		rest->times -= n->times;
	} else {
		n->len = va - n->va;
		rest->len -= n->len;
		rest->pa += n->len;
	}
	return ATW_OK;
}

static int reverse_add_fold(struct mmu_reverse *r, const struct mmu_seen *s)
{
	struct run *last = r->nruns ? &r->run[r->nruns - 1] : NULL;

	/* One page over the whole subtree: extend the run itself. */
	if (last && last->va + last->times * last->len == s->va.u &&
	    last->times * last->len >= s->repeat_of &&
	    s->repeat_of % last->len == 0) {
		last->times += s->size / last->len;
		return ATW_OK;
	}
	/* Nothing is mapped below the repeated table, so nothing repeats. */
	if (!last || last->va + last->times * last->len <= s->va.u - s->repeat_of)
		return ATW_OK;
	if (reverse_split_at(r, s->va.u - s->repeat_of) < 0 ||
	    !array_reserve((void **)&r->fold, &r->folds_cap, r->nfolds + 1,
			   sizeof(*r->fold)))
		return ATW_E_NOMEM;
	r->fold[r->nfolds++] = (struct fold){
		s->va.u, s->repeat_of, s->size / s->repeat_of,
	};
	return ATW_OK;
}

static int reverse_by_pa(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->pa != y->pa)
		return x->pa < y->pa ? -1 : 1;
	return x->va < y->va ? -1 : x->va > y->va;
}

int mmu_reverse_build(const struct mmu_space *sp, struct mmu_reverse **ret,
		      struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.size = sizeof(o), .last = ATW_VA(UINT64_MAX),
		.flags = MMU_WALK_FOLD,
	};
	struct mmu_reverse *r = calloc(1, sizeof(*r));
	const struct mmu_seen *s;
	struct mmu_walk *w = NULL;
	uint64_t end = 0;
	int rc = r ? mmu_walk_open(sp, &o, &w, err) : atw_err_nomem(err);

	while (rc == ATW_OK && (rc = mmu_walk_next(w, &s, err)) == ATW_OK) {
		if (s->repeat_of)
			rc = reverse_add_fold(r, s);
		else if (s->loss)
			r->lost++;
		else if (s->kind == ATW_LEAF)
			rc = reverse_add_leaves(r, sp, s);
		if (rc == ATW_E_NOMEM)
			atw_err_nomem(err);
	}
	mmu_walk_close(w);
	if (rc < 0) {
		mmu_reverse_destroy(r);
		return rc;
	}
	if (r->nruns)            /* qsort() requires a valid pointer even for no
				  * elements */
		qsort(r->run, r->nruns, sizeof(*r->run), reverse_by_pa);
	for (size_t i = 0; i < r->nruns; i++) {
		if (r->run[i].pa + r->run[i].len > end)
			end = r->run[i].pa + r->run[i].len;
		r->run[i].max_end = end;
	}
	*ret = r;
	return ATW_OK;
}

uint64_t mmu_reverse_lost(const struct mmu_reverse *r)
{
	return r ? r->lost : 0;
}

/*
 * Report one mapping and its repetitions. The template of a fold may lie inside the
 * template of a wider fold, so each copy is passed through the remaining folds; the
 * walker reports inner folds first, so spans increase.
 */
static int reverse_report(const struct mmu_reverse *r, struct mmu_mapping m, size_t from,
			  mmu_reverse_fn *fn, void *arg)
{
	int rc = fn(arg, &m);

	for (size_t i = from; i < r->nfolds && !rc; i++) {
		const struct fold *f = &r->fold[i];

		if (m.va.u < f->va - f->span || m.va.u >= f->va)
			continue;
		for (uint64_t t = 1; t <= f->times && !rc; t++) {
			struct mmu_mapping copy = m;

			copy.va.u += t * f->span;
			rc = reverse_report(r, copy, i + 1, fn, arg);
		}
	}
	return rc;
}

int mmu_reverse_find(const struct mmu_reverse *r, atw_pa pa, uint64_t len,
		     mmu_reverse_fn *fn, void *arg)
{
	uint64_t last = pa.u + (len - 1) < pa.u ? UINT64_MAX : pa.u + (len - 1);
	size_t lo = 0, hi;
	int rc = 0;

	if (!r || !fn)
		return ATW_E_USAGE;
	if (!len)
		return 0;
	hi = r->nruns;
	/* The first run with a max_end above pa. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->run[mid].max_end > pa.u)
			hi = mid;
		else
			lo = mid + 1;
	}
	for (size_t i = lo; i < r->nruns && r->run[i].pa <= last && !rc; i++) {
		const struct run *n = &r->run[i];
		uint64_t skip, end = n->pa + n->len;
		struct mmu_mapping m = {
			.level = n->level, .rights = n->rights, .times = n->times,
		};

		if (end <= pa.u)
			continue;
		skip = n->pa < pa.u ? pa.u - n->pa : 0;
		m.va = ATW_VA(n->va + skip);
		m.pa = ATW_PA(n->pa + skip);
		m.len = (end - 1 > last ? last + 1 : end) - m.pa.u;
		m.stride = n->len;
		rc = reverse_report(r, m, 0, fn, arg);
	}
	return rc;
}

void mmu_reverse_destroy(struct mmu_reverse *r)
{
	if (!r)
		return;
	free(r->run);
	free(r->fold);
	free(r);
}
