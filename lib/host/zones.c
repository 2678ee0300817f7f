/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zones.c - zones, and frames without a struct page, from /proc/zoneinfo. */
#include "host/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/num.h"
#include "host/host_file.h"

enum { ZONEINFO_MAX = 16 << 20 };

/* Of /proc/zoneinfo, pages. */
struct zone {
	uint32_t node;
	struct atw_blob name;
	uint64_t start, spanned, present, managed;
};

/* ---- /proc/zoneinfo ---- */

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

/* "Node 0, zone   Normal" */
static bool zones_head(const char *line, struct zone *ret)
{
	static const char node[] = "Node ", zone[] = ", zone";
	uint64_t id;
	size_t n;

	if (strncmp(line, node, sizeof(node) - 1))
		return false;
	line += sizeof(node) - 1;
	n = strcspn(line, ",");
	if (!num_dec(line, n, &id) || id > UINT32_MAX || strncmp(line + n, zone, sizeof(zone) - 1))
		return false;
	line += n + sizeof(zone) - 1;
	line += strspn(line, " ");
	*ret = (struct zone){ .node = (uint32_t)id, .name = { line, strlen(line) } };
	return true;
}

/* The lines of a zone end with its start_pfn; an empty zone lacks this line. */
static bool zones_each(char *text, bool (*fn)(void *arg, const struct zone *z), void *arg)
{
	struct zone z = { 0 };
	char *save = NULL;
	bool good = true;

	for (char *s = strtok_r(text, "\n", &save); s && good; s = strtok_r(NULL, "\n", &save))
		if (!zones_head(s, &z) && !zones_field(s, "managed", &z.managed) &&
		    !zones_field(s, "spanned", &z.spanned) &&
		    !zones_field(s, "present", &z.present) &&
		    zones_field(s, "start_pfn:", &z.start))
			good = fn(arg, &z);
	return good;
}

static bool zones_of(const char *root, bool (*fn)(void *arg, const struct zone *z), void *arg)
{
	struct buf text = { 0 };
	char path[512];
	bool good;

	snprintf(path, sizeof(path), "%s/proc/zoneinfo", root);
	good = host_file_all(path, ZONEINFO_MAX, &text, NULL) == ATW_OK && text.len &&
	       zones_each(text.data, fn, arg);
	buf_deinit(&text);
	return good;
}

/* ---- frames without a struct page ---- */

struct zones_late {
	struct sys_late *l;
	uint32_t node;                   /* of the last range */
	uint64_t managed;                /* of all zones */
};

/*
 * Only the highest zone of each node: zones below are initialised at once, because every
 * allocation may need them.
 */
static bool zones_add_late(void *arg, const struct zone *z)
{
	struct zones_late *x = arg;
	struct sys_late *l = x->l;
	uint64_t late = z->present > z->managed ? z->present - z->managed : 0;
	uint64_t end = z->start + z->spanned;
	bool same_node = l->n && x->node == z->node;

	x->managed += z->managed;
	if (end < z->start)
		return true;
	if (!ARRAY_ROOM(l->v, l->n, l->cap))
		return false;
	x->node = z->node;
	if (same_node && l->v[l->n - 1].end < end)
		l->n--;
	else if (same_node)
		return true;
	l->v[l->n++] = (struct sys_late_range){ late < z->spanned ? end - late : z->start, end };
	return true;
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
	struct zones_late x = { .l = ret };

	*ret = (struct sys_late){ 0 };
	if (!zones_of(root, zones_add_late, &x) || zones_total(root, page) <= x.managed)
		sys_late_deinit(ret);
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

/* ---- zones ---- */

bool zone_spans_add(struct zone_spans *z, const struct zone_span *span)
{
	if (!ARRAY_ROOM(z->v, z->n, z->cap))
		return false;
	z->v[z->n++] = *span;
	return true;
}

static bool zones_add_span(void *arg, const struct zone *z)
{
	struct zone_span span = { .first = z->start, .node = z->node };

	if (__builtin_add_overflow(z->start, z->spanned, &span.end))
		return true;
	blob_text(z->name, span.name, sizeof(span.name));
	return zone_spans_add(arg, &span);
}

void sys_zones_read(const char *root, struct zone_spans *ret)
{
	*ret = (struct zone_spans){ 0 };
	if (!zones_of(root, zones_add_span, ret))
		zone_spans_deinit(ret);
}

void zone_spans_deinit(struct zone_spans *z)
{
	free(z->v);
	*z = (struct zone_spans){ 0 };
}

const char *zone_spans_find(const struct zone_spans *z, uint64_t pfn, const uint32_t *node,
			    uint64_t *last)
{
	const char *found = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < z->n; i++) {
		const struct zone_span *s = &z->v[i];

		if (s->first > pfn && s->first - 1 < *last)
			*last = s->first - 1;
		if (s->end > pfn && s->end - 1 < *last)
			*last = s->end - 1;
		if (pfn < s->first || pfn >= s->end || (node && *node != s->node))
			continue;
		found = s->name;
		n++;
	}
	return n == 1 ? found : NULL;
}
