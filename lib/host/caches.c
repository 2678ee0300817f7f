/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caches.c - geometry of the CPU caches from /sys. */
#include "host/caches.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "host/host_file.h"

enum {
	CACHES_INDICES = 16,             /* of a CPU: more than there are */
	CACHES_HASHED = 3,               /* from this level on */
};

static bool caches_text(const char *folder, const char *name, char *text, size_t len)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return host_file_text(path, text, len);
}

/* 0: not known. */
static uint64_t caches_number(const char *folder, const char *name)
{
	char text[32];
	uint64_t v;

	return caches_text(folder, name, text, sizeof(text)) &&
	       num_size(text, strlen(text), &v) ? v : 0;
}

static uint32_t caches_small(const char *folder, const char *name)
{
	uint64_t v = caches_number(folder, name);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* ATW_END: there is no such folder. */
static int caches_one(const char *folder, struct sys_caches *ret, uint32_t *met)
{
	uint64_t level;
	struct sys_cache c, *known;
	char type[32];

	if (!caches_text(folder, "type", type, sizeof(type)))
		return ATW_END;
	level = caches_number(folder, "level");
	if (!strcmp(type, "Instruction") || level < 1 || level > CACHES_LEVELS)
		return ATW_OK;
	c = (struct sys_cache){
		.size = caches_number(folder, "size"),
		.line = caches_small(folder, "coherency_line_size"),
		.sets = caches_small(folder, "number_of_sets"),
		.ways = caches_small(folder, "ways_of_associativity"),
	};
	known = &ret->level[level - 1];
	/* CPUs of several kinds: of their caches nothing is the same. */
	if (*met >> level & 1 && (known->size != c.size || known->line != c.line ||
				  known->sets != c.sets || known->ways != c.ways))
		*known = (struct sys_cache){0};
	else
		*known = c;
	*met |= 1u << level;
	return ATW_OK;
}

bool sys_caches_read(const char *root, struct sys_caches *ret)
{
	uint32_t met = 0;
	char path[512];
	struct dirent *e;
	uint64_t cpu;
	DIR *d;

	*ret = (struct sys_caches){0};
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", root);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		bool more = !strncmp(e->d_name, "cpu", 3) &&
			    num_dec(e->d_name + 3, strlen(e->d_name + 3), &cpu);

		for (int i = 0; more && i < CACHES_INDICES; i++) {
			snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/%.32s/cache/index%d",
				 root, e->d_name, i);
			more = caches_one(path, ret, &met) == ATW_OK;
		}
	}
	if (d)
		closedir(d);
	return met;
}

bool sys_caches_set(const struct sys_caches *c, unsigned level, const uint64_t *pa,
		    uint64_t va, uint64_t page, uint64_t *ret)
{
	const struct sys_cache *l;
	uint64_t way;

	if (level < 1 || level >= CACHES_HASHED)
		return false;
	l = &c->level[level - 1];
	way = (uint64_t)l->line * l->sets;
	if (!way || way & (way - 1) || (!pa && way > page))
		return false;
	*ret = (pa ? *pa : va) / l->line % l->sets;
	return true;
}
