/* SPDX-License-Identifier: GPL-2.0-or-later */
/* basic.c - memory of each process: the columns of Figure 2 of Movall et al. */
#include "report/report.h"
#include "report/sums.h"

/* Columns: the process, its sums in their order, and whether some are guessed. */
enum { B_PID, B_NAME, B_SUMS, B_GUESS = B_SUMS + SUMS, B_COUNT };
#define B(sum) (B_SUMS + SUM_##sum)

#define PAGES(n, k, w, h) \
	[n] = { .key = k, .type = ATW_T_PAGES, .width = w, .help = h, .sum = true }
#define HIDDEN(n, k, h) \
	[n] = { .key = k, .type = ATW_T_PAGES, .hidden = true, .help = h, .sum = true }
static const struct atw_column columns[B_COUNT] = {
	[B_PID] = COLUMN("pid", COUNT, 7, "number of the process"),
	[B_NAME] = COLUMN("name", TEXT, 15, "its name"),
	PAGES(B(RW), "rw_count", 8, "pages of areas that can be written"),
	PAGES(B(RX), "rx_count", 8, "pages of those that cannot"),
	PAGES(B(TOTAL), "total", 8, "both"),
	PAGES(B(STACK), "stack", 6, "pages of stacks"),
	PAGES(B(DATA), "data", 6, "of initialized data of the program"),
	PAGES(B(TEXT), "text", 6, "of its code, and of what cannot be written beside it"),
	PAGES(B(HEAP), "heap", 8, "of its heap, .bss, and other memory of no file"),
	PAGES(B(LIB_BSS), "lib_bss", 7, "of uninitialized data of libraries"),
	PAGES(B(LIB_DATA), "lib_data", 8, "of their initialized data"),
	PAGES(B(LIB_TEXT), "lib_text", 8, "of their code"),
	PAGES(B(SINGLE), "single", 6, "pages of lib_text that are mapped once"),
	PAGES(B(MULTI), "multi", 6, "and more than once"),
	PAGES(B(OTHER), "other", 6, "of anything else: jit, shm, file, devices"),
	HIDDEN(B(BSS), "bss", "the .bss of the program, part of heap"),
	HIDDEN(B(RODATA), "rodata", "read-only data of all files, part of text and lib_text"),
	HIDDEN(B(RELRO), "relro", "data made read-only, of all files, part of data and lib_data"),
	HIDDEN(B(ANON), "anon", "memory of no file that is neither heap nor .bss, part of heap"),
	HIDDEN(B(JIT), "jit", "code made at run time, part of other"),
	HIDDEN(B(SHM), "shm", "shared memory, part of other"),
	HIDDEN(B(FILE), "file", "files that are no programs, part of other"),
	HIDDEN(B(RESERVED), "reserved", "areas without rights, part of other"),
	HIDDEN(B(SWAPPED), "swapped", "pages on swap; not in any other number"),
	[B_GUESS] = GUESS_COLUMN,
};
static const struct atw_schema schema = { "basic", columns, B_COUNT };

struct basic_state {
	struct census_report_opts o;
	struct processes all;
};

static int basic_add_bare(struct basic_state *b, const struct capture_task *t,
			  struct atw_err *err)
{
	int r = processes_add(&b->all, t->name, t->pid, false, err);

	if (r == ATW_OK)
		b->all.v[b->all.n - 1].bare = true;
	return r;
}

static int basic_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct basic_state *b = state;

	switch (ev->what) {
	case CENSUS_ON_TASK:
		/* Kernel threads have no memory of their own, and are listed. */
		return ev->task->mm || capture_task_idle(ev->task->pid, ev->task_has)
			       ? ATW_OK
			       : basic_add_bare(b, ev->task, err);
	case CENSUS_ON_PROCESS:
		/*
		 * Without a number of its address space, the task is in the list already.
		 */
		return ev->process->task->mm ? processes_add(&b->all, ev->process->task->name,
							     ev->process->pid,
							     ev->process->paper, err) : ATW_OK;
	default:
		processes_feed(&b->all, ev);
		return ATW_OK;
	}
}

/* false: not known. Mapcounts and swap are those of pages: virtual sizes have neither. */
static bool basic_value(const struct basic_state *b, const struct process_sums *p,
			enum sum sum, uint64_t *ret)
{
	bool counts = sum == SUM_SINGLE || sum == SUM_MULTI;
	bool pages = counts || sum == SUM_SWAPPED;
	const struct sums *s = b->o.virtual && !pages ? &p->virtual : &p->resident;

	*ret = s->n[sum];
	/* Of no page: which of the pages are of libraries is a guess, too. */
	if (counts && s->uncounted && !s->counted)
		return false;
	return !(s->incomplete >> sum & 1) && !(counts && s->unknown) &&
	       !(p->paper && sum == SUM_SWAPPED);
}

static void basic_add_value(struct buf *line, const struct basic_state *b,
			    const struct process_sums *p, enum sum sum)
{
	uint64_t n;

	if (basic_value(b, p, sum, &n))
		buf_printf(line, ", %" PRIu64, n);
	else
		buf_str(line, ", n/a");
}

/* May it be above 0? Columns that the LPMA format cannot record are left out. */
static bool basic_any(const struct basic_state *b, enum sum sum)
{
	uint64_t n;

	for (size_t i = 0; i < b->all.n; i++) {
		const struct process_sums *p = &b->all.v[i];

		if (!basic_value(b, p, sum, &n) ? !(p->paper && sum == SUM_SWAPPED)
						: n != 0)
			return true;
	}
	return false;
}

/* Columns that Figure 2 lacks follow its own, if they are needed. */
static void basic_paper(const struct basic_state *b, const struct census_out *out)
{
	bool other = basic_any(b, SUM_OTHER), swapped = basic_any(b, SUM_SWAPPED);

	out->text(out->arg, "Name, RW Count, RX Count, Total, Name, Stack, .Data, .Text, Heap, "
		  "Lib .bss, Lib .data, Lib .text, Single, Multi%s%s\n",
		  other ? ", Other" : "", swapped ? ", Swapped" : "");
	for (size_t i = 0; i < b->all.n; i++) {
		const struct process_sums *p = &b->all.v[i];
		const char *name = processes_name(&b->all, i);
		struct buf line = { 0 };

		for (unsigned c = SUM_RW; c <= SUM_TOTAL; c++)
			basic_add_value(&line, b, p, c);
		buf_printf(&line, ", %s", name);
		for (unsigned c = SUM_STACK; c <= SUM_MULTI; c++)
			basic_add_value(&line, b, p, c);
		if (other)
			basic_add_value(&line, b, p, SUM_OTHER);
		if (swapped)
			basic_add_value(&line, b, p, SUM_SWAPPED);
		out->text(out->arg, "%s%s\n", name, line.data ? line.data : "");
		buf_deinit(&line);
	}
}

static int basic_put_row(const struct basic_state *b, const struct process_sums *p,
			 const char *name, const struct census_out *out,
			 struct atw_err *err)
{
	struct report_row row = { .have = 0 };
	uint64_t n;

	row_u(&row, B_PID, p->pid);
	row_s(&row, B_NAME, name);
	for (unsigned c = 0; c < SUMS; c++)
		if (basic_value(b, p, c, &n))
			row_u(&row, B_SUMS + c, n);
	row_u(&row, B_GUESS, (b->o.virtual ? &p->virtual : &p->resident)->guess);
	return row_out(&row, out, err);
}

struct basic_place {
	uint64_t total;
	size_t i;
};

/* The largest first; equal ones in input order. */
static int basic_by_total(const void *a, const void *b)
{
	const struct basic_place *x = a, *y = b;

	return ORDER(y->total, x->total) ?: ORDER(x->i, y->i);
}

static int basic_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct basic_state *b = state;
	_auto_free struct basic_place *order = calloc(b->all.n + 1, sizeof(*order));
	size_t n = 0, bare = 0;
	int r = ATW_OK;

	if (!order)
		return atw_err_nomem(err);
	if (out->paper) {
		basic_paper(b, out);
		return ATW_OK;
	}
	for (size_t i = 0; i < b->all.n; i++) {
		const struct process_sums *p = &b->all.v[i];

		bare += p->bare;
		if (!p->bare || b->o.bare)
			order[n++] = (struct basic_place){
				(b->o.virtual ? &p->virtual : &p->resident)->n[SUM_TOTAL],
				i,
			};
	}
	qsort(order, n, sizeof(*order), basic_by_total);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = basic_put_row(b, &b->all.v[order[i].i],
				  processes_name(&b->all, order[i].i), out, err);
	if (r == ATW_OK && bare && !b->o.bare)
		out->left_out(out->arg, ATW_PARAM_BARE,
			      "%zu task%s no memory of %s own, and %s not shown: kernel threads, processes that ended",
			      bare, bare == 1 ? " has" : "s have", bare == 1 ? "its" : "their",
			      bare == 1 ? "is" : "are");
	return r;
}

static void basic_deinit(void *state)
{
	struct basic_state *b = state;

	processes_deinit(&b->all);
}

const struct census_report report_basic = {
	.name = "basic",
	.title = "Processes",
	.help = "pages of each process: read-only and read/write, stack, heap, .bss, "
		"data, text",
	.on = CENSUS_ON(TASK) | CENSUS_ON(PROCESS) | CENSUS_ON(AREA_END) |
	      CENSUS_ON(PAGES) | CENSUS_ON(PROCESS_END),
	.schema = &schema,
	.bare = true,
	.paper = true,
	.virtual = VIRTUAL,
	.state = sizeof(struct basic_state),
	.opts = true,
	.feed = basic_feed,
	.finish = basic_finish,
	.deinit = basic_deinit,
};
