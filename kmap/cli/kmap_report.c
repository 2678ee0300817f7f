/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_report.c - reports on a KMAP: several from one pass. */
#include <stdarg.h>
#include <sys/stat.h>

#include "base/message.h"
#include "cli/common/answers.h"
#include "kmap/lib/report.h"
#include "kmap.h"

struct kmap_report_opts {
	const char *symbols, *kernel;
	unsigned level;                  /* as kmap_level_choices has it */
	struct opt_list cuts;
	struct opt_number top, limit;
};

#define AT(field) offsetof(struct kmap_report_opts, field)
static const struct opt options[] = {
	{ 0, "level", OPT_CHOICE, AT(level), "LEVEL", "aggregate code by LEVEL",
	  kmap_level_choices },
	{ 0, "cut", OPT_LIST, AT(cuts), "CUT",
	  "partition functions into clusters, size:BYTES or ratio:A (privilege, compartments)",
	  NULL },
	{ 0, "symbols", OPT_TEXT, AT(symbols), "FILE",
	  "read function names from FILE (System.map, /proc/kallsyms or vmlinux)", NULL },
	{ 0, "kernel", OPT_TEXT, AT(kernel), "VMLINUX",
	  "read names of functions, files and folders from VMLINUX (debug information)", NULL },
	{ 0, "top", OPT_NUMBER, AT(top), "N", "list the N hottest objects (objects only); default: 100", NULL },
	{ 0, "limit", OPT_NUMBER, AT(limit), "N",
	  "print only the first N rows and the number of those left out", NULL },
	{ 0 }
};

enum { TOP_MOST = 1000000 };             /* objects */

struct kmap_reporting {
	const struct kmap_report_opts *o;
	const char *name;                /* of the file */
	struct answers a;
	struct kmap_model_source s;
	struct kmap_names *n;
	struct kmap_query ask;
	struct kmap_cut cut[KMAP_MOST_CUTS];
	size_t cuts;
};

static bool cli_report_kind_at(size_t i, struct answer *ret)
{
	const struct kmap_report *k = kmap_report_kind(i);

	if (k)
		*ret = (struct answer){ k->name, k->title, k->help, k->schema, k->draw != NULL };
	return k;
}

static int cli_report_out_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	return atw_output_row(arg, row, err);
}

ATW_PRINTF(2, 3) static void kmap_cli_report_out_note(void *arg, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, message(fmt), ap) >= 0) {
		atw_output_note(arg, "%s", text);
		free(text);
	}
	va_end(ap);
}

ATW_PRINTF(3, 4)
static void cli_report_out_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), message(fmt), ap);
	va_end(ap);
	atw_output_note(arg, "%s; %s", text, param_remedy(param));
}

/* Notes about the source that every report of it needs. */
static void cli_report_note_source(const struct kmap_reporting *r, struct atw_output *out)
{
	const struct kmap_model *m = r->s.m;
	uint64_t accesses, error;

	if (kmap_estimate(m, &m->s, &accesses, &error))
		atw_output_note(out, "all accesses, estimated: %" PRIu64 ", plus or minus %" PRIu64 " with a confidence of 95 %%",
				accesses, error);
	if (kmap_watch_sampled(m))
		atw_output_note(out, "objects with sampled accesses: %" PRIu64 " of %" PRIu64 "; accesses to others are n/a",
				m->s.watched, m->s.objects);
	if (kmap_sampled(m) && m->scale)
		atw_output_note(out, "%ssampled, and not exact: scale %" PRIu64 "; multiply numbers of %s by it to estimate the total%s",
				kmap_accesses_sampled(m) ? _("accesses are ") : "", m->scale,
				kmap_accesses_sampled(m) ? _("them") : _("allocated objects and of accesses to them"),
				kmap_accesses_sampled(m) ? "" : _("; GLOBAL and UFO are not sampled"));
	else if (kmap_sampled(m))
		atw_output_note(out, "accesses are sampled, and not exact; the recording has no scale");
	if (r->s.summary.cut)
		atw_output_note(out, "the recording is cut off: only its beginning is reported");
	if (r->s.summary.faults)
		atw_output_note(out, "%" PRIu64 " line%s could not be read", r->s.summary.faults,
				r->s.summary.faults == 1 ? "" : "s");
	if (r->s.summary.lost)
		atw_output_note(out, "its recorder lost %" PRIu64 " events", r->s.summary.lost);
	if (m->unbound)
		atw_output_note(out, "%" PRIu64 " access%s before the first object", m->unbound,
				m->unbound == 1 ? "" : "es");
}

static int cli_report_finish(void *arg, size_t i, struct atw_output *to,
			     struct atw_err *err)
{
	struct kmap_reporting *r = arg;
	const struct census_out out = {
		.row = cli_report_out_row,
		.note = kmap_cli_report_out_note,
		.left_out = cli_report_out_left_out,
		.plain = r->a.plain,
		.arg = to,
	};
	int status;

	/* Pictures are drawn from the model. */
	if (!to)
		return ATW_OK;
	status = kmap_report_kind(r->a.which[i])->rows(&r->ask, &out, err);
	if (status == ATW_OK)
		cli_report_note_source(r, to);
	return status;
}

static int cli_report_draw(void *arg, size_t i, struct scene *s, struct atw_err *err)
{
	struct kmap_reporting *r = arg;

	return kmap_report_kind(r->a.which[i])->draw(&r->ask, s, err);
}

/* "memory.kmap; Linux 6.1.0, x86_64; sampled, scale 64" */
static void cli_report_head(void *arg, struct buf *ret)
{
	const struct kmap_reporting *r = arg;
	const struct kmap_model *m = r->s.m;

	buf_printf(ret, "%s; %s%s, %s", strcmp(r->name, "-") ? r->name : _("standard input"),
		   m->release ? "Linux " : "release ", m->release ? m->release : "unknown",
		   m->machine ? m->machine : "machine unknown");
	if (*r->s.about)
		buf_printf(ret, "; %s", r->s.about);
}

/* KMAP_LEVELS: none was given. */
static enum kmap_level cli_report_level_of(const struct kmap_report_opts *o)
{
	return o->level ? o->level - 1 : KMAP_LEVELS;
}

/* --top applies to objects only; --limit to all reports. */
static int cli_report_check_top(const struct kmap_reporting *r)
{
	const struct opt_number *top = &r->o->top;

	if (!top->given)
		return EXIT_COMPLETE;
	if (!top->u || top->u > TOP_MOST)
		return usage_error("kmap report", "--top: expected 1 to %d", TOP_MOST);
	for (size_t i = 0; i < r->a.n; i++)
		if (!strcmp(r->a.v[i].name, "objects"))
			return EXIT_COMPLETE;
	return usage_error("kmap report", "--top can only be used with objects; use --limit %" PRIu64
			   " for the first rows of any report", top->u);
}

static int cli_report_check_level(const struct kmap_reporting *r)
{
	for (size_t i = 0; i < r->a.n && r->o->level; i++)
		if (kmap_report_kind(r->a.which[i])->level == KMAP_LEVELS)
			return usage_error("kmap report", "--level cannot be used with %s",
					   r->a.v[i].name);
	return EXIT_COMPLETE;
}

/* "0.000002", in units of 10^-12. */
static bool cli_report_read_ratio(const char *s, uint64_t *ret)
{
	size_t whole = strcspn(s, "."), n = s[whole] ? strlen(s + whole + 1) : 0;
	uint64_t high, low = 0;
	char digits[] = "000000000000";

	if (!num_dec(s, whole, &high) || high > 1000000 || n >= sizeof(digits))
		return false;
	if (s[whole])
		memcpy(digits, s + whole + 1, n);
	if ((s[whole] && !n) || !num_dec(digits, sizeof(digits) - 1, &low))
		return false;
	*ret = high * UINT64_C(1000000000000) + low;
	return true;
}

static int cli_report_read_cut(const char *word, struct kmap_cut *ret)
{
	const char *colon = strchr(word, ':');

	if (!strncmp(word, "size:", 5)) {
		*ret = (struct kmap_cut){ .by = KMAP_CUT_SIZE, .text = word + 5 };
		if (num_size(ret->text, strlen(ret->text), &ret->bound) && ret->bound)
			return EXIT_COMPLETE;
		return usage_error("kmap report", "--cut %.60s: '%.40s' is not a code size",
				   word, colon + 1);
	}
	if (!strncmp(word, "ratio:", 6)) {
		*ret = (struct kmap_cut){ .by = KMAP_CUT_RATIO, .text = word + 6 };
		if (cli_report_read_ratio(ret->text, &ret->bound))
			return EXIT_COMPLETE;
		return usage_error("kmap report", "--cut %.60s: '%.40s' is not a number from 0 to 1000000 with up to 12 decimals",
				   word, colon + 1);
	}
	return usage_error("kmap report", "--cut: '%.60s' is neither size:BYTES nor ratio:A",
			   word);
}

static int cli_report_check_cuts(struct kmap_reporting *r)
{
	int status = EXIT_COMPLETE;

	r->cuts = r->o->cuts.n;
	if (!r->cuts)
		return EXIT_COMPLETE;
	if (r->cuts > KMAP_MOST_CUTS)
		return usage_error("kmap report", "--cut: expected at most %d", KMAP_MOST_CUTS);
	for (size_t i = 0; !status && i < r->cuts; i++)
		status = cli_report_read_cut(r->o->cuts.v[i], &r->cut[i]);
	for (size_t i = 0; !status && i < r->a.n; i++) {
		const struct kmap_report *k = kmap_report_kind(r->a.which[i]);

		if (!k->cuts)
			status = usage_error("kmap report", "--cut cannot be used with %s", k->name);
		else if (r->cuts > k->cuts)
			status = usage_error("kmap report", "--cut: %s takes only one", k->name);
	}
	if (!status && r->o->level)
		status = usage_error("kmap report", "--cut and --level cannot be used together");
	return status;
}

/* The header lines of a recording, before its first object. */
static int cli_report_on_beginning(void *arg, const struct kmap_record *rec,
				   struct atw_err *err)
{
	bool *sampled = arg;

	if (rec->kind == KMAP_OBJECT || rec->kind == KMAP_CALL)
		return ATW_E_LIMIT;
	if (rec->kind == KMAP_HEADER && blob_is(rec->u.header.key, "mode"))
		*sampled = blob_is(rec->u.header.value, "sample");
	/* Then it is of objects. */
	if (rec->kind == KMAP_HEADER && blob_is(rec->u.header.key, "scale"))
		*sampled = false;
	return ATW_OK;
}

/* Are its accesses a sample? A pipe is not checked: it cannot be read twice. */
static bool cli_report_is_sample(const char *name)
{
	bool sampled = false;
	const struct kmap_sink sink = {cli_report_on_beginning, &sampled};
	struct atw_err err;
	struct stat st;

	if (!strcmp(name, "-") || stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	kmap_read(name, NULL, &sink, NULL, &err);
	return sampled;
}

/* Show the columns of a cut or a sample, unless --columns lists others. */
static void cli_report_want_columns(void *arg, size_t i, struct atw_output_opts *oo)
{
	const struct kmap_reporting *r = arg;
	const struct kmap_report *k = kmap_report_kind(r->a.which[i]);

	if (r->cuts && !oo->columns)
		oo->columns = k->cut_columns;
	for (size_t n = 0; n < k->schema->ncols && !oo->columns; n++)
		if (!strcmp(k->schema->col[n].key, "estimate") &&
		    cli_report_is_sample(r->name))
			oo->columns = "+estimate,error";
}

/* Check the files of symbols before a long read. */
static int cli_report_check_files(const struct kmap_reporting *r)
{
	const struct kmap_symbols_opts no = { r->o->symbols, r->o->kernel };
	struct kmap_model *m = NULL;
	struct kmap_names *n = NULL;
	struct atw_err err = { 0 };
	const char *why;
	int s = kmap_model_open(0, &m, &err) ?: kmap_names_open(&no, m, &n, &err);

	if (s == ATW_OK && r->o->level && cli_report_level_of(r->o) >= KMAP_FILE &&
	    !kmap_names_files(n, &why))
		s = atw_err_set(&err, ATW_E_USAGE, "--level %s: %s",
				kmap_level_words[cli_report_level_of(r->o)], why);
	kmap_names_close(n);
	kmap_model_close(m);
	return s < 0 ? print_error(&err) : EXIT_COMPLETE;
}

static int cli_report_emit(struct kmap_reporting *r, struct atw_err *err)
{
	const struct kmap_symbols_opts no = { r->o->symbols, r->o->kernel };
	int s = kmap_names_open(&no, r->s.m, &r->n, err);

	if (s < 0)
		return s;
	kmap_warn_names(r->a.c, r->name, r->n);
	r->ask = (struct kmap_query){
		.m = r->s.m, .n = r->n, .level = cli_report_level_of(r->o),
		.about = r->s.about, .cut = r->cut, .cuts = r->cuts,
	};
	return answers_print(&r->a, err);
}

static int cli_report_report(struct kmap_reporting *r)
{
	struct atw_err err = { 0 };
	int failed = answers_open(&r->a, &err), status = EXIT_COMPLETE;

	if (failed == ATW_OK)
		status = kmap_model_source(r->a.c, r->name, r->o->top.given ? r->o->top.u : 0,
					   &r->s);
	if (failed == ATW_OK && r->s.m)
		failed = cli_report_emit(r, &err);
	if (failed < 0)
		status = print_error(&err);
	answers_close(&r->a, status && status != EXIT_PARTIAL);
	kmap_names_close(r->n);
	kmap_model_close(r->s.m);
	return status;
}

static int cli_report_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct kmap_reporting r = {
		.o = opts,
		.a = {.c = c,
		      .command = "kmap report",
		      .title = "Accesses of kernel code to kernel objects",
		      .kind = cli_report_kind_at,
		      .finish = cli_report_finish,
		      .draw = cli_report_draw,
		      .rows = cli_report_want_columns,
		      .head = cli_report_head,
		      .arg = &r},
	};
	int status;

	if (argc == 1 && !kmap_report_find(argv[0], strcspn(argv[0], ",")))
		return usage_error("kmap report", "KIND or FILE is missing: kmap report caches %s",
				   argv[0]);
	if (argc != 2)
		return usage_error("kmap report", argc < 1 ? "KIND and FILE are missing" :
				   argc < 2 ? "FILE is missing" : "too many arguments; expected one FILE");
	answers_order(&r.a, argc, argv);
	r.name = argv[1];
	r.a.limit = r.o->limit;
	status = answers_choose(&r.a, argv[0]) ?: answers_check(&r.a);
	if (!status)
		status = cli_report_check_top(&r);
	if (!status)
		status = cli_report_check_level(&r);
	if (!status)
		status = cli_report_check_cuts(&r);
	if (!status)
		status = check_output(c, r.name);
	if (!status)
		status = cli_report_check_files(&r);
	return status ? status : cli_report_report(&r);
}

const struct command kmap_report = {
	.name = "kmap report",
	.args = "KIND[,KIND...] FILE",
	.summary = "report accesses by object, code, process and time",
	.about =
		"Analyzes a KMAP (atwalk-kmap(5)). Several reports share one pass.\n"
		"\n"
		"KIND:\n"
		"  caches        kinds of objects, the hottest first\n"
		"  sites         allocation sites, the hottest first\n"
		"  objects       the hottest objects\n"
		"  code          functions that read and write objects, the busiest first\n"
		"  processes     allocations, reads and writes of each thread\n"
		"  matrix        accesses of code to objects\n"
		"  writers       code that writes each kind of object\n"
		"  unread        objects that are written and never read, or not used at all\n"
		"  lifetimes     how long objects live\n"
		"  live          live bytes over time, by allocation site\n"
		"  flows         objects that one part of the kernel writes and another reads\n"
		"  privilege     privilege of code, by partition: uSCOPE's PS, PSR and ECR\n"
		"  compartments  privilege of each part of the kernel\n"
		"  lines         hot bytes of objects, by lines of 64 bytes",
	.common =
		OPT_COMMON_OUTPUT | OPT_COMMON_ROWS | OPT_COMMON_PICTURES | OPT_COMMON_UNITS | OPT_COMMON_PLUGINS |
		OPT_COMMON_PROGRESS,
	.options = options,
	.opts_size = sizeof(struct kmap_report_opts),
	.run = cli_report_run,
};
