/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_map.c - regions: what is mapped, merged while it agrees. */
#include "map.h"
#include "watch.h"
#include "base/message.h"

struct map_opts {
	struct space_opts space;
	const char *split, *watch;
	bool all, large;
	struct opt_number depth;
};

static const struct opt options[] = {
	{ 0, "all", OPT_FLAG, offsetof(struct map_opts, all), NULL,
	  "list every page in a row of its own", NULL },
	{ 0, "split", OPT_TEXT, offsetof(struct map_opts, split), "COLUMNS",
	  "start a new row where COLUMNS change; default: rights,page,physical",
	  NULL },
	{ 0, "large", OPT_FLAG, offsetof(struct map_opts, large), NULL,
	  "list areas of a process: memory in large pages, and reasons for small ones",
	  NULL },
	{ 's', "depth", OPT_NUMBER, offsetof(struct map_opts, depth), "N",
	  "follow N levels of tables; list deeper tables as one row each", NULL },
	OPT_WATCH(struct map_opts, watch),
	OPT_ALLOW(struct map_opts, space.allow),
	OPT_FREEZE(struct map_opts, space),
	OPT_SUBJECT(struct map_opts, space),
	{ 0 }
};

static const uint64_t USUAL = COL(C_ADDRESS) | COL(C_END) | COL(C_SIZE) |
	COL(C_PHYSICAL) | COL(C_PAGE) | COL(C_RIGHTS) | COL(C_STATE) | COL(C_FLAGS);

struct map_state {
	struct atw_output *out;          /* --watch: NULL, rows are counted alone */
	struct listing list;
	int argc;                        /* SOURCE and the ranges */
	char **argv;
	struct map_sizes sizes;
	/* Of the rows that passed the filter; holes counts them all. */
	uint64_t rows, lost, excluded, damaged, unstable, bad, soft, repeats, mixed, holes;
	struct atw_err damage;           /* reported last */
	bool mapped;                     /* anything at all, filtered out or not */
	unsigned split, depth;
	struct mmu_range held;           /* met, and not shown yet */
	bool holding;
	uint64_t paged;                  /* end of the page counted last */
	struct map_node node;
};

static void map_count_rows(struct map_state *m, const struct mmu_range *g)
{
	uint64_t first;

	m->rows++;
	if (g->loss)
		*(g->loss == ATW_LOST_EXCLUDED ? &m->excluded :
		  g->loss == ATW_LOST_DAMAGED  ? &m->damaged :
		  g->loss == ATW_LOST_UNSTABLE ? &m->unstable : &m->lost) += 1;
	else if (g->repeat_of)
		m->repeats++;
	else if (g->kind == ATW_BAD)
		m->bad += g->entries;
	else if (g->kind == ATW_ABSENT)
		m->soft += g->entries;
	if (g->loss || g->kind != ATW_LEAF)
		return;
	map_node_count(&m->node, g);
	if (!g->page) {
		map_sizes_add(&m->sizes, SIZE_SEVERAL, g->size, 0);
		return;
	}
	/* A clipped page is still one page, and so is one with a border in it. */
	first = MAX(g->va.u & ~(g->page - 1), m->paged);
	m->paged = (g->va.u + (g->size - 1)) / g->page * g->page + g->page;
	map_sizes_add(&m->sizes, g->page, g->size, (m->paged - first) / g->page);
}

static int map_put(struct map_state *m, const struct mmu_range *g, struct atw_err *err)
{
	const struct atw_paging *pg = &m->list.space->paging;
	struct row r = { 0 };
	enum state st;
	int64_t node;

	row_area(&m->list, &r, g->va.u, g->va.u + (g->size - 1));
	row_subject(&m->list, &r);
	row_set(&r, C_ADDRESS, g->va.u);
	row_set(&r, C_END, g->va.u + g->size);
	row_set(&r, C_SIZE, g->size);
	row_set(&r, C_PAGES, g->entries);
	row_set(&r, C_LEVEL, g->level);
	st = row_state(&m->list, &r, g->level, g->kind, g->loss, g->word, 0);
	if (g->repeat_of) {
		row_set(&r, C_STATE, st = STATE_REPEAT);
		row_set(&r, C_REPEAT, g->repeat_of);
	}
	row_set_if(&r, !g->loss, C_ENTRY, g->word);
	if (st == STATE_PRESENT || st == STATE_TABLE) {
		if (!g->scattered)
			row_physical(&m->list, &r, g->pa.u);
		if (!g->mixed_rights)
			row_rights(&r, st, g->rights);
		row_set(&r, C_PROPERTIES,
			st == STATE_PRESENT ? g->properties :
			atw_entry_properties(pg, g->level, ATW_TABLE, g->word));
		if (st == STATE_TABLE)
			row_set(&r, C_FLAGS, atw_entry_flags(pg, g->level, ATW_TABLE, g->word));
		else
			row_flags(&m->list, &r, g->va.u,
				  g->flags | (g->same_pa ? m->list.same_page : 0));
	}
	if (g->loss)
		row_physical(&m->list, &r, g->pa.u);
	row_set_if(&r, st == STATE_PRESENT && g->page, C_PAGE, g->page);
	node = map_node_of(&m->node, g);
	row_set_if(&r, node != NODE_NONE, C_NODE, (uint64_t)node);
	return row_put(&r, m->out, err);
}

/* A range asked for may begin and end inside of pages. */
static void map_clip(struct mmu_range *g, const struct address *a)
{
	uint64_t last = g->va.u + (g->size - 1), skip = 0;

	if (a->first > g->va.u)
		skip = a->first - g->va.u;
	last = MIN(last, a->last);
	g->va.u += skip;
	if (g->kind == ATW_LEAF && !g->loss && !g->same_pa)
		g->pa.u += skip;
	g->size = last - g->va.u + 1;
}

/*
 * Words the CPU ignores speak one by one; neighbours that say the same of
 * neighbouring pages or swap slots are one row all the same.
 */
static bool map_soft_agree(struct map_state *m, const struct mmu_range *x,
			   const struct mmu_range *y)
{
	const struct atw_paging *pg = &m->list.space->paging;
	struct atw_soft_word a, b;
	struct atw_region area;

	if (m->split & MMU_SPLIT_EACH || x->kind != ATW_ABSENT || y->kind != ATW_ABSENT ||
	    x->loss || y->loss || x->level != y->level || x->va.u + x->size != y->va.u)
		return false;
	if (listing_region(&m->list, x->va.u, &area) &&
	    (area.last.u < y->va.u || area.first.u == y->va.u))
		return false;
	a = atw_soft_decode_at(target_soft(m->list.src->target), pg, x->va, x->level, x->word);
	b = atw_soft_decode_at(target_soft(m->list.src->target), pg, y->va, y->level, y->word);
	if (a.what != b.what || a.type != b.type || a.what == ATW_SOFT_UNKNOWN)
		return false;
	if (a.what == ATW_SOFT_SWAP)
		return b.offset == a.offset + (x->size >> pg->page_shift);
	if (a.pa.u || b.pa.u)
		return b.pa.u == a.pa.u + x->size;
	return a.offset == b.offset;
}

static int map_show(struct map_state *m, const struct mmu_range *g, struct atw_err *err)
{
	uint64_t before;
	int r;

	if (!m->out) {
		map_count_rows(m, g);
		return ATW_OK;
	}
	before = atw_output_rows(m->out);
	r = map_put(m, g, err);
	if (r == ATW_OK && atw_output_rows(m->out) > before)
		map_count_rows(m, g);
	return r;
}

static int map_show_held(struct map_state *m, struct atw_err *err)
{
	if (!m->holding)
		return ATW_OK;
	m->holding = false;
	return map_show(m, &m->held, err);
}

static int map_feed(struct map_state *m, const struct mmu_range *g, struct atw_err *err)
{
	int r;

	m->mixed += g->mixed_rights;
	if (m->holding && map_soft_agree(m, &m->held, g)) {
		m->held.size += g->size;
		m->held.entries += g->entries;
		return ATW_OK;
	}
	r = map_show_held(m, err);
	m->held = *g;
	m->holding = true;
	return r;
}

/*
 * Where in the range a region of the kernel's ends or begins, or memory of another
 * node; 0: nowhere.
 */
static uint64_t map_border(struct map_state *m, const struct mmu_range *g)
{
	uint64_t last = g->va.u + (g->size - 1), node;
	struct atw_region area;

	/*
	 * Other rows are no memory of any region; what they speak for stays whole.
	 * So does each page by itself, even if a border is in it.
	 */
	if (m->split & MMU_SPLIT_EACH || g->loss || g->repeat_of || g->kind != ATW_LEAF)
		return 0;
	node = map_node_border(&m->node, g);
	if (node)
		return node;
	if (!listing_region(&m->list, g->va.u, &area))
		return 0;
	if (area.first.u > g->va.u)
		return area.first.u <= last ? area.first.u : 0;
	return area.last.u < last ? area.last.u + 1 : 0;
}

/* Several entries may lead to one table: its damage is reported once. */
static void map_print_damage(struct map_state *m, const struct atw_err *why)
{
	if (!strcmp(m->damage.text, why->text))
		return;
	m->damage = *why;
	print_error(why);
}

static int map_list(struct map_state *m, const struct address *a, struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(a->first), .last = ATW_VA(a->last),
		.flags = MMU_WALK_SOFT, .depth = m->depth,
	};
	struct mmu_range g;
	struct mmu_ranges *ranges;
	int r = mmu_ranges_open(m->list.space, &o, m->split, &ranges, err), shown = ATW_OK;

	if (r < 0)
		return r;
	while (shown == ATW_OK && (r = mmu_ranges_next(ranges, &g, err)) == ATW_OK) {
		struct address part;
		uint64_t at, last;

		if (g.loss == ATW_LOST_DAMAGED)
			map_print_damage(m, mmu_walk_error(mmu_ranges_walk(ranges)));
		m->holes += g.loss != ATW_HAVE;
		m->mapped |= !g.loss && (g.kind == ATW_LEAF || g.kind == ATW_TABLE);
		if (a->is_range)
			map_clip(&g, a);
		/* The page of a single address is shown as it is. */
		at = a->is_range ? map_border(m, &g) : 0;
		if (!at) {
			shown = map_feed(m, &g, err);
			continue;
		}
		/* The range's facts are not those of its parts: they are asked again. */
		for (last = g.va.u + (g.size - 1); at && shown == ATW_OK;
		     at = map_border(m, &g)) {
			part = (struct address){ .first = g.va.u, .last = at - 1, .is_range = true };
			shown = map_list(m, &part, err);
			g.pa.u += at - g.va.u;
			g.va.u = at;
			g.size = last - at + 1;
		}
		part = (struct address){ .first = g.va.u, .last = last, .is_range = true };
		if (shown == ATW_OK)
			shown = map_list(m, &part, err);
	}
	mmu_ranges_close(ranges);
	return shown < 0 ? shown : r == ATW_END ? ATW_OK : r;
}

/* One of the ranges asked for, or everything. */
static int map_list_all(struct map_state *m, const struct address *a, struct atw_err *err)
{
	int r, shown = ATW_OK;

	m->paged = 0;
	r = map_list(m, a, err);
	if (r == ATW_OK || r == ATW_E_LIMIT)
		shown = map_show_held(m, r == ATW_OK ? err : NULL);
	if (r == ATW_E_LIMIT)
		atw_err_wrap(err, "%s", m->list.src->name);
	return r < 0 ? r : shown;
}

/* The kernel's half is not a process's own. */
static struct address map_everything(const struct session *src)
{
	return (struct address){
		.last = src->subject.label[0] ? INT64_MAX : UINT64_MAX, .is_range = true,
	};
}

static int map_list_args(struct map_state *m, struct atw_err *err)
{
	struct address a = map_everything(m->list.src);
	int r = m->argc == 1 ? map_list_all(m, &a, err) : ATW_OK;

	for (int i = 1; i < m->argc && r == ATW_OK; i++)
		r = parse_owned(m->list.src, m->argv[i], &a, err) ?:
		    map_list_all(m, &a, err);
	return r;
}

/* A range that no process maps gets no row. */
static int map_list_arg(void *arg, const struct address_arg *t, struct atw_err *err)
{
	return t->unmapped ? ATW_OK : map_list_all(arg, &t->a, err);
}

/* Are there names for something of what is listed? */
static void map_show_areas(struct map_state *m, const struct session *src,
			   const struct address_arg *t, int n)
{
	const struct address whole = map_everything(src);
	struct atw_region area;

	for (int i = 0; i < n || !i; i++) {
		uint64_t last = n ? t[i].a.last : whole.last;

		if ((n && t[i].owned ? t[i].owner.mm : src->subject.mm) ||
		    (last > INT64_MAX &&
		     listing_region(&m->list, (uint64_t)INT64_MAX + 1, &area)))
			m->list.col[C_AREA].hidden = false;
	}
}

/* --watch: what one look comes to. */
static int map_take_look(void *arg, struct map_look *l, struct atw_err *err)
{
	struct map_state *m = arg;
	int r;

	m->sizes.n = m->rows = 0;
	m->holding = false;
	listing_renew(&m->list);
	r = map_list_args(m, err);
	l->ranges = m->rows;
	for (size_t i = 0; i < m->sizes.n; i++)
		map_look_add(l, m->sizes.v[i].page, m->sizes.v[i].bytes);
	return r;
}

static void map_summary(struct map_state *m)
{
	map_sizes_note(&m->sizes, m->rows, m->out);
	node_sum_note(&m->node.sum, m->out);
	note_number(m->out, m->repeats,
		    "%" PRIu64 " of them (state repeat) stands for recurring tables, which repeat the bytes just before them; --all lists every page",
		    "%" PRIu64 " of them (state repeat) stand for recurring tables, which repeat the bytes just before them; --all lists every page");
	note_number(m->out, m->mixed,
		    "%" PRIu64 " range merges pages of different rights (n/a), which filters on rights do not match",
		    "%" PRIu64 " ranges merge pages of different rights (n/a), which filters on rights do not match");
	note_number(m->out, m->soft,
		    "%" PRIu64 " entry holds a value that the CPU ignores (swap, protnone, ...)",
		    "%" PRIu64 " entries hold a value that the CPU ignores (swap, protnone, ...)");
	note_number(m->out, m->lost,
		    "%" PRIu64 " range is lost: page tables are missing from the source",
		    "%" PRIu64 " ranges are lost: page tables are missing from the source");
	note_number(m->out, m->excluded,
		    "%" PRIu64 " range is unknown: page tables were excluded from the dump",
		    "%" PRIu64 " ranges are unknown: page tables were excluded from the dump");
	note_number(m->out, m->damaged,
		    "%" PRIu64 " range is unknown: page tables are damaged",
		    "%" PRIu64 " ranges are unknown: page tables are damaged");
	note_number(m->out, m->unstable,
		    "%" PRIu64 " range is unstable: page tables kept changing while being read",
		    "%" PRIu64 " ranges are unstable: page tables kept changing while being read");
	note_number(m->out, m->bad,
		    "%" PRIu64 " entry is bad: reserved bits are set",
		    "%" PRIu64 " entries are bad: reserved bits are set");
}

static bool map_parse_split(const char *list, unsigned *ret, char *why, size_t len)
{
	static const struct { const char *name; unsigned bit; } words[] = {
		{ "rights", MMU_SPLIT_RIGHTS }, { "page", MMU_SPLIT_LEVEL },
		{ "level", MMU_SPLIT_LEVEL }, { "physical", MMU_SPLIT_PHYSICAL },
		{ "flags", MMU_SPLIT_FLAGS },
	};

	*ret = 0;
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ","), i;

		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == n && !memcmp(words[i].name, p, n))
				break;
		if (i == sizeof(words) / sizeof(words[0])) {
			snprintf(why, len, _("--split: '%.*s' is not one of rights, page, physical, flags"),
				 (int)(n < 64 ? n : 64), p);
			return false;
		}
		*ret |= words[i].bit;
		p += n + (p[n] == ',');
	}
	return true;
}

/* How many ranges could not be read, and how many of these no row shows. */
static void map_print_holes(const struct map_state *m, const struct common *c,
			    const struct session *src)
{
	uint64_t shown = m->lost + m->excluded + m->damaged + m->unstable, n = m->holes;
	char hidden[64] = "";

	if (c->group && *c->group)
		shown = 0;
	if (n && !shown)
		snprintf(hidden, sizeof(hidden), _(", which %s not listed"), n == 1 ? "is" : "are");
	else if (n > shown)
		snprintf(hidden, sizeof(hidden), _(", %" PRIu64 " of which %s not listed"),
			 n - shown, n - shown == 1 ? "is" : "are");
	if (n)
		print_incomplete("%s: cannot read %" PRIu64 " range%s%s", src->name, n,
				 n == 1 ? "" : "s", hidden);
}

/* Of page tables: each target, or everything. */
static int map_answer(struct map_state *m, const struct common *c, struct session *src,
		      const struct map_opts *o, const struct address_arg *t)
{
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r, n = m->argc - 1;

	output_opts(c, src, &oo);
	map_show_areas(m, src, t, n);
	r = atw_output_open(&oo, &m->list.schema, &m->out, &err);
	if (r == ATW_OK)
		r = n ? address_args_each(src, t, n, map_list_arg, m, &err)
		      : map_list_args(m, &err);
	thaw(src);
	status = m->holes || src->doubtful ? EXIT_PARTIAL : m->mapped ? EXIT_COMPLETE : EXIT_NO;
	if (r == ATW_OK || r == ATW_E_LIMIT)
		map_summary(m);
	if (r == ATW_OK && !n && !o->depth.given)
		map_large_notes(c, src, m->out);
	if (r == ATW_OK)
		unread_note(c, src, m->out);
	status = output_end(m->out, r, status, &err);
	if (r == ATW_OK)
		map_print_holes(m, c, src);
	return status;
}

static int map(struct map_state *m, const struct common *c, struct session *src,
	       const struct map_opts *o, struct address_arg *t)
{
	const bool tables = target_has(src->target, TARGET_TABLES);
	int n = m->argc - 1, status = EXIT_COMPLETE;

	if (o->large)
		status = session_need(src, TARGET_ELIGIBLE, "--large");
	if (!status && o->depth.given)
		status = session_need(src, TARGET_TABLES, "--depth");
	if (status)
		return status;
	if (o->large)
		return map_large(c, src, m->argc, m->argv);
	if (!o->watch)
		status = address_args_find(c, &o->space, src, m->argv + 1, t, n);
	if (status)
		return status;
	listing_init(&m->list, "map", src, USUAL);
	for (int i = 0; i < n; i++)
		if (t[i].owned)
			m->list.col[C_PID].hidden = m->list.col[C_TASK].hidden = false;
	map_node_init(&m->node, c, src);
	if (m->node.sum.wanted)          /* it is frames that are of a node */
		m->split |= MMU_SPLIT_PHYSICAL;
	if (o->watch)
		status = !tables ? watch_by_pages(c, src, &o->space, o->watch, m->split,
						  m->argc, m->argv)
				 : watch_map(c, src, &o->space, o->watch, map_take_look,
					     m);
	else
		status = !tables ? map_by_pages(c, src, &m->list, m->split, t, n)
				 : map_answer(m, c, src, o, t);
	if (!status && m->holes) {
		print_incomplete("%s: cannot read %" PRIu64 " range%s", src->name, m->holes,
				 m->holes == 1 ? "" : "s");
		status = EXIT_PARTIAL;
	}
	map_node_deinit(&m->node);
	listing_deinit(&m->list);
	return status;
}

static int map_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct map_opts *o = opts;
	_auto_session struct session src = { 0 };
	struct map_state m = {
		.split = MMU_SPLIT_RIGHTS | MMU_SPLIT_LEVEL | MMU_SPLIT_PHYSICAL,
		.argc = argc, .argv = argv,
	};
	_auto_free struct address_arg *t = NULL;
	char why[256];
	int status;

	if (argc < 1)
		return usage_error("map", "SOURCE is missing");
	if (o->split && !map_parse_split(o->split, &m.split, why, sizeof(why)))
		return usage_error("map", "%s", why);
	if (o->depth.given && (!o->depth.u || o->depth.u > ATW_MAX_LEVELS))
		return usage_error("map", "--depth must be 1 to %d", ATW_MAX_LEVELS);
	if (o->large && (o->all || o->split || o->depth.given))
		return usage_error("map", "--all, --split and --depth cannot be used with --large");
	if (o->large && o->watch)
		return usage_error("map", "--watch cannot be used with --large");
	if (o->all)
		m.split = MMU_SPLIT_EACH;
	m.depth = (unsigned)o->depth.u;
	t = calloc((size_t)argc, sizeof(*t));
	if (!t)
		return print_nomem();
	status = open_watched("map", c, argv[0], o->watch, &o->space, &src);
	return status ? status : map(&m, c, &src, o, t);
}

/* Are rows others than those of addresses? */
static bool map_other_rows(const void *opts)
{
	const struct map_opts *o = opts;

	return o->large || o->watch;
}

const struct command cmd_map = {
	.name = "map",
	.args = "SOURCE [RANGE...]",
	.summary = "list the mappings of an address space",
	.about =
		"Lists what the page tables in SOURCE map, in ascending order. Adjacent pages\n"
		"are merged into one row while rights, page size and physical contiguity\n"
		"match. Missing page tables, entries with reserved bits set and swapped pages\n"
		"are rows of their own. Below the plain table: bytes and pages by page size;\n"
		"for a process, the reasons why memory is not mapped by large pages.",
	.common = OPT_COMMON_LISTING | OPT_COMMON_ADDRESSES,
	.options = options,
	.opts_size = sizeof(struct map_opts),
	.run = map_run,
	.other_rows = map_other_rows,
};
