// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * task_info.c - attributes of a task from kernel memory, with the sums of do_task_stat()
 * in fs/proc/array.c.
 */
#include "linux/task_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "linux/kernel.h"
#include "linux/areas.h"

enum {
	THREADS = 4 * 1024 * 1024,       /* PID_MAX_LIMIT, include/linux/threads.h */
	TICK = 1000000000 / ABOUT_TICKS, /* ns */
};

struct task_info_looker {
	struct members v;
	const struct lnx_task *t;
	struct task_about *a;
	uint64_t page;                   /* bytes */
	struct named_files *files;       /* borrowed; NULL: no cache */
	/* Members of the task, read at once; 0: not known. */
	uint64_t signal, cred, cgroups, boot, cpu;
	bool has_boot, has_cpu;
};

void about_text(struct atw_blob *t, char *buf, size_t len)
{
	*t = (struct atw_blob){ buf, strnlen(buf, len) };
}

static bool info_get(const struct task_info_looker *l, uint64_t base,
		     enum need_member id, uint64_t *ret)
{
	return base && member_get(&l->v, base, id, ret, NULL) == ATW_OK;
}

/* A pointer that can be followed. */
static bool info_follow(const struct task_info_looker *l, uint64_t base,
			enum need_member id, uint64_t *ret)
{
	return info_get(l, base, id, ret) && *ret;
}

static const enum need_member of_pointers[] = {
	N_task_signal, N_task_cred, N_task_cgroups, N_task_boot, N_task_cpu,
};

static void info_look_at_task(struct task_info_looker *l)
{
	uint64_t at = l->t->at;

	members_hold(&l->v, at, of_pointers, ARRAY_SIZE(of_pointers));
	info_get(l, at, N_task_signal, &l->signal);
	info_get(l, at, N_task_cred, &l->cred);
	info_get(l, at, N_task_cgroups, &l->cgroups);
	l->has_boot = info_get(l, at, N_task_boot, &l->boot);
	l->has_cpu = info_get(l, at, N_task_cpu, &l->cpu);
	members_release(&l->v);
}

/* ---- faults and times ---- */

struct used {
	uint64_t minor, major, user, system, ran;
	bool faults, times;              /* these are known */
};

/* The first five are added up; the others are read along with them. */
static const enum need_member of_task[] = {
	N_task_minor, N_task_major, N_task_utime, N_task_stime, N_task_runtime,
	N_task_tgid, N_task_thread_node,
};
static const enum need_member of_signal[] = {
	N_signal_minor, N_signal_major, N_signal_utime, N_signal_stime, N_signal_runtime,
	N_signal_threads, N_signal_child_minor, N_signal_child_major, N_signal_thread_head,
};

static const enum need_member of_cred[] = { N_cred_uid };
static const enum need_member of_mm[] = {
	N_mm_start_code, N_mm_end_code, N_mm_start_data, N_mm_end_data,
	N_mm_start_brk, N_mm_brk, N_mm_start_stack, N_mm_exe,
};

/* ---- read-ahead: of a running kernel, each read is a system call ---- */

/* What the task leads to at once. */
static void info_ahead(struct task_info_looker *l)
{
	const struct lnx_task *t = l->t;

	if (!l->files || !kmem_is_live(l->v.m))
		return;
	if (!l->files->ahead)
		l->files->ahead = kmem_ahead_create(l->v.m);
	l->v.ahead = l->files->ahead;
	if (!l->v.ahead)
		return;
	kmem_ahead_forget(l->v.ahead);
	members_soon(&l->v, t->at, of_pointers, ARRAY_SIZE(of_pointers));
	members_soon(&l->v, t->at, of_task, ARRAY_SIZE(of_task));
	if (t->mm && !t->kernel)
		members_soon(&l->v, t->mm, of_mm, ARRAY_SIZE(of_mm));
	kmem_ahead_read(l->v.ahead);
}

/* What that leads to. */
static void info_ahead_more(struct task_info_looker *l)
{
	const struct lnx_task *t = l->t;
	uint64_t file = 0;

	if (!l->v.ahead)
		return;
	if (t->mm && !t->kernel) {
		members_hold(&l->v, t->mm, of_mm, ARRAY_SIZE(of_mm));
		info_get(l, t->mm, N_mm_exe, &file);
		members_release(&l->v);
	}
	if (l->signal)
		members_soon(&l->v, l->signal, of_signal, ARRAY_SIZE(of_signal));
	if (l->cred)
		members_soon(&l->v, l->cred, of_cred, ARRAY_SIZE(of_cred));
	if (file)
		names_soon_file(&l->v, file);
	kmem_ahead_read(l->v.ahead);
	if (file)
		names_soon_dentry(&l->v, file);
	kmem_ahead_read(l->v.ahead);
}

static void info_add(const struct task_info_looker *l, uint64_t at,
		     const enum need_member id[5], struct used *u)
{
	uint64_t v[5] = { 0 };

	u->faults = u->faults && info_get(l, at, id[0], &v[0]) &&
		    info_get(l, at, id[1], &v[1]);
	u->times = u->times && info_get(l, at, id[2], &v[2]) &&
		   info_get(l, at, id[3], &v[3]) && info_get(l, at, id[4], &v[4]);
	u->minor += v[0];
	u->major += v[1];
	u->user += v[2];
	u->system += v[3];
	u->ran += v[4];
}

/*
 * Sums of the process: of ended threads, and of the current ones. Links of a running
 * kernel may change: then the sums are not known.
 */
static void info_add_up(const struct task_info_looker *l, uint64_t signal,
			uint64_t threads, struct used *u)
{
	uint64_t head = signal + l->v.n->member[N_signal_thread_head], link = head, tgid, n = 0;

	*u = (struct used){ .faults = true, .times = true };
	info_add(l, signal, of_signal, u);
	while (u->faults || u->times) {
		uint64_t task;

		if (kmem_u64(l->v.m, link, &link, NULL) < 0 || n > threads)
			break;
		if (link == head)
			return;
		task = link - l->v.n->member[N_task_thread_node];
		members_hold(&l->v, task, of_task, ARRAY_SIZE(of_task));
		if (!info_get(l, task, N_task_tgid, &tgid) || tgid != l->t->tgid)
			break;
		info_add(l, task, of_task, u);
		n++;
	}
	u->faults = u->times = false;
}

/*
 * cputime_adjust() in kernel/sched/cputime.c: ticks are samples, and only used to divide
 * the measured time in proportion.
 */
static void info_share(struct used *u)
{
	uint64_t user = u->user, system = u->system, ran = u->ran, both;

	while (__builtin_add_overflow(user, system, &both) ||
	       (system && ran > UINT64_MAX / system)) {
		user >>= 1;
		system >>= 1;
	}
	u->system = !system ? 0 : !user ? ran : system * ran / both;
	u->user = ran - u->system;
}

/* Attributes of the threads of a process, `signal` being held. */
static void info_used_by(const struct task_info_looker *l, uint64_t signal)
{
	struct capture_task *t = &l->a->t;
	uint64_t threads = 0, minor = 0, major = 0;
	bool children;
	struct used u;

	/* Every process has at least one thread: such bytes are missing from the dump. */
	if (!info_follow(l, signal, N_signal_threads, &threads) ||
	    threads > THREADS || !member_have(&l->v, N_signal_thread_head) ||
	    !member_have(&l->v, N_task_thread_node))
		return;
	children = info_get(l, signal, N_signal_child_minor, &minor) &&
		   info_get(l, signal, N_signal_child_major, &major);
	if (l->t->leader) {
		t->threads = (uint32_t)threads;
		l->a->has |= CAPTURE_T_THREADS;
		info_add_up(l, signal, threads, &u);
	} else {
		u = (struct used){ .faults = true, .times = true };
		members_hold(&l->v, l->t->at, of_task, ARRAY_SIZE(of_task));
		info_add(l, l->t->at, of_task, &u);
	}
	if (u.faults && children) {
		t->child_minor = minor;
		t->child_major = major;
		t->minor = u.minor;
		t->major = u.major;
		l->a->has |= CAPTURE_T_FAULTS;
	}
	if (u.times) {
		info_share(&u);
		t->user = u.user / TICK;
		t->system = u.system / TICK;
		l->a->has |= CAPTURE_T_TIMES;
	}
	if (l->has_cpu) {
		t->cpu = l->cpu;
		l->a->has |= CAPTURE_T_CPU;
	}
}

static void info_used(const struct task_info_looker *l)
{
	if (!l->signal)
		return;
	members_hold(&l->v, l->signal, of_signal, ARRAY_SIZE(of_signal));
	info_used_by(l, l->signal);
	members_release(&l->v);
}

/* ---- user, cgroup and start ---- */

static bool info_same_root(const struct task_info_looker *l, uint64_t a, uint64_t b)
{
	uint64_t x, y;

	return info_get(l, a, N_cgroup_root, &x) &&
	       info_get(l, b, N_cgroup_root, &y) && x == y;
}

/* The cgroup that its memory is charged to, also if memory has its own hierarchy. */
static bool info_cgroup_of(const struct task_info_looker *l, uint64_t *ret)
{
	const struct needs *n = l->v.n;
	uint64_t set = l->cgroups, css, other;

	if (!info_follow(l, set, N_css_set_default, ret))
		return false;
	if (n->have_const[C_memory_cgrp] && member_have(&l->v, N_css_set_subsys) &&
	    kmem_u64(l->v.m,
		     set + n->member[N_css_set_subsys] +
			     (uint64_t)n->constant[C_memory_cgrp] * 8,
		     &css, NULL) == ATW_OK &&
	    info_follow(l, css, N_css_cgroup, &other) && !info_same_root(l, *ret, other))
		*ret = other;
	return true;
}

static bool info_look_up_cgroup(const struct task_info_looker *l)
{
	struct task_about *a = l->a;
	uint64_t cgroup, node;

	return info_cgroup_of(l, &cgroup) && info_follow(l, cgroup, N_cgroup_kn, &node) &&
	       cgroup_path(&l->v, node, a->cgroup, sizeof(a->cgroup));
}

/* Most tasks share their css_set with others. */
static bool info_find_cgroup(const struct task_info_looker *l)
{
	struct task_about *a = l->a;
	struct named_set *s = l->files && l->cgroups
				      ? &l->files->set[hash_u64(l->cgroups) % NAMED_SETS] : NULL;

	if (s && s->path && s->at == l->cgroups) {
		snprintf(a->cgroup, sizeof(a->cgroup), "%s", s->path);
		return true;
	}
	if (!info_look_up_cgroup(l))
		return false;
	if (s) {
		free(s->path);
		*s = (struct named_set){ l->cgroups, strdup(a->cgroup) };
	}
	return true;
}

static void info_whose(const struct task_info_looker *l)
{
	struct task_about *a = l->a;

	if (l->cred)
		members_hold(&l->v, l->cred, of_cred, ARRAY_SIZE(of_cred));
	if (info_get(l, l->cred, N_cred_uid, &a->t.uid))
		a->has |= CAPTURE_T_UID;
	members_release(&l->v);
	if (info_find_cgroup(l)) {
		about_text(&a->t.cgroup, a->cgroup, sizeof(a->cgroup));
		a->has |= CAPTURE_T_CGROUP;
	}
	/* All tasks but task 0 start later. */
	if (l->has_boot && (l->boot || !l->t->pid)) {
		a->t.start = l->boot / TICK;
		a->has |= CAPTURE_T_START;
	}
}

/* ---- executable ---- */

static bool info_pair(const struct task_info_looker *l, enum need_member first,
		      enum need_member last, struct capture_pair *ret)
{
	return info_follow(l, l->t->mm, first, &ret->a) &&
	       info_get(l, l->t->mm, last, &ret->b) && ret->b >= ret->a;
}

static void info_run_from(const struct task_info_looker *l, uint64_t file)
{
	struct task_about *a = l->a;
	uint64_t mnt, dentry;

	if (!named_before_at(l->files, &l->v, file, a->exe, sizeof(a->exe)) &&
	    (!info_follow(l, file, N_file_mnt, &mnt) ||
	     !info_follow(l, file, N_file_dentry, &dentry) ||
	     path_read(&l->v, mnt, dentry, a->exe, sizeof(a->exe), NULL) != ATW_OK))
		return;
	about_text(&a->t.exe, a->exe, sizeof(a->exe));
	a->has |= CAPTURE_T_EXE;
}

static void info_program(const struct task_info_looker *l)
{
	struct task_about *a = l->a;
	uint64_t file = 0;

	members_hold(&l->v, l->t->mm, of_mm, ARRAY_SIZE(of_mm));
	if (info_pair(l, N_mm_start_code, N_mm_end_code, &a->t.code))
		a->has |= CAPTURE_T_CODE;
	if (info_pair(l, N_mm_start_data, N_mm_end_data, &a->t.data))
		a->has |= CAPTURE_T_DATA;
	/* With the end of its VMA, which is all that /proc shows. */
	if (info_pair(l, N_mm_start_brk, N_mm_brk, &a->t.brk) &&
	    !__builtin_add_overflow(a->t.brk.b, l->page - 1, &a->t.brk.b)) {
		a->t.brk.b &= ~(l->page - 1);
		a->has |= CAPTURE_T_BRK;
	}
	if (info_follow(l, l->t->mm, N_mm_start_stack, &a->t.stack))
		a->has |= CAPTURE_T_STACK;
	info_get(l, l->t->mm, N_mm_exe, &file);
	members_release(&l->v);
	if (file)
		info_run_from(l, file);
}

void about_task(struct atw_kernel *k, const struct lnx_task *t, struct named_files *files,
		struct task_about *ret)
{
	struct task_info_looker l = {
		.v.n = kernel_needs(k), .t = t, .a = ret, .files = files,
		.page = (uint64_t)1 << atw_kernel_space(k)->paging.page_shift,
	};

	*ret = (struct task_about){
		.has = CAPTURE_T_TGID | CAPTURE_T_KTHREAD | (t->has_ppid ? CAPTURE_T_PPID : 0),
	};
	memcpy(ret->name, t->name, sizeof(ret->name));
	about_text(&ret->t.name, ret->name, sizeof(ret->name));
	ret->t.pid = t->pid;
	ret->t.tgid = t->tgid;
	ret->t.ppid = t->ppid;
	ret->t.mm = t->kernel ? 0 : t->mm;
	ret->t.kthread = t->kernel;
	if (kernel_kmem(k, &l.v.m, NULL) < 0)
		return;
	info_ahead(&l);
	info_look_at_task(&l);
	info_ahead_more(&l);
	info_used(&l);
	info_whose(&l);
	if (ret->t.mm && t->leader)
		info_program(&l);
}
