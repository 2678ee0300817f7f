/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_host.c - description of the running kernel from its /proc and /sys. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "source/live_ram.h"
#include "target/info.h"
#include "host/nodes.h"
#include "target/procfs.h"
#include "host/host_file.h"
#include "host/host.h"

enum { TEXT = 1 << 20 };

typedef int line_fn(const struct about_to *to, char *line, struct atw_err *err);

/* A file that is not there, or not for us, says nothing. */
static int info_host_each_line(const char *path, const struct about_to *to, line_fn *fn,
			       struct atw_err *err)
{
	struct buf all = { 0 };
	char *save = NULL;
	int r = ATW_OK;

	if (host_file_all(path, TEXT, &all, NULL) == ATW_OK && all.len)
		for (char *l = strtok_r(all.data, "\n", &save); l && r == ATW_OK;
		     l = strtok_r(NULL, "\n", &save))
			r = fn(to, l, err);
	buf_deinit(&all);
	return r;
}

/* "MemTotal:       16384000 kB" */
static int info_host_meminfo(const struct about_to *to, char *line, struct atw_err *err)
{
	char *colon = strchr(line, ':'), *s;
	uint64_t value;
	size_t n;

	if (!colon)
		return ATW_OK;
	*colon = '\0';
	s = colon + 1 + strspn(colon + 1, " ");
	n = strcspn(s, " ");
	return num_dec(s, n, &value) ? about_say(to, err, line, "%" PRIu64, value) : ATW_OK;
}

/*
 * "              count:    244" of each CPU's lists in each zone: pages that are free
 * and that MemFree does not count.
 */
static int info_host_waiting(const struct about_to *to, struct atw_err *err)
{
	static const char word[] = " count: ";
	struct buf all = { 0 };
	uint64_t sum = 0, n;
	bool any = false;
	int r = ATW_OK;

	if (host_file_all("/proc/zoneinfo", 16 * TEXT, &all, NULL) == ATW_OK && all.len)
		for (const char *s = all.data; (s = strstr(s, word));) {
			s += sizeof(word) - 1;
			s += strspn(s, " ");
			if (!num_dec(s, strcspn(s, "\n"), &n))
				continue;
			any = true;
			sum += n;
		}
	if (any)
		r = about_say(to, err, "zoneinfo.count", "%" PRIu64, sum);
	buf_deinit(&all);
	return r;
}

/* Emit the counters of /proc/vmstat that show a shortage of memory. */
static int info_host_vmstat(const struct about_to *to, char *line, struct atw_err *err)
{
	static const char *const whole[] = { "pgfault", "pgmajfault", "pswpin", "pswpout",
		"workingset_refault_anon", "workingset_refault_file", "oom_kill" };
	static const char *const begin[] = { "workingset_activate_", "pgscan_", "pgsteal_",
		"allocstall_" };
	char *space = strchr(line, ' '), key[80];
	bool wanted = false;

	if (!space)
		return ATW_OK;
	*space = '\0';
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		wanted |= !strcmp(line, whole[i]);
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		wanted |= !strncmp(line, begin[i], strlen(begin[i]));
	snprintf(key, sizeof(key), "vmstat.%s", line);
	return wanted ? about_say(to, err, key, "%s", space + 1) : ATW_OK;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static int info_host_pressure(const struct about_to *to, char *line, struct atw_err *err)
{
	char key[64], *save = NULL, *word = strtok_r(line, " ", &save);
	const char *kind = word;
	int r = ATW_OK;

	while (r == ATW_OK && (word = strtok_r(NULL, " ", &save))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value = '\0';
		snprintf(key, sizeof(key), "pressure.%.16s.%.16s", kind, word);
		r = about_say(to, err, key, "%s", value + 1);
	}
	return r;
}

static int info_host_slab(const struct about_to *to, char *line, struct atw_err *err)
{
	struct capture_slab s;
	struct atw_blob name;

	return capture_slabinfo((struct atw_blob){ line, strlen(line) }, &name, &s) ?
	       about_slab(to, name, &s, err) : ATW_OK;
}

struct info_host_places {
	struct sys_nodes nodes;
	struct zone_spans zones;
	unsigned page_shift;
};

static void info_host_place(void *arg, uint64_t pa, struct about_place *ret, uint64_t *last)
{
	const struct info_host_places *p = arg;
	const struct sys_nodes *n = &p->nodes;

	ret->has_node = sys_nodes_find(n, pa, &ret->node);
	if (!n->one && n->block && (pa | (n->block - 1)) < *last)
		*last = pa | (n->block - 1);
	about_zone(&p->zones, p->page_shift, pa, ret, last);
}

static int info_host_ram(const struct about_to *to, struct atw_err *err)
{
	struct info_host_places p = { .page_shift = (unsigned)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)) };
	struct extents x = { 0 };
	int r = ATW_OK;

	if (live_ram(&x, NULL) == ATW_OK) {
		sys_nodes_read("", &p.nodes);
		sys_zones_read("", &p.zones);
		r = about_ram(to, &x, info_host_place, &p, err);
		sys_nodes_deinit(&p.nodes);
		zone_spans_deinit(&p.zones);
	}
	extents_deinit(&x);
	return r;
}

static int info_host_cpus_of(void *arg, uint32_t node, uint64_t first, uint64_t last,
			     struct atw_err *err)
{
	return about_cpus(*(const struct about_to *const *)arg, node, first, last, err);
}

static int info_host_swap_of(void *arg, unsigned type, struct atw_swap *ret)
{
	return proc_swap(type, ret);
}

int about_host(const struct about_to *to, struct atw_err *err)
{
	struct host_info h;
	int r;

	host_info_init(&h);
	r = about_say(to, err, "machine", "%s", h.uts.machine) ?:
	    about_say(to, err, "release", "%s", h.uts.release);
	if (r == ATW_OK && *h.uts.nodename)
		r = about_say(to, err, "host", "%s", h.uts.nodename);
	if (r == ATW_OK)
		r = about_say(to, err, "cpus", "%" PRIu64, h.cpus) ?:
		    sys_nodes_cpus("", info_host_cpus_of, &to, err) ?:
		    about_say(to, err, "hz", "%d", ABOUT_TICKS) ?:
		    info_host_each_line("/proc/meminfo", to, info_host_meminfo, err) ?:
		    info_host_waiting(to, err) ?:
		    info_host_each_line("/proc/vmstat", to, info_host_vmstat, err) ?:
		    info_host_each_line("/proc/pressure/memory", to, info_host_pressure,
					err);
	if (r == ATW_OK)
		r = info_host_ram(to, err);
	return r == ATW_OK ? about_swap(to, info_host_swap_of, NULL, err) : r;
}

int about_host_slabs(const struct about_to *to, struct atw_err *err)
{
	return info_host_each_line("/proc/slabinfo", to, info_host_slab, err);
}
