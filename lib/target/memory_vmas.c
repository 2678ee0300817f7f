/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_vmas.c - tasks, areas and frames from kernel structures, for all sources with readable
 * physical memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/sorted.h"
#include "linux/tasks.h"
#include "linux/memmap.h"
#include "target/procfs.h"
#include "target/memory_vmas.h"
#include "host/host.h"
#include "walk/space.h"

/* ---- tasks ---- */

static int memory_add_task(struct walk_provider *w, const struct lnx_task *t,
			   struct atw_err *err)
{
	struct page_task *k;

	if (!ARRAY_ROOM(w->space, w->p.ntasks, w->spaces_cap))
		return atw_err_nomem(err);
	w->space[w->p.ntasks] = (struct space){ .task = *t, .at = t->mm };
	k = provider_add_task(&w->p);
	if (!k)
		return atw_err_nomem(err);
	k->pid = t->tgid;
	k->mm = t->mm;
	memcpy(k->name, t->name, sizeof(k->name));
	return ATW_OK;
}

static int memory_by_address(const void *a, const void *b)
{
	const struct space *x = *(struct space *const *)a, *y = *(struct space *const *)b;

	return ORDER(x->at, y->at) ?: ORDER(x, y);
}

static int memory_mark_shared(struct walk_provider *w, struct atw_err *err)
{
	struct space **v = calloc(w->p.ntasks + 1, sizeof(struct space *));

	if (!v)
		return atw_err_nomem(err);
	for (size_t i = 0; i < w->p.ntasks; i++)
		v[i] = &w->space[i];
	qsort(v, w->p.ntasks, sizeof(struct space *), memory_by_address);
	for (size_t i = 1; i < w->p.ntasks; i++)
		w->p.task[v[i] - w->space].shared = v[i]->at == v[i - 1]->at;
	free(v);
	return ATW_OK;
}

/* Where one process is wanted, and is as it was found, the others cost nothing. */
static bool memory_one_task(struct walk_provider *w)
{
	struct lnx_task t;

	if (!w->o.alone || lnx_task_by_pid(w->o.kernel, w->o.alone, &t, NULL) < 0 ||
	    t.mm != w->o.mm || memory_add_task(w, &t, NULL) < 0)
		return false;
	if (atw_mm_of(w->o.kernel, &t, &w->space[0].mm, NULL) == ATW_OK)
		return true;
	w->p.ntasks = 0;
	return false;
}

static void memory_keep(struct walk_provider *w, size_t *kept, size_t task)
{
	w->p.task[*kept] = w->p.task[task];
	w->space[*kept] = w->space[task];
	++*kept;
}

/* Keeps the tasks whose page tables are in use. */
static int memory_open_spaces(struct walk_provider *w, struct atw_err *err)
{
	struct provider *p = &w->p;
	_auto_free const struct mmu_space **sp = calloc(p->ntasks + 1, sizeof(*sp));
	_auto_free bool *lives = calloc(p->ntasks + 1, sizeof(*lives));
	struct atw_err why = { 0 };
	size_t kept = 0;

	if (!sp || !lives)
		return atw_err_nomem(err);
	for (size_t i = 0; i < p->ntasks; i++) {
		struct space *s = &w->space[i];
		int r = mm_of_listed(w->o.kernel, &s->task, &s->mm, NULL);

		if (r < 0)               /* it may have ended */
			r = atw_mm_of(w->o.kernel, &s->task, &s->mm, &why);
		if (r < 0)
			provider_cannot(p, p->task[i].name, &why);
		if (r == ATW_OK)
			memory_keep(w, &kept, i);
	}
	p->ntasks = kept;
	for (size_t i = 0; i < p->ntasks; i++)
		sp[i] = &w->space[i].mm.space;
	mmu_spaces_live(sp, p->ntasks, lives);
	kept = 0;
	for (size_t i = 0; i < p->ntasks; i++)
		if (lives[i])
			memory_keep(w, &kept, i);
	p->ntasks = kept;
	return ATW_OK;
}

static int memory_tasks(struct provider *p, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	struct atw_err why = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task t;
	bool broken = false;
	int r;

	if (memory_one_task(w))
		return ATW_OK;
	r = lnx_tasks_open(w->o.kernel, &tasks, err);
	if (r < 0)
		return r;
	/* A dump's broken lists of threads are worth a word. */
	if (w->running)
		tasks_leaders(tasks);
	while ((r = lnx_tasks_next(tasks, &t, &why)) != ATW_END && r != ATW_E_LIMIT) {
		if (r < 0) {             /* there may be more behind it */
			provider_cannot(p, _("not every task could be read"), &why);
			broken = true;
			continue;
		}
		if (!t.mm || t.kernel || !t.leader)
			continue;
		r = memory_add_task(w, &t, err);
		if (r < 0)
			break;
	}
	lnx_tasks_close(tasks);
	if (r == ATW_E_NOMEM)
		return r;
	if (r == ATW_E_LIMIT)
		provider_cannot(p, _("not every task could be read"), &why);
	if (!p->ntasks && (broken || r == ATW_E_LIMIT))
		return atw_err_set(err, ATW_E_DAMAGED, "no process with an address space was found");
	r = memory_open_spaces(w, err);
	return r == ATW_OK ? memory_mark_shared(w, err) : r;
}

/* Of several processes with one address space, the one that was named. */
static int memory_find(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	size_t at = p->ntasks;
	bool lives = false;

	for (size_t i = 0; i < p->ntasks; i++)
		if (w->space[i].at == w->o.mm && (at == p->ntasks || p->task[i].pid == pid))
			at = i;
	for (size_t i = 0; i < p->ntasks; i++)
		lives |= p->task[i].pid == pid;
	if (at == p->ntasks && w->running && !lives)
		return atw_err_set(err, ATW_E_NONE, "process %" PRIu32 " has ended", pid);
	if (at == p->ntasks)
		return atw_err_set(err, ATW_E_MISSING,
				   "process %" PRIu32 " changed while it was looked at", pid);
	*ret = at;
	return ATW_OK;
}

/* ---- areas ---- */

void memory_find_memmap(struct walk_provider *w)
{
	struct atw_err why = { 0 };

	if (w->o.frames && !w->memmap && atw_memmap_open(w->o.kernel, &w->memmap, &why) < 0) {
		w->o.frames = false;
		provider_cannot(&w->p, "struct pages", &why);
	}
}

static struct memory_vmas *memory_of(struct vma_cursor *c)
{
	return (struct memory_vmas *)c;
}

static void memory_close(struct vma_cursor *cur)
{
	atw_areas_close(memory_of(cur)->areas);
	memory_of(cur)->areas = NULL;
}

static int memory_vmas_open(struct vma_cursor *cur, struct atw_err *err)
{
	struct walk_provider *w = walk_of(cur->p);
	const struct space *s = &w->space[cur->task];
	int r;

	memory_find_memmap(w);
	memory_close(cur);
	if (!mmu_space_lives(&s->mm.space))
		return ATW_END;
	r = areas_open_named(w->o.kernel, s->at, w->running ? &w->files : NULL,
			     &memory_of(cur)->areas, err);
	if (r == ATW_OK)
		areas_begin_at(memory_of(cur)->areas, cur->from);
	return r;
}

bool walk_has_ended(struct walk_provider *w, size_t task, int r)
{
	return r < 0 && w->p.every && !mmu_space_lives(&w->space[task].mm.space);
}

static int memory_next(struct vma_cursor *cur, struct atw_area *ret, struct atw_err *err)
{
	struct atw_areas *areas = memory_of(cur)->areas;
	int r = areas ? atw_areas_next(areas, ret, err) : ATW_END;

	if (r == ATW_OK && ret->unread)
		provider_cannot(cur->p, cur->p->task[cur->task].name,
				atw_areas_error(areas));
	return walk_has_ended(walk_of(cur->p), cur->task, r) ? ATW_END : r;
}

/* Numbers of tasks are those of outside, and so must ours be then. */
static uint32_t memory_in_proc(const struct walk_provider *w, size_t task)
{
	struct proc_stat st;
	uint32_t pid = w->p.task[task].pid;

	return w->space[task].task.by_thread && proc_stat(pid, &st, NULL) == ATW_OK ? st.thread : pid;
}

static void memory_large(struct vma_cursor *cur, const struct atw_area *a,
			 uint64_t block, struct large_may *ret)
{
	struct walk_provider *w = walk_of(cur->p);

	large_may_of_area(a, a->flags, ret);
	ret->process = thp_of_mm(w->o.kernel, w->space[cur->task].at);
	if (w->p.here) {
		large_live_system(&w->live, memory_in_proc(w, cur->task), block, a, ret);
		return;
	}
	if (!w->thp_tried)
		thp_of_kernel(w->o.kernel, &w->thp);
	w->thp_tried = true;
	ret->system = ret->kind == LARGE_ANON ? w->thp.anon :
		      ret->kind == LARGE_SHMEM ? w->thp.shmem : THP_UNKNOWN;
	ret->by = ret->kind == LARGE_ANON ? w->thp.anon_by : w->thp.shmem_by;
}

/* ---- frames ---- */

static int memory_vmas_frames(struct provider *p, uint64_t first, uint64_t last,
			      provider_frames_fn *tell, void *arg, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	int r = w->memmap ? ATW_OK : atw_memmap_open(w->o.kernel, &w->memmap, err);

	/* Few kernels have the symbol of the huge zero folio. */
	if (r == ATW_OK && w->p.here)
		atw_memmap_ask_zero(w->memmap, proc_is_zero);
	if (r == ATW_OK && p->cached && !w->cached && !(w->cached = cached_create()))
		r = atw_err_nomem(err);
	if (r < 0)
		return r;
	return walk_ram_frames(&(struct ram_frames){
		.map = w->memmap, .mem = atw_kernel_space(w->o.kernel)->mem,
		.page_shift = p->page_shift, .cached = w->cached, .unmade = &p->unmade,
		.tell = tell, .arg = arg }, first, last, err);
}

static int memory_swap(struct provider *p, unsigned type, struct atw_swap *ret,
		       struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	int r = atw_swap_device(w->o.kernel, type, ret, err);

	/* Few kernels have the symbol; the running one lists its devices to all users. */
	if (r == ATW_E_UNSUPPORTED && w->p.here && proc_swap(type, ret) == ATW_OK)
		r = ATW_OK;
	return r;
}

/* ---- besides memory ---- */

/* Of this machine, what it says of itself. */
static int memory_machine(struct provider *p, const struct about_to *to,
			  struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);

	return w->p.here ? about_host(to, err) : about_kernel(w->o.kernel, to, err);
}

static int memory_slabs(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);

	return w->p.here ? about_host_slabs(to, err)
			 : about_kernel_slabs(w->o.kernel, to, err);
}

static int memory_others(struct provider *p, const struct about_to *to,
			 struct atw_err *err)
{
	const struct others_opts o = { .threads = p->threads, .mm = walk_of(p)->o.mm };

	return o.mm && !o.threads ? ATW_OK : about_others(walk_of(p)->o.kernel, &o, to, err);
}

static int memory_about(struct provider *p, size_t task, const struct vma_cursor *vmas,
			struct task_about *ret, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);

	about_task(w->o.kernel, &w->space[task].task, w->running ? &w->files : NULL, ret);
	ret->t.pid = p->task[task].pid;
	ret->t.mm = p->task[task].mm;
	/* What was read after its end is of others. */
	return mmu_space_lives(&w->space[task].mm.space) ? ATW_OK : ATW_END;
}

static int memory_file(struct vma_cursor *cur, const struct atw_area *a,
		       struct elfunit *ret)
{
	struct walk_provider *w = walk_of(cur->p);
	int r = about_memory(&w->space[cur->task].mm.space, a, ret);

	if (r != ATW_E_MISSING || !w->p.here || !host_first_pid_namespace())
		return r;
	return about_proc_file(memory_in_proc(w, cur->task), a, ret);
}

/* ---- all of it ---- */

static void memory_close_provider(struct provider *p)
{
	struct walk_provider *w = walk_of(p);

	walk_unfollow(w);
	named_files_deinit(&w->files);
	cached_destroy(w->cached);
	atw_memmap_close(w->memmap);
	large_live_forget(&w->live);
	walk_sums_close(w);
	free(w->space);
	free(w);
}

static const struct provider_ops walk_ops = {
	.name = "walk",
	.tasks = memory_tasks,
	.find = memory_find,
	.lead = walk_lead,
	.follow = walk_follow,
	.part = walk_part,
	.prepare = walk_prepare,
	.vma_cursor_size = sizeof(struct memory_vmas),
	.page_cursor_size = sizeof(struct memory_pages),
	.vmas_open = memory_vmas_open,
	.vmas_next = memory_next,
	.vmas_close = memory_close,
	.large = memory_large,
	.pages_open = walk_pages_open,
	.pages_next = walk_pages_next,
	.pages_close = walk_pages_close,
	.facts = walk_facts,
	.frames = memory_vmas_frames,
	.cached = walk_cached,
	.count = walk_count,
	.sum_up = walk_sum_up,
	.sums = walk_sums,
	.swap = memory_swap,
	.machine = memory_machine,
	.slabs = memory_slabs,
	.others = memory_others,
	.about = memory_about,
	.file = memory_file,
	.close = memory_close_provider,
};

/* User space; with two roots, all that the lower one answers for. */
static uint64_t memory_user_last(const struct atw_paging *pg)
{
	unsigned bits = pg->va_bits - (pg->halves == ATW_SIGNED ? 1u : 0);

	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

int walk_provider_open(const struct walk_provider_opts *o, provider_cannot_fn *cannot,
		       void *arg, struct provider **ret, struct atw_err *err)
{
	const struct atw_paging *pg = &atw_kernel_space(o->kernel)->paging;
	struct walk_provider *w;

	for (unsigned i = 0; i < pg->nlevels; i++)
		if (pg->level[i].bits > SLOT_BITS)
			return atw_err_set(err, ATW_E_UNSUPPORTED,
					   "tables of %s have more entries than there is room for",
					   pg->name);
	w = calloc(1, sizeof(*w));
	if (!w)
		return atw_err_nomem(err);
	w->p = (struct provider){
		.ops = &walk_ops, .page_shift = pg->page_shift,
		.user_last = memory_user_last(pg), .cannot = cannot, .arg = arg,
	};
	w->o = *o;
	w->p.running = w->running = atw_source_is_live(atw_kernel_space(o->kernel)->mem);
	w->p.here = atw_source_is_here(atw_kernel_space(o->kernel)->mem);
	walk_find_used(w, pg);
	marks_find(&w->marks, pg, atw_kernel_release(o->kernel));
	w->p.unknown = w->marks.unknown & ~(MARK(MARK_EXCLUSIVE) | MARK(MARK_FILE));
	w->p.way = about_way(atw_kernel_space(o->kernel)->mem);
	*ret = &w->p;
	return ATW_OK;
}
