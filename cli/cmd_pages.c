/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_pages.c - every process's areas, and what page is behind each address. */
#include "base/clock.h"
#include "base/message.h"
#include "census_jobs.h"
#include "watch.h"

struct pages_opts {
	struct space_opts space;
	const char *areas;
	struct opt_number address;
	bool all, areas_only, totals, allow;
	const char *watch;
};

static const struct opt options[] = {
	{ 0, "pid", OPT_NUMBER, offsetof(struct pages_opts, space.pid), "N",
	  "select process N only", NULL },
	{ 0, "task", OPT_TEXT, offsetof(struct pages_opts, space.task), "NAME",
	  "select the process named NAME only", NULL },
	{ 0, "areas", OPT_TEXT, offsetof(struct pages_opts, areas), "PATTERN,...",
	  "select areas with a name that contains or matches a PATTERN: heap,stack,*.so*", NULL },
	{ 0, "address", OPT_HEX, offsetof(struct pages_opts, address), "A",
	  "select the page that contains address A", NULL },
	{ 0, "all", OPT_FLAG, offsetof(struct pages_opts, all), NULL,
	  "list every page of a large page in a row of its own", NULL },
	{ 0, "areas-only", OPT_FLAG, offsetof(struct pages_opts, areas_only), NULL,
	  "list areas without their pages", NULL },
	{ 0, "totals", OPT_FLAG, offsetof(struct pages_opts, totals), NULL,
	  "print one row for each process: present, swapped, shared, PSS, USS", NULL },
	OPT_ALLOW(struct pages_opts, allow),
	OPT_WATCH(struct pages_opts, watch),
	OPT_FREEZE(struct pages_opts, space),
	OPT_KERNEL(struct pages_opts, space),
	{ 0 }
};

/* ---- all of it ---- */

/* Where totals of all processes are all that is wanted, tables need not be listed. */
static int pages_sum_up(struct pages *p, bool one, struct atw_err *err)
{
	int r = ATW_E_UNSUPPORTED;

	if (p->totals && p->sums && !one && !p->nranges && p->prov->ops->sum_up)
		r = p->prov->ops->sum_up(p->prov, false, err);
	p->summed = p->prov->sizes = r == ATW_OK;
	return r == ATW_E_UNSUPPORTED ? ATW_OK : r;
}

static void pages_summary(struct pages *p)
{
	char mapped[16], swapped[16];

	unreadable_note(&p->unreadable, p->out);
	if (!p->processes)
		return;
	atw_output_note(p->out, "%" PRIu64 " process%s: %s mapped, %s on swap%s", p->processes,
			p->processes == 1 ? "" : "es", num_human(p->mapped, mapped),
			p->unswapped ? "n/a" : num_human(p->swapped, swapped),
			p->c->filter ? _(" before --filter") : "");
	pages_note_sums(p);
	if (p->lost && !target_has(p->src->target, TARGET_TABLES))
		note_number(p->out, p->lost,
			    "%" PRIu64 " range is unknown: not recorded in the capture",
			    "%" PRIu64 " ranges are unknown: not recorded in the capture");
	else if (p->lost + p->excluded + p->damaged)
		atw_output_note(p->out, "%" PRIu64 " table%s cannot be read: %" PRIu64 " not in the source, %" PRIu64 " excluded from the dump, %" PRIu64 " damaged",
				p->lost + p->excluded + p->damaged,
				p->lost + p->excluded + p->damaged == 1 ? "" : "s",
				p->lost, p->excluded, p->damaged);
	note_number(p->out, p->unstable,
		    "%" PRIu64 " table is unstable: kept changing while being read",
		    "%" PRIu64 " tables are unstable: kept changing while being read");
	if (p->stale)
		atw_output_note(p->out, "%" PRIu64 " frame%s freed during the listing: their page state is left out",
				p->stale, p->stale == 1 ? " was" : "s were");
	note_number(p->out, p->bad,
		    "%" PRIu64 " entry is bad: reserved bits are set",
		    "%" PRIu64 " entries are bad: reserved bits are set");
	note_number(p->out, p->unread,
		    "%" PRIu64 " read error: see standard error",
		    "%" PRIu64 " read errors: see standard error");
	note_number(p->out, p->unsplit,
		    "%" PRIu64 " large page is one row: it maps more than --all lists page by page",
		    "%" PRIu64 " large pages are each one row: they map more than --all lists page by page");
	note_number(p->out, p->pageless,
		    "%" PRIu64 " page has no struct page: memory of devices, or not in the source",
		    "%" PRIu64 " pages have no struct page: memory of devices, or not in the source");
}

/* Why the answer is one in part, in one sentence each. */
static void pages_print_incomplete(const struct pages *p)
{
	uint64_t tables = p->lost + p->excluded + p->damaged;
	const char *name = p->src->name;
	char size[16];

	if (session_has_gaps(p->src))
		print_defects(p->c, p->src);
	if (p->lost && !target_has(p->src->target, TARGET_TABLES))
		print_incomplete("%s: cannot determine what is in %" PRIu64 " range%s", name, p->lost,
				 p->lost == 1 ? "" : "s");
	else if (tables)
		print_incomplete("%s: cannot read %" PRIu64 " page table%s (%" PRIu64 " not in the source, %" PRIu64 " excluded, %" PRIu64 " damaged)",
				 name, tables, tables == 1 ? "" : "s", p->lost, p->excluded, p->damaged);
	if (p->unstable)
		print_incomplete("%s: %" PRIu64 " page table%s changed each time %s read", name, p->unstable,
				 p->unstable == 1 ? "" : "s", p->unstable == 1 ? "it was" : "they were");
	if (p->stale)
		print_incomplete("%s: %" PRIu64 " frame%s freed during the listing: their page state is left out",
				 name, p->stale, p->stale == 1 ? " was" : "s were");
	if (p->look.stepless)
		print_incomplete("%s: cannot count the mappings of the parts of %s of large pages",
				 name, num_human(p->look.stepless, size));
	if (p->unknown && !(p->mapped + p->swapped + p->other))
		print_incomplete("%s: cannot determine whether %s is mapped", name, num_human(p->unknown, size));
}

/* Is the column shown, either by default or by --columns? */
static bool pages_needs(const struct common *c, const char *column)
{
	return !c->columns || *c->columns == '+' || asks_for(c, column);
}

/* A filter may name any flag. */
static bool pages_needs_flags(const struct common *c)
{
	return pages_needs(c, "pageflags") || c->filter || asks_for(c, "head") ||
	       asks_for(c, "order") || asks_for(c, "node");
}

static int pages_ranges(struct pages *p, const struct pages_opts *o, int argc,
			char **argv, struct atw_err *err)
{
	int r = ATW_OK;

	if (o->address.given)
		p->range[p->nranges++] = (struct address){ o->address.u, o->address.u, false, false };
	for (int i = 1; i < argc && r == ATW_OK; i++)
		r = parse_address(p->src, argv[i], &p->range[p->nranges++], err);
	return r;
}

static bool pages_needs_own(const struct pages *p)
{
	return p->totals ? pages_needs(p->c, "uss") : asks_for(p->c, "uss");
}

/* Sums of how often pages are mapped. */
static bool pages_needs_shares(const struct common *c, bool totals)
{
	return (totals && pages_needs(c, "pss")) || asks_for(c, "private") ||
	       asks_for(c, "shared") || asks_for(c, "pss") || asks_for(c, "uss");
}

/* Sums of what single pages are. */
static bool pages_needs_sums(const struct common *c, bool totals)
{
	return pages_needs(c, "rss") || asks_for(c, "huge") || asks_for(c, "hugetlb") ||
	       asks_for(c, "thp_anon") || asks_for(c, "thp_shmem") ||
	       asks_for(c, "thp_file") || pages_needs_shares(c, totals);
}

static bool pages_is_one(const struct pages_opts *o)
{
	return o->space.pid.given || o->space.task;
}

static int pages_open_provider(struct pages *p, bool one, struct atw_err *err)
{
	const struct target_query q = {
		.pid = (uint32_t)p->src->subject.pid,
		.mm = p->src->subject.mm, .frames = !p->areas_only || p->sums,
		.flags = p->areas_only ? p->sums : pages_needs_flags(p->c),
		.counts = p->areas_only ? p->shares : pages_needs(p->c, "kcount"),
		.cgroups = !p->areas_only && asks_for(p->c, "cgroup"),
		.pace = p->src->pace,
	};
	int r = target_provider(p->src->target, &q, pages_cannot, p, &p->prov, err);

	p->asked = q;
	if (r < 0)
		return r;
	p->prov->every = !one;
	p->query.areas_only = p->areas_only && !p->sums;
	p->query.whole = p->areas_only;
	p->query.each = p->each || (p->shares && !pages_needs_own(p));
	return ATW_OK;
}

static void pages_close_provider(struct pages *p)
{
	vma_cursor_close(p->vmas);
	page_cursor_close(p->pages);
	provider_close(p->prov);
	p->vmas = NULL;
	p->pages = NULL;
	p->prov = NULL;
}

/* Is the one process so long that threads may share it out? */
static bool pages_has_parts(const struct pages *p, size_t task)
{
	uint64_t unused;

	return pages_have_parts(p) && p->prov->ops->part(p->prov, task, 0, &unused) == ATW_OK;
}

static int pages_list_all(struct pages *p, const struct pages_opts *o,
			  struct atw_err *err)
{
	enum { LISTED = 4 };     /* to list them takes so many times as long as to count them */
	uint64_t began = now(), counting;
	bool one = pages_is_one(o), tried;
	size_t only = 0;
	int r = p->prov->ops->tasks(p->prov, err);

	if (r == ATW_OK && one)
		r = p->prov->ops->find(p->prov, (uint32_t)p->src->subject.pid, &only, err);
	if (r < 0)
		return atw_err_wrap(err, "%s", p->src->name);
	p->ended_before = one ? 0 : p->prov->ended;
	r = pages_sum_up(p, one, err);
	/* Sums of all processes together leave too little to threads. */
	tried = p->summed || (one && !pages_has_parts(p, only));
	if (r == ATW_OK && !p->prov->counted &&
	    (p->areas_only ? pages_needs_own(p) : pages_needs(p->c, "count"))) {
		counting = now();
		r = p->prov->ops->count(p->prov, err);
		/* As if that had been done: threads may pay at once. */
		began -= LISTED * (now() - counting);
	}
	for (size_t i = 0; i < p->prov->ntasks && r == ATW_OK; i++) {
		if (one && i != only)
			continue;
		if (!tried && census_jobs_pay(p->c, p->src, began)) {
			tried = true;
			r = pages_by_jobs(p, &o->space, i, one ? i + 1 : p->prov->ntasks, err);
			if (r != ATW_E_UNSUPPORTED)
				return r;
		}
		r = pages_sum_task(p, i, err);
		if (r == ATW_E_UNSUPPORTED)
			r = pages_list_task(p, i, err);
		if (r == ATW_END && one)
			return atw_err_set(err, ATW_E_NONE, "%s: process %" PRIu32 " has ended",
					   p->src->name, p->prov->task[i].pid);
		p->ended += r == ATW_END;
		r = r == ATW_END ? ATW_OK : r;
	}
	return r;
}

/* A small number that is no address of anything was perhaps meant as a process. */
static bool pages_is_pid(const struct pages *p, const struct pages_opts *o, int argc,
			 char **argv)
{
	uint64_t pid;

	return argc == 2 && !pages_is_one(o) && !p->inside &&
	       num_dec(argv[1], strlen(argv[1]), &pid) && pid && pid < 1 << 22;
}

/* --watch: one look. */
struct pages_looker {
	struct pages *p;
	const struct pages_opts *o;
};

static int pages_look(void *arg, struct atw_err *err)
{
	struct pages_looker *l = arg;
	int r = pages_open_provider(l->p, pages_is_one(l->o), err) ?:
		pages_list_all(l->p, l->o, err);

	pages_close_provider(l->p);
	/* What may not be read is said once. */
	if (l->p->unread)
		l->p->unread = FAULTS;
	return r;
}

static int pages_watch_all(struct pages *p, struct session *src,
			   const struct pages_opts *o, int argc, char **argv)
{
	struct pages_looker l = {p, o};
	struct atw_err err = { 0 };

	return pages_ranges(p, o, argc, argv, &err) < 0
		       ? print_error(&err)
		       : watch_pages(p, src, &o->space, o->watch, pages_look, &l);
}

static int pages_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct pages_opts *o = opts;
	_auto_session struct session src = { 0 };
	_auto_free struct address *range = NULL;
	struct pages p = {
		.src = &src, .c = c, .areas_only = o->areas_only || o->totals || o->watch,
		.each = o->all, .areas = o->areas, .totals = o->totals || o->watch,
		.unreadable.allow = o->allow,
	};
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r;

	if (argc < 1)
		return usage_error("pages", "SOURCE is missing");
	status = open_watched("pages", c, argv[0], o->watch, &o->space, &src);
	p.live = !status && target_has(src.target, TARGET_RUNNING);
	if (status)
		return status;
	p.sums = p.areas_only && pages_needs_sums(c, p.totals);
	p.shares = p.sums && pages_needs_shares(c, p.totals);
	range = p.range = calloc((size_t)argc + 1, sizeof(*p.range));
	if (!p.range)
		return print_nomem();
	if (o->watch)
		return pages_watch_all(&p, &src, o, argc, argv);
	p.whole = o->address.given && !o->all && !p.areas_only;
	p.headings = !p.areas_only && !c->sort && !c->group && c->format == FORMAT_PLAIN;
	listing_init(&p.list, "pages", &src, 0);
	r = pages_open_provider(&p, pages_is_one(o), &err);
	pages_columns(&p);
	output_opts(c, &src, &oo);
	if (r == ATW_OK)
		r = pages_ranges(&p, o, argc, argv, &err) ?:
		    atw_output_open(&oo, &p.schema, &p.out, &err) ?:
		    pages_list_all(&p, o, &err);
	thaw(&src);
	p.stale += p.look.stale;
	p.pageless += p.look.pageless;
	status = p.lost + p.excluded + p.damaged + p.unstable + p.unread + p.stale + p.look.stepless ||
		 session_has_gaps(&src) ? EXIT_PARTIAL :
		 p.mapped + p.swapped + p.other ? EXIT_COMPLETE : p.unknown ? EXIT_PARTIAL : EXIT_NO;
	if (r == ATW_OK)
		pages_summary(&p);
	/* A query chooses addresses itself, and that none match is no row. */
	if (r == ATW_OK && status == EXIT_NO && !p.inside && (p.areas || p.nranges) && !c->tap)
		print_warning(c, "%s: there is no %s", src.name,
			      !p.areas ? _("area at these addresses") :
			      p.nranges ? _("area of such a name at these addresses") : _("area of such a name"));
	if (r == ATW_OK && status == EXIT_NO && pages_is_pid(&p, o, argc, argv))
		print_warning(c, "%s: %s is an address; process %s is --pid %s", src.name, argv[1],
			      argv[1], argv[1]);
	status = output_end(p.out, r, status, &err);
	if (r == ATW_OK && status == EXIT_PARTIAL)
		pages_print_incomplete(&p);
	if (r == ATW_OK)
		warn_lacks(c, &src, p.prov);
	pages_close_provider(&p);
	return status;
}

/* Are rows others than those of addresses? */
static bool pages_other_rows(const void *opts)
{
	const struct pages_opts *o = opts;

	return o->totals || o->areas_only || o->watch;
}

const struct command cmd_pages = {
	.name = "pages",
	.args = "SOURCE [RANGE...]",
	.summary = "list memory areas of processes and the page at each address",
	.about =
		"Lists the memory areas of every process in SOURCE, and the pages of each area\n"
		"that are present, swapped or otherwise kept, with their mapcounts and flags.\n"
		"Runs of absent pages are one row. --areas-only lists the areas without their\n"
		"pages.",
	.common = OPT_COMMON_LISTING | OPT_COMMON_ADDRESSES,
	.options = options,
	.opts_size = sizeof(struct pages_opts),
	.run = pages_run,
	.other_rows = pages_other_rows,
};
