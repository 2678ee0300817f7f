/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target_memory.c - physical memory with page tables and the kernel's structures in
 * it: a dump, or the running kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "target/guest.h"
#include "target/target.h"

/*
 * Where live memory may not be read, without the user having chosen how, the next backend
 * may do without it.
 */
static int memory_open(struct target *t, const struct source_input *in,
		       struct atw_err *err)
{
	struct atw_err why = {0};
	bool chosen = !source_input_is_live(in) || *in->spec.path;
	int r;

	if (!in->kind || (source_input_is_live(in) && !strcmp(in->spec.path, "pagemap")))
		return ATW_END;
	r = source_open_input(in, &t->source, &why);
	if (r == ATW_OK) {
		if (atw_source_is_live(t->source))
			t->caps |= TARGET_RUNNING;
		if (atw_source_is_here(t->source))
			t->caps |= TARGET_HERE;
		return r;
	}
	if (!chosen && r != ATW_E_USAGE && r != ATW_E_NOMEM) {
		t->why = why;
		return ATW_END;
	}
	return atw_err_give(err, r, &why);
}

/* ---- the kernel ---- */

/* No registers: the kernel keeps in memory what it loaded. `err` stays if not. */
static int memory_use_cpu(struct target *t, struct atw_kernel_opts *ko,
			  struct atw_err *err)
{
	const struct atw_err first = *err;
	struct atw_err why = { 0 };
	struct atw_cpu c = {.mm = 0};
	int r;

	ko->has_cpu = false;
	r = atw_kernel_open(t->source, ko, &t->kernel, &why) ?:
	    atw_cpu_of(t->kernel, ko->cpu, &c, &why);
	if (r < 0) {
		atw_kernel_close(t->kernel);
		t->kernel = NULL;
		*err = first;
		snprintf(err->text, sizeof(err->text),
			 _("%.200s, nor does its kernel: %.250s"), first.text, why.text);
		return err->status;
	}
	t->space = c.tables.space;
	snprintf(t->label, sizeof(t->label), "CPU %u, mm at 0x%" PRIx64, ko->cpu, c.mm);
	return ATW_OK;
}

static int memory_attach(struct target *t, const struct target_opts *o,
			 const struct target_reading *rd, struct atw_err *err)
{
	char ext[128];
	struct atw_kernel_opts ko = {
		.paging = o->paging, .has_root = o->has_root, .root = o->root,
		.ext = o->pte_ext, .has_cpu = o->has_cpu, .cpu = (unsigned)o->cpu,
		.file = o->kernel_file, .remember = o->remember, .known = o->known,
		.progress = o->progress, .arg = o->arg,
	};
	struct atw_err why = { 0 };
	int r;

	if (o->has_cbit) {
		snprintf(ext, sizeof(ext), "%.90s%scbit=%" PRIu64, ko.ext ? ko.ext : "",
			 ko.ext ? "," : "", o->cbit);
		ko.ext = ext;
	}
	r = guest_kernel_open(t->source, &ko, &t->kernel, t->remark, &why);
	if (r == ATW_OK)
		t->space = *atw_kernel_space(t->kernel);
	else if (r == ATW_E_MISSING && o->has_cpu)
		r = memory_use_cpu(t, &ko, &why);
	if (r < 0)
		return atw_err_give(err, r, &why);
	t->space_given = o->has_cpu || o->has_root;
	return ATW_OK;
}

static const struct atw_soft_abi *memory_soft(const void *arg)
{
	return target_soft((struct target *)(uintptr_t)arg);
}

static int memory_provider(struct target *t, const struct target_query *q,
			   provider_cannot_fn *cannot, void *arg, struct provider **ret,
			   struct atw_err *err)
{
	const struct walk_provider_opts o = {
		.kernel = t->kernel, .mm = q->mm,
		.alone = q->alone ? q->pid : 0,
		.soft = memory_soft, .soft_arg = t, .frames = q->frames,
		.cgroups = q->cgroups,
	};

	return walk_provider_open(&o, cannot, arg, ret, err);
}

/* ---- processes ---- */

static int memory_has_ended(uint64_t pid, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_NONE,
			   "process %" PRIu64 " has ended: its address space is gone",
			   pid);
}

/* `k` is NULL if it is not known: later reuse of its memory is not detected then. */
static int memory_use_mm(struct target *t, uint64_t pid, const struct lnx_task *k,
			 uint64_t at, unsigned half, struct subject *ret,
			 struct atw_err *err)
{
	struct atw_mm mm;
	int r = k ? atw_mm_of(t->kernel, k, &mm, err)
		  : atw_mm_open(t->kernel, at, &mm, err);

	if (r == ATW_END)
		r = memory_has_ended(pid, err);
	if (r < 0)
		return r;
	ret->space = mm.space;
	if (half != SUBJECT_BOTH) {
		bool user = half == SUBJECT_USER;

		ret->space.low.pa = user ? mm.user_root : mm.root;
		/* User mode has one root, and so has an x86 kernel. */
		if (user || t->space.paging.halves != ATW_SPLIT)
			ret->space.high.have = false;
	}
	subject_set_process(ret, pid, k ? k->name : "");
	ret->mm = at;
	return ATW_OK;
}

static int memory_by_task(struct target *t, const struct lnx_task *task, unsigned half,
			  struct subject *ret, struct atw_err *err)
{
	if (task->mm)
		return memory_use_mm(t, task->pid, task, task->mm, half, ret, err);
	return !task->kernel
		       ? memory_has_ended(task->pid, err)
		       : atw_err_set(err, ATW_E_NONE,
				     "process %" PRIu32 " is a kernel thread: it has no "
							"address space of its own",
				     task->pid);
}

/*
 * Of a source that finds processes by their numbers in this PID namespace. ATW_END: the
 * process is found as in a dump.
 */
static int memory_by_our_pid(struct target *t, uint64_t pid, unsigned half,
			     struct subject *ret, struct atw_err *err)
{
	struct lnx_task k;
	uint64_t mm;
	bool same;
	int r = atw_source_mm_of(t->source, pid, &mm, err);

	if (r != ATW_OK)
		return r;
	/* In a PID namespace that number may be another process's there. */
	same = pid <= UINT32_MAX &&
	       lnx_task_by_pid(t->kernel, (uint32_t)pid, &k, NULL) == ATW_OK && k.mm == mm;
	return memory_use_mm(t, pid, same ? &k : NULL, mm, half, ret, err);
}

static int memory_by_pid(struct target *t, uint64_t pid, unsigned half,
			 struct subject *ret, struct atw_err *err)
{
	struct lnx_task k;
	int r = memory_by_our_pid(t, pid, half, ret, err);

	if (r != ATW_END)
		return r;
	if (pid > UINT32_MAX)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu64, pid);
	r = lnx_task_by_pid(t->kernel, (uint32_t)pid, &k, err);
	return r < 0 ? r : memory_by_task(t, &k, half, ret, err);
}

static int memory_each(struct target *t, target_task_fn *fn, target_unread_fn *unread,
		       void *arg, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task k;
	int r = lnx_tasks_open(t->kernel, &tasks, err);

	if (r < 0)
		return r;
	while ((r = lnx_tasks_next(tasks, &k, &why)) != ATW_END) {
		if (r == ATW_OK && k.leader)
			fn(t, &k, arg, &why);
		if (why.status)
			unread(arg, &why);
		why.status = 0; /* there may be more behind it */
		if (r == ATW_E_LIMIT)
			break;
	}
	lnx_tasks_close(tasks);
	return ATW_OK;
}

static int memory_tasks_open(struct target_tasks *c, struct atw_err *err)
{
	return lnx_tasks_open(c->target->kernel, &c->walk, err);
}

static int memory_tasks_next(struct target_tasks *c, struct target_task *ret,
			     struct atw_err *err)
{
	int r = lnx_tasks_next(c->walk, &ret->task, err);

	ret->have = TASK_TGID | TASK_STATE | TASK_AT | TASK_KIND |
		    (r == ATW_OK && ret->task.has_ppid ? TASK_PPID : 0);
	return r;
}

/* Is anything of it mapped, or kept in words that the CPU ignores? */
static int memory_maps(struct target *t, const struct lnx_task *task, uint64_t first,
		       uint64_t last, struct atw_err *err)
{
	const struct mmu_walk_opts wo = {
		.first = ATW_VA(first), .last = ATW_VA(last),
		.flags = MMU_WALK_SOFT | MMU_WALK_FOLD,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	struct atw_mm mm;
	bool yes = false, lost = false;

	if (!task->mm || atw_mm_of(t->kernel, task, &mm, err) != ATW_OK ||
	    mmu_walk_open(&mm.space, &wo, &w, err) < 0)
		return ATW_END;
	while (!yes && mmu_walk_next(w, &s, NULL) == ATW_OK) {
		yes = !s->loss && s->kind != ATW_BAD;
		lost |= s->loss != ATW_HAVE;
	}
	mmu_walk_close(w);
	if (lost && !yes)
		atw_err_set(err, ATW_E_MISSING,
			    "process %" PRIu32 " (%s): a page table cannot be read",
			    task->pid, task->name);
	return yes ? ATW_OK : ATW_END;
}

const struct target_backend target_memory = {
	.noun = "dump",
	.caps = TARGET_MEMORY | TARGET_TABLES | TARGET_SYMBOLS | TARGET_TASKS |
		TARGET_LOOKUP | TARGET_PAGES | TARGET_RMAP | TARGET_OWNER |
		TARGET_ELIGIBLE | TARGET_NO_GAPS,
	.open = memory_open,
	.attach = memory_attach,
	.provider = memory_provider,
	.by_pid = memory_by_pid,
	.by_task = memory_by_task,
	.each = memory_each,
	.maps = memory_maps,
	.tasks_open = memory_tasks_open,
	.tasks_next = memory_tasks_next,
};
