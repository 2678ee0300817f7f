/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.c - memory of each process by NUMA node: a row for each process and node with
 * some memory, and the sum of each node.
 *
 * RSS is that of `use`: resident pages without hugetlbfs, devices and zero pages. The
 * node of a frame is that of the R: line that contains it.
 */
#include "base/num.h"
#include "report/node_ranges.h"
#include "report/report.h"
#include "linux/kpf.h"

enum {
	C_PID, C_TASK, C_NODE, C_RSS, C_ANON, C_FILE, C_HUGE, C_SHARE, C_PLACE, C_COUNT,
};
enum { PLACE_LOCAL, PLACE_REMOTE };
static const struct atw_names nodes_places = {
	.n = 2, .name = (const char *const[]){ "local", "remote" },
};

static const struct atw_column columns[C_COUNT] = {
	[C_PID] = COLUMN("pid", COUNT, 7, "the process; n/a: all of them"),
	[C_TASK] = COLUMN("task", TEXT, 16, "its name"),
	[C_NODE] = COLUMN("node", COUNT, 4, "NUMA node; n/a: not known of these pages"),
	[C_RSS] = COLUMN("rss", BYTES, 10,
			"bytes in memory that it maps there, shared or not"),
	[C_ANON] = COLUMN("anon", BYTES, 10, "of these, of no file"),
	[C_FILE] = COLUMN("file", BYTES, 10, "of these, of files or shared memory"),
	[C_HUGE] = COLUMN("hugetlb", BYTES, 10,
			"in pages of hugetlbfs, which rss has not"),
	[C_SHARE] = COLUMN("share", SECONDS, 6,
			"part of what the process has on all nodes: 1 is all of it"),
	[C_PLACE] = { .key = "place", .type = ATW_T_ENUM, .width = 6, .names = &nodes_places,
		      .hidden = true,
		      .help = "local: its main thread last ran on a CPU of the node; else remote" },
};
static const struct atw_schema schema = { "nodes", columns, C_COUNT };

struct nodes_sums {
	uint64_t rss, anon, file, huge;  /* bytes */
	bool no_origin;                  /* the origin of some pages is not known */
	bool no_kind;                    /* nor whether some are hugetlbfs's */
};

/* A process on a node. */
struct nodes_part {
	size_t process;
	uint32_t node;
	struct nodes_sums s;
};

struct nodes_process {
	uint64_t pid, total;             /* total: bytes on all nodes */
	uint32_t home;                   /* node of the CPU it last ran on, or NODE_UNKNOWN */
	size_t name;                     /* in `names` */
	bool incomplete;
};

struct report_nodes_state {
	struct node_ranges ranges;
	struct nodes_cpus {
		uint64_t first, last;
		uint32_t node;
	} *cpus;
	size_t ncpus, cpus_cap;
	struct nodes_process *process;
	size_t n, cap;
	struct nodes_part *part;
	size_t nparts, parts_cap;
	struct buf names;
	struct nodes_sums now[NODES + 1], all[NODES + 1];
	uint32_t met[NODES + 1];         /* nodes with memory of the current process */
	size_t nmet;
	bool huge;                       /* the current VMA is of hugetlbfs */
};

/* "nodecpus.1", "4-7" */
static int nodes_on_header(struct report_nodes_state *n,
			   const struct capture_header *h, struct atw_err *err)
{
	static const char key[] = "nodecpus.";
	const size_t len = sizeof(key) - 1;
	const char *key_data = h->key.data, *at = h->value.data;
	uint64_t node, first, last;

	if (h->key.len <= len || memcmp(key_data, key, len) ||
	    !num_dec(key_data + len, h->key.len - len, &node) || node >= NODES)
		return ATW_OK;
	while (num_list_next(&at, (const char *)h->value.data + h->value.len, &first, &last)) {
		if (!array_reserve((void **)&n->cpus, &n->cpus_cap, n->ncpus + 1,
				   sizeof(*n->cpus)))
			return atw_err_nomem(err);
		n->cpus[n->ncpus++] = (struct nodes_cpus){ first, last, (uint32_t)node };
	}
	return ATW_OK;
}

static uint32_t nodes_home(const struct report_nodes_state *n,
			   const struct census_process *p)
{
	for (size_t i = 0; p->task && p->task_has & CAPTURE_T_CPU && i < n->ncpus; i++)
		if (p->task->cpu >= n->cpus[i].first && p->task->cpu <= n->cpus[i].last)
			return n->cpus[i].node;
	return NODE_UNKNOWN;
}

static void nodes_count(struct report_nodes_state *n, uint32_t node,
			const struct census_pages *p, uint64_t bytes)
{
	struct nodes_sums *s = &n->now[node];
	bool huge = n->huge || (p->known & CENSUS_FLAGS && p->flags & kpf(KPF_HUGE));

	if (!s->rss && !s->huge)
		n->met[n->nmet++] = node;
	if (huge) {
		s->huge += bytes;
		return;
	}
	s->rss += bytes;
	s->no_origin |= !(p->known & CENSUS_ORIGIN);
	s->no_kind |= p->kindless;
	*(p->anon ? &s->anon : &s->file) += bytes;
}

static void nodes_on_pages(struct report_nodes_state *n,
			   const struct census_pages *p, uint64_t page)
{
	uint64_t at = 0, pages;
	uint32_t node;

	while (is_resident(p) && (pages = node_ranges_next(&n->ranges, p, page, &at, &node)))
		nodes_count(n, node, p, pages * page);
}

static void nodes_add(struct nodes_sums *to, const struct nodes_sums *s)
{
	to->rss += s->rss;
	to->anon += s->anon;
	to->file += s->file;
	to->huge += s->huge;
	to->no_origin |= s->no_origin;
	to->no_kind |= s->no_kind;
}

static int nodes_on_process_end(struct report_nodes_state *n,
				const struct census_process *p, struct atw_err *err)
{
	struct nodes_process *q;

	if (!n->nmet && !p->incomplete)
		return ATW_OK;
	if (!ARRAY_ROOM(n->process, n->n, n->cap) ||
	    !array_reserve((void **)&n->part, &n->parts_cap, n->nparts + n->nmet, sizeof(*n->part)))
		return atw_err_nomem(err);
	q = &n->process[n->n++];
	*q = (struct nodes_process){
		.pid = p->pid, .name = buf_keep(&n->names, p->name, strlen(p->name)),
		.incomplete = p->incomplete, .home = nodes_home(n, p),
	};
	if (n->names.failed)
		return atw_err_nomem(err);
	qsort(n->met, n->nmet, sizeof(n->met[0]), sorted_by_u32);
	for (size_t i = 0; i < n->nmet; i++) {
		struct nodes_sums *s = &n->now[n->met[i]];

		q->total += s->rss + s->huge;
		nodes_add(&n->all[n->met[i]], s);
		n->part[n->nparts++] = (struct nodes_part){ n->n - 1, n->met[i], *s };
		*s = (struct nodes_sums){ 0 };
	}
	n->nmet = 0;
	return ATW_OK;
}

static int nodes_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct report_nodes_state *n = state;

	switch (ev->what) {
	case CENSUS_ON_HEADER:
		return nodes_on_header(n, ev->header, err);
	case CENSUS_ON_RAM:
		return node_ranges_add(&n->ranges, ev, err);
	case CENSUS_ON_AREA:
		n->huge = ev->area->v_has & CAPTURE_V_PAGE && ev->area->v->page > ev->page;
		return ATW_OK;
	case CENSUS_ON_PAGES:
		nodes_on_pages(n, ev->pages, ev->page);
		return ATW_OK;
	case CENSUS_ON_PROCESS_END:
		return nodes_on_process_end(n, ev->process, err);
	default:
		return ATW_OK;
	}
}

/* ---- rows ---- */

/* What a row is about; `p` NULL: all processes. */
struct nodes_of {
	const struct nodes_process *p;
	const char *name;
	uint64_t total;
	bool incomplete;
};

static int nodes_put(const struct nodes_sums *s, uint32_t node, const struct nodes_of *of,
		     const struct census_out *out, struct atw_err *err)
{
	const uint64_t total = of->total;
	const bool incomplete = of->incomplete;
	struct report_row row = { .have = 0 };

	if (of->p)
		row_u(&row, C_PID, of->p->pid);
	row_s(&row, C_TASK, of->name);
	row_if(&row, node < NODES, C_NODE, node);
	if (of->p && node < NODES && of->p->home < NODES)
		row_u(&row, C_PLACE, node == of->p->home ? PLACE_LOCAL : PLACE_REMOTE);
	/* Pages that are not recorded may be on this node. */
	if (!incomplete) {
		row_u(&row, C_RSS, s->rss);
		row_if(&row, !s->no_kind, C_HUGE, s->huge);
		if (total)
			row_u(&row, C_SHARE, (uint64_t)(((unsigned __int128)(s->rss + s->huge) * 1000 +
							     total / 2) / total));
	}
	row_if(&row, !incomplete && !s->no_origin, C_ANON, s->anon);
	row_if(&row, !incomplete && !s->no_origin, C_FILE, s->file);
	return row_out(&row, out, err);
}

struct nodes_order {
	uint64_t total;
	size_t process, part, n;
};

/* The largest total first. */
static int nodes_by_total(const void *a, const void *b)
{
	const struct nodes_order *x = a, *y = b;

	return ORDER(y->total, x->total) ?: ORDER(x->process, y->process);
}

static int nodes_processes(const struct report_nodes_state *n,
			   const struct census_out *out, struct atw_err *err)
{
	struct nodes_order *v = calloc(n->n + 1, sizeof(*v));
	int r = ATW_OK;

	if (!v)
		return atw_err_nomem(err);
	for (size_t i = 0, at = 0; i < n->n; i++) {
		v[i] = (struct nodes_order){ n->process[i].total, i, at, 0 };
		while (at < n->nparts && n->part[at].process == i) {
			at++;
			v[i].n++;
		}
	}
	qsort(v, n->n, sizeof(*v), nodes_by_total);
	for (size_t i = 0; i < n->n && r == ATW_OK; i++) {
		const struct nodes_process *p = &n->process[v[i].process];
		const struct nodes_of of = { p, n->names.data + p->name, p->total, p->incomplete };

		for (size_t k = 0; k < v[i].n && r == ATW_OK; k++) {
			const struct nodes_part *part = &n->part[v[i].part + k];

			r = nodes_put(&part->s, part->node, &of, out, err);
		}
	}
	free(v);
	return r;
}

static int nodes_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct report_nodes_state *n = state;
	uint64_t total = 0, incomplete = 0;
	uint64_t unknown = n->all[NODE_UNKNOWN].rss + n->all[NODE_UNKNOWN].huge;
	int r = nodes_processes(n, out, err);

	for (unsigned i = 0; i <= NODES; i++)
		total += n->all[i].rss + n->all[i].huge;
	for (size_t i = 0; i < n->n; i++)
		incomplete += n->process[i].incomplete;
	for (unsigned i = 0; i <= NODES && r == ATW_OK; i++)
		if (n->all[i].rss || n->all[i].huge)
			r = nodes_put(&n->all[i], i, &(struct nodes_of){
					.name = "(all)", .total = total, .incomplete = incomplete },
				      out, err);
	if (r != ATW_OK)
		return r;
	if (!n->ranges.n)
		out->lacks(out->arg, "cannot assign memory to NUMA nodes: no R: line has a node");
	else if (unknown)
		out->note(out->arg, "of %" PRIu64 " bytes it is not known on which node they are", unknown);
	if (incomplete)
		out->note(out->arg, "records of %" PRIu64 " process%s incomplete: %s memory is n/a",
			  incomplete, incomplete == 1 ? " are" : "es are",
			  incomplete == 1 ? "its" : "their");
	return ATW_OK;
}

static void nodes_deinit(void *state)
{
	struct report_nodes_state *n = state;

	node_ranges_deinit(&n->ranges);
	free(n->cpus);
	free(n->process);
	free(n->part);
	buf_deinit(&n->names);
}

const struct census_report report_nodes = {
	.name = "nodes",
	.title = "Processes by NUMA node",
	.help = "which process has how much memory on which NUMA node",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(RAM) | CENSUS_ON(AREA) | CENSUS_ON(PAGES) |
	      CENSUS_ON(PROCESS_END),
	.schema = &schema,
	.state = sizeof(struct report_nodes_state),
	.feed = nodes_feed,
	.finish = nodes_finish,
	.deinit = nodes_deinit,
};
