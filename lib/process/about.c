// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * about.c - what the kernel keeps of a task, as do_task_stat() in fs/proc/array.c
 * adds it up.
 */
#include "process/about.h"

#include <string.h>

#include "kernel/kernel.h"
#include "process/path.h"

enum {
	THREADS = 4 * 1024 * 1024,       /* PID_MAX_LIMIT, include/linux/threads.h */
	DEPTH = 64,                      /* folders of a cgroup's path */
	TICK = 1000000000 / ABOUT_TICKS, /* ns */
};

struct looker {
	struct members v;
	const struct atw_task *t;
	struct task_about *a;
	uint64_t page;                   /* bytes */
};

void about_text(struct atw_blob *t, char *buf, size_t len)
{
	*t = (struct atw_blob){ buf, strnlen(buf, len) };
}

static bool get(const struct looker *l, uint64_t base, enum need_member id, uint64_t *ret)
{
	return base && member_get(&l->v, base, id, ret, NULL) == ATW_OK;
}

/* A pointer that leads somewhere. */
static bool follow(const struct looker *l, uint64_t base, enum need_member id, uint64_t *ret)
{
	return get(l, base, id, ret) && *ret;
}

/* ---- faults and times ---- */

struct used {
	uint64_t minor, major, user, system, ran;
	bool faults, times;              /* they are known */
};

static const enum need_member of_task[5] = {
	N_task_minor, N_task_major, N_task_utime, N_task_stime, N_task_runtime,
};

static void add(const struct looker *l, uint64_t at, const enum need_member id[5],
		struct used *u)
{
	uint64_t v[5] = { 0 };

	u->faults = u->faults && get(l, at, id[0], &v[0]) && get(l, at, id[1], &v[1]);
	u->times = u->times && get(l, at, id[2], &v[2]) && get(l, at, id[3], &v[3]) &&
		   get(l, at, id[4], &v[4]);
	u->minor += v[0];
	u->major += v[1];
	u->user += v[2];
	u->system += v[3];
	u->ran += v[4];
}

/*
 * Of the process: what threads had that are gone, and what those have that are
 * there. Links of a running kernel may lead anywhere: then nothing is known.
 */
static void add_up(const struct looker *l, uint64_t signal, uint64_t threads, struct used *u)
{
	static const enum need_member gone[5] = {
		N_signal_minor, N_signal_major, N_signal_utime, N_signal_stime,
		N_signal_runtime,
	};
	uint64_t head = signal + l->v.n->member[N_signal_thread_head], link = head, tgid, n = 0;

	*u = (struct used){ .faults = true, .times = true };
	add(l, signal, gone, u);
	while (u->faults || u->times) {
		uint64_t task;

		if (kmem_u64(l->v.m, link, &link, NULL) < 0 || n > threads)
			break;
		if (link == head)
			return;
		task = link - l->v.n->member[N_task_thread_node];
		if (!get(l, task, N_task_tgid, &tgid) || tgid != l->t->tgid)
			break;
		add(l, task, of_task, u);
		n++;
	}
	u->faults = u->times = false;
}

/*
 * cputime_adjust() in kernel/sched/cputime.c: ticks are samples, and only say in what
 * proportion the time is shared that was measured.
 */
static void share(struct used *u)
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

static void used(const struct looker *l)
{
	struct capture_task *t = &l->a->t;
	uint64_t signal = 0, threads = 0;
	struct used u;

	/* There is no process without a thread: such bytes were never read. */
	if (!follow(l, l->t->at, N_task_signal, &signal) ||
	    !follow(l, signal, N_signal_threads, &threads) || threads > THREADS ||
	    !member_have(&l->v, N_signal_thread_head) || !member_have(&l->v, N_task_thread_node))
		return;
	if (l->t->leader) {
		t->threads = (uint32_t)threads;
		l->a->has |= CAPTURE_T_THREADS;
		add_up(l, signal, threads, &u);
	} else {
		u = (struct used){ .faults = true, .times = true };
		add(l, l->t->at, of_task, &u);
	}
	if (u.faults && get(l, signal, N_signal_child_minor, &t->child_minor) &&
	    get(l, signal, N_signal_child_major, &t->child_major)) {
		t->minor = u.minor;
		t->major = u.major;
		l->a->has |= CAPTURE_T_FAULTS;
	}
	if (u.times) {
		share(&u);
		t->user = u.user / TICK;
		t->system = u.system / TICK;
		l->a->has |= CAPTURE_T_TIMES;
	}
	if (get(l, l->t->at, N_task_cpu, &t->cpu))
		l->a->has |= CAPTURE_T_CPU;
}

/* ---- whose it is ---- */

static bool same_root(const struct looker *l, uint64_t a, uint64_t b)
{
	uint64_t x, y;

	return get(l, a, N_cgroup_root, &x) && get(l, b, N_cgroup_root, &y) && x == y;
}

/* The one whose memory it is: where that has a tree of its own, in that one. */
static bool cgroup_of(const struct looker *l, uint64_t *ret)
{
	const struct needs *n = l->v.n;
	uint64_t set, css, other;

	if (!follow(l, l->t->at, N_task_cgroups, &set) ||
	    !follow(l, set, N_css_set_default, ret))
		return false;
	if (n->have_const[C_memory_cgrp] && member_have(&l->v, N_css_set_subsys) &&
	    kmem_u64(l->v.m, set + n->member[N_css_set_subsys] +
		     (uint64_t)n->constant[C_memory_cgrp] * 8, &css, NULL) == ATW_OK &&
	    follow(l, css, N_css_cgroup, &other) && !same_root(l, *ret, other))
		*ret = other;
	return true;
}

/* From its end to its beginning, as the names are found. */
static bool path_of(const struct looker *l, uint64_t node, char *buf, size_t len)
{
	size_t at = len - 1;
	char name[256];
	uint64_t up, text;

	buf[at] = '\0';
	for (unsigned i = 0; i < DEPTH; i++) {
		size_t n;

		if (!get(l, node, N_kernfs_parent, &up))
			return false;
		if (!up) {               /* the root has no name */
			if (at == len - 1)
				buf[--at] = '/';
			memmove(buf, buf + at, len - at);
			return true;
		}
		if (!follow(l, node, N_kernfs_name, &text) ||
		    kmem_text(l->v.m, text, name, sizeof(name), NULL) < 0)
			return false;
		n = strlen(name);
		if (n + 1 > at)
			return false;
		at -= n;
		memcpy(buf + at, name, n);
		buf[--at] = '/';
		node = up;
	}
	return false;
}

static void whose(const struct looker *l)
{
	struct task_about *a = l->a;
	uint64_t cred, cgroup, node, ns;

	if (follow(l, l->t->at, N_task_cred, &cred) && get(l, cred, N_cred_uid, &a->t.uid))
		a->has |= CAPTURE_T_UID;
	if (cgroup_of(l, &cgroup) && follow(l, cgroup, N_cgroup_kn, &node) &&
	    path_of(l, node, a->cgroup, sizeof(a->cgroup))) {
		about_text(&a->t.cgroup, a->cgroup, sizeof(a->cgroup));
		a->has |= CAPTURE_T_CGROUP;
	}
	/* All but task 0 begin later. */
	if (get(l, l->t->at, N_task_boot, &ns) && (ns || !l->t->pid)) {
		a->t.start = ns / TICK;
		a->has |= CAPTURE_T_START;
	}
}

/* ---- its program ---- */

static bool pair(const struct looker *l, enum need_member first, enum need_member last,
		 struct capture_pair *ret)
{
	return follow(l, l->t->mm, first, &ret->a) && get(l, l->t->mm, last, &ret->b) &&
	       ret->b >= ret->a;
}

static void program(const struct looker *l)
{
	struct task_about *a = l->a;
	uint64_t file, mnt, dentry;

	if (pair(l, N_mm_start_code, N_mm_end_code, &a->t.code))
		a->has |= CAPTURE_T_CODE;
	if (pair(l, N_mm_start_data, N_mm_end_data, &a->t.data))
		a->has |= CAPTURE_T_DATA;
	/* As its area ends, which is all that /proc shows of it. */
	if (pair(l, N_mm_start_brk, N_mm_brk, &a->t.brk) &&
	    !__builtin_add_overflow(a->t.brk.b, l->page - 1, &a->t.brk.b)) {
		a->t.brk.b &= ~(l->page - 1);
		a->has |= CAPTURE_T_BRK;
	}
	if (follow(l, l->t->mm, N_mm_start_stack, &a->t.stack))
		a->has |= CAPTURE_T_STACK;
	if (follow(l, l->t->mm, N_mm_exe, &file) && follow(l, file, N_file_mnt, &mnt) &&
	    follow(l, file, N_file_dentry, &dentry) &&
	    path_read(&l->v, mnt, dentry, a->exe, sizeof(a->exe), NULL) == ATW_OK) {
		about_text(&a->t.exe, a->exe, sizeof(a->exe));
		a->has |= CAPTURE_T_EXE;
	}
}

void about_task(struct atw_kernel *k, const struct atw_task *t, struct task_about *ret)
{
	struct looker l = {
		{ .n = kernel_needs(k) }, t, ret,
		(uint64_t)1 << atw_kernel_space(k)->paging.page_shift,
	};

	*ret = (struct task_about){ .has = CAPTURE_T_TGID | (t->has_ppid ? CAPTURE_T_PPID : 0) };
	memcpy(ret->name, t->name, sizeof(ret->name));
	about_text(&ret->t.name, ret->name, sizeof(ret->name));
	ret->t.pid = t->pid;
	ret->t.tgid = t->tgid;
	ret->t.ppid = t->ppid;
	ret->t.mm = t->kernel ? 0 : t->mm;
	if (kernel_kmem(k, &l.v.m, NULL) < 0)
		return;
	used(&l);
	whose(&l);
	if (ret->t.mm && t->leader)
		program(&l);
}
