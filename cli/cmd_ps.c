/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_ps.c - tasks, and what they have in memory. */
#include "ps.h"
#include "base/clock.h"
#include "base/message.h"
#include "census_jobs.h"

static const struct opt options[] = {
	{ 'T', "threads", OPT_FLAG, offsetof(struct ps_opts, threads), NULL,
	  "list every thread, not only processes", NULL },
	OPT_ALLOW(struct ps_opts, allow),
	OPT_KERNEL(struct ps_opts, space),
	{ 0 }
};

static const char *const kinds[] = {
	[KIND_PROCESS] = "process", [KIND_THREAD] = "thread", [KIND_KERNEL] = "kernel",
};
static const struct atw_names kind_names = { 3, kinds, NULL };

static const struct atw_column columns[P_COUNT] = {
	[P_PID] = COLUMN("pid", COUNT, 7, "number of the process or thread"),
	[P_TGID] = COLUMN("tgid", COUNT, 7, "of the process it belongs to"),
	[P_PPID] = COLUMN("ppid", COUNT, 7, "of the process's parent"),
	[P_TASK] = COLUMN("task", TEXT, 15, "its name"),
	[P_STATE] = COLUMN("state", TEXT, 5,
			   "R runs, S sleeps, D waits, I idle, T t stopped, X Z dead, P parked; ? not known"),
	[P_MM] = COLUMN("mm", VA, 0,
			"its address space (mm_struct); tasks that share one have the same"),
	[P_ROOT] = COLUMN("root", PA, 0, "root table of it"),
	[P_USER_ROOT] = HIDDEN_COLUMN("user_root", PA, 0,
				      "root table in user mode, under page-table isolation"),
	[P_RESIDENT] = COLUMN("resident", BYTES, 8,
			      "its RSS, as smaps_rollup counts: no hugetlb, no zero pages, no devices"),
	[P_SMALL] = COLUMN("resident_small", BYTES, 14,
			   "those in pages of the smallest size"),
	[P_LARGE] = COLUMN("resident_large", BYTES, 14, "those in larger ones"),
	[P_HUGETLB] = COLUMN("hugetlb", BYTES, 7,
			     "pages of hugetlbfs, which are not in resident"),
	[P_SIZES] = HIDDEN_COLUMN("page_sizes", TEXT, 16,
				  "how many pages of each size, hugetlb too: 4K:212,2M:3"),
	[P_LOST] = HIDDEN_COLUMN("lost", COUNT, 4, "page tables that could not be read"),
	[P_KIND] = { .key = "kind", .type = ATW_T_ENUM, .width = 7, .names = &kind_names,
		     .hidden = true, .help = "process, thread of one, or kernel thread" },
	[P_AT] = HIDDEN_COLUMN("at", VA, 0, "its task_struct"),
};

/* ---- rows ---- */

void ps_fault(struct ps *p, struct atw_err *err)
{
	if (p->faults++ < FAULTS) {
		atw_err_wrap(err, "%s", p->src.name);
		print_error(err);
	}
}

/* The address space of that number, for the first time if *fresh; NULL: no memory. */
static struct usage *ps_usage(struct ps *p, uint64_t mm, bool *fresh)
{
	struct table_slot *s = table_get(&p->usages, mm);
	struct usage *u = s ? table_ptr(s->value) : NULL;

	*fresh = s && !u;
	if (*fresh)
		u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->mm = mm;
	table_set(&p->usages, s, (uintptr_t)u);
	return u;
}

static void ps_take(struct ps *p, const struct ps_walked *w, struct usage *u)
{
	struct atw_err why = w->why;

	*u = w->u;
	p->unread += why.status < 0;
	p->lost += u->lost != 0;
	if (why.status < 0)
		ps_fault(p, &why);
}

static int ps_find_usage(struct ps *p, const struct lnx_task *t, uint64_t mm,
			 const struct ps_walked *walked, const struct usage **ret, bool *fresh,
			 struct atw_err *err)
{
	struct usage *u = ps_usage(p, mm, fresh);
	struct ps_walked own;

	if (!u)
		return atw_err_nomem(err);
	*ret = u;
	if (*fresh && !target_has(p->src.target, TARGET_TABLES))
		return ps_pages_sum(p, mm, u, err);
	if (*fresh && !walked)
		ps_walk(&p->walker, t, &own);
	if (*fresh)
		ps_take(p, walked ? walked : &own, u);
	return ATW_OK;
}

struct ps_sums {
	uint64_t all, hugetlb;
	char sizes[400];         /* "4K:212,2M:3"; a page of which a part is mapped counts as one */
};

static void ps_add_up(const uint64_t bytes[64], const uint64_t hugetlb[64],
		      struct ps_sums *ret)
{
	const size_t len = sizeof(ret->sizes);
	size_t n = 0;
	char size[16];

	*ret = (struct ps_sums){ 0 };
	for (unsigned s = 0; s < 64; s++) {
		uint64_t page = (uint64_t)1 << s, both = bytes[s] + hugetlb[s];

		ret->all += bytes[s];
		ret->hugetlb += hugetlb[s];
		if (both && n < len)
			n += (size_t)snprintf(ret->sizes + n, len - n, "%s%s:%" PRIu64, n ? "," : "",
					      num_human(page, size), (both + page - 1) >> s);
	}
}

/*
 * The row of a task, what it maps added to `have` and the sums: `u` may be NULL, and
 * is `fresh` if no task before had it. v[] has room for all columns.
 */
static int ps_put(struct ps *p, union atw_value *v, uint64_t have, const struct usage *u,
		  bool fresh, struct atw_err *err)
{
	struct atw_row row = { v, have };
	uint64_t before = atw_output_rows(p->out);
	struct ps_sums sums;
	int r;

	if (u && u->have_root) {
		v[P_ROOT].u = u->root.u;
		v[P_USER_ROOT].u = u->user_root.u;
		row.have |= 1 << P_ROOT | (u->isolated ? 1 << P_USER_ROOT : 0);
	}
	if (u && u->known) {
		ps_add_up(u->bytes, u->hugetlb, &sums);
		v[P_HUGETLB].u = sums.hugetlb;
		v[P_RESIDENT].u = sums.all;
		v[P_SMALL].u = u->bytes[p->page_shift];
		v[P_LARGE].u = sums.all - u->bytes[p->page_shift];
		v[P_SIZES].s = sums.sizes;
		v[P_LOST].u = u->lost;
		row.have |= 1 << P_LOST;
		if (!u->nothing)
			row.have |= 1 << P_RESIDENT | (u->kindless ? 0 : 1 << P_HUGETLB);
		if (!u->nothing && !u->sizeless)
			row.have |= 1 << P_SMALL | 1 << P_LARGE | 1 << P_SIZES;
	}
	r = atw_output_row(p->out, &row, err);
	if (r < 0 || atw_output_rows(p->out) == before)
		return r;
	p->tasks++;
	if (u && fresh && u->known) {
		p->spaces++;
		p->sizeless |= u->sizeless;
		p->kindless |= u->kindless;
		for (unsigned s = 0; s < 64; s++) {
			p->bytes[s] += u->bytes[s];
			p->hugetlb[s] += u->hugetlb[s];
		}
	}
	return ATW_OK;
}

static int ps_put_row(struct ps *p, const struct target_task *row, const struct ps_walked *walked,
		      struct atw_err *err)
{
	const struct lnx_task *t = &row->task;
	const struct usage *u = NULL;
	union atw_value v[P_COUNT] = {
		[P_PID].u = t->pid, [P_TGID].u = t->tgid, [P_PPID].u = t->ppid,
		[P_TASK].s = t->name, [P_STATE].s = (char[]){ t->state, 0 },
		[P_KIND].u = t->kernel ? KIND_KERNEL : t->leader ? KIND_PROCESS : KIND_THREAD,
		[P_AT].u = t->at, [P_MM].u = t->mm,
	};
	const struct { uint32_t has; unsigned column; } known[] = {
		{ TASK_TGID, P_TGID }, { TASK_PPID, P_PPID }, { TASK_STATE, P_STATE },
		{ TASK_KIND, P_KIND }, { TASK_AT, P_AT },
	};
	uint64_t have = 1 << P_PID | 1 << P_TASK | (t->mm ? 1 << P_MM : 0);
	uint64_t mm = t->mm ? t->mm : ps_pages_space(p, t);
	bool fresh = false;
	int r = mm ? ps_find_usage(p, t, mm, walked, &u, &fresh, err) : ATW_OK;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		have |= row->have & known[i].has ? (uint64_t)1 << known[i].column : 0;
	return r < 0 ? r : ps_put(p, v, have, u, fresh, err);
}

/* Without -T and without numbers, the leaders alone. */
static bool ps_wanted(const struct ps *p, const struct lnx_task *t)
{
	if (!p->npids)
		return t->leader || p->o->threads;
	for (int i = 0; i < p->npids; i++)
		if (p->pid[i] == t->pid || (p->o->threads && p->pid[i] == t->tgid))
			return true;
	return false;
}

int ps_put_item(struct ps *p, const struct ps_item *item, const struct ps_walked *walked,
		struct atw_err *err)
{
	struct atw_err why;

	if (!item->fault)
		return ps_put_row(p, &item->t, walked, err);
	why = *item->fault;
	ps_fault(p, &why);
	return ATW_OK;
}

static int ps_add_item(struct ps *p, const struct target_task *t, const struct atw_err *fault,
		       struct atw_err *err)
{
	struct ps_item item = { .t = *t };

	if (fault) {
		item.fault = malloc(sizeof(*fault));
		if (!item.fault)
			return atw_err_nomem(err);
		*item.fault = *fault;
	}
	if (!ARRAY_ROOM(p->item, p->nitems, p->items_cap)) {
		free(item.fault);
		return atw_err_nomem(err);
	}
	p->item[p->nitems++] = item;
	return ATW_OK;
}

static int ps_read_items(struct ps *p, bool *seen, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct target_tasks tasks;
	struct target_task t = { 0 };
	int r = target_tasks_open(p->src.target, &tasks, err), kept = r;

	if (r < 0)
		return r;
	while (kept == ATW_OK && (r = target_tasks_next(&tasks, &t, &why)) != ATW_END) {
		if (r < 0) {
			kept = ps_add_item(p, &t, &why, err);
			if (r == ATW_E_LIMIT)
				break;
			continue;
		}
		for (int i = 0; i < p->npids; i++)
			seen[i] |= p->pid[i] == t.task.pid;
		if (ps_wanted(p, &t.task))
			kept = ps_add_item(p, &t, NULL, err);
	}
	target_tasks_close(&tasks);
	return kept;
}

static int ps_list(struct ps *p, bool *seen, struct atw_err *err)
{
	const uint64_t began = now();
	bool tables = target_has(p->src.target, TARGET_TABLES), tried = !tables;
	int r = ps_read_items(p, seen, err);

	if (r == ATW_OK && !tables)
		r = ps_pages_open(p, err);
	for (size_t i = 0; i < p->nitems && r == ATW_OK; i++) {
		if (!tried && census_jobs_pay(p->c, &p->src, began)) {
			tried = true;
			r = ps_by_jobs(p, i, err);
			if (r != ATW_E_UNSUPPORTED)
				break;
		}
		r = ps_put_item(p, &p->item[i], NULL, err);
	}
	ps_pages_close(p);
	return r;
}

static void ps_summary(struct ps *p)
{
	struct ps_sums sums;
	char size[16], more[16];

	ps_add_up(p->bytes, p->hugetlb, &sums);
	/* n/a is not 0, and what seems small may be part of a large page. */
	if (p->kindless)
		snprintf(more, sizeof(more), "n/a");
	else
		num_human(sums.hugetlb, more);
	if (p->sizeless)
		*sums.sizes = '\0';
	atw_output_note(p->out, "%" PRIu64 " task%s, %" PRIu64 " address space%s: RSS %s, hugetlb %s%s%s",
			p->tasks, p->tasks == 1 ? "" : "s", p->spaces,
			p->spaces == 1 ? "" : "s", num_human(sums.all, size),
			more, *sums.sizes ? _(", pages ") : "", sums.sizes);
	unreadable_note(&p->unreadable, p->out);
}

/* What of the answer is missing, in one sentence each. */
static int ps_settle(struct ps *p)
{
	uint64_t missing = p->faults - p->unread - p->denied;

	print_defects(p->c, &p->src);
	if (p->lost && !target_has(p->src.target, TARGET_TABLES))
		print_incomplete("%s: the %s lacks parts of %" PRIu64 " address space%s; more may be mapped; the column lost counts the ranges",
				 p->src.name, message(p->src.target->backend->noun), p->lost, p->lost == 1 ? "" : "s");
	else if (p->lost)
		print_incomplete("%s: %" PRIu64 " address space%s: some page tables are not in the source; more may be mapped; the column lost counts them",
				 p->src.name, p->lost, p->lost == 1 ? " is incomplete" : "s are incomplete");
	if (p->denied)
		print_incomplete("%s: the memory of processes that may not be read is n/a",
				 p->src.name);
	if (p->unread)
		print_incomplete("%s: %" PRIu64 " read error%s in address spaces", p->src.name,
				 p->unread, p->unread == 1 ? "" : "s");
	if (missing)
		print_incomplete("%s: %" PRIu64 " read error%s: %" PRIu64 " task%s listed, and some may be missing",
				 p->src.name, missing, missing == 1 ? "" : "s",
				 p->tasks, p->tasks == 1 ? " is" : "s are");
	return p->lost || p->faults || p->src.target->defective ? EXIT_PARTIAL : EXIT_COMPLETE;
}

/* Plain tables have a column more where it has something to say. */
static void ps_choose_columns(struct ps *p, struct atw_column *col)
{
	struct lnx_tasks *tasks;
	struct lnx_task t = { 0 };
	struct atw_mm mm;

	if (!target_has(p->src.target, TARGET_TABLES) || p->c->format != FORMAT_PLAIN ||
	    lnx_tasks_open(p->src.target->kernel, &tasks, NULL) < 0)
		return;
	while (!t.mm && lnx_tasks_next(tasks, &t, NULL) == ATW_OK)
		;
	lnx_tasks_close(tasks);
	if (t.mm && atw_mm_open(p->src.target->kernel, t.mm, &mm, NULL) == ATW_OK)
		col[P_USER_ROOT].hidden = !mm.isolated;
}

static int ps_list_all(struct ps *p, bool *seen)
{
	struct atw_column col[P_COUNT];
	const struct atw_schema schema = { "ps", col, P_COUNT };
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status = EXIT_COMPLETE, r;

	memcpy(col, columns, sizeof(col));
	ps_choose_columns(p, col);
	p->page_shift = p->src.subject.space.paging.page_shift;
	output_opts(p->c, &p->src, &oo);
	r = atw_output_open(&oo, &schema, &p->out, &err);
	if (r == ATW_OK) {
		r = ps_list(p, seen, &err);
		if (r < 0)
			atw_err_wrap(&err, "%s", p->src.name);
		if (r == ATW_E_UNSUPPORTED && !*error_hint(&err) && !p->o->space.kernel)
			atw_err_hint(&err, "use --kernel FILE to read types from a vmlinux or a BTF file");
	}
	if (r == ATW_OK) {
		ps_summary(p);
		r = atw_output_commit(p->out, &err);
	}
	if (r < 0)
		status = print_error(&err);
	atw_output_close(p->out);
	for (int i = 0; r == ATW_OK && i < p->npids; i++)
		if (!seen[i]) {
			atw_err_set(&err, ATW_E_NONE, "%s: there is no process or thread %" PRIu32,
				    p->src.name, p->pid[i]);
			status = print_error(&err);
		}
	r = status == EXIT_SOURCE || status == EXIT_USAGE ? status : ps_settle(p);
	return r ? r : status;
}

static int ps_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct ps p = { .c = c, .o = opts };
	_auto_free uint32_t *pid = NULL;
	_auto_free bool *seen = NULL;
	uint64_t n;
	int status = EXIT_COMPLETE;

	if (!argc)
		return usage_error("ps", "SOURCE is missing");
	p.unreadable.allow = p.o->allow;
	pid = p.pid = calloc((size_t)argc, sizeof(*p.pid));
	seen = calloc((size_t)argc, sizeof(*seen));
	if (!pid || !seen)
		return print_nomem();
	for (int i = 1; !status && i < argc; i++) {
		if (!num_dec(argv[i], strlen(argv[i]), &n) || !n || n > UINT32_MAX)
			status = usage_error("ps", is_source_word(argv[i])
					     ? "'%.64s' is not a process number; type SOURCE first"
					     : "'%.64s' is not a process number; to select by name, use --filter task=NAME",
					     argv[i]);
		else
			p.pid[p.npids++] = (uint32_t)n;
	}
	if (!status)
		status = open_session(c, argv[0], &p.o->space, TARGET_TASKS, &p.src);
	if (!status) {
		p.walker.target = p.src.target;
		status = ps_list_all(&p, seen);
		atw_memmap_close(p.walker.memmap);
		session_close(&p.src);
	}
	for (size_t i = 0; i < p.nitems; i++)
		free(p.item[i].fault);
	free(p.item);
	for (size_t i = 0; i < p.usages.slots; i++)
		free(table_ptr(p.usages.slot[i].value));
	table_deinit(&p.usages);
	return status;
}

const struct command cmd_ps = {
	.name = "ps",
	.args = "SOURCE [PID...]",
	.summary = "list tasks and their memory use",
	.about =
		"Lists the processes in SOURCE, or those given by PID: their numbers, name and\n"
		"state, root table, and memory in pages of each size. Below the plain table:\n"
		"the sum of all, counting address spaces that tasks share once.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct ps_opts),
	.run = ps_run,
};
