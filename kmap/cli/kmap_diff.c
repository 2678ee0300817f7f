/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_diff.c - comparison of two KMAPs. */

#include "kmap/lib/diff.h"
#include "report/report.h"
#include "kmap.h"
#include "base/message.h"

struct kmap_diff_options {
	struct opt_list symbols, kernel, since;
	struct opt_number least, limit;
	const char *ratio, *since_task, *since_mark;
	unsigned level;          /* as kmap_level_choices has it */
	bool no_counts;
};

#define AT(field) offsetof(struct kmap_diff_options, field)
static const struct opt options[] = {
	{ 0, "level", OPT_CHOICE, AT(level), "LEVEL",
	  "compare code by LEVEL; default: function, without symbols instruction",
	  kmap_level_choices },
	{ 0, "no-counts", OPT_FLAG, AT(no_counts), NULL,
	  "list only what is new or gone; ignore counts", NULL },
	{ 0, "least", OPT_NUMBER, AT(least), "N",
	  "list only what has N objects, reads or writes more or less", NULL },
	{ 0, "ratio", OPT_TEXT, AT(ratio), "R",
	  "list only what has R times as many objects, reads or writes, as in 1.5", NULL },
	{ 0, "since", OPT_LIST, AT(since), "TIME",
	  "compare only objects allocated at TIME or later; given twice: for A, then B", NULL },
	{ 0, "since-task", OPT_TEXT, AT(since_task), "NAME",
	  "compare only objects allocated since the first one of the task NAME", NULL },
	{ 0, "since-mark", OPT_TEXT, AT(since_mark), "NAME",
	  "compare only objects allocated since the mark NAME, which kmap ctl set", NULL },
	{ 0, "limit", OPT_NUMBER, AT(limit), "N",
	  "print only the first N rows and the number of those left out", NULL },
	{ 0, "symbols", OPT_LIST, AT(symbols), "FILE",
	  "read function names from FILE, as kmap report does; given twice: for A, then B", NULL },
	{ 0, "kernel", OPT_LIST, AT(kernel), "VMLINUX",
	  "read names of functions and files from VMLINUX; given twice: for A, then B", NULL },
	{ 0 }
};

enum {
	D_WHAT, D_CHANGE, D_CACHE, D_TYPE, D_CODE, D_OBJECTS_A, D_OBJECTS_B, D_READS_A, D_READS_B,
	D_WRITES_A, D_WRITES_B, D_OBJECTS, D_READS, D_WRITES, D_COUNT,
};
static const char *const what_words[] = { "cache", "site", "edge" };
static const struct atw_names whats = { ARRAY_SIZE(what_words), what_words, NULL };
enum { NEW, GONE, CHANGED };
static const char *const change_words[] = { "new", "gone", "changed" };
static const struct atw_names changes = { ARRAY_SIZE(change_words), change_words, NULL };

static const struct atw_column columns[D_COUNT] = {
	[D_WHAT] = { .key = "what", .type = ATW_T_ENUM, .width = 5, .names = &whats,
		     .help = "a cache; code that allocates from it; code that touches its objects" },
	[D_CHANGE] = { .key = "change", .type = ATW_T_ENUM, .width = 7, .names = &changes,
		       .help = "new: B alone has it; gone: A alone; changed: numbers differ" },
	[D_CACHE] = COLUMN("cache", TEXT, 18, "slab cache"),
	[D_TYPE] = COLUMN("type", TEXT, 10, "kind of memory"),
	[D_CODE] = COLUMN("code", TEXT, 26, "function, or what --level says"),
	[D_OBJECTS_A] = COLUMN("objects_a", COUNT, 9, "allocated, in A"),
	[D_OBJECTS_B] = COLUMN("objects_b", COUNT, 9, "in B"),
	[D_READS_A] = COLUMN("reads_a", COUNT, 9, "in A"),
	[D_READS_B] = COLUMN("reads_b", COUNT, 9, "in B"),
	[D_WRITES_A] = COLUMN("writes_a", COUNT, 9, "in A"),
	[D_WRITES_B] = COLUMN("writes_b", COUNT, 9, "in B"),
	[D_OBJECTS] = HIDDEN_COLUMN("d_objects", CHANGE, 9, "more of them in B"),
	[D_READS] = HIDDEN_COLUMN("d_reads", CHANGE, 9, "more in B"),
	[D_WRITES] = HIDDEN_COLUMN("d_writes", CHANGE, 9, "more in B"),
};
static const struct atw_schema schema = { "kmap diff", columns, D_COUNT };

struct comparing {
	const struct common *c;
	const struct kmap_diff_options *o;
	struct kmap_diff_opts count;
	uint64_t since[2];
	char **name;
	struct kmap_model_source s[2];
	struct kmap_names *n[2];
	struct atw_output *out;
	struct kmap_diff d;
	uint64_t rows;
};

static void cli_diff_set(struct report_row *row, unsigned at, uint64_t a, uint64_t b,
			 const bool in[2], unsigned change)
{
	row_if(row, in[0], at, a);
	row_if(row, in[1], at + 1, b);
	row_u(row, change, (in[1] ? b : 0) - (in[0] ? a : 0));
}

static int cli_diff_put(void *arg, const struct kmap_diff_row *r, struct atw_err *err)
{
	struct comparing *x = arg;
	const struct kmap_counts *a = &r->n[0], *b = &r->n[1];
	struct report_row row = { 0 };

	row_u(&row, D_WHAT, r->what);
	row_u(&row, D_CHANGE, !r->in[0] ? NEW : !r->in[1] ? GONE : CHANGED);
	row_s(&row, D_CACHE, r->cache);
	row_s(&row, D_TYPE, r->type);
	row_s(&row, D_CODE, r->code);
	if (r->what != KMAP_DIFF_EDGE && !x->s[0].m->compressed && !x->s[1].m->compressed)
		cli_diff_set(&row, D_OBJECTS_A, a->objects, b->objects, r->in, D_OBJECTS);
	cli_diff_set(&row, D_READS_A, a->reads, b->reads, r->in, D_READS);
	cli_diff_set(&row, D_WRITES_A, a->writes, b->writes, r->in, D_WRITES);
	x->rows++;
	return atw_output_row(x->out, &(struct atw_row){ row.v, row.have }, err);
}

/* As typed, or by function if both have names for all that matters. */
static enum kmap_level cli_diff_level_of(const struct comparing *x)
{
	if (x->o->level)
		return x->o->level - 1;
	return kmap_names_symbols(x->n[0]) && kmap_names_symbols(x->n[1]) ? KMAP_FUNCTION
									   : KMAP_INSTRUCTION;
}

static int cli_diff_compare(struct comparing *x, struct atw_err *err)
{
	const enum kmap_level level = cli_diff_level_of(x);
	const struct kmap_side side[2] = {
		{ x->s[0].m, x->n[0], level }, { x->s[1].m, x->n[1], level },
	};
	int r = kmap_diff_init(&x->d, side, err) ?:
		kmap_diff_each(&x->d, &x->count, cli_diff_put, x, err);

	if (r < 0)
		return r;
	atw_output_note(x->out, "%" PRIu64 " of %" PRIu64 " caches, sites and edges differ%s; code compared by %s",
			x->rows, x->d.compared, x->count.least || x->count.ratio ? _(" enough") : "",
			kmap_level_words[level]);
	for (unsigned i = 0; i < 2; i++)
		if (x->since[i])
			atw_output_note(x->out, "%s: %" PRIu64 " records of objects that were allocated before %" PRIu64 ", or at an unknown time, are left out",
					x->name[i], x->s[i].left_out, x->since[i]);
	for (unsigned i = 0; i < 2; i++)
		if (*x->s[i].about)
			atw_output_note(x->out, "%s: %s", x->name[i], x->s[i].about);
	if (kmap_sampled(x->s[0].m) || kmap_sampled(x->s[1].m))
		atw_output_note(x->out, "differences between samples may be due to chance");
	return ATW_OK;
}

static const char *cli_diff_nth(const struct opt_list *l, unsigned i)
{
	return !l->n ? NULL : l->v[i < l->n ? i : l->n - 1];
}

static int cli_diff_read_both(struct comparing *x)
{
	int status = EXIT_COMPLETE;

	for (unsigned i = 0; i < 2; i++) {
		const struct kmap_symbols_opts no = {cli_diff_nth(&x->o->symbols, i),
						     cli_diff_nth(&x->o->kernel, i)};
		struct atw_err err = { 0 };
		int r = kmap_model_since(x->c, x->name[i], x->since[i], &x->s[i]);

		if (!x->s[i].m)
			return r;
		status = r ? r : status;
		if (kmap_names_open(&no, x->s[i].m, &x->n[i], &err) < 0)
			return print_error(&err);
	}
	return status;
}

/* EXIT_PARTIAL takes precedence over "they differ". */
static int diff(struct comparing *x)
{
	struct atw_err err = { 0 };
	struct atw_output_opts oo;
	int status, r;

	rows_opts(x->c, &oo);
	oo.limit = x->o->limit.u;
	if (atw_output_open(&oo, &schema, &x->out, &err) < 0)
		return print_error(&err);
	status = cli_diff_read_both(x);
	if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
		r = cli_diff_compare(x, &err);
		if (!status && x->rows)
			status = EXIT_NO;
		if (x->c->format != FORMAT_PLAIN && atw_output_left_out(x->out))
			print_warning(x->c, "kmap diff: --limit leaves out %" PRIu64 " rows",
				      atw_output_left_out(x->out));
		status = output_end(x->out, r, status, &err);
	} else {
		atw_output_close(x->out);
	}
	kmap_diff_deinit(&x->d);
	for (unsigned i = 0; i < 2; i++) {
		kmap_names_close(x->n[i]);
		kmap_model_close(x->s[i].m);
	}
	return status;
}

/* "1.5": thousandths. */
static bool cli_diff_ratio(const char *s, uint64_t *ret)
{
	size_t len = strcspn(s, "."), digits = s[len] ? strlen(s + len + 1) : 0;
	uint64_t whole, part = 0;

	if (!num_dec(s, len, &whole) || whole > 1000000 || digits > 3 ||
	    (s[len] && !num_dec(s + len + 1, digits, &part)))
		return false;
	for (; digits && digits < 3; digits++)
		part *= 10;
	*ret = whole * 1000 + part;
	return *ret > 1000;
}

/* What is listed, and from when on. */
static int cli_diff_options(struct comparing *x)
{
	const struct kmap_diff_options *o = x->o;

	x->count = (struct kmap_diff_opts){.no_counts = o->no_counts, .least = o->least.u};
	if (o->ratio && !cli_diff_ratio(o->ratio, &x->count.ratio))
		return usage_error("kmap diff", "--ratio: expected a number above 1, as in 1.5");
	if (o->limit.given && !o->limit.u)
		return usage_error("kmap diff", "--limit must be at least 1");
	if ((o->since.n > 0) + (o->since_task != NULL) + (o->since_mark != NULL) > 1)
		return usage_error("kmap diff", "--since, --since-task and --since-mark exclude each other");
	if (o->since.n > 2)
		return usage_error("kmap diff", "--since: one for both files, or one for each");
	for (unsigned i = 0; i < 2 && o->since.n; i++) {
		const char *s = cli_diff_nth(&o->since, i);

		if (!num_dec(s, strlen(s), &x->since[i]) || !x->since[i])
			return usage_error("kmap diff", "--since: '%s' is no time", s);
	}
	return EXIT_COMPLETE;
}

/* The times that a task or a mark stands for. */
static int cli_diff_find_times(struct comparing *x)
{
	const char *task = x->o->since_task, *mark = x->o->since_mark;
	int status = EXIT_COMPLETE;

	for (unsigned i = 0; i < 2 && (task || mark) && !status; i++)
		if (!strcmp(x->name[i], "-"))
			status = usage_error("kmap diff", "--since-%s reads a file twice; standard input cannot be",
					     task ? "task" : "mark");
		else
			status = task ? kmap_model_task_time(x->name[i], task, &x->since[i])
				      : kmap_model_mark_time(x->name[i], mark, &x->since[i]);
	return status;
}

static int cli_diff_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct comparing x = { .c = c, .o = opts, .name = argv };
	int status;

	if (argc != 2)
		return usage_error("kmap diff", "expected two files, A and B");
	if (!strcmp(argv[0], "-") && !strcmp(argv[1], "-"))
		return usage_error("kmap diff", "standard input can be only one of the two files");
	if (x.o->symbols.n > 2 || x.o->kernel.n > 2)
		return usage_error("kmap diff", "--symbols and --kernel: one for both files, or one for each");
	status = cli_diff_options(&x);
	for (int i = 0; i < 2 && !status; i++)
		status = check_output(c, argv[i]);
	if (!status)
		status = cli_diff_find_times(&x);
	return status ? status : diff(&x);
}

const struct command kmap_diff = {
	.name = "kmap diff",
	.args = "A B",
	.summary = "list what is new, gone or changed between two KMAPs",
	.about =
		"Compares two KMAPs: caches, the code that allocates from each, and the code\n"
		"that accesses its objects. Exit status 1 if they differ.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_PLUGINS | OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct kmap_diff_options),
	.run = cli_diff_run,
};
