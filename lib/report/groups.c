// SPDX-License-Identifier: GPL-2.0-or-later
/* groups.c - hash table of groups. */
#include "report/groups.h"

#include "report/report.h"

void groups_deinit(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].name);
	free(g->v);
	table_deinit(&g->table);
	*g = (struct groups){ 0 };
}

static uint64_t groups_hash(uint64_t key, const char *name)
{
	return hash_bytes(key, name, strlen(name));
}

/* 1 + its index; 0: there is none. */
static size_t groups_find(const struct groups *g, uint64_t key, const char *name)
{
	const struct table_slot *s = NULL;

	while ((s = table_next(&g->table, groups_hash(key, name), s)))
		if (g->v[s->value - 1].key == key &&
		    !strcmp(g->v[s->value - 1].name, name))
			return s->value;
	return 0;
}

struct page_group *groups_get(struct groups *g, uint64_t key, const char *name)
{
	size_t i = groups_find(g, key, name);
	_auto_free char *copy = i ? NULL : strdup(name);

	if (i)
		return &g->v[i - 1];
	if (!copy || !ARRAY_ROOM(g->v, g->n, g->cap) ||
	    !table_add(&g->table, groups_hash(key, name), g->n + 1))
		return NULL;
	g->v[g->n] = (struct page_group){.key = key, .name = take_ptr(copy)};
	return &g->v[g->n++];
}

static const char *const words[BY_WAYS] = { "process", "user", "cgroup", "unit" };

int group_by_find(const char *word, enum group_by *ret, struct atw_err *err)
{
	for (unsigned i = 0; i < BY_WAYS; i++)
		if (!word || !strcmp(word, words[i])) {
			*ret = (enum group_by)i;
			return ATW_OK;
		}
	return atw_err_set(err, ATW_E_USAGE,
			   "'%s' is nothing to add up by: process, user, cgroup or unit", word);
}

struct page_group *groups_of_process(struct groups *g, enum group_by by,
				     const struct census_process *p)
{
	const struct capture_task *t = p->task;
	_auto_free char *path = NULL;
	char name[24] = "n/a";
	struct page_group *ret;

	if (by == BY_USER) {
		if (p->task_has & CAPTURE_T_UID)
			snprintf(name, sizeof(name), "%" PRIu64, t->uid);
		ret = groups_get(g, t->uid, name);
		if (ret)
			ret->known = p->task_has & CAPTURE_T_UID;
		return ret;
	}
	if (by == BY_CGROUP) {
		/* Processes without a recorded cgroup share a key of their own. */
		if (!(p->task_has & CAPTURE_T_CGROUP))
			return groups_get(g, 0, name);
		path = strndup(t->cgroup.data, t->cgroup.len);
		return path ? groups_get(g, 1, path) : NULL;
	}
	ret = groups_get(g, p->number, p->name);
	if (ret)
		ret->pid = p->pid;
	return ret;
}

struct page_group *groups_of(struct groups *g, enum group_by by,
			     const struct census_area *a)
{
	struct page_group *ret;
	char name[64];

	if (by != BY_UNIT)
		return groups_of_process(g, by, a->process);
	if (a->unit) {
		ret = groups_get(g, a->unit->number, a->unit->name);
		if (ret)
			ret->unit = a->unit;
		return ret;
	}
	snprintf(name, sizeof(name), "[%s]", census_class_names.name[a->class]);
	return groups_get(g, UINT64_MAX - a->class, name);
}

static void groups_add(struct page_group *to, const struct page_group *g)
{
	smaps_join(&to->sum, &g->sum);
	to->uncounted |= g->uncounted;
	to->paper |= g->paper;
	to->incomplete |= g->incomplete;
	to->processes = MAX(to->processes, g->processes);
}

static bool groups_call_deleted(struct page_group *g)
{
	char *name;

	if (!g->unit || !g->unit->deleted)
		return true;
	if (asprintf(&name, "%s" CENSUS_DELETED, g->name) < 0)
		return false;
	free(g->name);
	g->name = name;
	return true;
}

bool groups_join(struct groups *g)
{
	bool done = true;
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct census_unit *root = census_unit_root(g->v[i].unit);
		size_t to = root && root != g->v[i].unit
				    ? groups_find(g, root->number, root->name) : 0;

		if (to)
			groups_add(&g->v[to - 1], &g->v[i]);
		g->v[i].joined = to;
	}
	for (size_t i = 0; i < g->n; i++) {
		if (g->v[i].joined)
			free(g->v[i].name);
		else
			g->v[n++] = g->v[i];
	}
	/* The hash table is not updated: no group is added after this. */
	g->n = n;
	for (size_t i = 0; i < n && done; i++)
		done = groups_call_deleted(&g->v[i]);
	return done;
}
