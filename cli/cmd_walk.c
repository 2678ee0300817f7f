/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_walk.c - page-table walk of an address: its tables, entries and rights. */
#include "walk.h"
#include "map.h"
#include "nested.h"
#include "paging/entry.h"
#include "walk_lines.h"

struct walk_opts {
	struct space_opts space;
	bool path, nested;
	struct opt_number depth;
	struct walk_lines_opts lines;
};

static const struct opt options[] = {
	{ 'p', "path", OPT_FLAG, offsetof(struct walk_opts, path), NULL,
	  "print every table entry on the way, with the rights left after it", NULL },
	{ 's', "depth", OPT_NUMBER, offsetof(struct walk_opts, depth), "N",
	  "follow N levels of tables and stop", NULL },
	{ 0, "nested", OPT_FLAG, offsetof(struct walk_opts, nested), NULL,
	  "of a guest: show as well where its host has it (hpa, host_page), and stage 2 (s2_page)", NULL },
	{ 'c', "cache-line", OPT_NUMBER, offsetof(struct walk_opts, lines.line), "BYTES",
	  "list the cache lines of BYTES as well, each with its sets", NULL },
	{ 0, "from", OPT_TEXT, offsetof(struct walk_opts, lines.from), "FILE",
	  "count the memory references in FILE by cache line (- is standard input)", NULL },
	OPT_ALLOW(struct walk_opts, space.allow),
	OPT_FREEZE(struct walk_opts, space),
	OPT_SUBJECT(struct walk_opts, space),
	{ 0 }
};

static const uint64_t USUAL = COL(C_ADDRESS) | COL(C_SIZE) | COL(C_PHYSICAL) |
	COL(C_LEVEL) | COL(C_RIGHTS) | COL(C_STATE) | COL(C_FLAGS);
static const uint64_t OF_PATH = COL(C_INDEX) | COL(C_ENTRY_AT) | COL(C_ENTRY);
static const uint64_t OF_TREE = COL(C_PAGES) | COL(C_STEP);

/* What one entry of the path says, whether it ends it or not. */
static void walk_fill_step(const struct listing *l, struct row *r,
			   const struct mmu_step *p, enum state st)
{
	const struct atw_paging *pg = &l->space->paging;

	row_set(r, C_LEVEL, p->level);
	row_set(r, C_INDEX, p->index);
	row_set(r, C_ENTRY_AT, p->at.u);
	row_set(r, C_ENTRY, p->word);
	if (st == STATE_PRESENT || st == STATE_TABLE) {
		row_rights(r, st, p->rights);
		uint64_t flags = atw_entry_flags(pg, p->level, p->kind, p->word);

		row_set(r, C_PROPERTIES, atw_entry_properties(pg, p->level, p->kind, p->word));
		if (st == STATE_PRESENT)
			row_flags(l, r, r->v[C_ADDRESS].u, flags);
		else
			row_set(r, C_FLAGS, flags);
	}
}

static void walk_fill_slot(struct walk_out *w, struct row *r, uint64_t address,
			   uint64_t slot, uint64_t size)
{
	row_subject(&w->list, r);
	row_area(&w->list, r, address, address);
	row_set(r, C_ADDRESS, address);
	row_set(r, C_END, slot + size);
	row_set(r, C_SIZE, size);
}

void walk_fill_piece(struct walk_out *w, struct row *r, const struct mmu_seen *s,
		     uint64_t skip)
{
	const struct atw_paging *pg = &w->list.space->paging;
	const struct mmu_step *last = s->depth ? &s->path[s->depth - 1] : NULL;
	enum state st;

	walk_fill_slot(w, r, s->va.u + skip, s->va.u, s->size);
	row_set(r, C_LEVEL, s->level);
	st = row_state(&w->list, r, s->level, s->kind, s->loss, last ? last->word : 0, skip);
	if (!s->loss && last)
		walk_fill_step(&w->list, r, last, st);
	if (s->loss) {                   /* where the entry would be */
		uint64_t index = atw_index(pg, s->level, s->va);

		row_physical(&w->list, r, s->pa.u);
		row_set(r, C_INDEX, index);
		row_set(r, C_ENTRY_AT, s->pa.u + index * pg->word_size);
	}
	if (st == STATE_PRESENT || st == STATE_TABLE)
		row_physical(&w->list, r, s->pa.u + (st == STATE_PRESENT ? skip : 0));
	if (st == STATE_PRESENT && last)
		row_set(r, C_PAGE, (uint64_t)1 << atw_entry_span(pg, s->level, last->word));
}

int walk_put(struct walk_out *w, struct row *r, struct atw_err *err)
{
	int rc = w->nested ? nested_fill(w->nested, r, err) : ATW_OK;

	return rc < 0 ? rc : row_put(r, w->out, err);
}

/* The row of one piece as a whole: the answer to "where is this address". */
static int walk_answer(struct walk_out *w, const struct mmu_seen *s, uint64_t first,
		       struct atw_err *err)
{
	struct row r = { 0 };

	walk_fill_piece(w, &r, s, first > s->va.u ? first - s->va.u : 0);
	return walk_put(w, &r, err);
}

void walk_fill_table(struct walk_out *w, struct row *r, const struct mmu_step *p,
		     uint64_t address, uint64_t slot, uint64_t size)
{
	walk_fill_slot(w, r, address, slot, size);
	row_set(r, C_STATE, STATE_TABLE);
	row_physical(&w->list, r,
		     entry_addr(&w->list.space->paging, p->level, p->kind, p->word).u);
	walk_fill_step(&w->list, r, p, STATE_TABLE);
}

/* One row a level, root first. */
static int walk_path(struct walk_out *w, const struct mmu_seen *s, uint64_t first,
		     struct atw_err *err)
{
	const struct atw_paging *pg = &w->list.space->paging;
	unsigned above = s->loss ? s->depth : s->depth - 1u;

	for (unsigned i = 0; i < above; i++) {
		const struct mmu_step *p = &s->path[i];
		uint64_t size = (uint64_t)1 << pg->level[p->level].shift;
		struct row r = { 0 };

		walk_fill_table(w, &r, p, first > s->va.u ? first : s->va.u,
				s->va.u & ~(size - 1), size);
		if (walk_put(w, &r, err) < 0)
			return err->status;
	}
	return walk_answer(w, s, first, err);
}

void walk_note_piece(struct walk_out *w, const struct mmu_walk *walk, const struct mmu_seen *s)
{
	w->lost += s->loss != ATW_HAVE;
	w->unmapped += !s->loss && (s->kind == ATW_ABSENT || s->kind == ATW_BAD);
	if (s->loss == ATW_LOST_DAMAGED)
		print_error(mmu_walk_error(walk));
}

/* Each address or page by itself. */
static int walk_pieces(struct walk_out *w, struct mmu_walk *walk, const struct address *a,
		       bool *any, struct atw_err *err)
{
	const struct mmu_seen *s;
	int r;

	while ((r = mmu_walk_next(walk, &s, err)) == ATW_OK) {
		uint32_t n = s->kind == ATW_LEAF && !s->loss ? s->count : 1;

		*any = true;
		walk_note_piece(w, walk, s);
		/* Pages of a run get a row each; runs of nothing stay one. */
		for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
			const struct mmu_seen *page = s;
			struct mmu_seen one;

			if (n > 1) {
				mmu_seen_one(w->list.space, s, i, &one);
				page = &one;
			}
			r = w->path ? walk_path(w, page, a->first, err)
				    : walk_answer(w, page, a->first, err);
		}
		if (r != ATW_OK)
			break;
	}
	return r;
}

static int walk_one(struct walk_out *w, const struct address *a, unsigned depth,
		    struct atw_err *err)
{
	const bool tree = w->path && a->is_range;
	const struct mmu_walk_opts o = {
		.first = ATW_VA(a->first), .last = ATW_VA(a->last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT) | (tree ? ATW_K(ATW_TABLE) : 0),
		.depth = depth,
		.flags = tree ? MMU_WALK_FOLD : a->is_range ? 0 : MMU_WALK_EACH,
	};
	struct mmu_walk *walk;
	bool any = false;
	int r = mmu_walk_open(w->list.space, &o, &walk, err);

	if (r < 0)
		return r;
	r = tree ? walk_tree(w, walk, a, &any, err) : walk_pieces(w, walk, a, &any, err);
	mmu_walk_close(walk);
	/* A half without a root: what --pti user leaves of Arm's upper one. */
	if (r == ATW_END && !any) {
		struct row row = { 0 };

		w->lost++;
		row_set(&row, C_ADDRESS, a->first);
		row_set(&row, C_STATE, STATE_LOST);
		return row_put(&row, w->out, err);
	}
	if (r == ATW_E_LIMIT)
		atw_err_wrap(err, "%s", w->list.src->name);
	return r == ATW_END ? ATW_OK : r;
}

/* ---- the process of each address ---- */

static int walk_arg(void *arg, const struct address_arg *t, struct atw_err *err)
{
	struct walk_out *w = arg;
	int r;

	w->unmapped += t->unmapped;
	if (t->unmapped)
		return address_arg_put_unmapped(t, w->out, err);
	r = walk_one(w, &t->a, w->depth, err);
	return r == ATW_OK && w->lines ? walk_lines_put(w->lines, t, w->out, err) : r;
}

static int walk_all(struct walk_out *w, struct session *src, const struct address_arg *t, int n,
		    const struct common *c)
{
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int r, status;

	output_opts(c, src, &oo);
	r = atw_output_open(&oo, &w->list.schema, &w->out, &err) ?:
	    address_args_each(src, t, n, walk_arg, w, &err);
	thaw(src);
	status = w->lost || src->doubtful ? EXIT_PARTIAL :
		 w->unmapped ? EXIT_NO : EXIT_COMPLETE;
	if (r == ATW_OK && w->lines) {
		walk_lines_note(w->lines, w->out);
		status = walk_lines_status(w->lines, status);
	}
	if (r == ATW_OK && w->nested)
		nested_note(w->nested, w->out);
	if (r == ATW_OK)
		unread_note(c, src, w->out);
	status = output_end(w->out, r, status, &err);
	if (w->lost)
		print_incomplete("%s: %" PRIu64 " table%s on the way cannot be read from it",
				 src->name, w->lost, w->lost == 1 ? "" : "s");
	if (w->nested && w->nested->lost) {
		print_incomplete("%s: %" PRIu64 " tables of the host cannot be read",
				 w->nested->host_name, w->nested->lost);
		status = status < EXIT_PARTIAL ? EXIT_PARTIAL : status;
	}
	return status;
}

static int walk_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct walk_opts *o = opts;
	_auto_session struct session src = { 0 };
	struct walk_out w = { .path = o->path, .depth = (unsigned)o->depth.u };
	struct walk_lines lines;
	struct nested nested = { .lost = 0 };
	_auto_free struct address_arg *t = NULL;
	struct atw_err err = { 0 };
	int status, n = argc - 1;

	if (!argc)
		return usage_error("walk", "SOURCE is missing");
	/* A word that is no source is the greater mistake of the two. */
	if (argc < 2) {
		status = session_open(c, argv[0], &src);
		if (status)
			return status;
		session_close(&src);
		atw_err_set(&err, ATW_E_USAGE, "an ADDRESS is missing");
		atw_err_hint(&err, "atwalk info SOURCE shows what it is, atwalk map SOURCE what it maps; see: atwalk --help");
		return print_error(&err);
	}
	if (o->depth.given && (!o->depth.u || o->depth.u > ATW_MAX_LEVELS))
		return usage_error("walk", "--depth must be 1 to %d", ATW_MAX_LEVELS);
	if (o->nested && o->lines.line.given)
		return usage_error("walk", "--nested and --cache-line cannot be combined");
	status = walk_lines_check(&o->lines);
	if (status)
		return status;
	t = calloc((size_t)n, sizeof(*t));
	if (!t)
		return print_nomem();
	status = open_frozen(c, argv[0], &o->space, TARGET_LOOKUP, &src);
	if (status)
		return status;
	if (o->depth.given)
		status = session_need(&src, TARGET_TABLES, "--depth");
	if (!status && o->nested) {
		w.nested = &nested;
		status = nested_open(c, &src, &nested);
	}
	if (!status)
		status = address_args_find(c, &o->space, &src, argv + 1, t, n);
	listing_init(&w.list, "walk", &src, o->path ? USUAL | OF_PATH : USUAL);
	w.list.col[C_SIZE].width = 5;    /* of one page or table, never a sum */
	for (int i = 0; i < n; i++) {
		if (t[i].owned)
			w.list.col[C_PID].hidden = w.list.col[C_TASK].hidden = false;
		for (unsigned k = 0; o->path && t[i].a.is_range && k < C_COUNT; k++)
			w.list.col[k].hidden &= !(OF_TREE & COL(k));
	}
	if (!status && o->nested)
		listing_add_host(&w.list, nested.stage2 && nested.tables.kind != KVM_STAGE2_SHADOW);
	if (!status && o->lines.line.given) {
		w.lines = &lines;
		status = walk_lines_init(&lines, c, &src, &o->lines, &w.list);
	}
	if (!status)
		status = !target_has(src.target, TARGET_TABLES)
			? walk_by_pages(c, &src, &w.list, t, n, w.lines)
			: walk_all(&w, &src, t, n, c);
	nested_close(&nested);
	if (w.lines)
		walk_lines_deinit(w.lines);
	listing_deinit(&w.list);
	return status;
}

const struct command cmd_walk = {
	.name = "walk",
	.args = "SOURCE ADDRESS...",
	.summary = "translate addresses (the default command)",
	.about =
		"Translates each ADDRESS by the page tables in SOURCE and prints the physical\n"
		"address, the page size and the rights left after every level. An ADDRESS is\n"
		"hexadecimal, a symbol, a range A-B or A+LENGTH. Exit status 1: an address is\n"
		"not mapped; 4: a page table is missing from the source.",
	.common = OPT_COMMON_LISTING | OPT_COMMON_ADDRESSES,
	.options = options,
	.opts_size = sizeof(struct walk_opts),
	.run = walk_run,
};
