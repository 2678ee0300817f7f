/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges and the reverse map over random memory, against the plain listing of
 * the same tables: no leaf may be missing, none may be made up.
 */
#include "tables.h"
#include "walk/rmap.h"

enum { BUDGET = 32, LEAVES = 4000, RANGES = 1024, REPORTS = 500, ASKED = 16 };

struct leaf {
	uint64_t va, pa;
	uint8_t level, rights;
};

static struct leaf leaves[LEAVES];
static size_t nleaves;
static struct mmu_range ranges[RANGES];
static size_t nranges;

/* Large tables are few: what counts is how many entries are looked at. */
static uint64_t budget(const struct machine *m)
{
	return BUDGET >> (m->shift - 12) / 2;
}

/* The whole truth, or false: too much of it for now. */
static bool list_leaves(const struct machine *m)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.flags = MMU_WALK_EACH, .budget = budget(m),
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r;

	nleaves = 0;
	if (mmu_walk_open(&m->sp, &o, &w, NULL) < 0)
		abort();
	while ((r = mmu_walk_next(w, &s, NULL)) == ATW_OK) {
		if (s->loss || s->kind != ATW_LEAF)
			continue;
		if (nleaves == LEAVES)
			break;
		leaves[nleaves++] = (struct leaf){
			s->va.u, s->pa.u, s->level, s->rights,
		};
	}
	mmu_walk_close(w);
	return r == ATW_END;
}

static uint64_t slot_size(const struct machine *m, unsigned level)
{
	return (uint64_t)1 << m->sp.paging.level[level].shift;
}

/* ---- ranges ---- */

static bool list_ranges(const struct machine *m, unsigned split)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.flags = split & 1 ? MMU_WALK_SOFT : 0, .budget = 2 * budget(m),
	};
	struct mmu_ranges *rs;
	struct atw_err err = { 0 };
	uint64_t next = 0;
	int r = ATW_OK;

	nranges = 0;
	if (mmu_ranges_open(&m->sp, &o, split, &rs, NULL) < 0)
		abort();
	while (nranges < RANGES &&
	       (r = mmu_ranges_next(rs, &ranges[nranges], &err)) == ATW_OK) {
		const struct mmu_range *g = &ranges[nranges];

		FUZZ_CHECK(g->va.u >= next && (next || !nranges),
			   "range at 0x%" PRIx64 " after one that ends at 0x%" PRIx64,
			   g->va.u, next);
		FUZZ_CHECK(g->entries &&
			   (g->va.u + g->size > g->va.u || !(g->va.u + g->size)),
			   "a range of nothing");
		next = g->va.u + g->size;
		nranges++;
	}
	mmu_ranges_close(rs);
	if (nranges == RANGES)
		return false;
	check_err(r, &err);
	FUZZ_CHECK(r == ATW_END || r == ATW_E_LIMIT, "status %d", r);
	return r == ATW_END;
}

/* The range that answers for an address, repeats traced back. */
static const struct mmu_range *range_of(uint64_t *va)
{
	for (int turn = 0; turn < 8; turn++) {
		const struct mmu_range *g = NULL;
		size_t lo = 0, hi = nranges;

		while (lo < hi) {
			size_t mid = (lo + hi) / 2;

			if (ranges[mid].va.u <= *va) {
				g = &ranges[mid];
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		if (!g || *va - g->va.u > g->size - 1)
			return NULL;
		if (!g->repeat_of)
			return g;
		*va = g->va.u - g->repeat_of + (*va - g->va.u) % g->repeat_of;
	}
	return NULL;
}

static void check_ranges(const struct machine *m, unsigned split)
{
	uint64_t sum = 0, listed = 0;

	for (size_t i = 0; i < nleaves; i++) {
		const struct leaf *f = &leaves[i];
		uint64_t va = f->va, off;
		const struct mmu_range *g = range_of(&va);

		FUZZ_CHECK(g && g->kind == ATW_LEAF && !g->loss,
			   "split %u: 0x%" PRIx64 " is mapped, and in no range of it",
			   split, f->va);
		FUZZ_CHECK(!(split & MMU_SPLIT_RIGHTS) || g->rights == f->rights,
			   "split %u: 0x%" PRIx64 ": rights %x, not %x", split, f->va,
			   g->rights, f->rights);
		FUZZ_CHECK(!(split & MMU_SPLIT_LEVEL) || g->level == f->level,
			   "split %u: 0x%" PRIx64 ": level %u, not %u", split, f->va,
			   g->level, f->level);
		off = va - g->va.u;
		if (g->same_pa)
			off %= slot_size(m, f->level);
		FUZZ_CHECK(!(split & MMU_SPLIT_PHYSICAL) || g->pa.u + off == f->pa,
			   "split %u: 0x%" PRIx64 " at 0x%" PRIx64, split, f->va, f->pa);
		listed += slot_size(m, f->level);
	}
	for (size_t i = 0; i < nranges; i++) {
		if (ranges[i].repeat_of)
			return;          /* its holes are not listed */
		if (ranges[i].kind == ATW_LEAF && !ranges[i].loss)
			sum += ranges[i].size;
	}
	FUZZ_CHECK(sum == listed,
		   "split %u: ranges have 0x%" PRIx64 " bytes, leaves 0x%" PRIx64,
		   split, sum, listed);
}

/* ---- the reverse map ---- */

static void check_hit(const struct machine *m, const struct rmap_entry *h,
		      const struct rmap_ranges *want)
{
	uint64_t left = h->bytes;
	struct mmu_seen s;

	FUZZ_CHECK(h->bytes && h->times, "a mapping of nothing");
	/* It may be of several of them, which are sorted. */
	for (size_t i = 0; i < want->n && left; i++) {
		uint64_t at = h->pa + (h->bytes - left), here = want->v[i].last - at;

		if (want->v[i].first <= at && want->v[i].last >= at)
			left = here < left - 1 ? left - 1 - here : 0;
	}
	FUZZ_CHECK(!left, "0x%" PRIx64 "+0x%" PRIx64 " was not asked for", h->pa,
		   h->bytes);
	/* First and last turn: do they lead there? */
	for (int i = 0; i < 2; i++) {
		uint64_t va = h->va + (i ? (h->times - 1) * h->stride : 0);

		FUZZ_CHECK(mmu_translate(&m->sp, ATW_VA(va), &s, NULL) == ATW_OK &&
			   s.kind == ATW_LEAF && s.pa.u + (va - s.va.u) == h->pa,
			   "0x%" PRIx64 " does not map 0x%" PRIx64, va, h->pa);
	}
}

/* Is the leaf's first byte in one of the turns? */
static bool hit_has(const struct rmap_entry *h, const struct leaf *l)
{
	uint64_t off = l->pa - h->pa, d = l->va - (h->va + off);

	return h->kind == ATW_LEAF && off < h->bytes &&
	       (h->times == 1 ? !d : l->va >= h->va + off && d % h->stride == 0 &&
					     d / h->stride < h->times);
}

static void check_reverse(const struct machine *m)
{
	struct rmap_range range[ASKED];
	struct rmap_ranges want = { .v = range };
	struct rmap f = { .want = &want };
	struct atw_err err = { 0 };
	size_t step = nleaves / ASKED + 1;
	int rc;

	/* Each leaf's first byte: by itself, and with what lies around it. */
	for (size_t i = 0; i < nleaves; i += step) {
		uint64_t pa = leaves[i].pa, before = pa < 0x1000 ? 0 : 0x1000;
		bool alone = i % 2 == 0 && nleaves >= ASKED;

		range[want.n++] = (struct rmap_range){
			.first = alone ? pa : pa - before,
			.last = alone ? pa : pa - before + 0x2fff,
		};
	}
	if (!want.n)
		return;
	rmap_sort(&want);
	rc = rmap_walk(&f, &m->sp, 0, UINT64_MAX, 0, &err);
	check_err(rc, &err);
	FUZZ_CHECK(rc == ATW_OK || rc == ATW_E_LIMIT, "status %d", rc);
	rmap_merge(&f);
	for (size_t i = 0; i < f.n && i < REPORTS; i++)
		if (f.hit[i].kind == ATW_LEAF)
			check_hit(m, &f.hit[i], &want);
	for (size_t i = 0, k; i < nleaves && rc == ATW_OK; i += step) {
		for (k = 0; k < f.n && !hit_has(&f.hit[k], &leaves[i]); k++)
			;
		FUZZ_CHECK(k < f.n, "0x%" PRIx64 " maps 0x%" PRIx64 ", and is not found",
			   leaves[i].va, leaves[i].pa);
	}
	free(f.hit);
	rmap_ranges_deinit(&want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	unsigned split = (unsigned)take(&in, 1);
	struct machine *m;

	if (len > 4096)
		return 0;
	m = machine_new(&in);
	if (!list_leaves(m))
		return 0;
	for (unsigned i = 0; i < 2; i++, split += 7)
		if (list_ranges(m, split % 32))
			check_ranges(m, split % 32);
	if (list_ranges(m, 7))
		check_ranges(m, 7);
	check_reverse(m);
	return 0;
}
