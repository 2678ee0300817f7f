/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_vmas.c - pages from /proc of the running kernel: maps for areas, pagemap and
 * PAGEMAP_SCAN for pages, kpageflags and similar files for frames. Each file is read at a
 * different moment.
 */
#include "target/procfs_vmas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sorted.h"
#include "format/procmaps.h"
#include "target/procfs.h"
#include "host/host.h"

/* ---- tasks ---- */

static int procfs_add_task(struct pagemap *m, uint32_t pid,
			   const struct proc_stat *st, struct atw_err *err)
{
	struct page_task *t = provider_add_task(&m->p);

	if (!t)
		return atw_err_nomem(err);
	t->pid = pid;
	t->start = st->start;
	t->mm = m->p.ntasks;
	memcpy(t->name, st->name, sizeof(t->name));
	return ATW_OK;
}

static int procfs_one_task(struct pagemap *m, struct atw_err *err)
{
	struct proc_stat st = { 0 };
	uint32_t pid;
	int r = proc_tgid(m->o.only, &pid, err) ?: proc_stat(pid, &st, err);

	if (r == ATW_OK && st.kernel)
		r = atw_err_set(err, ATW_E_NONE,
				"process %" PRIu32 " is a kernel thread or has ended: it has no address space of its own",
				pid);
	if (r == ATW_OK) {
		r = proc_allowed(st.thread, err);
		if (r == ATW_E_PERM)
			proc_hint(err);
	}
	return r < 0 ? r : procfs_add_task(m, pid, &st, err);
}

/* The numbers of tasks are from 1 on, and so are those of what they have. */
static int procfs_mark_shared(struct provider *p, struct atw_err *err)
{
	_auto_free uint32_t *pid = calloc(p->ntasks + 1, sizeof(*pid));
	_auto_free size_t *first = calloc(p->ntasks + 1, sizeof(*first));
	int r = pid && first ? ATW_OK : atw_err_nomem(err);

	for (size_t i = 0; i < p->ntasks && r == ATW_OK; i++)
		pid[i] = p->task[i].pid;
	if (r == ATW_OK)
		r = share_find(pid, p->ntasks, first, err);
	for (size_t i = 0; i < p->ntasks && r == ATW_OK; i++) {
		p->task[i].mm = first[i] + 1;
		p->task[i].shared = first[i] != i;
	}
	return r;
}

static int procfs_tasks(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free uint32_t *pid = NULL;
	size_t n, denied = 0;
	struct atw_err why = { 0 };
	char what[64], how[32];
	int r;

	if (m->o.only)
		return procfs_one_task(m, err);
	r = proc_pids(&pid, &n, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		struct proc_stat st = { 0 };
		int ok;

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		ok = proc_allowed(st.thread, NULL);
		if (ok == ATW_OK)
			r = procfs_add_task(m, pid[i], &st, err);
		denied += ok == ATW_E_PERM;
	}
	if (r == ATW_OK && denied) {
		atw_err_set(&why, ATW_E_PERM, "no permission to read them");
		proc_hint(&why);
		snprintf(what, sizeof(what), "%zu of %zu processes", denied, denied + p->ntasks);
		p->denied = denied;
		provider_cannot(p, what, &why);
	} else if (r == ATW_OK && host_hides_processes(how, sizeof(how))) {
		atw_err_set(&why, ATW_E_PERM, "/proc is mounted with %s, which hides those of others",
			    how);
		proc_hint(&why);
		provider_cannot(p, "processes", &why);
	}
	return r == ATW_OK ? procfs_mark_shared(p, err) : r;
}

static int procfs_find(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err)
{
	/* The only one may have been asked for by the number of a thread. */
	for (size_t i = 0; i < p->ntasks; i++)
		if (p->task[i].pid == pid || pagemap_of(p)->o.only == pid) {
			*ret = i;
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_MISSING, "process %" PRIu32 " cannot be read", pid);
}

/* ---- cursors of areas ---- */

static struct procfs_vmas *procfs_of(struct vma_cursor *c)
{
	return (struct procfs_vmas *)c;
}

static int procfs_vmas_open(struct vma_cursor *cur, struct atw_err *err)
{
	const struct page_task *t = &cur->p->task[cur->task];
	struct procfs_vmas *c = procfs_of(cur);

	c->maps_at = 0;
	return procfs_enter(pagemap_of(cur->p), &c->proc, t->pid, t->start, err);
}

static int procfs_next(struct vma_cursor *cur, struct atw_area *ret, struct atw_err *err)
{
	struct procfs_vmas *c = procfs_of(cur);
	const struct atw_blob maps = { c->proc->maps.data, c->proc->maps.len };
	struct procmaps_area a;
	int r;

	do
		r = procmaps_next(maps, &c->maps_at, &a);
	while (r == ATW_E_FORMAT);
	if (r != ATW_OK)
		return r;
	ret->at = ret->flags = 0;
	ret->start = ATW_VA(a.start);
	ret->end = ATW_VA(a.end);
	ret->read = a.read;
	ret->write = a.write;
	ret->exec = a.exec;
	ret->shared = a.shared;
	ret->rights_unknown = false;
	ret->offset = a.offset;
	ret->major = a.major;
	ret->minor = a.minor;
	ret->inode = a.inode;
	ret->file = a.inode != 0;
	ret->unread = false;
	procmaps_name(a.name, ret->name, sizeof(ret->name));
	return ATW_OK;
}

static void procfs_close(struct vma_cursor *cur)
{
	procfs_drop(&procfs_of(cur)->proc);
}

static void procfs_vmas_large(struct vma_cursor *cur, const struct atw_area *a,
			      uint64_t block, struct large_may *ret)
{
	struct procfs_process *proc = procfs_of(cur)->proc;

	large_live_may(&proc->large, proc->thread, block, a, ret);
}

/* ---- cursors of pages ---- */

static void procfs_pages_init(struct procfs_pages *c, struct pagemap *m)
{
	c->m = m;
	c->cur.p = &m->p;
	c->page = m->page;
	c->pmd = m->pmd;
	c->frames.pace = m->o.pace;
}

static int procfs_pages_open(struct page_cursor *cur, struct atw_err *err)
{
	const struct page_task *t = &cur->p->task[cur->q.task];
	struct procfs_process *beside =
		cur->q.vmas ? ((const struct procfs_vmas *)cur->q.vmas)->proc : NULL;
	struct procfs_pages *c = procfs_pages_of(cur);
	int r = ATW_OK;

	procfs_pages_init(c, pagemap_of(cur->p));
	if (beside && beside->pid == t->pid && beside != c->proc) {
		procfs_drop(&c->proc);
		c->proc = beside;
		c->proc->users++;
	}
	if (!c->proc || c->proc->pid != t->pid)
		r = procfs_enter(c->m, &c->proc, t->pid, t->start, err);
	if (r == ATW_OK)
		pagemap_runs_begin(c, cur->q.first, cur->q.last);
	return r;
}

static void procfs_pages_close(struct page_cursor *cur)
{
	procfs_drop(&procfs_pages_of(cur)->proc);
}

/* ---- counting ---- */

static bool procfs_count_run(struct pagemap *m, const struct page_run *r)
{
	unsigned shift = m->p.page_shift;

	for (uint32_t i = 0; i < r->count; i++) {
		if (i + COUNTS_SOON < r->count)
			counts_soon(&m->p.counts, r->pa[i + COUNTS_SOON] >> shift);
		if (r->slot == m->page ? !counts_add_one(&m->p.counts, r->pa[i] >> shift)
				       : !counts_add(&m->p.counts, r->pa[i] >> shift,
						     r->slot >> shift))
			return false;
	}
	return true;
}

static int procfs_count_one(struct procfs_pages *c, struct atw_err *err)
{
	const struct page_run *r = NULL;
	int rc;

	pagemap_runs_begin(c, 0, UINT64_MAX);
	while ((rc = pagemap_runs_next(&c->cur, &r, err)) == ATW_OK)
		if (r && r->pa &&
		    (r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE) &&
		    !procfs_count_run(c->m, r))
			return ATW_E_LIMIT;
	return rc == ATW_E_NOMEM ? rc : ATW_OK;
}

/* Processes that end meanwhile, or that are not for us, count nothing. */
static int procfs_count(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free struct procfs_pages *c = NULL;
	_auto_free uint32_t *pid = NULL;
	_auto_free size_t *first = NULL;
	size_t n = 0;
	int r = m->hidden ? ATW_END : proc_pids(&pid, &n, err);

	if (r != ATW_OK)
		return r < 0 ? r : ATW_OK;
	first = calloc(n + 1, sizeof(*first));
	c = calloc(1, sizeof(*c));
	if (!first || !c)
		return atw_err_nomem(err);
	procfs_pages_init(c, m);
	r = share_find(pid, n, first, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		provider_counting(p, i, n);
		if (first[i] != i)
			continue;
		r = procfs_enter(m, &c->proc, pid[i], 0, err);
		r = r == ATW_OK        ? procfs_count_one(c, err)
		    : r == ATW_E_NOMEM ? r
				       : ATW_OK;
	}
	procfs_drop(&c->proc);
	p->counted = r == ATW_OK;
	return r == ATW_E_LIMIT ? provider_leave_counts(p, err) : r;
}

/* Its files are its own. */
static int procfs_follow(struct provider *p, struct provider *lead, struct atw_err *err)
{
	return provider_take(p, lead, err);
}

/* The kernel does not list what is being taken off, and that is no fault. */
static int procfs_swap(struct provider *p, unsigned type, struct atw_swap *ret,
		       struct atw_err *err)
{
	return proc_swap(type, ret) == ATW_OK ? ATW_OK : ATW_E_UNSUPPORTED;
}

/* ---- besides memory ---- */

static int procfs_machine(struct provider *p, const struct about_to *to,
			  struct atw_err *err)
{
	return about_host(to, err);
}

static int procfs_slabs(struct provider *p, const struct about_to *to, struct atw_err *err)
{
	return about_host_slabs(to, err);
}

/* The address space of a process, as its T: line has it; 0: it is not in the list. */
static uint64_t procfs_mm_of(const struct provider *p, uint32_t pid)
{
	const struct page_task *t = NULL;

	if (p->ntasks)
		t = bsearch(&pid, p->task, p->ntasks, sizeof(*t), sorted_by_u32);
	return t ? t->mm : 0;
}

/* The main thread is left out: the record of the process stands for it. */
static int procfs_threads_of(const struct provider *p, uint32_t pid,
			     const struct about_to *to, struct task_about *a,
			     struct atw_err *err)
{
	_auto_free uint32_t *tid = NULL;
	uint64_t mm = procfs_mm_of(p, pid);
	size_t n = 0;
	int r = ATW_OK;

	/* It may have ended. */
	if (!mm || proc_tids(pid, &tid, &n, NULL) < 0)
		return ATW_OK;
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		if (tid[i] == pid || about_thread(pid, tid[i], a, NULL) < 0)
			continue;
		a->t.mm = mm;
		r = about_tell(to, a, err);
	}
	return r;
}

/* Every kernel has task 0, and /proc does not list it. */
static int procfs_idle(const struct about_to *to, struct task_about *a,
		       struct atw_err *err)
{
	about_nothing(a, 0, "swapper/0", 0);
	a->has |= CAPTURE_T_TGID | CAPTURE_T_CPU | CAPTURE_T_KTHREAD;
	a->t.kthread = 1;
	return about_tell(to, a, err);
}

static int procfs_others(struct provider *p, const struct about_to *to,
			 struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free struct task_about *a = malloc(sizeof(*a));
	_auto_free uint32_t *pid = NULL;
	size_t n;
	int r = a ? proc_pids(&pid, &n, err) : atw_err_nomem(err);

	if (r == ATW_OK && !m->o.only && host_first_pid_namespace())
		r = procfs_idle(to, a, err);
	for (size_t i = 0; r == ATW_OK && i < n; i++) {
		struct proc_stat st = { 0 };

		if ((m->o.only && pid[i] != m->o.only) || proc_stat(pid[i], &st, NULL) < 0)
			continue;
		if (!st.kernel) {
			r = about_passed(to, pid[i], err);
			if (r == ATW_OK && p->threads)
				r = procfs_threads_of(p, pid[i], to, a, err);
		} else if (!m->o.only && about_proc(pid[i], pid[i], 0, a, NULL) == ATW_OK) {
			r = about_tell(to, a, err);
		}
	}
	return r;
}

static int procfs_about(struct provider *p, size_t task, const struct vma_cursor *vmas,
			struct task_about *ret, struct atw_err *err)
{
	const struct procfs_process *proc =
		vmas ? ((const struct procfs_vmas *)vmas)->proc : NULL;
	const struct page_task *t = &p->task[task];
	int r = about_proc(t->pid, proc ? proc->thread : t->pid, proc ? proc->heap : 0, ret,
			   err);

	if (r == ATW_E_MISSING || (r == ATW_OK && t->start && ret->t.start != t->start))
		return ATW_END;
	if (r == ATW_OK)
		ret->t.mm = t->mm;
	return r;
}

static int procfs_file(struct vma_cursor *cur, const struct atw_area *a,
		       struct elfunit *ret)
{
	return about_proc_file(procfs_of(cur)->proc->thread, a, ret);
}

/* ---- all of it ---- */

static void procfs_close_provider(struct provider *p)
{
	struct pagemap *m = pagemap_of(p);

	pagemap_frames_close(m);
	free(m);
}

static const struct provider_ops pagemap_ops = {
	.name = "pagemap",
	.tasks = procfs_tasks,
	.find = procfs_find,
	.follow = procfs_follow,
	.vma_cursor_size = sizeof(struct procfs_vmas),
	.page_cursor_size = sizeof(struct procfs_pages),
	.vmas_open = procfs_vmas_open,
	.vmas_next = procfs_next,
	.vmas_close = procfs_close,
	.large = procfs_vmas_large,
	.pages_open = procfs_pages_open,
	.pages_next = pagemap_runs_next,
	.pages_close = procfs_pages_close,
	.facts = pagemap_facts,
	.frames = pagemap_ram_frames,
	.count = procfs_count,
	.swap = procfs_swap,
	.machine = procfs_machine,
	.slabs = procfs_slabs,
	.others = procfs_others,
	.about = procfs_about,
	.file = procfs_file,
	.close = procfs_close_provider,
};

int pagemap_provider_open(const struct pagemap_provider_opts *o, provider_cannot_fn *cannot,
			  void *arg, struct provider **ret, struct atw_err *err)
{
	struct pagemap *m = calloc(1, sizeof(*m));

	if (!m)
		return atw_err_nomem(err);
	m->page = (uint64_t)sysconf(_SC_PAGESIZE);
	m->pmd = m->page * (m->page / 8);
	m->p = (struct provider){
		.ops = &pagemap_ops, .flags = &pagemap_flags, .cannot = cannot, .arg = arg,
		.way = "pagemap", .area_rights = true, .running = true, .here = true, .our_pids = true,
		.page_shift = (unsigned)__builtin_ctzll(m->page), .user_last = INT64_MAX,
	};
	m->o = *o;
	m->mode = proc_paging();
	if (m->mode)
		m->soft = atw_soft_abi_for(m->mode, NULL);
	m->has_swap = proc_has_swap();
	/* Some containers have no such file (subset=pid). */
	m->p.no_swap = !m->has_swap && !access("/proc/swaps", R_OK);
	pagemap_frames_open(m);
	*ret = &m->p;
	return ATW_OK;
}
