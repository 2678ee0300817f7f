// SPDX-License-Identifier: GPL-2.0-or-later
/* groups.c - hash table of groups. */
#include "report/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/report.h"

enum { FIRST = 64 };

void groups_deinit(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i].name);
	free(g->v);
	free(g->place);
	*g = (struct groups){ 0 };
}

static size_t groups_place_of(const struct groups *g, uint64_t key, const char *name)
{
	size_t i = (size_t)hash_bytes(key, name, strlen(name)) & (g->places - 1);

	while (g->place[i] && (g->v[g->place[i] - 1].key != key ||
			       strcmp(g->v[g->place[i] - 1].name, name)))
		i = (i + 1) & (g->places - 1);
	return i;
}

static bool groups_grow(struct groups *g)
{
	size_t places = g->places ? g->places * 2 : FIRST;
	uint32_t *place, *old = g->place;

	if (g->n * 2 < g->places)
		return true;
	place = calloc(places, sizeof(*place));
	if (!place)
		return false;
	g->place = place;
	g->places = places;
	for (size_t i = 0; i < g->n; i++)
		g->place[groups_place_of(g, g->v[i].key, g->v[i].name)] = (uint32_t)i + 1;
	free(old);
	return true;
}

struct page_group *groups_get(struct groups *g, uint64_t key, const char *name)
{
	_auto_free char *copy = NULL;
	size_t at;

	if (!groups_grow(g))
		return NULL;
	at = groups_place_of(g, key, name);
	if (g->place[at])
		return &g->v[g->place[at] - 1];
	copy = strdup(name);
	if (!copy || g->n >= UINT32_MAX - 2 ||
	    !array_reserve((void **)&g->v, &g->cap, g->n + 1, sizeof(*g->v)))
		return NULL;
	g->v[g->n] = (struct page_group){.key = key, .name = take_ptr(copy)};
	g->place[at] = (uint32_t)++g->n;
	return &g->v[g->n - 1];
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
	if (g->processes > to->processes)
		to->processes = g->processes;
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
		uint32_t to =
			root && root != g->v[i].unit
				? g->place[groups_place_of(g, root->number, root->name)]
				: 0;

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
