/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zones.c - frames without a struct page, from /proc/zoneinfo. */
#include "host/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "host/host_file.h"

enum { ZONEINFO_MAX = 16 << 20 };

/* Of /proc/zoneinfo, pages. */
struct zone {
	uint64_t start, spanned, present, managed;
};

/*
 * Only the highest zone of each node: zones below are initialised at once, because every
 * allocation may need them.
 */
static bool zones_add(struct sys_late *l, const struct zone *z, bool same_node)
{
	uint64_t late = z->present > z->managed ? z->present - z->managed : 0;
	uint64_t end = z->start + z->spanned;

	if (end < z->start)
		return true;
	if (!ARRAY_ROOM(l->v, l->n, l->cap))
		return false;
	if (same_node && l->v[l->n - 1].end < end)
		l->n--;
	else if (same_node)
		return true;
	l->v[l->n++] = (struct sys_late_range){ late < z->spanned ? end - late : z->start, end };
	return true;
}

/* "        managed  819200", "  start_pfn:           1048576" */
static bool zones_field(const char *line, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);

	line += strspn(line, " ");
	if (strncmp(line, key, n) || line[n] != ' ')
		return false;
	line += n + strspn(line + n, " ");
	return num_dec(line, strlen(line), ret);
}

/* The lines of a zone end with its start_pfn; an empty zone lacks this line. */
static bool zones_each(char *text, struct sys_late *l, uint64_t *managed)
{
	const char *node = "";           /* of the last zone */
	struct zone z = { 0 };
	char *save = NULL, *head = text;
	bool good = true;

	for (char *s = strtok_r(text, "\n", &save); s && good; s = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(s, "Node ", 5)) {
			z = (struct zone){ 0 };
			head = s;
		} else if (zones_field(s, "managed", &z.managed)) {
			*managed += z.managed;
		} else if (!zones_field(s, "spanned", &z.spanned) &&
			   !zones_field(s, "present", &z.present) &&
			   zones_field(s, "start_pfn:", &z.start)) {
			good = zones_add(l, &z,
					 !strncmp(head, node, strcspn(head, ",") + 1));
			node = head;
		}
	}
	return good;
}

/* /proc/meminfo: "MemTotal:       24684084 kB" */
static uint64_t zones_total(const char *root, uint64_t page)
{
	char path[512], text[128], *s;
	uint64_t kib;

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (!host_file_text(path, text, sizeof(text)) || strncmp(text, "MemTotal:", 9))
		return 0;
	s = text + 9 + strspn(text + 9, " ");
	return num_dec(s, strcspn(s, " "), &kib) ? kib / (page / 1024) : 0;
}

void sys_late_read(const char *root, uint64_t page, struct sys_late *ret)
{
	struct buf text = { 0 };
	uint64_t managed = 0;
	char path[512];

	*ret = (struct sys_late){ 0 };
	snprintf(path, sizeof(path), "%s/proc/zoneinfo", root);
	if (host_file_all(path, ZONEINFO_MAX, &text, NULL) != ATW_OK || !text.len ||
	    !zones_each(text.data, ret, &managed) || zones_total(root, page) <= managed)
		sys_late_deinit(ret);
	buf_deinit(&text);
}

void sys_late_deinit(struct sys_late *l)
{
	free(l->v);
	*l = (struct sys_late){ 0 };
}

bool sys_late_has(const struct sys_late *l, uint64_t pfn)
{
	for (size_t i = 0; i < l->n; i++)
		if (pfn >= l->v[i].first && pfn < l->v[i].end)
			return true;
	return false;
}
