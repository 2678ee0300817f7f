// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf_task.c - lookup of an address space by PID.
 *
 * If the kernel allows this type of program to call bpf_task_from_pid() (6.10 on), that
 * finds the task and holds a reference while it is read. Otherwise, or if that finds
 * nothing, the list of processes is followed from this one, piece by piece; it changes
 * meanwhile, so inconsistent results are retried.
 */
#include "host/bpf_task.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"

enum {
	PF_KTHREAD = 0x00200000,         /* include/linux/sched.h */
	TRIES = 16,
	TASKS_MAX = 4 * 1024 * 1024,     /* PID_MAX_LIMIT */
};

/* ---- types ---- */

enum { TASK, MM, SIGNAL, RELEASE, FROM_VPID, FROM_PID, TYPES };

/* X(type, member, where it is kept) */
#define BPF_MEMBERS(X)                            \
	X(TASK, mm, task_mm)                      \
	X(TASK, flags, task_flags)                \
	X(TASK, tasks, task_tasks)                \
	X(TASK, tgid, task_tgid)                  \
	X(TASK, group_leader, task_leader)        \
	X(MM, pgd, mm_pgd)                        \
	X(TASK, real_parent, task_real_parent)    \
	X(TASK, signal, task_signal)              \
	X(TASK, thread_node, task_thread_node)    \
	X(SIGNAL, thread_head, signal_thread_head)

const char *bpf_types_names(void)
{
#define BPF_NAME(type, member, to) #type "." #member " "
	return BPF_MEMBERS(BPF_NAME) "release from_vpid from_pid";
#undef BPF_NAME
}

int bpf_types_find(const struct btf *b, struct bpf_types *ret, struct atw_err *err)
{
	struct btf_wanted w[TYPES] = {
		[TASK] = { BTF_STRUCT, "task_struct", 0 }, [MM] = { BTF_STRUCT, "mm_struct", 0 },
		[SIGNAL] = { BTF_STRUCT, "signal_struct", 0 },
		[RELEASE] = { BTF_FUNC, "bpf_task_release", 0 },
		[FROM_VPID] = { BTF_FUNC, "bpf_task_from_vpid", 0 },
		[FROM_PID] = { BTF_FUNC, "bpf_task_from_pid", 0 },
	};
	struct bpf_types t = { 0 };
#define BPF_MEMBER(type, member, to) { type, #member, &t.to },
	const struct {
		unsigned type;
		const char *member;
		uint32_t *at;
	} need[] = { BPF_MEMBERS(BPF_MEMBER) };
#undef BPF_MEMBER

	btf_find_all(b, w, TYPES);
	for (size_t i = 0; i < ARRAY_SIZE(need); i++) {
		int r = btf_offset_in(b, &w[need[i].type], need[i].member, need[i].at, err);

		if (r < 0)
			return r;
	}
	if (w[RELEASE].id) {
		t.task_release = w[RELEASE].id;
		t.task_from_vpid = w[FROM_VPID].id;
		t.task_from_pid = w[FROM_PID].id;
	}
	*ret = t;
	return ATW_OK;
}

void bpf_tasks_close(struct bpf_tasks *t)
{
	if (t->prog > 0)
		close(t->prog);
	t->prog = 0;
}

/* ---- one task ---- */

struct bpf_task_state {
	uint64_t mm, pgd;
	uint64_t leader;         /* main thread */
	uint32_t flags;
	bool found, torn;        /* torn: it changed during the read */
};

static int bpf_task_judge(const struct bpf_task_state *k, uint64_t pid, uint64_t *ret,
			  struct atw_err *err)
{
	/* kill(2) with signal 0 sends nothing and reports whether the process exists. */
	if (!k->found && (!pid || pid > INT32_MAX ||
			  (kill((pid_t)pid, 0) < 0 && errno == ESRCH)))
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu64, pid);
	if (!k->found)
		return atw_err_set(err, ATW_E_MISSING,
				   "the kernel does not let us look at process %" PRIu64, pid);
	if (k->flags & PF_KTHREAD)
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu64 " is a kernel thread: it has no address space of its own",
				   pid);
	if (!k->mm)
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu64 " has ended: its address space is gone", pid);
	*ret = k->mm;
	return ATW_OK;
}

static int bpf_task_live_u64(struct bpf_tasks *t, uint64_t va, uint64_t *ret,
			     struct atw_err *err)
{
	return bpf_copy(t->bpf, va, ret, sizeof(*ret), err);
}

int bpf_own_mm(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err)
{
	int r = bpf_read(t->bpf, 0, err);   /* fills area->current */

	return r < 0 ? r
		     : bpf_task_live_u64(t, t->bpf->area->current + t->types.task_mm, ret,
					 err);
}

int bpf_own_pgd(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err)
{
	uint64_t mm;
	int r = bpf_own_mm(t, &mm, err);

	return r < 0 ? r : bpf_task_live_u64(t, mm + t->types.mm_pgd, ret, err);
}

/* The chain of parents ends at the task that is its own parent. */
int bpf_init_task(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err)
{
	uint64_t task, parent;
	int r = bpf_read(t->bpf, 0, err);

	task = r == ATW_OK ? t->bpf->area->current : 0;
	for (unsigned i = 0; r == ATW_OK && i < TASKS_MAX; i++, task = parent) {
		r = bpf_task_live_u64(t, task + t->types.task_real_parent, &parent, err);
		if (r == ATW_OK && parent == task) {
			*ret = task;
			return ATW_OK;
		}
	}
	return r < 0 ? r : atw_err_set(err, ATW_E_MISSING, "parents of this process have no end");
}

/* ---- by a kernel function ---- */

enum { IN_PID };
enum { OUT_FOUND, OUT_FLAGS, OUT_MM, OUT_PGD, OUT_MM_AGAIN, OUT_LEADER };

#define IN(i)  ((int16_t)(offsetof(struct bpf_area, in) + 8 * (i)))
#define OUT(i) ((int16_t)(offsetof(struct bpf_area, out) + 8 * (i)))
/* area->out[i] = `len` bytes at `reg` + `at`, or zeroes; 6 instructions. */
#define FETCH(i, len, reg, at) \
	COPY(R1, R6), ADD(R1, OUT(i)), SET(R2, len), COPY(R3, reg), \
	ADD(R3, (int32_t)(at)), CALL(BPF_FUNC_probe_read_kernel)

/*
 * mm is not kept alive by the reference to the task, only by the task itself: if the task
 * ends between two of these reads, the last one yields another mm.
 */
static int bpf_task_load_finder(struct bpf_tasks *t, uint32_t from, struct atw_err *err)
{
	const struct bpf_types *y = &t->types;
	const struct bpf_insn insns[] = {
		/*  0 */ MAP_VALUE(R6, t->bpf->map),
		/*  2 */ LOAD32(R1, R6, IN(IN_PID)),
		/*  3 */ CALL_KERNEL((int32_t)from),
		/*  4 */ IF_ZERO(R0, 36),                     /* to 41 */
		/*  5 */ COPY(R7, R0),
		/*  6 */ SET(R1, 1),
		/*  7 */ STORE64(R6, OUT(OUT_FOUND), R1),
		/*  8 */ FETCH(OUT_FLAGS, 4, R7, y->task_flags),
		/* 14 */ FETCH(OUT_MM, 8, R7, y->task_mm),
		/* 20 */ LOAD64(R8, R6, OUT(OUT_MM)),
		/* 21 */ FETCH(OUT_PGD, 8, R8, y->mm_pgd),
		/* 27 */ FETCH(OUT_MM_AGAIN, 8, R7, y->task_mm),
		/* 33 */ FETCH(OUT_LEADER, 8, R7, y->task_leader),
		/* 39 */ COPY(R1, R7),
		/* 40 */ CALL_KERNEL((int32_t)y->task_release),
		/* 41 */ SET(R0, 0),
		/* 42 */ EXIT(),
	};

	return bpf_load(insns, ARRAY_SIZE(insns), err);
}

static int bpf_task_by_kfunc(struct bpf_tasks *t, uint64_t pid,
			     struct bpf_task_state *ret, struct atw_err *err)
{
	uint64_t *out = t->bpf->area->out;
	int r;

	t->bpf->area->in[IN_PID] = pid;
	memset(out, 0, sizeof(t->bpf->area->out));
	r = bpf_run(t->prog, err);
	if (r == ATW_OK)
		*ret = (struct bpf_task_state){
			.found = out[OUT_FOUND], .flags = (uint32_t)out[OUT_FLAGS],
			.mm = out[OUT_MM], .pgd = out[OUT_PGD], .leader = out[OUT_LEADER],
			.torn = out[OUT_MM] != out[OUT_MM_AGAIN] ||
				(out[OUT_MM] && !out[OUT_PGD]),
		};
	return r;
}

/* ---- by the list of processes ---- */

struct bpf_task_entry {
	uint64_t next, mm, leader;
	uint32_t tgid, flags;
};

static int bpf_task_read_entry(struct bpf_tasks *t, uint64_t task,
			       struct bpf_task_entry *ret)
{
	struct bpf_area *a = t->bpf->area;
	const struct bpf_types *y = &t->types;
	struct bpf_task_entry e;
	const struct {
		uint32_t at, len;
		void *to;
	} part[] = {
		{ y->task_tasks, 8, &e.next }, { y->task_mm, 8, &e.mm },
		{ y->task_tgid, 4, &e.tgid }, { y->task_flags, 4, &e.flags },
		{ y->task_leader, 8, &e.leader },
	};

	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		a->piece[i] = (struct bpf_piece){
			.va = task + part[i].at, .len = part[i].len, .result = -EFAULT,
			.place = (uint32_t)i,
		};
	if (bpf_read(t->bpf, ARRAY_SIZE(part), NULL) < 0)
		return ATW_E_IO;
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (a->piece[i].result)
			return ATW_E_IO;
		memcpy(part[i].to, a->data[i], part[i].len);
	}
	*ret = e;
	return ATW_OK;
}

/* Attributes of the task at `at`, if it is still the same. */
static struct bpf_task_state bpf_task_take(struct bpf_tasks *t, uint64_t at,
					   const struct bpf_task_entry *e)
{
	struct bpf_task_state k = {
		.found = true, .mm = e->mm, .flags = e->flags, .leader = e->leader};
	uint64_t mm;

	k.torn = e->mm &&
		 (bpf_task_live_u64(t, e->mm + t->types.mm_pgd, &k.pgd, NULL) < 0 ||
		  bpf_task_live_u64(t, at + t->types.task_mm, &mm, NULL) < 0 ||
		  mm != e->mm);
	return k;
}

/* One pass; `torn` if the list changed meanwhile. */
static int bpf_task_by_list(struct bpf_tasks *t, uint64_t pid, struct bpf_task_state *ret,
			    struct atw_err *err)
{
	uint64_t first, at;
	struct bpf_task_state k = {0};
	struct bpf_task_entry e;
	int r = bpf_read(t->bpf, 0, err) ?:
	        bpf_task_live_u64(t, t->bpf->area->current + t->types.task_leader, &first,
				  err);

	if (r != ATW_OK)
		return r;
	at = first;
	for (unsigned i = 0; i < TASKS_MAX; i++) {
		if (bpf_task_read_entry(t, at, &e) < 0) {
			k.torn = true;
			break;
		}
		if (e.tgid == pid) {
			k = bpf_task_take(t, at, &e);
			break;
		}
		at = e.next - t->types.task_tasks;
		if (at == first)
			break;
	}
	*ret = k;
	return ATW_OK;
}

/* ---- by threads ---- */

/* If the main thread has ended, the first thread with memory is used. */
static void bpf_task_query_threads(struct bpf_tasks *t, struct bpf_task_state *k)
{
	const struct bpf_types *y = &t->types;
	uint64_t signal, head, link;
	struct bpf_task_entry e;

	k->torn = bpf_task_live_u64(t, k->leader + y->task_signal, &signal, NULL) < 0 ||
		  !signal;
	link = head = signal + y->signal_thread_head;
	for (unsigned i = 0; i < TASKS_MAX && !k->torn; i++) {
		k->torn = bpf_task_live_u64(t, link, &link, NULL) < 0;
		if (k->torn || link == head)
			return;
		k->torn = bpf_task_read_entry(t, link - y->task_thread_node, &e) < 0 ||
			  e.leader != k->leader;
		if (!k->torn && e.mm) {
			*k = bpf_task_take(t, link - y->task_thread_node, &e);
			return;
		}
	}
}

static int bpf_task_query(struct bpf_tasks *t, uint64_t pid, struct bpf_task_state *ret,
			  struct atw_err *err)
{
	int r = ATW_OK;

	*ret = (struct bpf_task_state){ 0 };
	if (t->way == LIVE_TASK_KFUNC)
		r = bpf_task_by_kfunc(t, pid, ret, err);
	/*
	 * The function may return nothing for a process that exists: a kernel was seen
	 * that does so for process 1. It is in the list, which has the same numbers only
	 * outside of PID namespaces.
	 */
	if (r == ATW_OK && !ret->found &&
	    (t->way == LIVE_TASK_LIST || host_first_pid_namespace()))
		r = bpf_task_by_list(t, pid, ret, err);
	if (r == ATW_OK && ret->found && !ret->torn && !ret->mm && !(ret->flags & PF_KTHREAD))
		bpf_task_query_threads(t, ret);
	return r;
}

/* ---- choice of the method ---- */

static int bpf_task_settle_way(struct bpf_tasks *t, struct atw_err *err)
{
	const uint32_t from[] = { t->types.task_from_vpid, t->types.task_from_pid };

	if (t->way == LIVE_TASK_AUTO) {
		t->way = LIVE_TASK_LIST;
		for (size_t i = 0; i < ARRAY_SIZE(from) && t->way == LIVE_TASK_LIST; i++) {
			int fd = from[i] ? bpf_task_load_finder(t, from[i], NULL) : -1;

			if (fd < 0)
				continue;
			t->prog = fd;
			t->from_vpid = i == 0;
			t->way = LIVE_TASK_KFUNC;
		}
	}
	if (!t->from_vpid && !host_first_pid_namespace())
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this process is in a PID namespace, and this kernel finds processes by their numbers outside of it only");
	return ATW_OK;
}

int bpf_task_mm(struct bpf_tasks *t, uint64_t pid, uint64_t *ret, struct atw_err *err)
{
	struct bpf_task_state k = {0};
	int r = bpf_task_settle_way(t, err);

	if (r < 0)
		return r;
	/* Process 0 is the idle task, which is never requested. */
	if (!pid || pid > INT32_MAX)
		return bpf_task_judge(&k, pid, ret, err);
	k.torn = true;
	for (int i = 0; i < TRIES && k.torn; i++) {
		r = bpf_task_query(t, pid, &k, err);
		if (r < 0)
			return r;
	}
	if (k.torn)
		return atw_err_set(err, ATW_E_MISSING,
				   "process %" PRIu64 " changes too fast to be looked at", pid);
	return bpf_task_judge(&k, pid, ret, err);
}
