/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs_vmas.c - pages from /proc of the running kernel: maps for areas, pagemap and
 * PAGEMAP_SCAN for pages, kpageflags and similar files for frames. Each file is read at a
 * different moment.
 */
#include "target/procfs_vmas.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/procmaps.h"
#include "target/procfs.h"
#include "target/shared_mm.h"
#include "host/host.h"

enum { TRIES = 16 };             /* of threads that end before they are looked at */

/* ---- tasks ---- */

static int procfs_vmas_add_task(struct pagemap *m, uint32_t pid,
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

static int procfs_vmas_one_task(struct pagemap *m, struct atw_err *err)
{
	struct proc_stat st = { 0 };
	uint32_t pid;
	int r = proc_tgid(m->o.only, &pid, err);

	if (r == ATW_OK)
		r = proc_stat(pid, &st, err);
	if (r == ATW_OK && st.kernel)
		r = atw_err_set(err, ATW_E_NONE,
				"process %" PRIu32 " is a kernel thread or has ended: it has no address space of its own",
				pid);
	if (r == ATW_OK) {
		r = proc_allowed(st.thread, err);
		if (r == ATW_E_PERM)
			proc_hint(err);
	}
	return r < 0 ? r : procfs_vmas_add_task(m, pid, &st, err);
}

/* The numbers of tasks are from 1 on, and so are those of what they have. */
static int procfs_vmas_mark_shared(struct provider *p, struct atw_err *err)
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

static int procfs_vmas_tasks(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free uint32_t *pid = NULL;
	size_t n, denied = 0;
	struct atw_err why = { 0 };
	char what[64], how[32];
	int r;

	if (m->o.only)
		return procfs_vmas_one_task(m, err);
	r = proc_pids(&pid, &n, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		struct proc_stat st = { 0 };
		int ok;

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		ok = proc_allowed(st.thread, NULL);
		if (ok == ATW_OK)
			r = procfs_vmas_add_task(m, pid[i], &st, err);
		denied += ok == ATW_E_PERM;
	}
	if (r == ATW_OK && denied) {
		atw_err_set(&why, ATW_E_PERM, "this process may not read them");
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
	return r == ATW_OK ? procfs_vmas_mark_shared(p, err) : r;
}

static int procfs_vmas_find(struct provider *p, uint32_t pid, size_t *ret,
			    struct atw_err *err)
{
	/* The only one may have been asked for by the number of a thread. */
	for (size_t i = 0; i < p->ntasks; i++)
		if (p->task[i].pid == pid || pagemap_of(p)->o.only == pid) {
			*ret = i;
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_MISSING, "process %" PRIu32 " cannot be read", pid);
}

/* ---- areas ---- */

/* Mapped by frame numbers, perhaps: PAGEMAP_SCAN leaves such areas out. */
static bool procfs_vmas_is_device(struct atw_blob name)
{
	static const char *const roots[] = { "/dev/", "/sys/", "/proc/", "anon_inode:", "/dmabuf:" };

	if (blob_begins(name, "/dev/shm/") || blob_begins(name, "/dev/zero"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (blob_begins(name, roots[i]))
			return true;
	return false;
}

/* The kernel's own, and of many processes: no smaps need be read for it. */
static bool procfs_vmas_is_vvar(struct atw_blob name)
{
	return blob_begins(name, "[vvar");
}

void pagemap_leave(struct pagemap *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	m->pid = m->thread = 0;
	buf_deinit(&m->maps);
	m->maps = (struct buf){ 0 };
	m->nareas = m->maps_at = 0;
	m->heap = 0;
	large_live_forget(&m->large);
}

/* ATW_END: that one has no memory, or is none of this process's threads. */
static int procfs_vmas_enter(struct pagemap *m, uint32_t pid, uint32_t thread,
			     struct atw_err *err)
{
	struct procmaps_area a;
	uint32_t tgid;
	char path[48];
	size_t pos = 0;
	int r;

	pagemap_leave(m);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap", thread);
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0 && (errno == ENOENT || errno == ESRCH))
		return ATW_END;
	if (m->fd < 0)
		return atw_err_set(err, errno == EACCES || errno == EPERM ? ATW_E_PERM : ATW_E_IO,
				   "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", thread);
	r = host_file_paced(path, 1 << 30, m->o.pace, &m->maps, err);
	while (r == ATW_OK) {
		r = procmaps_next((struct atw_blob){ m->maps.data, m->maps.len }, &pos, &a);
		if (r == ATW_E_FORMAT)
			atw_err_set(err, r, "%s: a line is not what it should be", path);
		if (r != ATW_OK)
			break;
		/* An area that moved while the file was read can be in it twice. */
		if (m->nareas && a.start < m->area[m->nareas - 1].end)
			continue;
		if (!array_reserve((void **)&m->area, &m->areas_cap, m->nareas + 1, sizeof(*m->area)))
			return atw_err_nomem(err);
		m->area[m->nareas++] = (struct area){
			a.start,
			a.end,
			(uint8_t)((a.read ? ATW_UR : 0) | (a.write ? ATW_UW : 0) |
				  (a.exec ? ATW_UX : 0)),
			procfs_vmas_is_device(a.name),
			procfs_vmas_is_vvar(a.name),
			!procfs_vmas_is_device(a.name),
		};
		if (a.name.len == 6 && !memcmp(a.name.data, "[heap]", 6))
			m->heap = a.end;
	}
	/* One that has ended in between has no areas, or no such file any more. */
	if (r == ATW_E_MISSING)
		return ATW_END;
	if (r < 0)
		return r;
	/* The number of a thread may be another's by now. */
	if (!m->nareas || (thread != pid && (proc_tgid(thread, &tgid, NULL) < 0 || tgid != pid)))
		return ATW_END;
	m->thread = thread;
	return ATW_OK;
}

/*
 * What is listed of it is what it has now. A main thread that has ended has nothing: then
 * one that goes on is asked; and again, for threads end meanwhile.
 */
int pagemap_enter(struct pagemap *m, uint32_t pid, uint64_t start, struct atw_err *err)
{
	struct proc_stat st = { 0 };
	int r = procfs_vmas_enter(m, pid, pid, err);

	for (unsigned i = 0; i < TRIES && r == ATW_END && proc_stat(pid, &st, NULL) == ATW_OK &&
	     st.headless && !st.kernel; i++)
		r = procfs_vmas_enter(m, pid, st.thread, err);
	/* Another one may have its number by now. */
	if (r == ATW_OK && start && (proc_stat(pid, &st, NULL) < 0 || st.start != start))
		return ATW_END;
	if (r == ATW_OK)
		m->pid = pid;
	return r;
}

static int procfs_vmas_areas_open(struct provider *p, size_t task, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);

	return pagemap_enter(m, p->task[task].pid, p->task[task].start, err);
}

static int procfs_vmas_areas_next(struct provider *p, struct atw_area *ret,
				  struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	struct procmaps_area a;
	int r;

	(void)err;
	do
		r = procmaps_next((struct atw_blob){ m->maps.data, m->maps.len }, &m->maps_at, &a);
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
	ret->offset = a.offset;
	ret->major = a.major;
	ret->minor = a.minor;
	ret->inode = a.inode;
	ret->file = a.inode != 0;
	ret->unread = false;
	procmaps_name(a.name, ret->name, sizeof(ret->name));
	return ATW_OK;
}

static void procfs_vmas_large(struct provider *p, const struct atw_area *a,
			      uint64_t block, struct large_may *ret)
{
	struct pagemap *m = pagemap_of(p);

	large_live_may(&m->large, m->thread, block, a, ret);
}

/* ---- pages ---- */

static int procfs_vmas_pages_open(struct provider *p, size_t task, uint64_t first,
				  uint64_t last, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	int r = m->pid == p->task[task].pid ? ATW_OK : pagemap_enter(m, p->task[task].pid, p->task[task].start, err);

	if (r == ATW_OK)
		pagemap_runs_begin(m, first, last);
	return r;
}

static bool procfs_vmas_count_run(struct pagemap *m, const struct page_run *r)
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

static int procfs_vmas_count_one(struct pagemap *m, struct atw_err *err)
{
	const struct page_run *r = NULL;
	int rc;

	pagemap_runs_begin(m, 0, UINT64_MAX);
	while ((rc = pagemap_runs_next(&m->p, &r, err)) == ATW_OK)
		if (r && r->pa &&
		    (r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE) &&
		    !procfs_vmas_count_run(m, r))
			return ATW_E_LIMIT;
	return rc == ATW_E_NOMEM ? rc : ATW_OK;
}

/* Processes that end meanwhile, or that are not for us, count nothing. */
static int procfs_vmas_count(struct provider *p, struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free uint32_t *pid = NULL;
	_auto_free size_t *first = NULL;
	size_t n = 0;
	int r = m->hidden ? ATW_END : proc_pids(&pid, &n, err);

	if (r != ATW_OK)
		return r < 0 ? r : ATW_OK;
	first = calloc(n + 1, sizeof(*first));
	if (!first)
		return atw_err_nomem(err);
	r = share_find(pid, n, first, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		provider_counting(p, i, n);
		if (first[i] != i)
			continue;
		r = pagemap_enter(m, pid[i], 0, err);
		r = r == ATW_OK        ? procfs_vmas_count_one(m, err)
		    : r == ATW_E_NOMEM ? r
				       : ATW_OK;
	}
	pagemap_leave(m);
	p->counted = r == ATW_OK;
	return r == ATW_E_LIMIT ? provider_leave_counts(p, err) : r;
}

/* The kernel does not list what is being taken off, and that is no fault. */
static int procfs_vmas_swap(struct provider *p, unsigned type, struct atw_swap *ret,
			    struct atw_err *err)
{
	(void)p;
	(void)err;
	return proc_swap(type, ret) == ATW_OK ? ATW_OK : ATW_E_UNSUPPORTED;
}

/* ---- besides memory ---- */

static int procfs_vmas_machine(struct provider *p, const struct about_to *to,
			       struct atw_err *err)
{
	return about_host(to, p->slabs, err);
}

/* The address space of a process, as its T: line has it; 0: it is not in the list. */
static uint64_t procfs_vmas_mm_of(const struct provider *p, uint32_t pid)
{
	size_t lo = 0, hi = p->ntasks;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->task[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->ntasks && p->task[lo].pid == pid ? p->task[lo].mm : 0;
}

/* The main thread is left out: the record of the process stands for it. */
static int procfs_vmas_threads_of(const struct provider *p, uint32_t pid,
				  const struct about_to *to, struct task_about *a,
				  struct atw_err *err)
{
	_auto_free uint32_t *tid = NULL;
	uint64_t mm = procfs_vmas_mm_of(p, pid);
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
static int procfs_vmas_idle(const struct about_to *to, struct task_about *a,
			    struct atw_err *err)
{
	about_nothing(a, 0, "swapper/0", 0);
	a->has |= CAPTURE_T_TGID | CAPTURE_T_CPU;
	return about_tell(to, a, err);
}

static int procfs_vmas_others(struct provider *p, const struct about_to *to,
			      struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	_auto_free struct task_about *a = malloc(sizeof(*a));
	_auto_free uint32_t *pid = NULL;
	size_t n;
	int r = a ? proc_pids(&pid, &n, err) : atw_err_nomem(err);

	if (r == ATW_OK && !m->o.only && host_first_pid_namespace())
		r = procfs_vmas_idle(to, a, err);
	for (size_t i = 0; r == ATW_OK && i < n; i++) {
		struct proc_stat st = { 0 };

		if ((m->o.only && pid[i] != m->o.only) || proc_stat(pid[i], &st, NULL) < 0)
			continue;
		if (!st.kernel) {
			r = about_passed(to, pid[i], err);
			if (r == ATW_OK && p->threads)
				r = procfs_vmas_threads_of(p, pid[i], to, a, err);
		} else if (!m->o.only && about_proc(pid[i], pid[i], 0, a, NULL) == ATW_OK) {
			r = about_tell(to, a, err);
		}
	}
	return r;
}

static int procfs_vmas_about(struct provider *p, size_t task, struct task_about *ret,
			     struct atw_err *err)
{
	struct pagemap *m = pagemap_of(p);
	const struct page_task *t = &p->task[task];
	int r = about_proc(t->pid, m->pid == t->pid ? m->thread : t->pid,
			   m->pid == t->pid ? m->heap : 0, ret, err);

	if (r == ATW_E_MISSING || (r == ATW_OK && t->start && ret->t.start != t->start))
		return ATW_END;
	if (r == ATW_OK)
		ret->t.mm = t->mm;
	return r;
}

static int procfs_vmas_file(struct provider *p, const struct atw_area *a,
			    struct elfunit *ret)
{
	return about_proc_file(pagemap_of(p)->thread, a, ret);
}

/* ---- all of it ---- */

static void procfs_vmas_close(struct provider *p)
{
	struct pagemap *m = pagemap_of(p);

	pagemap_leave(m);
	pagemap_frames_close(m);
	large_live_deinit(&m->large);
	free(m->area);
	free(m);
}

static const struct provider_ops pagemap_ops = {
	.name = "pagemap",
	.tasks = procfs_vmas_tasks,
	.find = procfs_vmas_find,
	.areas_open = procfs_vmas_areas_open,
	.areas_next = procfs_vmas_areas_next,
	.large = procfs_vmas_large,
	.pages_open = procfs_vmas_pages_open,
	.pages_next = pagemap_runs_next,
	.pages_close = pagemap_runs_end,
	.facts = pagemap_facts,
	.frames = pagemap_ram_frames,
	.count = procfs_vmas_count,
	.swap = procfs_vmas_swap,
	.machine = procfs_vmas_machine,
	.others = procfs_vmas_others,
	.about = procfs_vmas_about,
	.file = procfs_vmas_file,
	.close = procfs_vmas_close,
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
		.way = "pagemap", .area_rights = true, .running = true,
		.page_shift = (unsigned)__builtin_ctzll(m->page), .user_last = INT64_MAX,
	};
	m->o = *o;
	m->frames.pace = o->pace;
	m->fd = -1;
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
