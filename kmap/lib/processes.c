/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.c - threads of a model, each under the names it had. */
#include "kmap/lib/objects.h"

int64_t kmap_processes_get(struct kmap_model *m, int64_t pid, const char *task)
{
	bool fresh;
	int64_t i = kmap_table_get(&m->process, (struct kmap_key){ (uint64_t)pid, (uintptr_t)task, 0 },
				   &fresh);

	if (i >= 0 && fresh)
		kmap_process(m, (size_t)i)->task = task;
	return i;
}

int kmap_processes_name(struct kmap_model *m, int64_t pid, const char *task)
{
	struct kmap_current *now =
		kmap_table_elem(&m->current, (struct kmap_key){ (uint64_t)pid, 0, 0 }, NULL);

	if (now)
		now->task = task;
	return now ? ATW_OK : ATW_E_NOMEM;
}

/*
 * The name of a thread that touches the present object. Recordings without thread names
 * have those of allocating threads alone: use the object's own, or the thread's last
 * one.
 */
static const char *processes_task(const struct kmap_model *m, int64_t pid)
{
	int64_t i;

	if (!m->has_tasks && pid == m->now.pid && m->now.task)
		return m->now.task;
	i = kmap_table_find(&m->current, (struct kmap_key){ (uint64_t)pid, 0, 0 });
	return i < 0 || pid < 0 ? NULL : ((struct kmap_current *)m->current.v)[i].task;
}

int kmap_processes_access(struct kmap_model *m, const struct kmap_access *a, uint64_t site)
{
	int64_t i = kmap_processes_get(m, a->pid, processes_task(m, a->pid));
	struct kmap_process *p;
	bool fresh;

	if (i < 0)
		return ATW_E_NOMEM;
	p = kmap_process(m, (size_t)i);
	m->has_pids = true;
	kmap_add(&p->reads, a->reads);
	kmap_add(&p->writes, a->writes);
	if (kmap_table_get(&m->touch, (struct kmap_key){ (uint64_t)i, site, 0 }, &fresh) < 0)
		return ATW_E_NOMEM;
	p->sites += fresh;
	return ATW_OK;
}

int kmap_processes_end(struct kmap_model *m)
{
	size_t n = m->process.n;
	_auto_free uint32_t *names = calloc(n + 1, sizeof(*names));        /* 1 + the only one; UINT32_MAX: several */
	bool fresh;

	if (!names)
		return ATW_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct kmap_process *p = kmap_process(m, i);
		int64_t at = p->task ? kmap_table_find(&m->process, (struct kmap_key){ p->key.a, 0, 0 }) : -1;

		if (at >= 0 && (int64_t)p->key.a >= 0)
			names[at] = names[at] ? UINT32_MAX : (uint32_t)i + 1;
	}
	for (size_t i = 0; i < m->touch.n; i++) {
		const struct kmap_key k = ((struct kmap_touch *)m->touch.v)[i].key;
		uint32_t to = k.a < n ? names[k.a] : 0;

		if (!to || to == UINT32_MAX)
			continue;
		if (kmap_table_get(&m->touch, (struct kmap_key){ to - 1, k.b, 0 }, &fresh) < 0)
			return ATW_E_NOMEM;
		kmap_process(m, to - 1)->sites += fresh;
	}
	for (size_t i = 0; i < n; i++) {
		struct kmap_process *from = kmap_process(m, i), *to;

		if (!names[i] || names[i] == UINT32_MAX)
			continue;
		to = kmap_process(m, names[i] - 1);
		to->objects += from->objects;
		kmap_add(&to->bytes, from->bytes);
		kmap_add(&to->reads, from->reads);
		kmap_add(&to->writes, from->writes);
		from->gone = true;
	}
	return ATW_OK;
}
