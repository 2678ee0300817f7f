/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_refs.c - memory references from a file or of a command, added up by cache line. */
#include "line_refs.h"

#include <sys/wait.h>

#include "base/bytes.h"
#include "base/line_stream.h"
#include "base/message.h"
#include "base/unpack.h"
#include "common/progress.h"
#include "trace/formats.h"

enum {
	LINE_REFS_FAULTS = 8,            /* lines that are reported one by one */
};

static const char line_refs_recording[] = "references";

/* Of the other formats, those that are known to be exact or sampled. */
static const struct {
	const char *form;
	enum line_refs_how how;
} line_refs_hows[] = {
	{"lackey", LINE_REFS_EXACT},
	{"dynamorio", LINE_REFS_EXACT},
	{"perf", LINE_REFS_SAMPLED},
};

/* A file while it is read. */
struct line_refs_input {
	struct line_refs *r;
	const struct line_refs_opts *o;
	struct unpack *in;
	struct progress progress;
	struct line_stream lines;
	bool started;
	struct trace_parser parser;      /* of other formats than recordings */
};

static int line_refs_piece(void *arg, void *buf, size_t len, size_t *ret, struct atw_err *err)
{
	struct line_refs_input *f = arg;
	uint64_t done, all;
	int r = unpack_read(f->in, buf, len, ret, err);

	if (r < 0)
		return r;
	unpack_progress(f->in, &done, &all);
	progress_at(&f->progress, done >> 20, all >> 20);
	return ATW_OK;
}

static int line_refs_add(struct line_refs *r, const struct line_refs_opts *o,
			 const struct trace_ref *ref, struct atw_err *err)
{
	if (o->one && ref->has & TRACE_HAS_PID && ref->pid != o->pid) {
		sum_u64(&r->foreign, ref->count);
		return ATW_OK;
	}
	r->physical |= ref->has & TRACE_HAS_PHYSICAL;
	return lines_add(r->lines, ref, err);
}

/* The head of a recording is known. */
static int line_refs_begin(struct line_refs *r, const struct trace_recording *rec,
			   struct atw_err *err)
{
	if (rec->line > lines_size(r->lines))
		return atw_err_set(err, ATW_E_USAGE,
				   "the addresses in it are rounded to %u bytes; lines cannot be shorter",
				   rec->line);
	if (rec->line > 1)
		lines_set_rounded(r->lines);
	if (rec->sampled)
		r->how = LINE_REFS_SAMPLED;
	return ATW_OK;
}

static int line_refs_parse(struct line_refs_input *f, struct atw_blob line,
			   struct trace_ref *ref, struct atw_err *err)
{
	int r;

	if (f->parser.format)
		return trace_parse(&f->parser, line, ref, err);
	r = recording_read(&f->r->rec, line, ref, err);
	if (r != ATW_OK || f->started)
		return r;
	f->started = true;
	return line_refs_begin(f->r, &f->r->rec, err);
}

/* A line that cannot be read is reported, and the rest is read. */
static int line_refs_bad(struct line_refs_input *f, struct atw_err *err)
{
	if (err->status != ATW_E_FORMAT && err->status != ATW_E_LIMIT &&
	    err->status != ATW_E_DAMAGED)
		return err->status;
	/* Behind a first line that is none of a recording, no line is. */
	if (!f->parser.format && !f->r->rec.begun)
		return err->status;
	if (f->r->bad++ < LINE_REFS_FAULTS) {
		atw_err_wrap(err, "%s", f->r->name);
		print_error(err);
	}
	return ATW_OK;
}

static int line_refs_lines(struct line_refs_input *f, struct atw_err *err)
{
	struct atw_blob line;
	int r;

	while ((r = line_stream_next(&f->lines, &line, err)) == ATW_OK) {
		struct trace_ref ref;

		r = line_refs_parse(f, line, &ref, err);
		if (r == ATW_OK)
			r = line_refs_add(f->r, f->o, &ref, err);
		else if (r != ATW_END)
			r = line_refs_bad(f, err);
		if (r < 0)
			return r;
	}
	return r == ATW_END ? ATW_OK : r;
}

static int line_refs_unknown(const struct line_refs_input *f, struct atw_err *err)
{
	char known[200] = "";
	size_t n = 0;
	int r;

	if (f->o->form) {
		for (size_t i = 0; i < trace_formats_count && n < sizeof(known); i++)
			n += (size_t)snprintf(known + n, sizeof(known) - n, ", %s",
					      trace_formats[i].name);
		return atw_err_set(err, ATW_E_USAGE, "unknown format '%s'; known: %s%s",
				   f->o->form, line_refs_recording, known);
	}
	if (!f->lines.len)
		return atw_err_set(err, ATW_E_FORMAT, "there are no references: it is empty");
	r = atw_err_set(err, ATW_E_FORMAT, "cannot detect the format of the references");
	atw_err_hint(err, "name it with --form; `atwalk kmap convert --to references` converts a KMAP");
	return r;
}

/* By its first lines, if the user did not name it. */
static int line_refs_detect(struct line_refs_input *f, struct atw_err *err)
{
	struct atw_blob line[TRACE_FIRST_LINES];
	const char *form = f->o->form;
	const struct trace_format *found;
	size_t n = 0;
	int r = line_stream_ahead(&f->lines, line, TRACE_FIRST_LINES, &n, err);

	if (r < 0)
		return r;
	if (form ? !strcmp(form, line_refs_recording)
		 : recording_is((struct atw_blob){f->lines.buf, f->lines.len})) {
		f->r->form = line_refs_recording;
		return ATW_OK;
	}
	found = form ? trace_format_named(form) : trace_format_detect(line, n);
	if (!found)
		return line_refs_unknown(f, err);
	f->r->form = found->name;
	f->r->how = LINE_REFS_UNSTATED;
	for (size_t i = 0; i < ARRAY_SIZE(line_refs_hows); i++)
		if (!strcmp(line_refs_hows[i].form, found->name))
			f->r->how = line_refs_hows[i].how;
	return trace_parser_init(&f->parser, found, NULL, line, n, err);
}

/* A recording has a last line. */
static int line_refs_finish(struct line_refs *r, struct atw_err *err)
{
	int status = recording_finish(&r->rec, err);

	if (r->rec.backend[0])
		r->form = r->rec.backend;
	if (status == ATW_OK || !r->rec.begun)
		return status;
	r->truncated = true;
	atw_err_wrap(err, "%s", r->name);
	print_error(err);
	return ATW_OK;
}

static int line_refs_file(struct line_refs_input *f, struct atw_err *err)
{
	int r = line_refs_detect(f, err) ?: line_refs_lines(f, err);

	if (r == ATW_OK && f->r->bad && !lines_sum(f->r->lines)->refs)
		return atw_err_set(err, ATW_E_FORMAT,
				   "no line of it is a reference in the format '%s'",
				   f->r->form);
	if (r == ATW_OK && !f->parser.format)
		r = line_refs_finish(f->r, err);
	return r == ATW_OK ? lines_sort(f->r->lines, err) : r;
}

static int line_refs_open(const struct common *c, const struct line_refs_opts *o,
			  struct line_refs *ret, struct atw_err *err)
{
	struct line_refs_input f = {.r = ret, .o = o};
	int r = unpack_open_path(o->from, &f.in, err);

	if (r < 0)
		return r;
	progress_begin(&f.progress, c, o->from, "MiB");
	r = line_stream_init(&f.lines, line_refs_piece, &f, err) ?:
	    line_refs_file(&f, err);
	line_stream_deinit(&f.lines);
	progress_end(&f.progress);
	unpack_close(f.in);
	return r;
}

/* ---- a command ---- */

struct line_refs_run {
	struct line_refs *r;
	const struct line_refs_opts *o;
};

static int line_refs_take_head(void *arg, const struct trace_recording *rec,
			       struct atw_err *err)
{
	return line_refs_begin(((struct line_refs_run *)arg)->r, rec, err);
}

static int line_refs_take(void *arg, const struct trace_ref *ref, struct atw_err *err)
{
	struct line_refs_run *run = arg;

	return line_refs_add(run->r, run->o, ref, err);
}

static int line_refs_run(const struct line_refs_opts *o, const struct references_options *ro,
			 struct line_refs *ret, struct atw_err *err)
{
	struct line_refs_run run = {ret, o};
	const struct references_sink sink = {line_refs_take_head, line_refs_take, &run};
	const struct references_backend *b;
	int r = o->by ? references_find(o->by, &b, err) : references_choose(ro, &b, err);

	if (r == ATW_OK && b->needs_range && !ro->nranges)
		r = atw_err_set(err, ATW_E_USAGE,
				"the recorder '%s' needs a RANGE before the command", b->name);
	if (r == ATW_OK && o->by)
		r = b->probe(ro, err);
	if (r == ATW_OK)
		r = b->run(o->command, ro, &sink, &ret->rec, &ret->ended, err);
	if (r < 0)
		return r;
	ret->form = b->name;
	ret->program.load = ret->rec.load;
	return lines_sort(ret->lines, err);
}

static int line_refs_record(const struct line_refs_opts *o, struct line_refs *ret,
			    struct atw_err *err)
{
	_auto_free struct references_range *range = calloc(o->nranges + 1, sizeof(*range));
	const struct references_options ro = {.range = range, .nranges = o->nranges};
	int r = range ? line_program_open(&ret->program, o->command[0], err)
		      : atw_err_nomem(err);

	for (size_t i = 0; r == ATW_OK && i < o->nranges; i++)
		r = line_program_range(&ret->program, o->range[i], &range[i], err);
	return r == ATW_OK ? line_refs_run(o, &ro, ret, err) : r;
}

int line_refs_read(const struct common *c, const struct line_refs_opts *o,
		   struct line_refs *ret)
{
	const struct lines_opts lo = {.line = o->line};
	struct atw_err err = {0};
	int r;

	*ret = (struct line_refs){.name = o->command ? o->command[0] : o->from};
	r = lines_open(&lo, &ret->lines, &err);
	if (r == ATW_OK && o->command) {
		r = line_refs_record(o, ret, &err);
	} else if (r == ATW_OK) {
		r = line_refs_open(c, o, ret, &err);
		if (r < 0)
			atw_err_wrap(&err, "%s", ret->name);
	}
	if (r < 0)
		return print_error(&err);
	if (o->command && WIFSIGNALED(ret->ended))
		print_warning(c, "%s was killed by signal %d", ret->name, WTERMSIG(ret->ended));
	else if (o->command && WEXITSTATUS(ret->ended))
		print_warning(c, "%s ended with status %d", ret->name,
			      WEXITSTATUS(ret->ended));
	return EXIT_COMPLETE;
}

void line_refs_deinit(struct line_refs *r)
{
	lines_close(r->lines);
	line_program_close(&r->program);
	*r = (struct line_refs){0};
}

/* ---- what they are ---- */

static void line_refs_describe(const struct line_refs *r, char *text, size_t len)
{
	switch (r->how) {
	case LINE_REFS_EXACT:
		snprintf(text, len, _("exact"));
		break;
	case LINE_REFS_SAMPLED:
		if (!r->rec.begun && !r->rec.backend[0])
			snprintf(text, len, _("sampled: each sample counts as its period"));
		else if (r->rec.scale)
			snprintf(text, len, _("sampled: each stands for %" PRIu64),
				 r->rec.scale);
		else
			snprintf(text, len, _("sampled, at an unknown rate"));
		break;
	case LINE_REFS_UNSTATED:
		snprintf(text, len, _("not stated whether exact or sampled"));
		break;
	}
}

void line_refs_note(const struct line_refs *r, struct atw_output *out)
{
	const struct lines_sum *s = lines_sum(r->lines);
	char how[80];

	line_refs_describe(r, how, sizeof(how));
	atw_output_note(out, "%" PRIu64 " reference%s to %zu line%s of %u bytes, from %s, %s",
			s->refs, s->refs == 1 ? "" : "s", s->lines, s->lines == 1 ? "" : "s",
			lines_size(r->lines), r->form, how);
	if (s->crossing)
		atw_output_note(out, "%" PRIu64 " of them %s the border of two lines, and count%s in both",
				s->crossing, s->crossing == 1 ? "crosses" : "cross",
				s->crossing == 1 ? "s" : "");
	if (s->threadless)
		atw_output_note(out, "%" PRIu64 " of them %s no thread: how their lines are shared is not known",
				s->threadless, s->threadless == 1 ? "has" : "have");
	if (r->rec.line > 1)
		atw_output_note(out, "their addresses are rounded to %u bytes: which bytes threads share is not known",
				r->rec.line);
	if (s->addressless)
		atw_output_note(out, "%" PRIu64 " of them %s no address", s->addressless,
				s->addressless == 1 ? "has" : "have");
	if (r->foreign)
		atw_output_note(out, "references of other processes, left out: %" PRIu64,
				r->foreign);
	if (r->rec.children)
		atw_output_note(out, "processes that the program started, not recorded: %" PRIu64,
				r->rec.children);
}

int line_refs_status(const struct line_refs *r, int status)
{
	const struct lines_sum *s = lines_sum(r->lines);
	const struct {
		uint64_t n;
		const char *what;
	} missing[] = {
		{r->rec.lost, _("references that were lost when they were recorded")},
		{s->left_out, _("references to further lines, which do not fit into memory")},
		{s->unlisted, _("references in no member of their line, because there are too many")},
		{s->unmasked, _("references of further threads, which do not fit into memory")},
		{s->implausible, _("references that are not counted, because they are larger than 64 KiB")},
		{r->bad, _("lines that are not valid")},
	};
	bool any = r->truncated || r->rec.cut[0] || s->overflow;

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		if (!missing[i].n)
			continue;
		print_incomplete("%s: %s: %" PRIu64, r->name, missing[i].what, missing[i].n);
		any = true;
	}
	if (s->overflow)
		print_incomplete("%s: the sum of references or of their weights exceeds 2^64-1: counts may be too small",
				 r->name);
	if (r->rec.cut[0])
		print_incomplete("%s: recording ended before the program did: %s", r->name,
				 message(r->rec.cut));
	return any ? EXIT_PARTIAL : status;
}
