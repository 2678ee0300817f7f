/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa.c - the plugin numa: where memory lies, seen from the tasks that use it. */
#include "numa.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* ---- the annotator ---- */

enum { IN_PID, IN_NODE, IN_ADDRESS };
enum { OUT_TIER, OUT_RUNS_ON, OUT_DISTANCE, OUT_ACCESS, OUT_POLICY, OUT_PLACEMENT };

static const char *const placement_words[] = { "kept", "mismatch" };

static const struct atw_plugin_column
	in_pid = NUMA_COLUMN("pid", COUNT), in_node = NUMA_COLUMN("node", COUNT),
	in_address = NUMA_COLUMN("address", ADDRESS),
	out_tier = NUMA_COLUMN("tier", COUNT, .help = "memory tier of the node: smaller is faster, DRAM is 4"),
	out_runs_on = NUMA_COLUMN("runs_on", TEXT,
				  .help = "nodes of the CPUs that threads of the process last ran on"),
	out_distance = NUMA_COLUMN("distance", COUNT,
				   .help = "least distance of the node from these; 10: it is one of them"),
	out_access = NUMA_COLUMN("access", ENUM, .names = numa_access_words, .nnames = 3,
				 .help = "local: on one of these; far: on a node without CPUs; else remote"),
	out_policy = NUMA_COLUMN("policy", TEXT, .help = "memory policy of the area"),
	out_placement = NUMA_COLUMN("placement", ENUM, .names = placement_words, .nnames = 2,
				    .help = "kept, or mismatch: the node is not one of those of the policy");

static const struct atw_plugin_column *const inputs[] = { &in_pid, &in_node, NULL };
static const struct atw_plugin_column *const inputs_policies[] = {
	&in_pid, &in_node, &in_address, NULL
};
static const struct atw_plugin_column *const outputs[] = {
	&out_tier, &out_runs_on, &out_distance, &out_access, NULL
};
static const struct atw_plugin_column *const outputs_policies[] = {
	&out_tier, &out_runs_on, &out_distance, &out_access, &out_policy, &out_placement, NULL
};

static int numa_begin(void *instance, const struct atw_listing *l, void **ret,
		      struct atw_err *err)
{
	struct numa_tasks *s = calloc(1, sizeof(*s));
	const struct numa *n = instance;

	if (!s)
		return n->host->error(err, ATW_E_NOMEM, "out of memory");
	numa_tasks_begin(n, l, s);
	*ret = s;
	return ATW_OK;
}

static void numa_end(void *state)
{
	numa_tasks_end(state);
	free(state);
}

static void numa_put(const struct atw_batch *b, unsigned col, uint32_t row, uint64_t value)
{
	b->out[col][row].u = value;
	b->out_known[col][row / 64] |= UINT64_C(1) << row % 64;
}

static void numa_put_text(const struct atw_batch *b, unsigned col, uint32_t row, const char *s)
{
	b->out[col][row].s = s;
	b->out_known[col][row / 64] |= UINT64_C(1) << row % 64;
}

/* What is known of the task, and of the node as the task sees it. */
static void numa_row(const struct numa_tasks *s, const struct numa_task *t,
		     const struct atw_batch *b, uint32_t row)
{
	const struct numa_machine *m = &s->of->machine;
	bool has_node = numa_known(b->in_known[IN_NODE], row);
	uint64_t node = has_node ? b->in[IN_NODE][row].u : 0;
	const struct numa_vma *v = NULL;
	uint32_t distance;

	if (t->runs)
		numa_put_text(b, OUT_RUNS_ON, row, t->texts.data + t->on_text);
	if (t->runs && has_node) {
		numa_put(b, OUT_ACCESS, row, numa_access(m, t, node));
		if (numa_task_distance(m, t, node, &distance))
			numa_put(b, OUT_DISTANCE, row, distance);
	}
	if (s->of->policies && numa_known(b->in_known[IN_ADDRESS], row))
		v = numa_task_vma(t, b->in[IN_ADDRESS][row].u);
	if (!v)
		return;
	numa_put_text(b, OUT_POLICY, row, t->texts.data + v->policy);
	if (has_node && !(v->local && !t->runs))
		numa_put(b, OUT_PLACEMENT, row, numa_is_mismatch(t, v, node));
}

static int numa_rows(void *state, const struct atw_batch *b, struct atw_err *err)
{
	struct numa_tasks *s = state;
	const struct numa_machine *m = &s->of->machine;
	struct numa_task *t;
	int r;

	for (uint32_t i = 0; i < b->nrows; i++) {
		uint64_t node = b->in[IN_NODE][i].u;

		if (s->here && numa_known(b->in_known[IN_NODE], i) && node < NUMA_NODES &&
		    m->node[node].tiered)
			numa_put(b, OUT_TIER, i, m->node[node].tier);
		if (!s->pids || !numa_known(b->in_known[IN_PID], i))
			continue;
		r = numa_tasks_get(s, b->in[IN_PID][i].u, &t, err);
		if (r < 0)
			return r;
		numa_row(s, t, b, i);
	}
	return ATW_OK;
}

const struct atw_annotator numa_annotator = {
	.size = sizeof(numa_annotator), .inputs = inputs, .columns = outputs,
	.begin = numa_begin, .rows = numa_rows, .end = numa_end,
}, numa_annotator_policies = {
	.size = sizeof(numa_annotator), .inputs = inputs_policies, .columns = outputs_policies,
	.begin = numa_begin, .rows = numa_rows, .end = numa_end,
};

/* ---- the plugin ---- */

static const struct atw_annotator *numa_get_annotator(void *instance)
{
	const struct numa *n = instance;

	return n->policies ? &numa_annotator_policies : &numa_annotator;
}

static const struct atw_plugin_report *numa_get_report(void *instance, uint32_t i)
{
	return i == 0 ? &numa_report : i == 1 ? &numa_report_policies : NULL;
}

static void numa_stop(void *instance)
{
	struct numa *n = instance;

	numa_machine_deinit(&n->machine);
	free(n->root);
	free(n);
}

/* "policies", "root=FOLDER" */
static int numa_option(struct numa *n, const char *s, size_t len, struct atw_err *err)
{
	static const char root[] = "root=";
	const size_t head = sizeof(root) - 1;

	if (len == 8 && !memcmp(s, "policies", len)) {
		n->policies = true;
		return ATW_OK;
	}
	if (len > head && !memcmp(s, root, head) && len < 400) {
		free(n->root);
		n->root = strndup(s + head, len - head);
		return n->root ? ATW_OK : n->host->error(err, ATW_E_NOMEM, "out of memory");
	}
	return n->host->error(err, ATW_E_USAGE,
			      "unknown option '%.*s'; known: policies, root=FOLDER",
			      (int)(len < 64 ? len : 64), s);
}

static int numa_start(const struct atw_host *host, const char *options, void **ret,
		      struct atw_err *err)
{
	struct numa *n = calloc(1, sizeof(*n));
	int r = ATW_OK;

	if (!n)
		return host->error(err, ATW_E_NOMEM, "out of memory");
	n->host = host;
	for (const char *s = options; s && *s && r == ATW_OK;) {
		size_t len = strcspn(s, ",");

		r = numa_option(n, s, len, err);
		s += len + (s[len] == ',');
	}
	if (r == ATW_OK && !n->root && !(n->root = strdup("")))
		r = host->error(err, ATW_E_NOMEM, "out of memory");
	if (r == ATW_OK) {
		r = numa_machine_read(n->root, &n->machine, err);
		n->machine_known = r == ATW_OK;
		/* Rows of a dump need no /sys; a folder that was named must be one. */
		if (r == ATW_E_MISSING && !*n->root)
			r = ATW_OK;
	}
	if (r < 0) {
		numa_stop(n);
		return r;
	}
	*ret = n;
	return ATW_OK;
}

ATW_PLUGIN("numa", "1", ATW_PLUGIN_ANNOTATOR | ATW_PLUGIN_REPORT,
	   "where memory lies, seen from the tasks that use it: distance, tier, policy",
	   .start = numa_start, .stop = numa_stop, .annotator = numa_get_annotator,
	   .report = numa_get_report);
