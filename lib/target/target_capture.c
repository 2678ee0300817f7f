/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target_capture.c - captures of `atwalk collect`: processes, VMAs and pages, without
 * the content of memory.
 */
#include <inttypes.h>
#include <string.h>

#include "target/captured.h"
#include "target/captured_facts.h"
#include "target/subject.h"
#include "target/task_list.h"

/* No mode: nothing is known of entries but what the capture says of them. */
static const struct atw_flag capture_no_flags[1];
static const struct atw_paging capture_no_mode = {
	.name = "a capture",
	.va_bits = 64,
	.pa_bits = CAPTURE_PA_BITS,
	.flags = capture_no_flags,
};

static bool capture_accepts(struct atw_source *s)
{
	struct atw_blob path;

	return atw_fact(s, "capture", &path) == ATW_OK;
}

static int capture_refuse(const struct target *t, const char *what, struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED,
		    "%s: is a capture: it records only which pages processes had; %s needs page "
		    "tables or the kernel's memory",
		    t->name, what);
	atw_err_hint(err, "a dump, or live on that machine, has them");
	return ATW_E_UNSUPPORTED;
}

static int capture_refuse_kernel(const struct target *t, struct atw_err *err)
{
	(void)t;
	return atw_err_set(
		err, ATW_E_UNSUPPORTED,
		"is a kernel address, and a capture records those of processes only");
}

struct capture_reading {
	struct target *t;
	const struct target_reading *rd;
};

static void capture_damaged(void *arg, const struct atw_err *err)
{
	const struct capture_reading *x = arg;

	x->t->defective = true;
	if (x->rd && x->rd->damaged)
		x->rd->damaged(x->rd->arg, err);
}

static void capture_progress(void *arg, uint64_t done, uint64_t all)
{
	const struct capture_reading *x = arg;

	if (x->rd && x->rd->progress)
		x->rd->progress(x->rd->arg, done, all);
}

static int capture_attach(struct target *t, const struct target_opts *o,
			  const struct target_reading *rd, struct atw_err *err)
{
	struct capture_reading x = {t, rd};
	const struct captured_opts co = {capture_damaged, capture_progress, &x};
	struct atw_blob path;
	int r;

	(void)o;
	r = atw_fact(t->source, "capture", &path);
	if (r == ATW_OK)
		r = captured_open(path.data, &co, &t->captured, err);
	if (r < 0)
		return r;
	t->space = (struct mmu_space){.mem = t->source, .paging = capture_no_mode};
	t->space.paging.page_shift = (uint8_t)__builtin_ctzll(t->captured->page);
	return ATW_OK;
}

static int capture_provider(struct target *t, const struct target_query *q,
			    provider_cannot_fn *cannot, void *arg, struct provider **ret,
			    struct atw_err *err)
{
	(void)q;
	return capture_provider_open(t->captured, cannot, arg, ret, err);
}

static int capture_by_pid(struct target *t, uint64_t pid, unsigned half,
			  struct subject *ret, struct atw_err *err)
{
	size_t i = captured_find(t->captured, pid);
	const struct captured_task *k;

	(void)half;
	/* Of a capture that is damaged it is not known which processes are missing. */
	if (i == CAPTURED_NONE)
		return atw_err_set(err, t->defective ? ATW_E_MISSING : ATW_E_NONE,
				   "there is no process %" PRIu64, pid);
	k = &t->captured->task[i];
	if (!captured_has_memory(k))
		return atw_err_set(err, ATW_E_NONE,
				   "process %" PRIu64
				   " is a kernel thread or has ended: it has no address "
				   "space of its own",
				   pid);
	subject_set_process(ret, captured_process(k), k->name);
	return ATW_OK;
}

static int capture_each(struct target *t, target_task_fn *fn, target_unread_fn *unread,
			void *arg, struct atw_err *err)
{
	struct atw_err why = { 0 };

	(void)unread;
	(void)err;
	for (size_t i = 0; i < t->captured->ntasks; i++) {
		const struct captured_task *c = &t->captured->task[i];
		struct lnx_task k = {.pid = captured_process(c),
				     .tgid = captured_process(c)};

		if (!captured_has_memory(c) || k.pid != c->pid)
			continue;
		memcpy(k.name, c->name, sizeof(k.name));
		fn(t, &k, arg, &why);
	}
	return ATW_OK;
}

/* The idle task is left out, as other sources leave it out. */
static int capture_tasks_next(struct target_tasks *c, struct target_task *ret,
			      struct atw_err *err)
{
	const struct captured *k = c->target->captured;
	const struct captured_task *t;
	bool has_tgid;

	(void)err;
	while (c->at < k->ntasks && !k->task[c->at].pid &&
	       k->task[c->at].has & CAPTURE_T_TGID)
		c->at++;
	if (c->at == k->ntasks)
		return ATW_END;
	t = &k->task[c->at++];
	has_tgid = t->has & CAPTURE_T_TGID;
	*ret = (struct target_task){
		.task =
			{
				.mm = t->mm,
				.pid = t->pid,
				.tgid = captured_process(t),
				.ppid = t->ppid,
				.leader = captured_process(t) == t->pid,
				.kernel = !captured_has_memory(t),
			},
		.have = (has_tgid ? TASK_TGID : 0) |
			(t->has & CAPTURE_T_PPID ? TASK_PPID : 0) |
			(t->mm && has_tgid ? TASK_KIND : 0),
	};
	memcpy(ret->task.name, t->name, sizeof(ret->task.name));
	return ATW_OK;
}

static bool capture_is_ram(const struct target *t, uint64_t first, uint64_t last)
{
	const struct captured *k = t->captured;

	for (size_t i = 0; i < k->nram; i++)
		if (k->ram[i].start <= last && k->ram[i].last >= first)
			return true;
	return !k->nram;
}

static bool target_capture_describe(struct target *t, struct target_facts *to,
				    uint32_t pid)
{
	size_t i = pid ? captured_find(t->captured, pid) : CAPTURED_NONE;

	captured_facts(t->captured, to);
	if (i != CAPTURED_NONE)
		target_fact(to, "process", "%" PRIu32 " (%s)", pid,
			    t->captured->task[i].name);
	return true;
}

const struct target_backend target_capture = {
	.noun = "capture",
	.caps = TARGET_TASKS | TARGET_PAGES | TARGET_RMAP,
	.accepts = capture_accepts,
	.attach = capture_attach,
	.refuse = capture_refuse,
	.refuse_kernel = capture_refuse_kernel,
	.provider = capture_provider,
	.by_pid = capture_by_pid,
	.each = capture_each,
	.tasks_next = capture_tasks_next,
	.is_ram = capture_is_ram,
	.describe = target_capture_describe,
};
