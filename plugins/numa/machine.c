/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - NUMA nodes and memory tiers from /sys. */
#include "numa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "host/host_file.h"
#include "host/nodes.h"

enum { MACHINE_CPUS = 1 << 16, MACHINE_TIERS = 4096 };

/* ---- sets ---- */

void numa_add(struct numa_set *s, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last && i < NUMA_NODES; i++)
		s->word[i / 64] |= UINT64_C(1) << i % 64;
}

bool numa_is_empty(const struct numa_set *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < NUMA_WORDS; i++)
		all |= s->word[i];
	return !all;
}

void numa_text(const struct numa_set *s, struct buf *ret)
{
	bool first = true;

	for (unsigned i = 0; i < NUMA_NODES; i++) {
		unsigned end = i;

		if (!numa_has(s, i))
			continue;
		while (numa_has(s, end + 1))
			end++;
		buf_printf(ret, "%s%u", first ? "" : ",", i);
		if (end > i)
			buf_printf(ret, "-%u", end);
		first = false;
		i = end;
	}
}

/* ---- nodes ---- */

static int machine_add_cpus(void *arg, uint32_t node, uint64_t first, uint64_t last,
			    struct atw_err *err)
{
	struct numa_machine *m = arg;

	if (node >= NUMA_NODES || last >= MACHINE_CPUS)
		return ATW_OK;
	m->node[node].cpus = true;
	if (!array_reserve((void **)&m->of_cpu, &m->cpus_cap, (size_t)last + 1, sizeof(*m->of_cpu)))
		return atw_err_nomem(err);
	if (last >= m->ncpus) {
		memset(m->of_cpu + m->ncpus, 0, ((size_t)last + 1 - m->ncpus) * sizeof(*m->of_cpu));
		m->ncpus = (size_t)last + 1;
	}
	for (uint64_t i = first; i <= last; i++)
		m->of_cpu[i] = node + 1;
	return ATW_OK;
}

/* "10 21 17": to each node that is online. */
static bool machine_read_distances(const char *root, uint32_t id, size_t online,
				   struct numa_node *ret)
{
	char path[512], text[8192];
	const char *s = text;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%u/distance", root, id);
	if (!host_file_text(path, text, sizeof(text)))
		return true;
	ret->distance = calloc(online, sizeof(*ret->distance));
	if (!ret->distance)
		return false;
	while (ret->ndistances < online) {
		size_t n;
		uint64_t d;

		s += strspn(s, " ");
		n = strcspn(s, " ");
		if (!num_dec(s, n, &d) || d > UINT32_MAX)
			break;
		ret->distance[ret->ndistances++] = (uint32_t)d;
		s += n;
	}
	return true;
}

/* Smaller numbers are faster; DRAM is 4. */
static void machine_read_tiers(const char *root, struct numa_machine *m)
{
	for (uint32_t tier = 0; tier < MACHINE_TIERS; tier++) {
		char path[512], text[4096];
		const char *at = text;
		uint64_t first, last;

		snprintf(path, sizeof(path),
			 "%s/sys/devices/virtual/memory_tiering/memory_tier%u/nodelist", root, tier);
		if (!host_file_text(path, text, sizeof(text)))
			continue;
		while (num_list_next(&at, text + strlen(text), &first, &last))
			for (uint64_t i = first; i <= last && i < NUMA_NODES; i++) {
				m->node[i].tiered = true;
				m->node[i].tier = tier;
			}
	}
}

int numa_machine_read(const char *root, struct numa_machine *ret, struct atw_err *err)
{
	char path[512], text[4096];
	const char *at = text;
	uint64_t first, last;
	size_t n = 0;
	bool good = true;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
	if (!host_file_text(path, text, sizeof(text)))
		return atw_err_set(err, ATW_E_MISSING, "%s: cannot be read", path);
	while (num_list_next(&at, text + strlen(text), &first, &last))
		for (uint64_t i = first; i <= last && i < NUMA_NODES; i++) {
			ret->node[i].online = true;
			ret->online[i] = (uint16_t)n++;
		}
	if (!n)
		return atw_err_set(err, ATW_E_MISSING, "%s: names no node", path);
	for (uint32_t i = 0; i < NUMA_NODES && good; i++)
		if (ret->node[i].online)
			good = machine_read_distances(root, i, n, &ret->node[i]);
	if (!good || sys_nodes_cpus(root, machine_add_cpus, ret, NULL) < 0) {
		numa_machine_deinit(ret);
		return atw_err_nomem(err);
	}
	machine_read_tiers(root, ret);
	return ATW_OK;
}

void numa_machine_deinit(struct numa_machine *m)
{
	for (size_t i = 0; i < NUMA_NODES; i++)
		free(m->node[i].distance);
	free(m->of_cpu);
	memset(m, 0, sizeof(*m));
}

bool numa_distance(const struct numa_machine *m, uint64_t from, uint64_t to, uint32_t *ret)
{
	if (from >= NUMA_NODES || to >= NUMA_NODES || !m->node[to].online ||
	    m->online[to] >= m->node[from].ndistances)
		return false;
	*ret = m->node[from].distance[m->online[to]];
	return true;
}
