/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_walk.c - where is this address, through which tables, with which rights. */
#include <inttypes.h>
#include <string.h>

#include "atwalk.h"

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

/* In the order of both schemas' first columns; see fill(). */
enum col {
	C_ADDRESS, C_END, C_SIZE, C_PHYSICAL, C_LEVEL, C_INDEX, C_AT, C_ENTRY,
	C_RIGHTS, C_STATE, C_FLAGS, C_NODE, C_PID, C_TASK, C_AREA, C_COUNT,
};

struct walk_out {
	struct atw_output *out;
	const struct opened *src;
	bool path;
	struct atw_column col[C_COUNT];
	struct atw_schema schema;
	struct flag_names flags;
	const char *level_name[ATW_MAX_LEVELS];
	struct atw_names levels;
	uint64_t lost, unmapped;
};

static void columns_init(struct walk_out *w, const struct atw_paging *pg)
{
	static const struct atw_column all[C_COUNT] = {
		[C_ADDRESS] = { .key = "address", .type = ATW_T_VA,
				.help = "virtual address asked for" },
		[C_END] = { .key = "end", .type = ATW_T_VA, .hidden = true,
			    .help = "first address after the page" },
		[C_SIZE] = { .key = "size", .type = ATW_T_BYTES, .width = 5,
			     .help = "bytes this entry speaks for" },
		[C_PHYSICAL] = { .key = "physical", .type = ATW_T_PA,
				 .help = "physical address of the byte; in a path, where the entry points" },
		[C_LEVEL] = { .key = "level", .type = ATW_T_ENUM, .width = 5,
			      .help = "table the entry is in" },
		[C_INDEX] = { .key = "index", .type = ATW_T_COUNT, .width = 5,
			      .help = "its slot in that table" },
		[C_AT] = { .key = "entry_at", .type = ATW_T_PA,
			   .help = "physical address of the entry itself" },
		[C_ENTRY] = { .key = "entry", .type = ATW_T_HEX,
			      .help = "the entry's raw value" },
		[C_RIGHTS] = { .key = "rights", .type = ATW_T_LETTERS, .width = 6,
			       .names = &rights_names,
			       .help = "rights left after every entry so far" },
		[C_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 8,
			      .names = &state_names, .help = "what the entry is" },
		[C_FLAGS] = { .key = "flags", .type = ATW_T_FLAGS,
			      .help = "the entry's own bits by name" },
		[C_NODE] = { .key = "node", .type = ATW_T_COUNT, .hidden = true,
			     .help = "NUMA node" },
		[C_PID] = { .key = "pid", .type = ATW_T_COUNT, .hidden = true,
			    .help = "process" },
		[C_TASK] = { .key = "task", .type = ATW_T_TEXT, .hidden = true,
			     .help = "its name" },
		[C_AREA] = { .key = "area", .type = ATW_T_TEXT, .hidden = true,
			     .help = "memory area" },
	};

	memcpy(w->col, all, sizeof(all));
	flag_names_init(&w->flags, pg);
	w->col[C_FLAGS].names = &w->flags.names;
	w->col[C_LEVEL].names = level_names(pg, w->level_name, &w->levels);
	w->col[C_INDEX].hidden = w->col[C_AT].hidden = !w->path;
	w->col[C_ENTRY].hidden = !w->path;
	w->schema = (struct atw_schema){ "walk", w->col, C_COUNT };
}

#define HAVE(c) ((uint64_t)1 << (c))

/* The row of one piece as a whole: the answer to "where is this address". */
static int answer(struct walk_out *w, const struct atw_seen *s, uint64_t first,
		  struct atw_err *err)
{
	const struct atw_space *sp = atw_kernel_space(w->src->kernel);
	union atw_value v[C_COUNT] = { 0 };
	struct atw_row row = { v, 0 };
	struct atw_soft_word soft = { 0 };
	uint64_t skip = first > s->va.u ? first - s->va.u : 0;
	const struct atw_step *last = s->depth ? &s->path[s->depth - 1] : NULL;
	enum state st;

	if (s->kind == ATW_ABSENT)
		soft = atw_soft_decode(&w->src->soft, &sp->paging, s->level, last->word);
	st = state_of(s->kind, s->loss, &soft);
	v[C_ADDRESS].u = s->va.u + skip;
	v[C_END].u = s->va.u + s->size;
	v[C_SIZE].u = s->size;
	v[C_LEVEL].u = s->level;
	v[C_STATE].u = st;
	row.have = HAVE(C_ADDRESS) | HAVE(C_END) | HAVE(C_SIZE) | HAVE(C_LEVEL) |
		   HAVE(C_STATE);
	if (!s->loss && last) {
		v[C_INDEX].u = last->index;
		v[C_AT].u = last->at.u;
		v[C_ENTRY].u = last->word;
		row.have |= HAVE(C_INDEX) | HAVE(C_AT) | HAVE(C_ENTRY);
	}
	if (st == STATE_PRESENT || st == STATE_TABLE) {
		v[C_PHYSICAL].u = s->pa.u + (st == STATE_PRESENT ? skip : 0);
		v[C_RIGHTS].u = rights_bits(s->rights);
		v[C_FLAGS].u = atw_entry_flags(&sp->paging, s->level, s->kind, last->word);
		row.have |= HAVE(C_PHYSICAL) | HAVE(C_RIGHTS) | HAVE(C_FLAGS);
	} else if (soft.pa.u) {
		v[C_PHYSICAL].u = soft.pa.u + skip;
		row.have |= HAVE(C_PHYSICAL);
	}
	return atw_output_row(w->out, &row, err);
}

/* One row a level, root first. */
static int path(struct walk_out *w, const struct atw_seen *s, uint64_t first,
		struct atw_err *err)
{
	const struct atw_space *sp = atw_kernel_space(w->src->kernel);
	unsigned above = s->loss ? s->depth : s->depth - 1u;

	for (unsigned i = 0; i < above; i++) {
		const struct atw_step *p = &s->path[i];
		union atw_value v[C_COUNT] = { 0 };
		struct atw_row row = { v, 0 };

		v[C_ADDRESS].u = first > s->va.u ? first : s->va.u;
		v[C_SIZE].u = (uint64_t)1 << sp->paging.level[p->level].shift;
		v[C_PHYSICAL].u = atw_entry_addr(&sp->paging, p->level, p->kind, p->word).u;
		v[C_LEVEL].u = p->level;
		v[C_INDEX].u = p->index;
		v[C_AT].u = p->at.u;
		v[C_ENTRY].u = p->word;
		v[C_RIGHTS].u = rights_bits(p->rights);
		v[C_STATE].u = STATE_TABLE;
		v[C_FLAGS].u = atw_entry_flags(&sp->paging, p->level, p->kind, p->word);
		row.have = HAVE(C_ADDRESS) | HAVE(C_SIZE) | HAVE(C_PHYSICAL) |
			   HAVE(C_LEVEL) | HAVE(C_INDEX) | HAVE(C_AT) | HAVE(C_ENTRY) |
			   HAVE(C_RIGHTS) | HAVE(C_STATE) | HAVE(C_FLAGS);
		if (atw_output_row(w->out, &row, err) < 0)
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
	int r = atw_walk_open(atw_kernel_space(w->src->kernel), &o, &walk, err);

	if (r < 0)
		return r;
	while ((r = atw_walk_next(walk, &s, err)) == ATW_OK) {
		struct atw_seen one = *s;
		uint32_t n = s->kind == ATW_LEAF && !s->loss ? s->count : 1;
		uint64_t size = s->size / n;

		w->lost += s->loss != ATW_HAVE;
		w->unmapped += !s->loss && (s->kind == ATW_ABSENT || s->kind == ATW_BAD);
		if (s->loss == ATW_LOST_DAMAGED)
			complain(atw_walk_error(walk));
		/* Pages of a run get a row each; runs of nothing stay one. */
		for (uint32_t i = 0; i < n && r == ATW_OK; i++) {
			struct atw_step *last = &one.path[one.depth ? one.depth - 1 : 0];

			if (n > 1) {
				one.va.u = s->va.u + i * size;
				one.size = size;
				one.pa = atw_seen_pa(atw_kernel_space(w->src->kernel), s, i);
				last->word = atw_seen_word(atw_kernel_space(w->src->kernel), s, i);
				last->index = (uint16_t)(s->path[one.depth - 1].index + i);
				last->at.u = s->path[one.depth - 1].at.u +
					(uint64_t)i * atw_kernel_space(w->src->kernel)->paging.word_size;
			}
			r = w->path ? path(w, &one, a->first, err)
				    : answer(w, &one, a->first, err);
		}
		if (r != ATW_OK)
			break;
	}
	atw_walk_close(walk);
	return r == ATW_END ? ATW_OK : r;
}

static int run(const struct common *c, void *opts, int argc, char **argv)
{
	struct walk_opts *o = opts;
	struct opened src = { 0 };
	struct walk_out w = { .path = o->path, .src = &src };
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int status, r = ATW_OK;

	if (argc < 2)
		return complain_usage("walk", "%s is missing",
				      argc ? "an ADDRESS" : "SOURCE");
	if (o->depth.given && (!o->depth.u || o->depth.u > ATW_MAX_LEVELS))
		return complain_usage("walk", "--depth is 1 to %d", ATW_MAX_LEVELS);
	status = open_source(c, argv[0], &o->space, &src);
	if (status)
		return status;
	columns_init(&w, &atw_kernel_space(src.kernel)->paging);
	output_opts(c, &src, &oo);
	/* Every address is checked before the first one is answered. */
	for (int pass = 0; pass < 2 && r == ATW_OK; pass++) {
		if (pass)
			r = atw_output_open(&oo, &w.schema, &w.out, &err);
		for (int i = 1; i < argc && r == ATW_OK; i++) {
			struct address a;

			r = parse_address(&src, argv[i], &a, &err);
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
	if (w.lost && !status)
		status = EXIT_PARTIAL;
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
