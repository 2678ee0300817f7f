/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reports.c - numa: memory of each process by node; numa-policies: by policy. */
#include "numa.h"

#include <stdlib.h>
#include <string.h>

/* A row of either report. */
struct numa_sum {
	uint64_t pid, node;
	bool has_node;
	size_t task;             /* offset in `texts` */
	size_t policy;
	uint64_t rss, misplaced;
	bool unknown;            /* of some pages the node is not known */
};

struct numa_sums {
	struct numa_tasks tasks;
	struct numa_sum *v;
	size_t n, cap;
	struct table table;      /* 1 + index: of process and policy */
	struct buf texts;
	size_t task;             /* the last name */
};

static int numa_sums_begin(void *instance, const struct atw_listing *l, void **ret,
			   struct atw_err *err)
{
	const struct numa *n = instance;
	struct numa_sums *s;

	if (!n->machine_known)
		return n->host->error(err, ATW_E_MISSING, "/sys has no NUMA nodes here");
	if (!*n->root && !(l->flags & ATW_LISTING_RUNNING))
		return n->host->error(err, ATW_E_UNSUPPORTED,
				      "it needs the running system, or its /proc and /sys by the option root=FOLDER");
	s = calloc(1, sizeof(*s));
	if (!s)
		return n->host->error(err, ATW_E_NOMEM, "out of memory");
	numa_tasks_begin(n, l, &s->tasks);
	*ret = s;
	return ATW_OK;
}

static void numa_sums_end(void *state)
{
	struct numa_sums *s = state;

	numa_tasks_end(&s->tasks);
	table_deinit(&s->table);
	buf_deinit(&s->texts);
	free(s->v);
	free(s);
}

static size_t numa_sums_text(struct numa_sums *s, const char *text)
{
	if (s->texts.len && !strcmp(s->texts.data + s->task, text))
		return s->task;
	return s->task = buf_keep(&s->texts, text, strlen(text));
}

/* ---- numa ---- */

enum { N_PID, N_TASK, N_NODE, N_RSS };
static const struct atw_plugin_column
	in_pid = NUMA_COLUMN("pid", COUNT), in_task = NUMA_COLUMN("task", TEXT),
	in_node = NUMA_COLUMN("node", COUNT), in_rss = NUMA_COLUMN("rss", BYTES);
static const struct atw_plugin_column *const nodes_in[] = {
	&in_pid, &in_task, &in_node, &in_rss, NULL
};
static const struct atw_plugin_column
	out_pid = NUMA_COLUMN("pid", COUNT, .help = "the process"),
	out_task = NUMA_COLUMN("task", TEXT, .help = "its name"),
	out_runs_on = NUMA_COLUMN("runs_on", TEXT, .help = "nodes of the CPUs that its threads last ran on"),
	out_node = NUMA_COLUMN("node", COUNT, .help = "NUMA node with memory of it"),
	out_tier = NUMA_COLUMN("tier", COUNT, .help = "memory tier of the node: smaller is faster, DRAM is 4"),
	out_distance = NUMA_COLUMN("distance", COUNT, .help = "least distance from where it runs; 10: it runs there"),
	out_access = NUMA_COLUMN("access", ENUM, .names = numa_access_words, .nnames = 3,
				 .help = "local: it runs there; far: a node without CPUs; else remote"),
	out_rss = NUMA_COLUMN("rss", BYTES, .help = "bytes in memory that it maps there");
enum { R_PID, R_TASK, R_RUNS_ON, R_NODE, R_TIER, R_DISTANCE, R_ACCESS, R_RSS, R_COUNT };
static const struct atw_plugin_column *const nodes_out[] = {
	&out_pid, &out_task, &out_runs_on, &out_node, &out_tier, &out_distance, &out_access,
	&out_rss, NULL
};

static int numa_nodes_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct numa_sums *s = state;

	for (uint32_t i = 0; i < b->nrows; i++) {
		/* Rows without a process are sums of all. */
		if (!numa_known(b->in_known[N_PID], i) || !numa_known(b->in_known[N_RSS], i))
			continue;
		if (!ARRAY_ROOM(s->v, s->n, s->cap))
			return atw_err_nomem(err);
		s->v[s->n++] = (struct numa_sum){
			.pid = b->in[N_PID][i].u, .node = b->in[N_NODE][i].u,
			.has_node = numa_known(b->in_known[N_NODE], i),
			.task = numa_sums_text(s, numa_known(b->in_known[N_TASK], i) ? b->in[N_TASK][i].s : ""),
			.rss = b->in[N_RSS][i].u,
		};
	}
	return s->texts.failed ? atw_err_nomem(err) : ATW_OK;
}

static int numa_nodes_put(struct numa_sums *s, const struct numa_sum *v,
			  struct atw_plugin_output *out, uint64_t by[3], struct atw_err *err)
{
	const struct numa_machine *m = &s->tasks.of->machine;
	union atw_cell c[R_COUNT] = {
		[R_PID].u = v->pid, [R_TASK].s = s->texts.data + v->task, [R_NODE].u = v->node,
		[R_RSS].u = v->rss,
	};
	uint64_t known = 1 << R_PID | 1 << R_TASK | 1 << R_RSS;
	struct numa_task *t = NULL;
	uint32_t distance;
	int r = s->tasks.pids ? numa_tasks_get(&s->tasks, v->pid, &t, err) : ATW_OK;

	if (r < 0)
		return r;
	if (v->has_node) {
		known |= 1 << R_NODE;
		if (v->node < NUMA_NODES && m->node[v->node].tiered) {
			c[R_TIER].u = m->node[v->node].tier;
			known |= 1 << R_TIER;
		}
	}
	if (t && t->runs) {
		c[R_RUNS_ON].s = t->texts.data + t->on_text;
		known |= 1 << R_RUNS_ON;
	}
	if (t && t->runs && v->has_node) {
		c[R_ACCESS].u = numa_access(m, t, v->node);
		known |= 1 << R_ACCESS;
		by[c[R_ACCESS].u] += v->rss;
		if (numa_task_distance(m, t, v->node, &distance)) {
			c[R_DISTANCE].u = distance;
			known |= 1 << R_DISTANCE;
		}
	}
	return s->tasks.of->host->row(out, c, known, err);
}

static int numa_nodes_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	struct numa_sums *s = state;
	uint64_t by[3] = { 0 };
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		r = numa_nodes_put(s, &s->v[i], out, by, err);
	if (r == ATW_OK && by[NUMA_LOCAL] + by[NUMA_REMOTE] + by[NUMA_FAR])
		s->tasks.of->host->note(out, "mapped memory: %llu KiB local, %llu KiB remote, %llu KiB on nodes without CPUs",
					(unsigned long long)by[NUMA_LOCAL] >> 10,
					(unsigned long long)by[NUMA_REMOTE] >> 10,
					(unsigned long long)by[NUMA_FAR] >> 10);
	return r;
}

static const char *const nodes_from[] = { "report", "nodes", NULL };

const struct atw_plugin_report numa_report = {
	.size = sizeof(numa_report), .name = "numa",
	.help = "memory of each process by NUMA node: distance from where it runs, and tier",
	.from = nodes_from, .inputs = nodes_in, .columns = nodes_out,
	.begin = numa_sums_begin, .rows = numa_nodes_rows, .finish = numa_nodes_finish,
	.end = numa_sums_end,
};

/* ---- numa-policies ---- */

enum { P_PID, P_TASK, P_ADDRESS, P_SIZE, P_NODE };
static const struct atw_plugin_column in_address = NUMA_COLUMN("address", ADDRESS),
				      in_size = NUMA_COLUMN("size", BYTES);
static const struct atw_plugin_column *const policies_in[] = {
	&in_pid, &in_task, &in_address, &in_size, &in_node, NULL
};
static const struct atw_plugin_column
	out_policy = NUMA_COLUMN("policy", TEXT, .help = "memory policy of areas of it"),
	out_size = NUMA_COLUMN("rss", BYTES, .help = "bytes in memory in these areas"),
	out_misplaced = NUMA_COLUMN("misplaced", BYTES,
				    .help = "of these, on nodes that the policy does not have");
enum { Q_PID, Q_TASK, Q_POLICY, Q_RSS, Q_MISPLACED, Q_COUNT };
static const struct atw_plugin_column *const policies_out[] = {
	&out_pid, &out_task, &out_policy, &out_size, &out_misplaced, NULL
};

/* The row of a process and a policy; NULL: no memory. */
static struct numa_sum *numa_policies_get(struct numa_sums *s, uint64_t pid, const char *policy,
					  const char *task)
{
	uint64_t key = hash_bytes(pid, policy, strlen(policy));

	for (const struct table_slot *slot = NULL;
	     (slot = table_next(&s->table, key, slot));) {
		struct numa_sum *v = &s->v[slot->value - 1];

		if (v->pid == pid && !strcmp(s->texts.data + v->policy, policy))
			return v;
	}
	if (!ARRAY_ROOM(s->v, s->n, s->cap) || !table_add(&s->table, key, s->n + 1))
		return NULL;
	s->v[s->n] = (struct numa_sum){ .pid = pid, .task = numa_sums_text(s, task) };
	s->v[s->n].policy = buf_keep(&s->texts, policy, strlen(policy));
	return s->texts.failed ? NULL : &s->v[s->n++];
}

/* Without the option policies as well: this report needs them. */
static int numa_policies_begin(void *instance, const struct atw_listing *l, void **ret,
			       struct atw_err *err)
{
	struct numa *n = instance;

	n->policies = true;
	return numa_sums_begin(instance, l, ret, err);
}

static int numa_policies_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct numa_sums *s = state;

	for (uint32_t i = 0; i < b->nrows; i++) {
		const struct numa_vma *vma;
		struct numa_task *t;
		struct numa_sum *v;
		uint64_t node = b->in[P_NODE][i].u;
		int r;

		if (!s->tasks.pids || !numa_known(b->in_known[P_PID], i) ||
		    !numa_known(b->in_known[P_SIZE], i) || !numa_known(b->in_known[P_NODE], i))
			continue;
		r = numa_tasks_get(&s->tasks, b->in[P_PID][i].u, &t, err);
		if (r < 0)
			return r;
		vma = numa_task_vma(t, b->in[P_ADDRESS][i].u);
		if (!vma)
			continue;
		v = numa_policies_get(s, t->pid, t->texts.data + vma->policy,
				      numa_known(b->in_known[P_TASK], i) ? b->in[P_TASK][i].s : "");
		if (!v)
			return atw_err_nomem(err);
		v->rss += b->in[P_SIZE][i].u;
		v->unknown |= vma->local && !t->runs;
		if (numa_is_mismatch(t, vma, node))
			v->misplaced += b->in[P_SIZE][i].u;
	}
	return ATW_OK;
}

static int numa_policies_finish(void *state, struct atw_plugin_output *out, struct atw_err *err)
{
	struct numa_sums *s = state;
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		const struct numa_sum *v = &s->v[i];
		const union atw_cell c[Q_COUNT] = {
			[Q_PID].u = v->pid, [Q_TASK].s = s->texts.data + v->task,
			[Q_POLICY].s = s->texts.data + v->policy, [Q_RSS].u = v->rss,
			[Q_MISPLACED].u = v->misplaced,
		};

		r = s->tasks.of->host->row(out, c, (1 << Q_COUNT) - 1 - (v->unknown ? 1 << Q_MISPLACED : 0),
					   err);
	}
	return r;
}

static const char *const pages_from[] = { "pages", NULL };

const struct atw_plugin_report numa_report_policies = {
	.size = sizeof(numa_report), .name = "numa-policies",
	.help = "memory of each process by policy, and what lies on other nodes",
	.from = pages_from, .inputs = policies_in, .columns = policies_out,
	.begin = numa_policies_begin, .rows = numa_policies_rows, .finish = numa_policies_finish,
	.end = numa_sums_end,
};
