/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_task.c - names of threads at the time of what they do. A thread with a new name,
 * or another thread with the same number, has the next generation; edges are by number
 * and generation, which distinguish names.
 */

#include "kmap/lib/store.h"

enum { TASK_SLOTS = 1 << 16, GENERATIONS = 255 };

struct kstore_task {
	int32_t task_id;         /* number and generation */
	bool used;
	char comm[KSHARE_COMM];
};

static uint32_t task_slot(const struct kstore *k, int32_t pid)
{
	uint32_t i = (uint32_t)pid * 0x9e3779b1u >> 16;

	while (k->tasks[i].used && kshare_pid(k->tasks[i].task_id) != pid)
		i = (i + 1) % TASK_SLOTS;
	return i;
}

static void task_publish(struct kshare *s, const struct kstore_task *t)
{
	uint32_t n = atomic_load_explicit(&s->ntasks, memory_order_relaxed);

	if (n >= KSHARE_TASKS)
		return;
	s->task[n].task_id = t->task_id;
	memcpy(s->task[n].comm, t->comm, KSHARE_COMM);
	atomic_store_explicit(&s->ntasks, n + 1, memory_order_release);
}

int32_t kstore_task(struct kstore *k, int32_t pid, const char *comm)
{
	struct kstore_task *t;

	if (pid < 0 || pid > KSHARE_PID)
		return pid < 0 ? -1 : pid & KSHARE_PID;
	if (!k->tasks)
		k->tasks = calloc(TASK_SLOTS, sizeof(*k->tasks));
	if (!k->tasks)
		return pid;
	t = &k->tasks[task_slot(k, pid)];
	if (t->used && !strncmp(t->comm, comm, KSHARE_COMM))
		return t->task_id;
	if (!t->used) {
		if (k->ntasks == TASK_SLOTS / 2)
			return pid;
		k->ntasks++;
		t->used = true;
		t->task_id = pid;
	} else {
		/* The last generation is of whatever it is called then. */
		if (kshare_generation(t->task_id) == GENERATIONS - 1)
			return t->task_id;
		t->task_id += KSHARE_PID + 1;
	}
	memcpy(t->comm, comm, KSHARE_COMM);
	task_publish(k->s, t);
	return t->task_id;
}

int32_t kstore_task_of(const struct kstore *k, int32_t pid)
{
	const struct kstore_task *t = k->tasks && pid >= 0 ? &k->tasks[task_slot(k, pid)] : NULL;

	return t && t->used ? t->task_id : pid;
}
