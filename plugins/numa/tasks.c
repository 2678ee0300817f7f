/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.c - where the threads of a process ran, and the policies of its memory. */
#include "numa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/num.h"
#include "host/host_file.h"

enum {
	TASK_PROCESSOR = 39,         /* its number in proc_pid_stat(5) */
	TASK_MAPS_MOST = 256 << 20,
};

/* ---- where it runs ---- */

/* The CPU that a task last ran on. */
static bool tasks_processor(const char *path, uint64_t *ret)
{
	char text[2048];
	const char *s;

	if (!host_file_text(path, text, sizeof(text)))
		return false;
	/* The name, field 2, is in brackets and may have any bytes. */
	s = strrchr(text, ')');
	for (int field = 2; s && field < TASK_PROCESSOR; field++) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	return s && num_dec(s, strcspn(s, " "), ret);
}

static void tasks_add_cpu(const struct numa_machine *m, uint64_t cpu, struct numa_task *t)
{
	if (cpu >= m->ncpus || !m->of_cpu[cpu])
		return;
	numa_add(&t->on, m->of_cpu[cpu] - 1, m->of_cpu[cpu] - 1);
	t->runs = true;
}

static void tasks_read_cpus(const char *root, const struct numa_machine *m, struct numa_task *t)
{
	char path[512];
	uint32_t *tid = NULL;
	size_t n = 0;
	uint64_t cpu;

	snprintf(path, sizeof(path), "%s/proc/%llu/task", root, (unsigned long long)t->pid);
	if (host_numbers(path, &tid, &n, NULL) == ATW_OK)
		for (size_t i = 0; i < n; i++) {
			snprintf(path, sizeof(path), "%s/proc/%llu/task/%u/stat", root,
				 (unsigned long long)t->pid, tid[i]);
			if (tasks_processor(path, &cpu))
				tasks_add_cpu(m, cpu, t);
		}
	free(tid);
	t->on_text = t->texts.len;
	if (t->runs) {
		numa_text(&t->on, &t->texts);
		buf_char(&t->texts, '\0');
	}
}

/* ---- policies ---- */

/* mpol_to_str() of mm/mempolicy.c; of two that fit, the longer one is first. */
static const struct {
	const char *word;
	bool strict, local;
} tasks_policies[] = {
	{ "default", false, false }, { "prefer (many)", true, false }, { "prefer", true, false },
	{ "bind", true, false }, { "weighted interleave", true, false },
	{ "interleave", true, false }, { "local", true, true },
};

/* "bind=static:0-1 anon=2 N0=2": its words, and the nodes behind the colon. */
static bool tasks_policy(struct numa_task *t, const char *s, size_t len, struct numa_vma *v)
{
	for (size_t i = 0; i < sizeof(tasks_policies) / sizeof(tasks_policies[0]); i++) {
		size_t n = strlen(tasks_policies[i].word);
		const char *end, *colon;
		uint64_t first, last;

		if (len < n || memcmp(s, tasks_policies[i].word, n))
			continue;
		end = memchr(s + n, ' ', len - n);
		end = end ? end : s + len;
		colon = memchr(s + n, ':', (size_t)(end - s) - n);
		for (colon = colon ? colon + 1 : end; num_list_next(&colon, end, &first, &last);)
			numa_add(&v->nodes, first, last);
		v->strict = tasks_policies[i].strict;
		v->local = tasks_policies[i].local;
		v->policy = buf_keep(&t->texts, s, (size_t)(end - s));
		return true;
	}
	return false;
}

bool numa_policies_parse(struct numa_task *t, const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *s = text, *next; s < end; s = next) {
		const char *line = memchr(s, '\n', (size_t)(end - s));
		const char *blank;
		struct numa_vma v = { 0 };

		line = line ? line : end;
		next = line + 1;
		blank = memchr(s, ' ', (size_t)(line - s));
		if (!blank || !num_hex(s, (size_t)(blank - s), &v.start) ||
		    !tasks_policy(t, blank + 1, (size_t)(line - blank) - 1, &v))
			continue;
		/* They ascend; what does not is not looked up. */
		if (t->nvmas && t->vma[t->nvmas - 1].start >= v.start)
			continue;
		if (!ARRAY_ROOM(t->vma, t->nvmas, t->vmas_cap))
			return false;
		t->vma[t->nvmas++] = v;
	}
	t->has_policies = true;
	return true;
}

const struct numa_vma *numa_task_vma(const struct numa_task *t, uint64_t address)
{
	size_t a = 0, b = t->nvmas;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (t->vma[mid].start <= address)
			a = mid + 1;
		else
			b = mid;
	}
	return a ? &t->vma[a - 1] : NULL;
}

/* ---- both ---- */

int numa_task_read(const char *root, const struct numa_machine *m, uint64_t pid, bool policies,
		   struct numa_task *ret, struct atw_err *err)
{
	struct numa_task t = { .pid = pid };
	struct buf text = { 0 };
	char path[512];
	bool good = true;

	tasks_read_cpus(root, m, &t);
	snprintf(path, sizeof(path), "%s/proc/%llu/numa_maps", root, (unsigned long long)pid);
	if (policies && host_file_all(path, TASK_MAPS_MOST, &text, NULL) == ATW_OK)
		good = numa_policies_parse(&t, text.data ? text.data : "", text.len);
	buf_deinit(&text);
	if (!good || t.texts.failed) {
		numa_task_deinit(&t);
		return atw_err_nomem(err);
	}
	*ret = t;
	return ATW_OK;
}

void numa_task_deinit(struct numa_task *t)
{
	free(t->vma);
	buf_deinit(&t->texts);
	*t = (struct numa_task){ 0 };
}

/* ---- of a listing ---- */

void numa_tasks_begin(const struct numa *n, const struct atw_listing *l, struct numa_tasks *ret)
{
	bool copy = *n->root;

	*ret = (struct numa_tasks){
		.of = n,
		.here = n->machine_known && (copy || l->flags & ATW_LISTING_RUNNING),
		.pids = n->machine_known && (copy || l->flags & ATW_LISTING_PIDS),
	};
}

int numa_tasks_get(struct numa_tasks *s, uint64_t pid, struct numa_task **ret,
		   struct atw_err *err)
{
	struct table_slot *slot;
	struct numa_task *t;
	int r;

	if (s->last && s->last->pid == pid) {
		*ret = s->last;
		return ATW_OK;
	}
	slot = table_get(&s->table, pid);
	if (!slot)
		return atw_err_nomem(err);
	t = table_ptr(slot->value);
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return atw_err_nomem(err);
		r = numa_task_read(s->of->root, &s->of->machine, pid, s->of->policies, t, err);
		if (r < 0) {
			free(t);
			return r;
		}
		table_set(&s->table, slot, (uintptr_t)t);
	}
	*ret = s->last = t;
	return ATW_OK;
}

void numa_tasks_end(struct numa_tasks *s)
{
	for (size_t i = 0; i < s->table.slots; i++) {
		struct numa_task *t = table_ptr(s->table.slot[i].value);

		if (t)
			numa_task_deinit(t);
		free(t);
	}
	table_deinit(&s->table);
}

bool numa_task_distance(const struct numa_machine *m, const struct numa_task *t, uint64_t node,
			uint32_t *ret)
{
	uint32_t d, least = UINT32_MAX;

	for (unsigned i = 0; i < NUMA_WORDS; i++)
		for (uint64_t left = t->on.word[i]; left; left &= left - 1)
			if (numa_distance(m, i * 64 + (unsigned)__builtin_ctzll(left), node, &d) &&
			    d < least)
				least = d;
	if (least == UINT32_MAX)
		return false;
	*ret = least;
	return true;
}

const char *const numa_access_words[3] = { "local", "remote", "far" };

enum numa_access numa_access(const struct numa_machine *m, const struct numa_task *t, uint64_t node)
{
	if (numa_has(&t->on, node))
		return NUMA_LOCAL;
	return node < NUMA_NODES && m->node[node].online && !m->node[node].cpus ? NUMA_FAR
										: NUMA_REMOTE;
}

bool numa_is_mismatch(const struct numa_task *t, const struct numa_vma *v, uint64_t node)
{
	if (v->local)
		return t->runs && !numa_has(&t->on, node);
	return v->strict && !numa_is_empty(&v->nodes) && !numa_has(&v->nodes, node);
}
