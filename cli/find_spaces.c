// SPDX-License-Identifier: GPL-2.0-or-later
/* find_spaces.c - page tables that `atwalk find` searches, each once. */
#include "base/clock.h"
#include "census_jobs.h"
#include "find.h"

void find_limit(struct find *f, const struct atw_err *why)
{
	if (f->thread) {
		find_jobs_limit(f->thread, why);
		return;
	}
	/* On a running machine processes end all the time: report only the first one. */
	if (!f->limit || !target_has(f->src.target, TARGET_RUNNING))
		print_error(why);
	f->limit = true;
}

/* Report a walk that ended early: only the rest of these tables is missing. */
static int find_spaces_cut_off(struct find *f, const struct mmu_space *sp, int r,
			       struct atw_err *err)
{
	if (r != ATW_E_LIMIT)
		return r;
	/* A process that ended during a search of all processes maps nothing. */
	if (!f->src.subject.label[0] && !mmu_space_lives(sp))
		return ATW_OK;
	atw_err_wrap(err, "%s", f->src.name);
	find_limit(f, err);
	return ATW_OK;
}

static int find_spaces_walk(struct find *f, const struct mmu_space *sp, uint64_t first,
			    uint64_t last, unsigned depth, struct atw_err *err)
{
	return find_spaces_cut_off(
		f, sp, rmap_walk(&f->finder, sp, first, last, depth, err), err);
}

/* Below bit 63 on 64-bit machines; everything on others. */
static uint64_t find_spaces_lower_last(const struct mmu_space *sp)
{
	return sp->paging.halves == ATW_SIGNED && sp->paging.va_bits > 32 ? INT64_MAX
									  : UINT64_MAX;
}

static const uint64_t UPPER = (uint64_t)1 << 63;

/* The root table's entries for the upper half, as a walk one level deep has them. */
static int find_spaces_each_top(const struct mmu_space *sp, struct atw_err *err,
				int (*fn)(void *arg, const struct mmu_seen *s), void *arg)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(UPPER), .last = ATW_VA(UINT64_MAX),
		.want = ATW_K_ANY, .flags = MMU_WALK_EACH, .depth = 1,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, err);

	if (r < 0)
		return r;
	while (r == ATW_OK && (r = mmu_walk_next(w, &s, err)) == ATW_OK)
		if (!s->loss && s->kind != ATW_BAD && s->path[0].index < 512)
			r = fn(arg, s);
	mmu_walk_close(w);
	return r == ATW_END ? ATW_OK : r;
}

static int find_spaces_note_top(void *arg, const struct mmu_seen *s)
{
	struct top *top = arg;

	top[s->path[0].index] = (struct top){ s->pa.u, s->kind };
	return ATW_OK;
}

struct compared {
	struct find *f;
	const struct mmu_space *sp;
	const struct top *top;
	struct atw_err *err;
};

/*
 * Every process has the kernel's entries in its own root: the entry is one more
 * that points to the kernel's table, and what lies below is the kernel's. What
 * the kernel itself does not have there (modify_ldt() under isolation) is the
 * process's own.
 */
static int find_spaces_compare_top(void *arg, const struct mmu_seen *s)
{
	struct compared *c = arg;
	const struct top *top = &c->top[s->path[0].index];
	bool same = top->kind == s->kind && top->pa == s->pa.u;

	if (same && s->kind == ATW_LEAF)
		return ATW_OK;
	return find_spaces_walk(c->f, c->sp, s->va.u, s->va.u + (s->size - 1),
				same ? 1 : 0, c->err);
}

static int find_spaces_upper_half(struct find *f, const struct mmu_space *sp,
				  const struct top *top, struct atw_err *err)
{
	struct compared c = { f, sp, top, err };

	if (find_spaces_lower_last(sp) == UINT64_MAX)
		return ATW_OK;
	return find_spaces_cut_off(
		f, sp, find_spaces_each_top(sp, err, find_spaces_compare_top, &c), err);
}

static struct mmu_space find_spaces_with_root(const struct mmu_space *sp, atw_pa root)
{
	struct mmu_space one = *sp;

	one.low = (struct mmu_root){ root, true };
	if (one.paging.halves != ATW_SPLIT)
		one.high.have = false;
	return one;
}

/* Search the tables of a process, both copies of the root if there are two. */
static int find_spaces_search_process(struct find *f, const struct find_owner *w,
				      const struct mmu_space *sp, struct atw_err *err)
{
	struct mmu_space user = find_spaces_with_root(sp, sp->low.pa);
	bool isolated = sp->high.have && sp->paging.halves != ATW_SPLIT;
	struct mmu_space kernel =
		find_spaces_with_root(sp, isolated ? sp->high.pa : sp->low.pa);
	uint64_t last = sp->paging.va_bits > 32 ? INT64_MAX : UINT64_MAX;
	int r = find_put_root(f, w, sp, user.low.pa, err);

	if (r == ATW_OK && isolated)
		r = find_put_root(f, w, sp, kernel.low.pa, err);
	if (r == ATW_OK)
		r = find_spaces_walk(f, &user, 0, last, 0, err) ?:
		    find_spaces_upper_half(f, &user, isolated ? f->user_top : f->top,
					   err);
	if (r == ATW_OK && isolated)
		r = find_spaces_walk(f, &kernel, 0, last, 1, err);
	if (r == ATW_OK && isolated)
		r = find_spaces_upper_half(f, &kernel, f->top, err);
	return r == ATW_OK ? find_flush(f, w, err) : r;
}

static int find_spaces_search_kernel(struct find *f, struct atw_err *err)
{
	const struct mmu_space *sp = atw_kernel_space(f->src.target->kernel);
	const struct find_owner kernel = { .task = "[kernel]", .regions = true };
	const struct find_owner user = { .task = "[kernel, user mode]", .regions = true };
	uint64_t page = (uint64_t)1 << sp->paging.page_shift;
	struct mmu_space copy;
	int r = ATW_OK;

	if (sp->high.have)
		r = find_put_root(f, &kernel, sp, sp->high.pa, err);
	if (r == ATW_OK && sp->low.have)
		r = find_put_root(f, &kernel, sp, sp->low.pa, err);
	if (r == ATW_OK)
		r = find_spaces_walk(f, sp, 0, UINT64_MAX, 0, err) ?:
		    find_flush(f, &kernel, err);
	if (r < 0 || !f->user_half)
		return r;
	/* The kernel's entry code as mapped while user mode runs. */
	copy = find_spaces_with_root(sp, ATW_PA(sp->low.pa.u + page));
	r = find_put_root(f, &user, sp, copy.low.pa, err) ?:
	    find_spaces_walk(f, &copy, UPPER, UINT64_MAX, 0, err);
	return r == ATW_OK ? find_flush(f, &user, err) : r;
}

static int find_spaces_note_tops(struct find *f, struct atw_err *err)
{
	const struct mmu_space *own = atw_kernel_space(f->src.target->kernel);
	uint64_t page = (uint64_t)1 << own->paging.page_shift;
	struct mmu_space copy;
	int r;

	if (find_spaces_lower_last(own) == UINT64_MAX)
		return ATW_OK;
	r = find_spaces_each_top(own, err, find_spaces_note_top, f->top);
	for (size_t i = 0; i < f->spaces.n; i++)
		f->user_half |= f->spaces.v[i].have && f->spaces.v[i].mm.isolated;
	if (r < 0 || !f->user_half)
		return r;
	copy = find_spaces_with_root(own, ATW_PA(own->low.pa.u + page));
	return find_spaces_each_top(&copy, err, find_spaces_note_top, f->user_top);
}

static bool find_spaces_is_known(const struct find *f, uint64_t root)
{
	const struct mmu_space *own = atw_kernel_space(f->src.target->kernel);
	uint64_t page = (uint64_t)1 << own->paging.page_shift;

	if (own->low.pa.u == root || (f->user_half && own->low.pa.u + page == root))
		return true;
	for (size_t i = 0; i < f->spaces.n; i++) {
		const struct atw_mm *mm = &f->spaces.v[i].mm;

		if (f->spaces.v[i].have && (mm->root.u == root || mm->user_root.u == root))
			return true;
	}
	return false;
}

/*
 * Search page tables that a CPU was using and that no task has: those of a task that just
 * ended, the firmware's, or all if no tasks were found.
 */
static int find_spaces_search_cpus(struct find *f, struct atw_err *err)
{
	const struct atw_paging *pg = &f->src.subject.space.paging;
	uint64_t cpus = 0, cr0, cr3, cr4, seen[64];
	size_t nseen = 0;
	int r = ATW_OK;

	if (pg->family != ATW_X86 || pg->va_bits <= 32)
		return ATW_OK;
	atw_fact_u64(f->src.target->source, "cpus", &cpus);
	for (uint64_t i = 0; i < cpus && r == ATW_OK; i++) {
		char key[40], name[32];
		const struct find_owner w = { .task = name };
		struct mmu_space sp;
		bool again = false;

		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr3", i);
		if (atw_fact_u64(f->src.target->source, key, &cr3) < 0)
			break;
		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr0", i);
		if (atw_fact_u64(f->src.target->source, key, &cr0) == ATW_OK && !(cr0 >> 31))
			continue;
		snprintf(key, sizeof(key), "cpu%" PRIu64 ".cr4", i);
		if (atw_fact_u64(f->src.target->source, key, &cr4) == ATW_OK &&
		    (cr4 >> 12 & 1) != (pg->nlevels == 5))
			continue;
		cr3 &= UINT64_C(0x000ffffffffff000);
		for (size_t k = 0; k < nseen; k++)
			again |= seen[k] == cr3;
		if (again || find_spaces_is_known(f, cr3))
			continue;
		if (nseen < 64)
			seen[nseen++] = cr3;
		snprintf(name, sizeof(name), "[cpu %" PRIu64 "]", i);
		sp = find_spaces_with_root(&f->src.subject.space, ATW_PA(cr3));
		r = find_spaces_search_process(f, &w, &sp, err);
	}
	return r;
}

int find_in_space(struct find *f, size_t i, struct atw_err *err)
{
	const struct owned_space *o = &f->spaces.v[i];
	const struct find_owner w = {
		.task = o->name, .have_pid = true, .pid = o->pid[0], .space = o,
	};

	return o->have ? find_spaces_search_process(f, &w, &o->mm.space, err) : ATW_OK;
}

static int find_in_spaces(struct find *f, struct atw_err *err)
{
	const uint64_t began = now();
	bool tried = false;
	int r = ATW_OK;

	for (size_t i = 0; i < f->spaces.n && r == ATW_OK; i++) {
		if (!tried && census_jobs_pay(f->c, &f->src, began)) {
			tried = true;
			r = find_by_jobs(f, i, err);
			if (r != ATW_E_UNSUPPORTED)
				return r;
		}
		r = find_in_space(f, i, err);
	}
	return r;
}

int find_in_all(struct find *f, struct atw_err *err)
{
	int r = find_spaces_note_tops(f, err) ?: find_in_spaces(f, err);

	if (r == ATW_OK)
		r = find_spaces_search_cpus(f, err);
	return r == ATW_OK ? find_spaces_search_kernel(f, err) : r;
}

/* Search the one selected address space. */
int find_in_one(struct find *f, struct atw_err *err)
{
	struct find_owner w = { .task = "[given]" };
	int r = ATW_OK;

	if (f->src.subject.pid) {
		w.pid = (uint32_t)f->src.subject.pid;
		w.task = f->src.subject.task;
		w.have_pid = true;
		for (size_t i = 0; i < f->spaces.n; i++)
			for (size_t k = 0; k < f->spaces.v[i].n; k++)
				if (f->spaces.v[i].pid[k] == w.pid)
					w.space = &f->spaces.v[i];
		r = find_spaces_note_tops(f, err);
		return r == ATW_OK ? find_spaces_search_process(
					     f, &w, &f->src.subject.space, err)
				   : r;
	}
	if (f->src.subject.space.low.have)
		r = find_put_root(f, &w, &f->src.subject.space, f->src.subject.space.low.pa,
					  err);
	if (r == ATW_OK)
		r = find_spaces_walk(f, &f->src.subject.space, 0, UINT64_MAX, 0, err);
	return r == ATW_OK ? find_flush(f, &w, err) : r;
}
