/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs_tasks.c - the tasks that /proc lists: processes, kernel threads and threads. */
#include "target/procfs_tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/num.h"
#include "host/host_file.h"
#include "target/procfs.h"

enum { NS = 1000000000, COMM = 16 };     /* COMM: TASK_COMM_LEN */

struct procfs_tasks {
	uint32_t *pid, *tid;     /* tid: threads of the process before pid[at] */
	size_t npids, ntids;
	size_t at, thread;       /* the next ones */
	uint64_t hz;
};

int procfs_tasks_open(struct procfs_tasks **ret, struct atw_err *err)
{
	struct procfs_tasks *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return atw_err_nomem(err);
	r = proc_pids(&l->pid, &l->npids, err);
	if (r < 0) {
		procfs_tasks_close(l);
		return r;
	}
	l->hz = (uint64_t)sysconf(_SC_CLK_TCK);
	*ret = l;
	return ATW_OK;
}

void procfs_tasks_close(struct procfs_tasks *l)
{
	if (!l)
		return;
	free(l->pid);
	free(l->tid);
	free(l);
}

/* The letter behind the name: "12 (a (b) c) S 1 ..."; 0: there is none. */
static char procfs_tasks_state(struct atw_blob text, struct atw_blob name)
{
	const char *s = (const char *)name.data + name.len + 1, *end = (const char *)text.data + text.len;

	return end - s > 1 && s[0] == ' ' ? s[1] : 0;
}

int procfs_tasks_parse(struct atw_blob text, uint32_t tgid, uint64_t hz,
		       struct target_task *ret)
{
	struct target_task t = { .task.tgid = tgid };
	struct atw_blob number = { 0 }, name = { 0 };
	uint64_t v[FIELDS] = { 0 }, pid;
	unsigned known = proc_stat_fields(text, &number, &name, v);

	while (number.len && known && ((const char *)number.data)[number.len - 1] == ' ')
		number.len--;
	if (known <= F_FLAGS || !num_dec(number.data, number.len, &pid) || pid > UINT32_MAX ||
	    v[F_PPID] > UINT32_MAX)
		return ATW_E_FORMAT;
	t.task.pid = (uint32_t)pid;
	t.task.ppid = (uint32_t)v[F_PPID];
	t.task.has_ppid = true;
	t.task.state = procfs_tasks_state(text, name);
	t.task.kernel = v[F_FLAGS] & PF_KTHREAD;
	t.task.leader = t.task.pid == tgid;
	if (known > F_START)
		t.task.start = v[F_START] / hz * NS + v[F_START] % hz * NS / hz;
	/* Behind the name of a worker is what it works on: wq_worker_comm(). */
	blob_text(name, t.task.name, t.task.kernel ? COMM : sizeof(t.task.name));
	t.have = TASK_TGID | TASK_PPID | TASK_KIND | (t.task.state ? TASK_STATE : 0);
	*ret = t;
	return ATW_OK;
}

/* ATW_E_MISSING: it has ended. */
static int procfs_tasks_read(const struct procfs_tasks *l, uint32_t pid, uint32_t tid,
			     struct target_task *ret, struct atw_err *err)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
	if (!host_file_text(path, text, sizeof(text)))
		return ATW_E_MISSING;
	if (procfs_tasks_parse(blob_of(text), pid, l->hz, ret) < 0)
		return atw_err_set(err, ATW_E_FORMAT, "%s: '%.40s' is not what it should be",
				   path, text);
	return ATW_OK;
}

int procfs_tasks_next(struct procfs_tasks *l, struct target_task *ret, struct atw_err *err)
{
	for (;;) {
		while (l->thread < l->ntids) {
			int r = procfs_tasks_read(l, l->pid[l->at - 1], l->tid[l->thread++],
						  ret, err);

			if (r != ATW_E_MISSING)
				return r;
		}
		if (l->at == l->npids)
			return ATW_END;
		free(l->tid);
		l->tid = NULL;
		l->ntids = l->thread = 0;
		/* The leader has the lowest number only as long as numbers have not wrapped. */
		if (proc_tids(l->pid[l->at++], &l->tid, &l->ntids, NULL) == ATW_E_NOMEM)
			return atw_err_nomem(err);
		for (size_t i = 1; i < l->ntids; i++)
			if (l->tid[i] == l->pid[l->at - 1]) {
				memmove(l->tid + 1, l->tid, i * sizeof(*l->tid));
				l->tid[0] = l->pid[l->at - 1];
			}
	}
}
