/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wanted.c - index of the names of required types and constants. */
#include "linux/needs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

const char *wanted_alternative(const char *names, char *buf, size_t len)
{
	size_t n = strcspn(names, "|");

	if (!*names)
		return NULL;
	snprintf(buf, len, "%.*s", (int)n, names);
	return names + n + (names[n] == '|');
}

/* Most of very many names are no wanted one, as their first two letters show. */
static size_t wanted_begins(const struct name_index *l, const char *name)
{
	return ((unsigned char)name[0] * 31u + (name[0] ? (unsigned char)name[1] : 0)) %
	       ARRAY_SIZE(l->first);
}

bool wanted_add(struct name_index *l, const char *names, uint16_t owner)
{
	char buf[128];
	uint8_t place = 0;

	for (const char *p = names; (p = wanted_alternative(p, buf, sizeof(buf)));) {
		struct name_entry *w;

		if (!ARRAY_ROOM(l->v, l->n, l->cap))
			return false;
		w = &l->v[l->n++];
		place++;
		*w = (struct name_entry){.owner = owner, .place = place};
		snprintf(w->name, sizeof(w->name), "%.*s", (int)strcspn(buf, "."), buf);
		l->first[wanted_begins(l, w->name)] = true;
	}
	return true;
}

/* Entries begin with their names. */
static int wanted_by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void wanted_settle(struct name_index *l)
{
	size_t n = 0;

	if (!l->n)
		return;
	qsort(l->v, l->n, sizeof(*l->v), wanted_by_name);
	for (size_t i = 0; i < l->n; i++)
		if (!n || strcmp(l->v[i].name, l->v[n - 1].name))
			l->v[n++] = l->v[i];
	l->n = n;
}

struct name_entry *wanted_find(const struct name_index *l, const char *name)
{
	if (!l->first[wanted_begins(l, name)])
		return NULL;
	return bsearch(name, l->v, l->n, sizeof(*l->v), wanted_by_name);
}

void wanted_deinit(struct name_index *l)
{
	free(l->v);
	*l = (struct name_index){0};
}
