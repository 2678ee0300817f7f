/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa.h - nodes, tiers, tasks and policies of a machine, from its /proc and /sys. */
#pragma once

#include <atwalk/plugin.h>

#include "base/buf.h"
#include "base/table.h"

enum { NUMA_NODES = 1024, NUMA_WORDS = NUMA_NODES / 64 };        /* MAX_NUMNODES */

/* A set of nodes. */
struct numa_set {
	uint64_t word[NUMA_WORDS];
};

static inline bool numa_has(const struct numa_set *s, uint64_t node)
{
	return node < NUMA_NODES && s->word[node / 64] >> node % 64 & 1;
}
void numa_add(struct numa_set *s, uint64_t first, uint64_t last);
bool numa_is_empty(const struct numa_set *s);
/* "0,2-3", as in /sys. */
void numa_text(const struct numa_set *s, struct buf *ret);

struct numa_node {
	bool online, cpus;       /* cpus: it has some */
	bool tiered;
	uint32_t tier;
	uint32_t *distance;      /* of `ndistances` nodes that are online, in their order */
	size_t ndistances;
};

struct numa_machine {
	struct numa_node node[NUMA_NODES];
	uint16_t online[NUMA_NODES];     /* position among those that are online */
	uint32_t *of_cpu;        /* node + 1 of each CPU; 0: not known */
	size_t ncpus, cpus_cap;
};

/* From `root`/sys. ATW_E_MISSING: it has no nodes. */
int numa_machine_read(const char *root, struct numa_machine *ret, struct atw_err *err);
void numa_machine_deinit(struct numa_machine *m);
/* false: not known. */
bool numa_distance(const struct numa_machine *m, uint64_t from, uint64_t to, uint32_t *ret);

/* ---- tasks.c ---- */

/* A VMA with the policy of its memory. */
struct numa_vma {
	uint64_t start;
	size_t policy;           /* offset in `texts` */
	struct numa_set nodes;   /* of the policy */
	bool strict;             /* memory on other nodes contradicts it */
	bool local;              /* its nodes are those that the task runs on */
};

struct numa_task {
	uint64_t pid;
	bool runs;               /* `on` is known */
	struct numa_set on;      /* nodes of the CPUs that its threads last ran on */
	size_t on_text;          /* offset in `texts` */
	bool has_policies;
	struct numa_vma *vma;    /* ascending */
	size_t nvmas, vmas_cap;
	struct buf texts;
};

/* A process from `root`/proc; what is not there is not known. ATW_E_NOMEM. */
int numa_task_read(const char *root, const struct numa_machine *m, uint64_t pid, bool policies,
		   struct numa_task *ret, struct atw_err *err);
void numa_task_deinit(struct numa_task *t);
/* The VMA with this address; NULL: not known. */
const struct numa_vma *numa_task_vma(const struct numa_task *t, uint64_t address);
/* numa_maps of a process, for tests as well. */
bool numa_policies_parse(struct numa_task *t, const char *text, size_t len);

/* ---- numa.c ---- */

struct numa {
	const struct atw_host *host;
	char *root;              /* "", or a copy of the files of another machine */
	bool policies;
	struct numa_machine machine;
	bool machine_known;
};

/* Tasks that were read, by PID. */
struct numa_tasks {
	const struct numa *of;
	bool pids;               /* PIDs are those of `root`/proc */
	bool here;               /* and nodes those of `root`/sys */
	struct table table;      /* pointers */
	struct numa_task *last;
};

int numa_tasks_get(struct numa_tasks *s, uint64_t pid, struct numa_task **ret,
		   struct atw_err *err);
void numa_tasks_begin(const struct numa *n, const struct atw_listing *l, struct numa_tasks *ret);
void numa_tasks_end(struct numa_tasks *s);
/* The least distance of a node from those that a task runs on. */
bool numa_task_distance(const struct numa_machine *m, const struct numa_task *t, uint64_t node,
			uint32_t *ret);

enum numa_access { NUMA_LOCAL, NUMA_REMOTE, NUMA_FAR };
enum numa_access numa_access(const struct numa_machine *m, const struct numa_task *t, uint64_t node);
/* Does memory on this node contradict the policy? */
bool numa_is_mismatch(const struct numa_task *t, const struct numa_vma *v, uint64_t node);

extern const char *const numa_access_words[3];
extern const struct atw_annotator numa_annotator, numa_annotator_policies;
extern const struct atw_plugin_report numa_report, numa_report_policies;

#define NUMA_COLUMN(n, t, ...) \
	{ .size = sizeof(struct atw_plugin_column), .name = n, .type = ATW_COLUMN_##t, __VA_ARGS__ }

static inline bool numa_known(const uint64_t *bits, uint32_t row)
{
	return bits && bits[row / 64] >> row % 64 & 1;
}
