/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_walk.c - where is this address, through which tables, with which rights. */
#include <inttypes.h>

#include "listing.h"

struct walk_opts {
	struct space_opts space;
	bool path;
	struct opt_number depth;
};

static const struct opt options[] = {
	{ 'p', "path", OPT_FLAG, offsetof(struct walk_opts, path), NULL,
	  "every table entry on the way, with the rights left after it", NULL },
	{ 's', "depth", OPT_NUMBER, offsetof(struct walk_opts, depth), "N",
	  "follow N levels of tables and stop", NULL },
	SPACE_OPTIONS(struct walk_opts, space),
	{ 0 }
};

static const uint64_t USUAL = COL(C_ADDRESS) | COL(C_SIZE) | COL(C_PHYSICAL) |
	COL(C_LEVEL) | COL(C_RIGHTS) | COL(C_STATE) | COL(C_FLAGS);
static const uint64_t OF_PATH = COL(C_INDEX) | COL(C_ENTRY_AT) | COL(C_ENTRY);

struct walk_out {
	struct atw_output *out;
	struct listing list;
	bool path;
	uint64_t lost, unmapped;
};

/* What one entry of the path says, whether it ends it or not. */
static void fill_step(const struct listing *l, struct row *r,
		      const struct atw_step *p, enum state st)
{
	const struct atw_paging *pg = &l->space->paging;

	row_set(r, C_LEVEL, p->level);
	row_set(r, C_INDEX, p->index);
	row_set(r, C_ENTRY_AT, p->at.u);
	row_set(r, C_ENTRY, p->word);
	if (st == STATE_PRESENT || st == STATE_TABLE) {
		row_rights(r, st, p->rights);
		row_set(r, C_FLAGS, atw_entry_flags(pg, p->level, p->kind, p->word));
	}
}

static void fill_slot(struct row *r, uint64_t address, uint64_t slot, uint64_t size)
{
	row_set(r, C_ADDRESS, address);
	row_set(r, C_END, slot + size);
	row_set(r, C_SIZE, size);
}

/* The row of one piece as a whole: the answer to "where is this address". */
static int answer(struct walk_out *w, const struct atw_seen *s, uint64_t first,
		  struct atw_err *err)
{
	const struct atw_step *last = s->depth ? &s->path[s->depth - 1] : NULL;
	uint64_t skip = first > s->va.u ? first - s->va.u : 0;
	struct row r = { 0 };
	enum state st;

	fill_slot(&r, s->va.u + skip, s->va.u, s->size);
	row_set(&r, C_LEVEL, s->level);
	st = row_state(&w->list, &r, s->level, s->kind, s->loss,
		       last ? last->word : 0, skip);
	if (!s->loss && last)
		fill_step(&w->list, &r, last, st);
	if (s->loss) {                   /* where the entry would be */
		uint64_t index = atw_index(&w->list.space->paging, s->level, s->va);

		row_set(&r, C_PHYSICAL, s->pa.u);
		row_set(&r, C_INDEX, index);
		row_set(&r, C_ENTRY_AT,
			s->pa.u + index * w->list.space->paging.word_size);
	}
	if (st == STATE_PRESENT || st == STATE_TABLE)
		row_set(&r, C_PHYSICAL, s->pa.u + (st == STATE_PRESENT ? skip : 0));
	if (st == STATE_PRESENT && last)
		row_set(&r, C_PAGE, (uint64_t)1 << atw_entry_span(&w->list.space->paging,
								  s->level, last->word));
	return row_put(&r, w->out, err);
}

/* One row a level, root first. */
static int path(struct walk_out *w, const struct atw_seen *s, uint64_t first,
		struct atw_err *err)
{
	const struct atw_paging *pg = &w->list.space->paging;
	unsigned above = s->loss ? s->depth : s->depth - 1u;

	for (unsigned i = 0; i < above; i++) {
		const struct atw_step *p = &s->path[i];
		uint64_t size = (uint64_t)1 << pg->level[p->level].shift;
		struct row r = { 0 };

		fill_slot(&r, first > s->va.u ? first : s->va.u,
			  s->va.u & ~(size - 1), size);
		row_set(&r, C_STATE, STATE_TABLE);
		row_set(&r, C_PHYSICAL, atw_entry_addr(pg, p->level, p->kind, p->word).u);
		fill_step(&w->list, &r, p, STATE_TABLE);
		if (row_put(&r, w->out, err) < 0)
			return err->status;
	}
	return answer(w, s, first, err);
}

static int walk_one(struct walk_out *w, const struct address *a, unsigned depth,
		    struct atw_err *err)
{
	const struct atw_walk_opts o = {
		.size = sizeof(o), .first = ATW_VA(a->first), .last = ATW_VA(a->last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT), .depth = depth,
		.flags = a->is_range ? 0 : ATW_WALK_EACH,
	};
	const struct atw_seen *s;
	struct atw_walk *walk;
	int r = atw_walk_open(w->list.space, &o, &walk, err);

	if (r < 0)
		return r;
	while ((r = atw_walk_next(walk, &s, err)) == ATW_OK) {
		uint32_t n = s->kind == ATW_LEAF && !s->loss ? s->count : 1;

		w->lost += s->loss != ATW_HAVE;
		w->unmapped += !s->loss && (s->kind == ATW_ABSENT || s->kind == ATW_BAD);
		if (s->loss == ATW_LOST_DAMAGED)
			complain(atw_walk_error(walk));
		/* Pages of a run get a row each; runs of nothing stay one. */
		for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
			const struct atw_seen *page = s;
			struct atw_seen one;

			if (n > 1) {
				atw_seen_one(w->list.space, s, i, &one);
				page = &one;
			}
			r = w->path ? path(w, page, a->first, err)
				    : answer(w, page, a->first, err);
		}
		if (r != ATW_OK)
			break;
	}
	atw_walk_close(walk);
	return r == ATW_END ? ATW_OK : r;
}

/* The first user address that nobody said the process of decides for all. */
static int find_whose(const struct common *c, const struct space_opts *space,
		      struct opened *src, int argc, char **argv)
{
	struct address a;

	for (int i = 1; i < argc && !atw_source_is_live(src->source); i++)
		if (parse_address(src, argv[i], &a, NULL) == ATW_OK && a.whose)
			return select_owner(c, src, space, argv[i], a.first, a.last);
	return EXIT_COMPLETE;
}

static int run(const struct common *c, void *opts, int argc, char **argv)
{
	struct walk_opts *o = opts;
	struct opened src = { 0 };
	struct walk_out w = { .path = o->path };
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r = ATW_OK;

	if (!argc)
		return complain_usage("walk", "SOURCE is missing");
	/* A word that is no source is the greater mistake of the two. */
	if (argc < 2) {
		status = open_source(c, argv[0], NULL, &src);
		if (status)
			return status;
		close_source(&src);
		return complain_usage("walk", "an ADDRESS is missing");
	}
	if (o->depth.given && (!o->depth.u || o->depth.u > ATW_MAX_LEVELS))
		return complain_usage("walk", "--depth is 1 to %d", ATW_MAX_LEVELS);
	status = open_source(c, argv[0], &o->space, &src);
	if (status)
		return status;
	status = find_whose(c, &o->space, &src, argc, argv);
	if (status) {
		close_source(&src);
		return status;
	}
	listing_init(&w.list, "walk", &src, o->path ? USUAL | OF_PATH : USUAL);
	w.list.col[C_SIZE].width = 5;    /* of one page or table, never a sum */
	output_opts(c, &src, &oo);
	/* Every address is checked before the first one is answered. */
	for (int pass = 0; pass < 2 && r == ATW_OK; pass++) {
		if (pass)
			r = atw_output_open(&oo, &w.list.schema, &w.out, &err);
		for (int i = 1; i < argc && r == ATW_OK; i++) {
			struct address a;

			r = parse_owned(&src, argv[i], &a, &err);
			if (pass && r == ATW_OK)
				r = walk_one(&w, &a, (unsigned)o->depth.u, &err);
		}
	}
	if (r == ATW_OK || r == ATW_E_LIMIT)
		status = r ? complain(&err) : w.lost ? EXIT_PARTIAL :
			 w.unmapped ? EXIT_NO : EXIT_COMPLETE;
	if ((r == ATW_OK || r == ATW_E_LIMIT) && w.out)
		r = atw_output_commit(w.out, &err);
	if (r < 0 && r != ATW_E_LIMIT)
		status = complain(&err);
	if (w.lost)
		remark(c, "%s: %" PRIu64 " table%s on the way cannot be read from it",
		       src.name, w.lost, w.lost == 1 ? "" : "s");
	atw_output_close(w.out);
	close_source(&src);
	return status;
}

const struct command cmd_walk = {
	"walk", "SOURCE ADDRESS...", "where is this address (the default command)",
	"Translates each ADDRESS by the page tables in SOURCE: the physical address\n"
	"behind it, the size of its page and the rights that are left after every\n"
	"level. An ADDRESS is hexadecimal, a symbol, a range A-B or A+LENGTH.\n"
	"Exit status 1: an address is not mapped; 4: a table is not in the source.",
	options, sizeof(struct walk_opts), run,
};
