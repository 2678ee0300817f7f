/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_lines.c - cache lines: where they lie, references to them, how they are shared. */
#include <stdio.h>

#include "content_rows.h"
#include "line_places.h"
#include "line_refs.h"

struct lines_options {
	struct space_opts space;
	const char *from, *form, *by;
	struct opt_number line;
	struct opt_list fail;
	bool members;
};

static const struct opt options[] = {
	{'c', "cache-line", OPT_NUMBER, offsetof(struct lines_options, line), "BYTES",
	 "set the size of a line: a power of two from 16 to 4096 (default: 64)", NULL},
	{0, "from", OPT_TEXT, offsetof(struct lines_options, from), "FILE",
	 "count the memory references in FILE (- is standard input)", NULL},
	{0, "form", OPT_TEXT, offsetof(struct lines_options, form), "FORM",
	 "read FILE in the format FORM instead of detecting it", NULL},
	{0, "by", OPT_TEXT, offsetof(struct lines_options, by), "RECORDER",
	 "record COMMAND with RECORDER instead of the first that is available", NULL},
	{0, "members", OPT_FLAG, offsetof(struct lines_options, members), NULL,
	 "show a row for each offset, size and instruction instead of each line", NULL},
	{0, "fail-on", OPT_LIST, offsetof(struct lines_options, fail), "VERDICT",
	 "end with status 1 if a line has this verdict; can be given several times", NULL},
	OPT_FREEZE(struct lines_options, space),
	OPT_SUBJECT(struct lines_options, space),
	{0},
};

enum {
	L_ADDRESS, L_SIZE, L_OFFSET, L_CODE, L_REFS, L_READS, L_WRITES, L_FETCHES,
	L_UNKNOWN, L_CROSSING, L_WEIGHT, L_THREADS, L_TOUCHED, L_SHARE, L_VERDICT,
	L_PHYSICAL, L_STATE, L_SET1, L_SET2, L_NODE, L_AREA, L_SYMBOL, L_FUNCTION, L_PID, L_COUNT,
};
#define L_BIT(c) (UINT64_C(1) << (c))

static const struct atw_names lines_verdict_names = {LINES_VERDICTS, lines_verdicts, NULL};

static const struct atw_column lines_columns[L_COUNT] = {
	[L_ADDRESS] = {.key = "address", .type = ATW_T_VA,
		       .help = "first byte of the line, or of the member"},
	[L_SIZE] = {.key = "size", .type = ATW_T_BYTES, .width = 5,
		    .help = "bytes of this row: a line, a member, or lines that are not present"},
	[L_OFFSET] = {.key = "offset", .type = ATW_T_COUNT, .width = 6,
		      .help = "of a member, in its line"},
	[L_CODE] = {.key = "code", .type = ATW_T_VA,
		    .help = "of a member: the instruction that referenced it"},
	[L_REFS] = {.key = "refs", .type = ATW_T_COUNT, .width = 6,
		    .help = "references; what one stands for is said below the table"},
	[L_READS] = {.key = "reads", .type = ATW_T_COUNT, .width = 6,
		     .help = "of these, reads"},
	[L_WRITES] = {.key = "writes", .type = ATW_T_COUNT, .width = 6,
		      .help = "of these, writes; what is read and written at once is both"},
	[L_FETCHES] = {.key = "fetches", .type = ATW_T_COUNT, .width = 8,
		       .help = "of these, fetches of instructions"},
	[L_UNKNOWN] = {.key = "unknown", .type = ATW_T_COUNT, .width = 8,
		       .help = "of these, neither is known"},
	[L_CROSSING] = {.key = "crossing", .type = ATW_T_COUNT, .width = 8,
			.help = "of these, those that go on in the next line"},
	[L_WEIGHT] = {.key = "weight", .type = ATW_T_COUNT, .width = 8,
		      .help = "mean weight of a reference, as the profiler has it: cycles"},
	[L_THREADS] = {.key = "threads", .type = ATW_T_COUNT, .width = 7,
		       .help = "different threads that referenced it"},
	[L_TOUCHED] = {.key = "touched", .type = ATW_T_TEXT, .width = 8,
		       .help = "a mark for 8 bytes each: r read, w written, b both, . neither"},
	[L_SHARE] = {.key = "share", .type = ATW_T_SECONDS, .width = 7,
		     .help = "percent of all references"},
	[L_VERDICT] = {.key = "verdict", .type = ATW_T_ENUM, .width = 12,
		       .names = &lines_verdict_names, .help = "how the line is shared"},
	[L_PHYSICAL] = {.key = "physical", .type = ATW_T_PA,
			.help = "physical address"},
	[L_STATE] = {.key = "state", .type = ATW_T_ENUM, .width = 8,
		     .names = &listing_states, .help = "present, or why it is not"},
	[L_SET1] = {.key = "l1_set", .type = ATW_T_COUNT, .width = 6,
		    .help = "set of the level 1 data cache that it falls into"},
	[L_SET2] = {.key = "l2_set", .type = ATW_T_COUNT, .width = 6,
		    .help = "set of the level 2 cache that it falls into"},
	[L_NODE] = {.key = "node", .type = ATW_T_COUNT, .help = "NUMA node"},
	[L_AREA] = {.key = "area", .type = ATW_T_TEXT, .width = 14,
		    .help = "memory area (VMA) or region of the kernel it lies in"},
	[L_SYMBOL] = {.key = "symbol", .type = ATW_T_TEXT, .width = 16,
		      .help = "symbol of the kernel, or of COMMAND, it lies in"},
	[L_FUNCTION] = {.key = "function", .type = ATW_T_TEXT, .width = 16,
			.help = "of a member: the symbol that code lies in"},
	[L_PID] = {.key = "pid", .type = ATW_T_COUNT, .help = "process"},
};

#define L_COUNTED (L_BIT(L_REFS) | L_BIT(L_READS) | L_BIT(L_WRITES) | L_BIT(L_THREADS))
#define L_PLACED (L_BIT(L_PHYSICAL) | L_BIT(L_SET1) | L_BIT(L_SET2) | L_BIT(L_AREA))

struct lines_state {
	const struct common *c;
	const struct lines_options *o;
	struct session src;
	bool has_src;
	struct listing list;
	struct line_places places;
	struct line_refs refs;
	struct atw_column col[L_COUNT];
	struct atw_schema schema;
	struct atw_output *out;
	uint64_t verdict[LINES_VERDICTS];        /* lines that have it, and pass the filter */
	uint32_t fail;                           /* --fail-on: bits by verdict */
};

struct lines_row {
	union atw_value v[L_COUNT];
	uint64_t have;
	char symbol[540], function[540];
};

static void lines_set(struct lines_row *r, unsigned col, bool known, uint64_t u)
{
	r->v[col].u = u;
	if (known)
		r->have |= L_BIT(col);
}

/* The symbol of an address, of the kernel or of the program that was run. */
static void lines_set_symbol(struct lines_state *s, struct lines_row *r, unsigned col,
			     uint64_t address, char text[540])
{
	if (s->has_src ? content_symbol(&s->src, address, text, 540)
		       : line_program_symbol(&s->refs.program, address, text, 540)) {
		r->v[col].s = text;
		r->have |= L_BIT(col);
	}
}

/* ---- places ---- */

static void lines_fill_place(struct lines_state *s, struct lines_row *r,
			     const struct line_place *p)
{
	struct atw_region area;

	lines_set(r, L_ADDRESS, true, p->address);
	lines_set(r, L_SIZE, true, p->size);
	lines_set(r, L_PHYSICAL, p->have_pa, p->pa);
	lines_set(r, L_STATE, p->have_state, p->state);
	lines_set(r, L_SET1, p->have_set[0], p->set[0]);
	lines_set(r, L_SET2, p->have_set[1], p->set[1]);
	lines_set(r, L_NODE, p->have_node, p->node);
	lines_set_symbol(s, r, L_SYMBOL, p->address, r->symbol);
	if (s->has_src && listing_area(&s->list, p->address, p->address + (p->size - 1), &area)) {
		r->v[L_AREA].s = area.name;
		r->have |= L_BIT(L_AREA);
	}
}

static int lines_put_row(struct lines_state *s, const struct lines_row *r, struct atw_err *err)
{
	const struct atw_row row = {r->v, r->have};

	return atw_output_row(s->out, &row, err);
}

static int lines_put_place(void *arg, const struct line_place *p, struct atw_err *err)
{
	struct lines_state *s = arg;
	struct lines_row r = {.have = 0};

	lines_fill_place(s, &r, p);
	lines_set(&r, L_PID, s->src.subject.pid, s->src.subject.pid);
	return lines_put_row(s, &r, err);
}

/* ---- references ---- */

static void lines_fill_counts(struct lines_row *r, const struct lines_counts *c,
			      uint64_t all)
{
	lines_set(r, L_REFS, true, c->refs);
	lines_set(r, L_READS, c->unknown < c->refs, c->reads);
	lines_set(r, L_WRITES, c->unknown < c->refs, c->writes);
	lines_set(r, L_FETCHES, c->unknown < c->refs, c->fetches);
	lines_set(r, L_UNKNOWN, true, c->unknown);
	lines_set(r, L_SHARE, all,
		  all ? (uint64_t)((unsigned __int128)c->refs * 100000 / all) : 0);
}

static int lines_put_members(struct lines_state *s, const struct lines_line *l,
			     const struct lines_row *line, struct atw_err *err)
{
	struct lines_part p;
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && lines_part(s->refs.lines, i, &p); i++) {
		struct lines_row row = *line;

		row.have &= ~(L_BIT(L_TOUCHED) | L_BIT(L_CROSSING) | L_BIT(L_WEIGHT) |
			      L_BIT(L_THREADS) | L_BIT(L_SYMBOL));
		lines_set_symbol(s, &row, L_SYMBOL, l->address + p.offset, row.symbol);
		if (p.has_ip)
			lines_set_symbol(s, &row, L_FUNCTION, p.ip, row.function);
		lines_fill_counts(&row, &p.counts, lines_sum(s->refs.lines)->refs);
		lines_set(&row, L_ADDRESS, true, l->address + p.offset);
		lines_set(&row, L_SIZE, true, p.size);
		lines_set(&row, L_OFFSET, true, p.offset);
		lines_set(&row, L_CODE, p.has_ip, p.ip);
		lines_set(&row, L_THREADS, p.has_threads, p.threads);
		row.v[L_PHYSICAL].u += p.offset;
		r = lines_put_row(s, &row, err);
	}
	return r;
}

static int lines_put_line(struct lines_state *s, const struct lines_line *l,
			  struct atw_err *err)
{
	/* Of which process addresses are, if references do not have it, is --pid. */
	bool own = s->has_src && (l->address > INT64_MAX || s->src.subject.given ||
				  s->src.subject.pid);
	struct lines_row r = {.have = 0};
	uint64_t before = atw_output_rows(s->out);
	struct line_place p;
	int e = line_places_at(&s->places, l->address, l->has_physical ? &l->physical : NULL,
			       own, &p, err);

	if (e < 0)
		return e;
	lines_fill_place(s, &r, &p);
	lines_fill_counts(&r, &l->counts, lines_sum(s->refs.lines)->refs);
	lines_set(&r, L_CROSSING, true, l->crossing);
	lines_set(&r, L_WEIGHT, l->weighed, l->weighed ? l->weight / l->weighed : 0);
	lines_set(&r, L_THREADS, l->has_threads, l->threads);
	lines_set(&r, L_VERDICT, true, l->verdict);
	lines_set(&r, L_PID, l->has_pid, l->pid);
	if (!l->has_pid && l->address <= INT64_MAX)
		lines_set(&r, L_PID, s->src.subject.pid, s->src.subject.pid);
	if (l->touched) {
		r.v[L_TOUCHED].s = l->touched;
		r.have |= L_BIT(L_TOUCHED);
	}
	e = s->o->members ? lines_put_members(s, l, &r, err) : lines_put_row(s, &r, err);
	s->verdict[l->verdict] += atw_output_rows(s->out) > before;
	return e;
}

/* All lines with references, or those of a range. */
static int lines_put_refs(struct lines_state *s, uint64_t first, uint64_t last,
			  struct atw_err *err)
{
	struct lines_line l;
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && lines_get(s->refs.lines, i, &l); i++)
		if (l.address >= first && l.address <= last)
			r = lines_put_line(s, &l, err);
	return r;
}

/* ---- the command ---- */

static int lines_put_arg(void *arg, const struct address_arg *a, struct atw_err *err)
{
	struct lines_state *s = arg;
	uint64_t first, last;
	struct line_place none = {.have_state = true, .state = STATE_ABSENT};

	line_places_range(&s->places, &a->a, &first, &last);
	if (s->refs.lines)
		return lines_put_refs(s, first, last, err);
	if (!a->unmapped)
		return line_places_each(&s->places, first, last, lines_put_place, s, err);
	none.address = first;
	none.size = last - first + 1;
	s->places.other += none.size / s->places.line;
	return lines_put_place(s, &none, err);
}

/*
 * What a plain table of 100 characters has no room for. An address implies its offset, a
 * symbol of the program the address of its instruction.
 */
static uint64_t lines_too_wide(const struct lines_state *s)
{
	if (!s->o->members)
		return s->has_src ? L_BIT(L_READS) | L_BIT(L_SHARE) | L_BIT(L_SET1) | L_BIT(L_SET2)
				  : 0;
	return L_BIT(L_OFFSET) |
	       (s->refs.program.syms.n ? L_BIT(L_CODE) | L_BIT(L_THREADS) : 0);
}

/* What is shown without --columns. */
static uint64_t lines_shown(const struct lines_state *s, const struct address_arg *a, int n)
{
	uint64_t shown = L_BIT(L_ADDRESS);

	if (!s->refs.lines)
		shown |= L_BIT(L_SIZE) | L_BIT(L_STATE) | L_PLACED;
	else if (s->o->members)
		shown |= L_BIT(L_OFFSET) | L_BIT(L_SIZE) | L_BIT(L_CODE) | L_COUNTED |
			 L_BIT(L_VERDICT);
	else
		shown |= L_COUNTED | L_BIT(L_TOUCHED) | L_BIT(L_SHARE) | L_BIT(L_VERDICT) |
			 (s->has_src ? L_PLACED : 0) |
			 (s->refs.physical ? L_BIT(L_PHYSICAL) : 0);
	if (s->refs.program.syms.n)
		shown |= L_BIT(L_SYMBOL) | (s->o->members ? L_BIT(L_FUNCTION) : 0);
	for (unsigned i = 0; i < LINE_SETS; i++)
		if (!s->places.caches.level[i].sets)
			shown &= ~L_BIT(L_SET1 + i);
	if (s->c->format == FORMAT_PLAIN && s->refs.lines)
		shown &= ~lines_too_wide(s);
	for (int i = 0; i < n; i++) {
		if (a[i].owned)
			shown |= L_BIT(L_PID);
		if (a[i].a.last > INT64_MAX && target_has(s->src.target, TARGET_SYMBOLS))
			shown |= L_BIT(L_SYMBOL);
	}
	return shown;
}

static int lines_open_rows(struct lines_state *s, const struct address_arg *a, int n,
			   struct atw_err *err)
{
	uint64_t shown = lines_shown(s, a, n);
	struct atw_output_opts oo;

	memcpy(s->col, lines_columns, sizeof(s->col));
	for (unsigned i = 0; i < L_COUNT; i++)
		s->col[i].hidden = !(shown >> i & 1);
	s->col[L_TOUCHED].width = (uint8_t)(s->places.line / LINES_MARK > 60
						    ? 60
						    : s->places.line / LINES_MARK);
	s->col[L_TOUCHED].width = MAX(s->col[L_TOUCHED].width, 7);
	s->schema = (struct atw_schema){"lines", s->col, L_COUNT};
	if (s->has_src)
		output_opts(s->c, &s->src, &oo);
	else
		rows_opts(s->c, &oo);
	return atw_output_open(&oo, &s->schema, &s->out, err);
}

static void lines_note_verdicts(struct lines_state *s)
{
	char text[200] = "";
	size_t n = 0;

	for (unsigned v = LINES_VERDICTS; v-- && n < sizeof(text);)
		if (s->verdict[v])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu64 " %s",
					      n ? ", " : "", s->verdict[v], lines_verdicts[v]);
	if (n)
		atw_output_note(s->out, "lines: %s", text);
}

static void lines_note(struct lines_state *s)
{
	if (!s->refs.lines) {
		atw_output_note(s->out, "%" PRIu64 " line%s of %u bytes present, %" PRIu64
				" not",
				s->places.present, s->places.present == 1 ? "" : "s",
				s->places.line, s->places.other);
	} else {
		line_refs_note(&s->refs, s->out);
		lines_note_verdicts(s);
	}
	line_places_note(&s->places, s->out);
}

/* Prints why lines have another status than EXIT_COMPLETE. */
static int lines_status(const struct lines_state *s)
{
	const uint64_t *n = s->verdict;
	int status = line_places_status(&s->places, EXIT_COMPLETE);
	uint64_t any = s->places.present;

	if (!s->refs.lines)
		return status || any ? status : EXIT_NO;
	status = line_refs_status(&s->refs, status);
	any = 0;
	for (unsigned v = 0; v < LINES_VERDICTS; v++) {
		any += n[v];
		if (s->fail >> v & 1 && n[v])
			return EXIT_NO;
	}
	/* What is not known has not passed. */
	if (s->fail && n[LINES_UNDECIDED]) {
		print_incomplete("%s: how %" PRIu64 " line%s shared cannot be determined",
				 s->refs.name, n[LINES_UNDECIDED],
				 n[LINES_UNDECIDED] == 1 ? " is" : "s are");
		return EXIT_PARTIAL;
	}
	return status || any ? status : EXIT_NO;
}

static int lines_all(struct lines_state *s, const struct address_arg *a, int n)
{
	struct atw_err err = {0};
	int status, r = lines_open_rows(s, a, n, &err);

	if (r == ATW_OK && n)
		r = address_args_each(&s->src, a, n, lines_put_arg, s, &err);
	else if (r == ATW_OK)
		r = lines_put_refs(s, 0, UINT64_MAX, &err);
	if (s->has_src)
		thaw(&s->src);
	if (r == ATW_OK)
		lines_note(s);
	status = r == ATW_OK ? lines_status(s) : EXIT_COMPLETE;
	return output_end(s->out, r, status, &err);
}

static int lines_check_verdicts(struct lines_state *s)
{
	for (size_t i = 0; i < s->o->fail.n; i++) {
		unsigned v = 0;

		while (v < LINES_VERDICTS && strcmp(s->o->fail.v[i], lines_verdicts[v]))
			v++;
		if (v == LINES_VERDICTS)
			return usage_error("lines",
					   "--fail-on: unknown verdict '%s'; known: private, "
					   "read-shared, true-shared, false-shared, hot-cold, "
					   "undecided",
					   s->o->fail.v[i]);
		s->fail |= 1u << v;
	}
	return EXIT_COMPLETE;
}

static int lines_check(struct lines_state *s, int argc, bool runs)
{
	const struct lines_options *o = s->o;
	uint64_t line = o->line.given ? o->line.u : LINES_USUAL;

	if (line < LINES_LEAST || line > LINES_MOST || line & (line - 1))
		return usage_error("lines", "--cache-line is a power of two from %d to %d",
				   LINES_LEAST, LINES_MOST);
	if (runs && o->from)
		return usage_error("lines", "--from cannot be used with COMMAND");
	if (o->by && !runs)
		return usage_error("lines", "COMMAND is missing: --by RECORDER -- COMMAND");
	if (!argc && !o->from && !runs)
		return usage_error("lines", "SOURCE is missing");
	if (argc == 1 && !o->from && !runs)
		return usage_error("lines", "RANGE is missing; also possible: --from FILE, or -- COMMAND");
	if (!o->from && o->form)
		return usage_error("lines", "--form is about a file: it needs --from");
	if (!o->from && !runs && (o->members || o->fail.n))
		return usage_error("lines",
				   "--%s is about references: it needs --from FILE or -- COMMAND",
				   o->members ? "members" : "fail-on");
	return lines_check_verdicts(s);
}

static int lines_read_refs(struct lines_state *s, char **range, int nranges, char **command)
{
	const struct subject *subject = &s->src.subject;
	const struct line_refs_opts o = {
		.from = s->o->from, .form = s->o->form, .command = command,
		.range = range, .nranges = (size_t)nranges, .by = s->o->by,
		.line = s->places.line, .one = s->has_src && subject->pid,
		.pid = (uint32_t)subject->pid,
	};

	return command || s->o->from ? line_refs_read(s->c, &o, &s->refs) : EXIT_COMPLETE;
}

/* Of a SOURCE, or of a file of references. */
static int lines_of_source(struct lines_state *s, uint32_t line, int argc, char **argv)
{
	int n = argc ? argc - 1 : 0, status = EXIT_COMPLETE;
	struct address_arg *a = calloc((size_t)n + 1, sizeof(*a));

	if (!a)
		return print_nomem();
	if (argc) {
		status = open_to_freeze(s->c, argv[0], &s->o->space, TARGET_LOOKUP, &s->src);
		s->has_src = !status;
	}
	if (s->has_src)
		status = address_args_find(s->c, &s->o->space, &s->src, argv + 1, a, n);
	if (s->has_src && !status)
		status = freeze(s->c, &s->src, &s->o->space);
	if (!status) {
		if (s->has_src)
			listing_init(&s->list, "lines", &s->src, 0);
		line_places_init(&s->places, s->c, s->has_src ? &s->src : NULL, &s->list, line,
				 false);
		status = lines_read_refs(s, NULL, 0, NULL) ?: lines_all(s, a, n);
	}
	free(a);
	return status;
}

/* Of a program that is run: `range` are parts of its memory. */
static int lines_of_command(struct lines_state *s, uint32_t line, int n, char **range,
			    char **command)
{
	int status;

	line_places_init(&s->places, s->c, NULL, &s->list, line, true);
	status = lines_read_refs(s, range, n, command);
	return status ? status : lines_all(s, NULL, 0);
}

static int lines_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct lines_options *o = opts;
	struct lines_state s = {.c = c, .o = o};
	uint32_t line = o->line.given ? (uint32_t)o->line.u : LINES_USUAL;
	int n = c->behind < 0 ? argc : argc - c->behind, status;

	if (!c->behind)
		return usage_error("lines", "COMMAND is missing");
	status = lines_check(&s, n, c->behind > 0);
	if (status)
		return status;
	if (c->behind > 0)
		status = lines_of_command(&s, line, n, argv, argv + n);
	else
		status = lines_of_source(&s, line, n, argv);
	line_refs_deinit(&s.refs);
	line_places_deinit(&s.places);
	listing_deinit(&s.list);
	if (s.has_src)
		session_close(&s.src);
	return status;
}

const struct command cmd_lines = {
	.name = "lines",
	.args = "SOURCE RANGE... | --from FILE [SOURCE [RANGE...]] | [RANGE...] -- COMMAND",
	.summary = "list cache lines: places, references, sharing",
	.about =
		"Without references, lists the cache lines of each RANGE in SOURCE: which are\n"
		"present, where they lie, and into which sets of the caches they fall. With\n"
		"--from, counts the memory references in a file by line, and with COMMAND those\n"
		"of a program that it runs; each line has a verdict: private, read-shared,\n"
		"true-shared, false-shared, hot-cold, undecided.\n"
		"Exit status 1: no line is present or referenced, or one has the verdict of\n"
		"--fail-on; 4: some could not be read.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct lines_options),
	.run = lines_run,
};
