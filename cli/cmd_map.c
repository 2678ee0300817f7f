/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_map.c - regions: what is mapped, merged while it agrees. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atwalk.h"
#include "base/num.h"

struct map_opts {
	struct space_opts space;
	const char *split;
	bool all;
	struct opt_number depth;
};

static const struct opt options[] = {
	{ 0, "all", OPT_FLAG, offsetof(struct map_opts, all), NULL,
	  "every page by itself, nothing merged", NULL },
	{ 0, "split", OPT_TEXT, offsetof(struct map_opts, split), "COLUMNS",
	  "what breaks a range: rights,page,physical,flags (usual: the first three)",
	  NULL },
	{ 's', "depth", OPT_NUMBER, offsetof(struct map_opts, depth), "N",
	  "follow N levels of tables; deeper tables show as one row each", NULL },
	SPACE_OPTIONS(struct map_opts, space),
	{ 0 }
};

enum col {
	C_ADDRESS, C_END, C_SIZE, C_PHYSICAL, C_PAGE, C_PAGES, C_LEVEL, C_REPEAT,
	C_RIGHTS, C_STATE, C_FLAGS, C_ENTRY, C_NODE, C_PID, C_TASK, C_AREA, C_COUNT,
};

static const struct atw_column all_columns[C_COUNT] = {
	[C_ADDRESS] = { .key = "address", .type = ATW_T_VA,
			.help = "first virtual address" },
	[C_END] = { .key = "end", .type = ATW_T_VA,
		    .help = "first address after it; 0 is the top of the address space" },
	[C_SIZE] = { .key = "size", .type = ATW_T_BYTES, .width = 6,
		     .help = "bytes from address to end" },
	[C_PHYSICAL] = { .key = "physical", .type = ATW_T_PA,
			 .help = "what address maps to" },
	[C_PAGE] = { .key = "page", .type = ATW_T_BYTES, .width = 4,
		     .help = "bytes of one translation; larger than the mode's page: a large page" },
	[C_PAGES] = { .key = "pages", .type = ATW_T_COUNT, .width = 6, .hidden = true,
		      .help = "table entries merged" },
	[C_LEVEL] = { .key = "level", .type = ATW_T_ENUM, .width = 5, .hidden = true,
		      .help = "table the entries are in" },
	[C_REPEAT] = { .key = "repeat", .type = ATW_T_BYTES, .width = 6, .hidden = true,
		       .help = "state repeat: bytes before address that recur through the range" },
	[C_RIGHTS] = { .key = "rights", .type = ATW_T_LETTERS, .width = 6,
		       .names = &rights_names, .help = "rights left after every level" },
	[C_STATE] = { .key = "state", .type = ATW_T_ENUM, .width = 8,
		      .names = &state_names, .help = "what the entries are" },
	[C_FLAGS] = { .key = "flags", .type = ATW_T_FLAGS,
		      .help = "bits that every entry has; same-page: all map one page" },
	[C_ENTRY] = { .key = "entry", .type = ATW_T_HEX, .hidden = true,
		      .help = "raw value of the first entry" },
	[C_NODE] = { .key = "node", .type = ATW_T_COUNT, .hidden = true,
		     .help = "NUMA node" },
	[C_PID] = { .key = "pid", .type = ATW_T_COUNT, .hidden = true,
		    .help = "process" },
	[C_TASK] = { .key = "task", .type = ATW_T_TEXT, .hidden = true,
		     .help = "its name" },
	[C_AREA] = { .key = "area", .type = ATW_T_TEXT, .hidden = true,
		     .help = "memory area" },
};

/* Bytes and pages of one page size. A mode has few: a list will do. */
struct tally {
	uint64_t page, bytes, pages;
};

struct map {
	struct atw_output *out;
	const struct opened *src;
	struct atw_column col[C_COUNT];
	struct atw_schema schema;
	struct flag_names flags;
	unsigned same_page;              /* its bit among the flags */
	const char *level_name[ATW_MAX_LEVELS];
	struct atw_names levels;
	struct tally tally[16];
	size_t ntally;
	/* Of the rows that passed the filter; holes counts them all. */
	uint64_t rows, lost, excluded, bad, soft, repeats, holes;
};

static void columns_init(struct map *m, const struct atw_paging *pg)
{
	memcpy(m->col, all_columns, sizeof(all_columns));
	flag_names_init(&m->flags, pg);
	m->same_page = (unsigned)m->flags.names.n;
	if (m->same_page < 64)
		m->flags.name[m->flags.names.n++] = "same-page";
	m->col[C_FLAGS].names = &m->flags.names;
	m->col[C_LEVEL].names = level_names(pg, m->level_name, &m->levels);
	m->schema = (struct atw_schema){ "map", m->col, C_COUNT };
}

static void count(struct map *m, const struct atw_range *g)
{
	size_t i;

	m->rows++;
	if (g->loss)
		*(g->loss == ATW_LOST_EXCLUDED ? &m->excluded : &m->lost) += 1;
	else if (g->repeat_of)
		m->repeats++;
	else if (g->kind == ATW_BAD)
		m->bad += g->entries;
	else if (g->kind == ATW_ABSENT)
		m->soft += g->entries;
	if (g->loss || g->kind != ATW_LEAF)
		return;
	for (i = 0; i < m->ntally && m->tally[i].page != g->page; i++)
		;
	if (i == sizeof(m->tally) / sizeof(m->tally[0]))
		return;
	if (i == m->ntally)
		m->tally[m->ntally++] = (struct tally){ .page = g->page };
	m->tally[i].bytes += g->size;
	m->tally[i].pages += g->size / g->page;
}

#define HAVE(c) ((uint64_t)1 << (c))

static int put(struct map *m, const struct atw_range *g, struct atw_err *err)
{
	const struct atw_paging *pg = &atw_kernel_space(m->src->kernel)->paging;
	union atw_value v[C_COUNT] = { 0 };
	struct atw_row row = { v, 0 };
	struct atw_soft_word soft = { 0 };
	enum state st;

	if (g->kind == ATW_ABSENT)
		soft = atw_soft_decode(&m->src->soft, pg, g->level, g->word);
	st = state_of(g->kind, g->loss, &soft);
	v[C_ADDRESS].u = g->va.u;
	v[C_END].u = g->va.u + g->size;
	v[C_SIZE].u = g->size;
	v[C_PAGES].u = g->entries;
	v[C_LEVEL].u = g->level;
	v[C_STATE].u = st;
	row.have = HAVE(C_ADDRESS) | HAVE(C_END) | HAVE(C_SIZE) | HAVE(C_PAGES) |
		   HAVE(C_LEVEL) | HAVE(C_STATE);
	if (g->repeat_of) {
		v[C_STATE].u = st = STATE_REPEAT;
		v[C_REPEAT].u = g->repeat_of;
		row.have |= HAVE(C_REPEAT);
	}
	if (!g->loss) {
		v[C_ENTRY].u = g->word;
		row.have |= HAVE(C_ENTRY);
	}
	if (st == STATE_PRESENT) {
		v[C_PHYSICAL].u = g->pa.u;
		v[C_PAGE].u = g->page;
		v[C_RIGHTS].u = rights_bits(g->rights);
		v[C_FLAGS].u = g->flags;
		if (g->same_pa && m->same_page < 64)
			v[C_FLAGS].u |= (uint64_t)1 << m->same_page;
		row.have |= HAVE(C_PHYSICAL) | HAVE(C_PAGE) | HAVE(C_RIGHTS) |
			    HAVE(C_FLAGS);
	} else if (soft.pa.u) {
		v[C_PHYSICAL].u = soft.pa.u;
		row.have |= HAVE(C_PHYSICAL);
	}
	return atw_output_row(m->out, &row, err);
}

static int list(struct map *m, const struct address *a, unsigned split,
		unsigned depth, struct atw_err *err)
{
	const struct atw_walk_opts o = {
		.size = sizeof(o), .first = ATW_VA(a->first), .last = ATW_VA(a->last),
		.flags = ATW_WALK_SOFT, .depth = depth,
	};
	struct atw_ranges *ranges;
	struct atw_range g;
	int r = atw_ranges_open(atw_kernel_space(m->src->kernel), &o, split,
				&ranges, err);

	if (r < 0)
		return r;
	while ((r = atw_ranges_next(ranges, &g, err)) == ATW_OK) {
		uint64_t before = atw_output_rows(m->out);

		if (g.loss == ATW_LOST_DAMAGED)
			complain(atw_walk_error(atw_ranges_walk(ranges)));
		m->holes += g.loss != ATW_HAVE;
		r = put(m, &g, err);
		if (r < 0)
			break;
		if (atw_output_rows(m->out) > before)
			count(m, &g);
	}
	atw_ranges_close(ranges);
	return r == ATW_END ? ATW_OK : r;
}

static int by_page(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return x->page < y->page ? -1 : x->page > y->page;
}

static void summary(struct map *m)
{
	char size[16], page[16], text[400] = "";
	uint64_t bytes = 0;
	size_t n = 0;

	qsort(m->tally, m->ntally, sizeof(m->tally[0]), by_page);
	for (size_t i = 0; i < m->ntally; i++) {
		const struct tally *t = &m->tally[i];

		bytes += t->bytes;
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s %s in %" PRIu64 " page%s of %s",
				      i ? "," : ":", num_human(t->bytes, size), t->pages,
				      t->pages == 1 ? "" : "s", num_human(t->page, page));
		if (n >= sizeof(text))
			break;
	}
	atw_output_note(m->out, "%" PRIu64 " range%s, %s mapped%s", m->rows,
			m->rows == 1 ? "" : "s", num_human(bytes, size), text);
	if (m->repeats)
		atw_output_note(m->out, "%" PRIu64 " of them (state repeat) %s for tables that recur: the bytes just before, over and over; --all lists every page",
				m->repeats, m->repeats == 1 ? "stands" : "stand");
	if (m->soft)
		atw_output_note(m->out, "%" PRIu64 " %s what the CPU ignores (swap, protnone, ...)",
				m->soft, m->soft == 1 ? "entry holds" : "entries hold");
	if (m->lost)
		atw_output_note(m->out, "%" PRIu64 " table%s lost: the source does not have %s",
				m->lost, m->lost == 1 ? " is" : "s are",
				m->lost == 1 ? "it" : "them");
	if (m->excluded)
		atw_output_note(m->out, "%" PRIu64 " table%s excluded when the dump was made",
				m->excluded, m->excluded == 1 ? " was" : "s were");
	if (m->bad)
		atw_output_note(m->out, "%" PRIu64 " %s bad: reserved bits are set",
				m->bad, m->bad == 1 ? "entry is" : "entries are");
}

static bool parse_split(const char *list, unsigned *ret, char *why, size_t len)
{
	static const struct { const char *name; unsigned bit; } words[] = {
		{ "rights", ATW_SPLIT_RIGHTS }, { "page", ATW_SPLIT_LEVEL },
		{ "level", ATW_SPLIT_LEVEL }, { "physical", ATW_SPLIT_PHYSICAL },
		{ "flags", ATW_SPLIT_FLAGS },
	};

	*ret = 0;
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ","), i;

		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == n && !memcmp(words[i].name, p, n))
				break;
		if (i == sizeof(words) / sizeof(words[0])) {
			snprintf(why, len, "--split: '%.*s' is not one of rights, page, physical, flags",
				 (int)n, p);
			return false;
		}
		*ret |= words[i].bit;
		p += n + (p[n] == ',');
	}
	return true;
}

static int run(const struct common *c, void *opts, int argc, char **argv)
{
	struct map_opts *o = opts;
	struct opened src = { 0 };
	struct map m = { .src = &src };
	struct address whole = { 0, UINT64_MAX, true }, a;
	unsigned split = ATW_SPLIT_RIGHTS | ATW_SPLIT_LEVEL | ATW_SPLIT_PHYSICAL;
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	char why[256];
	int status, r = ATW_OK;

	if (argc < 1)
		return complain_usage("map", "SOURCE is missing");
	if (o->split && !parse_split(o->split, &split, why, sizeof(why)))
		return complain_usage("map", "%s", why);
	if (o->depth.given && (!o->depth.u || o->depth.u > ATW_MAX_LEVELS))
		return complain_usage("map", "--depth is 1 to %d", ATW_MAX_LEVELS);
	if (o->all)
		split = ATW_SPLIT_EACH;
	status = open_source(c, argv[0], &o->space, &src);
	if (status)
		return status;
	columns_init(&m, &atw_kernel_space(src.kernel)->paging);
	output_opts(c, &src, &oo);
	for (int i = 1; i < argc && r == ATW_OK; i++)
		r = parse_address(&src, argv[i], &a, &err);
	if (r == ATW_OK)
		r = atw_output_open(&oo, &m.schema, &m.out, &err);
	if (r == ATW_OK && argc == 1)
		r = list(&m, &whole, split, (unsigned)o->depth.u, &err);
	for (int i = 1; i < argc && r == ATW_OK; i++) {
		r = parse_address(&src, argv[i], &a, &err);
		if (r == ATW_OK)
			r = list(&m, &a, split, (unsigned)o->depth.u, &err);
	}
	status = m.holes ? EXIT_PARTIAL : m.rows ? EXIT_COMPLETE : EXIT_NO;
	if (r == ATW_E_LIMIT) {          /* what was seen whole is still an answer */
		status = complain(&err);
		r = ATW_OK;
	}
	if (r == ATW_OK) {
		summary(&m);
		r = atw_output_commit(m.out, &err);
	}
	if (r < 0)
		status = complain(&err);
	atw_output_close(m.out);
	close_source(&src);
	return status;
}

const struct command cmd_map = {
	"map", "SOURCE [RANGE...]", "what is mapped, merged into regions",
	"Lists what the page tables in SOURCE map, low addresses first: contiguous\n"
	"ranges merged while rights, page size and contiguity agree. Tables that the\n"
	"source lacks, entries with reserved bits and swapped pages get rows as well.\n"
	"Below the plain table: bytes and pages by page size.",
	options, sizeof(struct map_opts), run,
};
