/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target_procfs.c - the running kernel by its /proc alone: processes and their pages,
 * and nothing of page tables, symbols or the kernel's own memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "target/procfs.h"
#include "target/procfs_tasks.h"
#include "host/host.h"
#include "target/target.h"

/* live:pagemap, and what is left of `live` where its memory may not be read. */
static int procfs_open(struct target *t, const struct source_input *in,
		       struct atw_err *err)
{
	struct host_info h;

	if (!source_input_is_live(in))
		return ATW_END;
	if (in->spec.nparts)
		return source_input_failed(
			in, atw_err_set(err, ATW_E_USAGE, "a running kernel has no further parts"),
			err);
	if (host_check_proc(err) < 0) {
		if (!t->why.status)
			return source_input_failed(in, ATW_E_MISSING, err);
		return atw_err_give(err, t->why.status, &t->why);
	}
	host_info_init(&h);
	snprintf(t->release, sizeof(t->release), "%s", h.uts.release);
	snprintf(t->machine, sizeof(t->machine), "%s", h.uts.machine);
	t->cpus = h.cpus;
	return ATW_OK;
}

static void procfs_format(const struct target *t, char *buf, size_t len)
{
	snprintf(buf, len, "%s", _("running kernel, processes as /proc reports them"));
}

static int procfs_attach(struct target *t, const struct target_opts *o,
			 const struct target_reading *rd, struct atw_err *err)
{
	const struct atw_paging *mode = proc_paging();

	if (!mode)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "pages of %ld bytes are not known here",
				   sysconf(_SC_PAGESIZE));
	t->space = (struct mmu_space){.paging = *mode};
	return ATW_OK;
}

static int procfs_provider(struct target *t, const struct target_query *q,
			   provider_cannot_fn *cannot, void *arg, struct provider **ret,
			   struct atw_err *err)
{
	const struct pagemap_provider_opts o = {
		.only = q->pid, .flags = q->flags, .counts = q->counts,
		.cgroups = q->cgroups, .pace = q->pace,
	};

	return pagemap_provider_open(&o, cannot, arg, ret, err);
}

static int procfs_by_pid(struct target *t, uint64_t pid, unsigned half,
			 struct subject *ret, struct atw_err *err)
{
	struct proc_stat st;
	uint32_t tgid = 0;
	int r = pid && pid <= UINT32_MAX
			? proc_tgid((uint32_t)pid, &tgid, err)
			: atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu64,
				      pid);

	if (r == ATW_OK)
		r = proc_stat(tgid, &st, err);
	if (r == ATW_OK)
		subject_set_process(ret, tgid, st.name);
	return r;
}

/* Those that end meanwhile are none. */
static int procfs_each(struct target *t, target_task_fn *fn, target_unread_fn *unread,
		       void *arg, struct atw_err *err)
{
	_auto_free uint32_t *pid = NULL;
	struct atw_err why = { 0 };
	struct proc_stat st;
	size_t n = 0, asked = 0, denied = 0;
	char how[32];
	int r = proc_pids(&pid, &n, err);

	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		struct lnx_task k = {.pid = pid[i], .tgid = pid[i], .leader = true};

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		memcpy(k.name, st.name, sizeof(k.name));
		fn(t, &k, arg, &why);
		asked++;
		denied += why.status == ATW_E_PERM;
		if (why.status && why.status != ATW_E_PERM)
			unread(arg, &why);
		why.status = 0;
	}
	if (denied)
		atw_err_set(&why, ATW_E_PERM,
			    "%zu of %zu processes: no permission to read them",
			    denied, asked);
	else if (host_hides_processes(how, sizeof(how)))
		atw_err_set(&why, ATW_E_PERM,
			    "/proc is mounted with %s, which hides processes of others",
			    how);
	if (why.status) {
		proc_hint(&why);
		unread(arg, &why);
	}
	return r;
}

static int procfs_list_open(struct target_tasks *c, struct atw_err *err)
{
	return procfs_tasks_open(&c->listed, err);
}

static int procfs_list_next(struct target_tasks *c, struct target_task *ret,
			    struct atw_err *err)
{
	return procfs_tasks_next(c->listed, ret, err);
}

/* Is a VMA there? */
static int procfs_maps(struct target *t, const struct lnx_task *task, uint64_t first,
		       uint64_t last, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = proc_maps(task->pid, first, last, &why);

	if (r < 0 && r != ATW_E_MISSING && err)
		*err = why;
	return r == ATW_OK ? ATW_OK : ATW_END;
}

/* ---- what there is ---- */

/* What is hidden from us, with the command that would show it. */
static void procfs_frame_facts(const struct target_facts *to, const struct atw_err *lacks)
{
	if (!lacks->status)
		target_fact(to, "frames",
			    "numbers, flags, counts of mappings, memory cgroups");
	else
		target_fact(to, "frames", "%s%s%s", lacks->text,
			    lacks->hint[0] ? "; " : "", lacks->hint);
}

static void procfs_limits(const struct target *t, const struct target_facts *to)
{
	struct atw_err why;

	target_fact(to, "pages",
		    "of processes: present, swapped or neither, and their areas: pages, "
		    "map, and SOURCE ADDRESS");
	target_fact(to, "large pages",
		    proc_scans() ? "reported by PAGEMAP_SCAN"
				 : "not identified: this kernel has no PAGEMAP_SCAN, "
				   "which came with 6.7");
	target_fact(to, "missing", "page tables: level, entry, %s", to->tables);
	target_fact(to, "missing",
		    "the kernel's addresses, symbols and structures: find, extract");
	if (target_fell_back(t, &why))
		target_fact(to, "not live:bpf", "%s%s%s", why.text,
			    why.hint[0] ? "; " : "", why.hint);
	else
		target_fact(to, "instead",
			    "live:bpf reads the kernel's own tables, if it is allowed");
}

static bool procfs_describe(struct target *t, struct target_facts *to, uint32_t pid)
{
	const struct pagemap_provider_opts o = {
		.only = pid, .flags = true, .counts = true, .cgroups = true,
	};
	struct provider *p = NULL;
	int r = pagemap_provider_open(&o, NULL, NULL, &p, &to->why);

	if (r == ATW_OK)
		procfs_frame_facts(to, &p->lacks);
	procfs_limits(t, to);
	if (r == ATW_OK && pid)
		r = p->ops->tasks(p, &to->why);
	if (r == ATW_OK && pid)
		target_fact(to, "process", "%" PRIu32 " (%s), which may be read",
			    p->task[0].pid, p->task[0].name);
	provider_close(p);
	to->result = r;
	return false;
}

const struct target_backend target_procfs = {
	.noun = "running kernel",
	.format = "live",
	.caps = TARGET_TASKS | TARGET_LOOKUP | TARGET_PAGES | TARGET_OWNER | TARGET_ELIGIBLE |
		TARGET_RUNNING | TARGET_HERE | TARGET_OUR_PIDS | TARGET_NO_GAPS,
	.open = procfs_open,
	.attach = procfs_attach,
	.only = "/proc reports only the pages of processes",
	.reports = "/proc reports",
	.instead = "live:bpf reads the kernel's own tables",
	.provider = procfs_provider,
	.by_pid = procfs_by_pid,
	.each = procfs_each,
	.maps = procfs_maps,
	.tasks_open = procfs_list_open,
	.tasks_next = procfs_list_next,
	.describe_format = procfs_format,
	.describe = procfs_describe,
};
