// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * use.c - memory of each process, user, cgroup or unit: RSS, PSS and USS.
 *
 * The share of a page is its size divided by the number of its mappings, all of which
 * count: the sum over all groups is what they use together.
 */
#include "report/groups.h"
#include "report/frame_set.h"
#include "report/report.h"

enum {
	C_LOOK, C_PID, C_PROCESSES, C_RSS, C_PSS, C_USS, C_ANON, C_FILE, C_SWAP, C_HUGE, C_THP_ANON,
	C_THP_SHMEM, C_THP_FILE, C_HUGETLB, C_USER, C_NAME, COLUMNS
};

#define BYTES(k, h) { .key = k, .type = ATW_T_BYTES, .help = h }
#define HIDDEN(k, h) { .key = k, .type = ATW_T_BYTES, .help = h, .hidden = true }
/* Shared memory is in the RSS of each process that has it, so RSS has no sum. */
#define SUMMED(k, h) { .key = k, .type = ATW_T_BYTES, .help = h, .sum = true }
static const struct atw_column columns[COLUMNS] = {
	[C_LOOK] = COLUMN("look", COUNT, 4,
			"of several looks, which one, from 1", .hidden = true),
	[C_NAME] = COLUMN("name", TEXT, 24, "process, user, cgroup or unit"),
	[C_USER] = COLUMN("user", TEXT, 8,
			"by user, of the running system: what it is called",
			.hidden = true),
	[C_PID] = COLUMN("pid", COUNT, 0, "number of the process"),
	[C_PROCESSES] = COLUMN("processes", COUNT, 0,
			"address spaces that have some of it"),
	[C_RSS] = BYTES("rss", "in memory, as smaps_rollup counts: no hugetlb, no zero pages, no devices"),
	[C_PSS] = SUMMED("pss", "of rss, each page divided by how often it is mapped"),
	[C_USS] = SUMMED("uss", "of rss, pages that are mapped only here"),
	[C_ANON] = BYTES("anon", "of rss, memory of no file"),
	[C_FILE] = BYTES("file", "of rss, files and shared memory"),
	[C_SWAP] = SUMMED("swap", "on swap"),
	[C_HUGE] = BYTES("huge", "of rss, what large pages map"),
	[C_THP_ANON] = HIDDEN("thp_anon", "of huge, memory of no file: AnonHugePages"),
	[C_THP_SHMEM] = HIDDEN("thp_shmem", "of huge, shared memory: ShmemPmdMapped"),
	[C_THP_FILE] = HIDDEN("thp_file", "of huge, files: FilePmdMapped"),
	[C_HUGETLB] = SUMMED("hugetlb", "in pages of hugetlbfs, which no other sum has"),
};

static const struct atw_schema schema = { "use", columns, COLUMNS };

struct use {
	struct census_report_opts o;
	enum group_by by;
	struct groups groups;
	struct owners owners;
	size_t group;                    /* of the current VMA */
	struct smaps_pages as;           /* of its pages */
	uint64_t page;
	bool unsized;                    /* for some pages it is not known whether
					  * large ones map them */
	uint64_t work;                   /* frames that were examined */
	uint64_t looks;                  /* completed */
	uint64_t ended;                  /* processes, while they were read */
};

static int use_init(void *state, const struct census_report_opts *o, struct atw_err *err)
{
	struct use *u = state;

	return group_by_find(o->by, &u->by, err);
}

static void use_deinit(void *state)
{
	struct use *u = state;

	groups_deinit(&u->groups);
	owners_deinit(&u->owners);
}

static int use_area(struct use *u, const struct census_event *ev, struct atw_err *err)
{
	const struct census_area *a = ev->area;
	struct page_group *g = groups_of(&u->groups, u->by, a);

	if (!g)
		return atw_err_nomem(err);
	if (g->last != a->process->number + 1) {
		g->last = a->process->number + 1;
		g->processes++;
	}
	u->group = (size_t)(g - u->groups.v);
	g->paper |= a->process->paper;
	u->page = ev->page;
	return ATW_OK;
}

/*
 * Limits of shared frames that are examined one by one: a quarter of a TiB per run, eight
 * in total, because a few lines may claim frames that would take minutes.
 */
#define RUN_MOST ((uint64_t)1 << 26)
#define WORK_MOST ((uint64_t)1 << 31)

/* Of these shared pages, the number that no other group maps. */
static int use_alone(struct use *u, const struct census_pages *p, uint64_t refs,
		     uint64_t *ret, struct atw_err *err)
{
	uint64_t n = 0, frames = p->same ? 1 : p->pages, pfn = p->pa / u->page;
	unsigned one;
	int r = ATW_OK;

	*ret = 0;
	if (u->by == BY_PROCESS || !(p->known & CENSUS_PA) || u->groups.v[u->group].uncounted)
		return ATW_OK;
	if (frames > RUN_MOST || frames > WORK_MOST - u->work)
		r = atw_err_set(err, ATW_E_LIMIT, "more than %" PRIu64 " pages are shared",
				frames > RUN_MOST ? RUN_MOST : WORK_MOST);
	u->work += r == ATW_OK ? frames : 0;
	for (uint64_t i = 0; i < frames && r == ATW_OK; i++) {
		r = owners_add(&u->owners, pfn + i, refs, p->same ? p->pages : 1,
			       (uint32_t)u->group, &one, err);
		n += r == ATW_OK ? one : 0;
	}
	if (r == ATW_E_LIMIT) {
		u->groups.v[u->group].uncounted = true;
		atw_err_wrap(err, "use: cannot compute uss");
	}
	*ret = n;
	return r;
}

static int use_page_rows(struct use *u, const struct census_pages *p, struct atw_err *err)
{
	struct smaps *sum = &u->groups.v[u->group].sum;
	uint64_t own = 0;
	int r = ATW_OK;

	pages_smaps(p, u->page, &u->as);
	smaps_add(sum, &u->as);
	if (u->as.class == SMAPS_RSS && u->as.mappings > 1)
		r = use_alone(u, p, u->as.mappings, &own, err);
	if (r == ATW_OK)
		sum->uss += own * u->page;
	return r;
}

/* Marks the group of a process with unlisted areas as incomplete; not BY_UNIT. */
static int use_untold(struct use *u, const struct census_process *p, struct atw_err *err)
{
	struct page_group *g;

	if (!p->incomplete || u->by == BY_UNIT)
		return ATW_OK;
	g = groups_of_process(&u->groups, u->by, p);
	if (!g)
		return atw_err_nomem(err);
	g->processes += g->last != p->number + 1;
	g->last = p->number + 1;
	g->incomplete = true;
	return ATW_OK;
}

static int use_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct use *u = state;

	switch (ev->what) {
	case CENSUS_ON_HEADER:
		u->unsized |= blob_is(ev->header->key, "unsized");
		report_on_ended(ev->header, &u->ended);
		return ATW_OK;
	case CENSUS_ON_AREA:
		return use_area(u, ev, err);
	case CENSUS_ON_AREA_END:
		u->groups.v[u->group].incomplete |= ev->area->incomplete;
		return ATW_OK;
	case CENSUS_ON_PROCESS_END:
		return use_untold(u, ev->process, err);
	default:
		return use_page_rows(u, ev->pages, err);
	}
}

/* ---- output ---- */

static bool use_is_shared_out(const struct page_group *g)
{
	return !g->sum.uncounted;
}

/* The largest share first. */
static int use_by_share(const void *a, const void *b)
{
	const struct page_group *x = a, *y = b;
	uint64_t p = use_is_shared_out(x) ? smaps_pss(&x->sum) : x->sum.rss;
	uint64_t q = use_is_shared_out(y) ? smaps_pss(&y->sum) : y->sum.rss;

	return ORDER(q, p) ?: ORDER(x->pid, y->pid) ?: strcmp(x->name, y->name);
}

static void use_put_sums(const struct page_group *g, bool unsized, struct report_row *row)
{
	static const struct { uint8_t column, kind; } thp[] = {
		{ C_THP_ANON, SMAPS_ANON }, { C_THP_SHMEM, SMAPS_SHMEM }, { C_THP_FILE, SMAPS_FILE },
	};
	static const uint8_t sums[ROW_SMAPS] = { C_RSS, C_PSS, C_USS, C_SWAP, C_HUGE, C_HUGETLB };
	const struct smaps *s = &g->sum;

	row_smaps(row, sums, s, g->paper, unsized);
	if (g->uncounted)
		row->have &= ~((uint64_t)1 << C_USS);
	if (!s->kind[SMAPS_UNKIND]) {
		row_u(row, C_ANON, s->kind[SMAPS_ANON]);
		row_u(row, C_FILE, s->kind[SMAPS_FILE] + s->kind[SMAPS_SHMEM] +
		      s->kind[SMAPS_NOT_ANON]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(thp) && !g->paper && !unsized; i++)
		row_if(row, smaps_knows_thp(s, thp[i].kind), thp[i].column, s->thp[thp[i].kind]);
}

static int use_put_group(const struct use *u, const struct page_group *g,
			 const struct census_out *out, struct atw_err *err)
{
	const char *user = u->by == BY_USER && g->known && u->o.user
				   ? u->o.user(u->o.user_arg, g->key) : NULL;
	struct report_row row = { .have = 0 };

	row_u(&row, C_LOOK, u->looks);
	row_s(&row, C_NAME, g->name);
	row_s(&row, C_USER, user);
	row_if(&row, u->by == BY_PROCESS, C_PID, g->pid);
	row_u(&row, C_PROCESSES, g->processes);
	if (!g->incomplete)
		use_put_sums(g, u->unsized, &row);
	return row_out(&row, out, err);
}

/* All rows of the stream that has ended, whose data are then discarded. */
static int use_step(void *state, const struct census_out *out, struct atw_err *err)
{
	struct use *u = state;
	int r = ATW_OK;

	u->looks++;
	if (!groups_join(&u->groups))
		return atw_err_nomem(err);
	SORT(u->groups.v, u->groups.n, use_by_share);
	for (size_t i = 0; i < u->groups.n && r == ATW_OK; i++)
		r = use_put_group(u, &u->groups.v[i], out, err);
	if (r == ATW_OK)
		report_note_ended(out, u->ended);
	groups_deinit(&u->groups);
	owners_deinit(&u->owners);
	u->unsized = false;
	u->work = u->ended = 0;
	return r;
}

static int use_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct use *u = state;

	return u->looks ? ATW_OK : use_step(state, out, err);
}

/* Large pages always have a known origin. */
static const char *const kinds[] = { "anon", "file", NULL };

const struct census_report report_use = {
	.name = "use",
	.title = "Memory of each process, user, cgroup or unit",
	.help = "RSS, PSS, USS and swap of each process, or by user, cgroup or unit",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(AREA) | CENSUS_ON(PAGES) | CENSUS_ON(AREA_END) |
	      CENSUS_ON(PROCESS_END),
	.schema = &schema, .by = true, .sums = true, .kinds = kinds, .again = true,
	.state = sizeof(struct use), .opts = true, .init = use_init,
	.feed = use_feed, .step = use_step, .finish = use_finish, .deinit = use_deinit,
};
