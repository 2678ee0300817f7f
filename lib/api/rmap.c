/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rmap.c - mappings of physical memory in the public API.
 *
 * One address space at a time: by its page tables, or, where a target has none, by the
 * pages that it knows. The upper half of all processes is the kernel's, and is looked
 * through once, in the kernel's own tables.
 */
#include <atwalk/rmap.h>

#include "api/api.h"
#include "linux/soft.h"
#include "linux/spaces.h"
#include "walk/rmap.h"

struct atw_rmap {
	struct atw_target *target;
	uint32_t pid; /* 0: all */
	struct rmap_range wanted;
	struct rmap_ranges list;
	struct rmap finder;
	size_t hit; /* the next one of the address space under way */

	struct spaces spaces;  /* with page tables */
	struct provider *prov;
	struct page_cursor *pages; /* without */
	size_t at;             /* the next address space */
	bool kernel;           /* the kernel's is under way, or was */
	uint32_t *pids;        /* of the one under way, without page tables */
	size_t cap;
	const uint32_t *owner; /* those of the one under way, or NULL */
	size_t nowners;
	const char *comm;

	struct api_lost lost;
	struct atw_mapping row;
};

/* ---- by page tables ---- */

/* The space with one root: what lies below the kernel's half. */
static struct mmu_space rmap_user_half(const struct mmu_space *sp, uint64_t *last)
{
	struct mmu_space user = *sp;

	if (sp->paging.halves != ATW_SPLIT)
		user.high.have = false;
	*last = sp->paging.va_bits > 32 ? INT64_MAX : UINT64_MAX;
	return user;
}

static int rmap_walk_space(struct atw_rmap *c, const struct mmu_space *sp, uint64_t last,
		     struct atw_err *err)
{
	struct atw_err why = {0};
	uint64_t lost = c->finder.lost + c->finder.excluded + c->finder.damaged +
			c->finder.unstable;
	int r = rmap_walk(&c->finder, sp, 0, last, 0, &why);

	/* A process that ended meanwhile maps nothing any more. */
	if (r == ATW_E_LIMIT && mmu_space_lives(sp))
		api_lost_add(&c->lost, c->comm, &why);
	if (r == ATW_E_LIMIT)
		r = ATW_OK;
	if (r < 0)
		return atw_err_set(err, r, "%s", why.text);
	lost = c->finder.lost + c->finder.excluded + c->finder.damaged +
	       c->finder.unstable - lost;
	if (lost) {
		atw_err_set(&why, ATW_E_MISSING, "%" PRIu64 " page tables cannot be read",
			    lost);
		api_lost_add(&c->lost, c->comm, &why);
	}
	rmap_merge(&c->finder);
	return ATW_OK;
}

static bool rmap_is_of(const struct atw_rmap *c, const struct owned_space *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->pid[i] == c->pid)
			return true;
	return !c->pid;
}

/* The hits of the next address space; ATW_END: that was the last. */
static int rmap_next_tables(struct atw_rmap *c, struct atw_err *err)
{
	while (c->at < c->spaces.n) {
		const struct owned_space *o = &c->spaces.v[c->at++];
		struct mmu_space user;
		uint64_t last;

		if (!o->have || !rmap_is_of(c, o))
			continue;
		c->comm = o->name;
		c->owner = o->pid;
		c->nowners = o->n;
		user = rmap_user_half(&o->mm.space, &last);
		return rmap_walk_space(c, &user, last, err);
	}
	if (c->kernel || c->pid)
		return ATW_END;
	c->kernel = true;
	c->comm = "[kernel]";
	c->owner = NULL;
	c->nowners = 0;
	return rmap_walk_space(c, atw_kernel_space(c->target->t->kernel), UINT64_MAX,
			       err);
}

/* ---- by pages ---- */

static bool rmap_is_wanted(void *arg, uint64_t pa, uint64_t len)
{
	return rmap_wants(&((struct atw_rmap *)arg)->finder, pa, len);
}

static int rmap_add_run(struct atw_rmap *c, const struct page_run *run,
			struct atw_err *err)
{
	bool present = run->state == PAGE_PRESENT;
	struct atw_err why = {0};
	int r = ATW_OK;

	if (run->state == PAGE_LOST ||
	    (present && !run->pa && !(run->have & RUN_ELSEWHERE))) {
		atw_err_set(&why, ATW_E_MISSING,
			    "where pages at 0x%" PRIx64 " lead is not known", run->va);
		api_lost_add(&c->lost, c->comm, &why);
	}
	if (!present && run->state != PAGE_PROTNONE)
		return ATW_OK;
	for (uint32_t i = 0; run->pa && i < run->count && r == ATW_OK; i++) {
		const struct rmap_entry like = {
			.va = run->va + i * run->slot,
			.pa = run->pa[i],
			.rights = run->rights,
			.kind = present ? ATW_LEAF : ATW_ABSENT,
			.what = ATW_SOFT_PROTNONE,
			.span = (uint8_t)(63 - __builtin_clzll(run->slot)),
			.flagless = true,
		};

		r = rmap_add(&c->finder, &like, run->slot, err);
	}
	return r;
}

/* All processes that share the address space, the first of them first. */
static int rmap_sharers(struct atw_rmap *c, size_t task, struct atw_err *err)
{
	const struct page_task *t = c->prov->task;

	if (!array_reserve((void **)&c->pids, &c->cap, c->prov->ntasks, sizeof(*c->pids)))
		return atw_err_nomem(err);
	c->nowners = 0;
	c->pids[c->nowners++] = t[task].pid;
	for (size_t i = 0; t[task].mm && i < c->prov->ntasks; i++)
		if (i != task && t[i].mm == t[task].mm && t[i].shared)
			c->pids[c->nowners++] = t[i].pid;
	c->owner = c->pids;
	return ATW_OK;
}

static int rmap_next_pages(struct atw_rmap *c, struct atw_err *err)
{
	struct page_query q = {.last = UINT64_MAX, .wanted = rmap_is_wanted, .arg = c};
	const struct page_run *run;
	struct atw_err why = {0};
	int r, added = ATW_OK;

	while (c->at < c->prov->ntasks && (c->pid ? c->prov->task[c->at].pid != c->pid
						  : c->prov->task[c->at].shared))
		c->at++;
	if (c->at == c->prov->ntasks)
		return ATW_END;
	q.task = c->at++;
	c->comm = c->prov->task[q.task].name;
	r = rmap_sharers(c, q.task, err);
	if (r < 0)
		return r;
	r = page_cursor_open(c->prov, &q, &c->pages, &why);
	while (r == ATW_OK && added == ATW_OK &&
	       (r = page_cursor_next(c->pages, &run, &why)) == ATW_OK)
		added = rmap_add_run(c, run, err);
	if (r < 0)
		api_lost_add(&c->lost, c->comm, &why);
	rmap_merge(&c->finder);
	return added;
}

/* ---- the cursor ---- */

static int rmap_start(struct atw_rmap *c, struct atw_err *err)
{
	const struct target_query q = {.frames = false};
	struct target *t = c->target->t;
	struct subject s = {.pid = 0};
	int r = ATW_OK;

	if (c->pid)
		r = subject_by_pid(t, c->pid, SUBJECT_BOTH, &s, err);
	if (r != ATW_OK)
		return r;
	if (target_has(t, TARGET_TABLES)) {
		c->finder.kept = soft_kept;
		c->finder.kept_arg = target_soft(t);
		r = spaces_collect(t->kernel, &c->spaces, err);
		/* Of a thread, its process has the address space. */
		for (size_t i = 0; c->pid && r == ATW_OK && i < c->spaces.n; i++)
			if (c->spaces.v[i].at == s.mm && c->spaces.v[i].n)
				c->pid = c->spaces.v[i].pid[0];
		if (r == ATW_OK && c->spaces.bad_tasks + c->spaces.bad_spaces) {
			api_lost_add(&c->lost, NULL, &c->spaces.first);
			c->lost.n = c->spaces.bad_tasks + c->spaces.bad_spaces;
		}
		return r;
	}
	if (c->pid)
		c->pid = (uint32_t)s.pid;
	r = target_provider(t, &q, api_lost_cannot, &c->lost, &c->prov, err);
	if (r < 0)
		return r;
	c->prov->every = !c->pid;
	return c->prov->ops->tasks(c->prov, err);
}

int atw_rmap_open(struct atw_target *target, atw_pa pa, uint64_t bytes,
		  const struct atw_rmap_opts *opts, struct atw_rmap **ret,
		  struct atw_err *err)
{
	struct atw_rmap_opts o;
	struct atw_rmap *c;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		api_given(ret, "ret", err) ?:
		atw_target_need(target, ATW_CAP_RMAP, err) ?:
		api_reserved(o.reserved, err);

	if (r == ATW_OK && (!bytes || pa.u + (bytes - 1) < pa.u))
		r = atw_err_set(err, ATW_E_USAGE,
				"0x%" PRIx64 "+%" PRIu64 " is no range of memory", pa.u,
				bytes);
	if (r == ATW_OK)
		r = API_NEW(&c, err);
	if (r != ATW_OK)
		return r;
	c->target = target;
	c->pid = o.pid;
	c->wanted = (struct rmap_range){.first = pa.u, .last = pa.u + (bytes - 1)};
	c->list = (struct rmap_ranges){ .v = &c->wanted, .n = 1 };
	rmap_sort(&c->list);
	c->finder.want = &c->list;
	r = rmap_start(c, err);
	if (r < 0)
		atw_rmap_close(c);
	else
		*ret = c;
	return r;
}

static enum atw_state rmap_state(const struct rmap_entry *h)
{
	return h->kind == ATW_LEAF || h->kind == ATW_TABLE
		       ? api_kind_state(h->kind, 0)
		       : api_page_state(provider_soft_state(h->what));
}

int atw_rmap_next(struct atw_rmap *rmap, const struct atw_mapping **ret,
		  struct atw_err *err)
{
	const struct rmap_entry *h;
	int r = api_both(rmap, "the search", ret, err);

	while (r == ATW_OK && rmap->hit == rmap->finder.n) {
		rmap->hit = rmap->finder.n = 0;
		r = rmap->prov ? rmap_next_pages(rmap, err) : rmap_next_tables(rmap, err);
	}
	if (r == ATW_END)
		return api_lost_end(&rmap->lost, err);
	if (r < 0)
		return r;
	h = &rmap->finder.hit[rmap->hit++];
	rmap->row = (struct atw_mapping){
		.comm = rmap->comm,
		.va = ATW_VA(h->va),
		.pa = ATW_PA(h->pa),
		.bytes = h->bytes,
		.times = h->times ? h->times : 1,
		.stride = h->stride,
		.word = h->word,
		.entry_at = ATW_PA(h->entry_at),
		.pids = rmap->owner,
		.npids = (uint32_t)rmap->nowners,
		.pid = rmap->nowners ? rmap->owner[0] : 0,
		.state = rmap_state(h),
		.perms = h->rights,
		.level = h->level,
	};
	*ret = &rmap->row;
	return ATW_OK;
}

void atw_rmap_close(struct atw_rmap *rmap)
{
	if (!rmap)
		return;
	page_cursor_close(rmap->pages);
	provider_close(rmap->prov);
	spaces_deinit(&rmap->spaces);
	free(rmap->finder.hit);
	rmap_ranges_deinit(&rmap->list);
	free(rmap->pids);
	free(rmap);
}
