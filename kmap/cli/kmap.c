/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap.c - reading of KMAPs for all commands: messages, progress, models. */
#include "kmap.h"
#include "base/bytes.h"
#include "base/message.h"

#include "cli/common/progress.h"

bool kmap_is_packed(const struct common *c, bool zstd)
{
	size_t len = c->output ? strlen(c->output) : 0;

	return zstd || (len > 4 && !strcmp(c->output + len - 4, ".zst"));
}

struct kmap_tee {
	const struct kmap_sink *to;
	struct progress progress;
	bool failed;                 /* the receiver failed */
	bool damaged;
};

static int kmap_on_record(void *arg, const struct kmap_record *rec, struct atw_err *err)
{
	struct kmap_tee *e = arg;
	int r = e->to->record(e->to->arg, rec, err);

	e->failed |= r != ATW_OK;
	return r;
}

static void kmap_on_damage(void *arg, const struct atw_err *err)
{
	struct kmap_tee *e = arg;

	e->damaged = true;
	progress_end(&e->progress);
	print_error(err);
}

static void kmap_on_progress(void *arg, uint64_t done, uint64_t all)
{
	struct kmap_tee *e = arg;

	progress_at(&e->progress, done, all);
}

int kmap_source(const struct common *c, const char *name, const struct kmap_sink *to,
		const char *into, struct kmap_summary *summary)
{
	struct kmap_tee e = {.to = to};
	const struct kmap_read_opts ro = {kmap_on_damage, kmap_on_progress, &e};
	const struct kmap_sink sink = {kmap_on_record, &e};
	struct atw_err err = { 0 };
	int r;

	progress_begin(&e.progress, c, name, "bytes");
	r = kmap_read(name, &ro, &sink, summary, &err);
	progress_end(&e.progress);
	if (r < 0 && e.failed && into)
		atw_err_wrap(&err, "%s", into);
	if (r < 0)
		return print_error(&err);
	if (summary->lost)
		print_incomplete("%s: its recorder lost %" PRIu64 " events", name, summary->lost);
	return e.damaged || summary->lost ? EXIT_PARTIAL : EXIT_COMPLETE;
}

/* ---- aggregated contents of a KMAP ---- */

/* What belongs to an object that is left out is left out as well. */
struct kmap_cli_model_sink {
	struct kmap_model_source *s;
	bool skips;
};

static bool cli_model_skips(struct kmap_cli_model_sink *x, const struct kmap_record *rec)
{
	switch (rec->kind) {
	case KMAP_OBJECT:
		x->skips = rec->u.object.alloc_time < x->s->since;
		x->s->kept += !x->skips;
		x->s->left_out += x->skips;
		return x->skips;
	case KMAP_ACCESS:
	case KMAP_LINE_HEAT:
	case KMAP_USED:
	case KMAP_MARK:
		return x->skips;
	default:
		return false;
	}
}

static int cli_model_on_record(void *arg, const struct kmap_record *rec,
			       struct atw_err *err)
{
	struct kmap_cli_model_sink *x = arg;

	return cli_model_skips(x, rec) ? ATW_OK : kmap_model_record(x->s->m, rec, err);
}

static void cli_model_describe(struct kmap_model_source *s)
{
	const struct kmap_model *m = s->m;
	size_t n = 0;

	if (kmap_sampled(m) && m->scale)
		n = (size_t)snprintf(s->about, sizeof(s->about), _("%ssampled, scale %" PRIu64),
				     kmap_accesses_sampled(m) ? "accesses " : "", m->scale);
	else if (kmap_sampled(m))
		n = (size_t)snprintf(s->about, sizeof(s->about), _("accesses sampled, scale unknown"));
	if (s->summary.cut)
		snprintf(s->about + n, sizeof(s->about) - n, _("%sthe recording is cut off"), n ? "; " : "");
}

const struct opt_choice kmap_level_choices[] = {
	{ "instruction", 1 + KMAP_INSTRUCTION }, { "function", 1 + KMAP_FUNCTION },
	{ "file", 1 + KMAP_FILE }, { "directory", 1 + KMAP_DIRECTORY },
	{ "topdir", 1 + KMAP_TOPDIR }, { 0 }
};

static int cli_model_read(const struct common *c, const char *name, size_t top,
			  struct kmap_model_source *ret)
{
	struct atw_err err = { 0 };
	struct kmap_cli_model_sink x = { .s = ret };
	const struct kmap_sink sink = { cli_model_on_record, &x };
	int status;

	if (kmap_model_open(top, &ret->m, &err) < 0)
		return print_error(&err);
	status = kmap_source(c, name, &sink, NULL, &ret->summary);
	if (status == EXIT_COMPLETE || status == EXIT_PARTIAL) {
		if (ret->summary.version == KMAP_COMPRESSED)
			ret->m->compressed = true;
		if (kmap_model_end(ret->m, &err) < 0)
			status = print_error(&err);
	}
	if (status != EXIT_COMPLETE && status != EXIT_PARTIAL) {
		kmap_model_close(ret->m);
		ret->m = NULL;
		return status;
	}
	cli_model_describe(ret);
	return status;
}

int kmap_model_source(const struct common *c, const char *name, size_t top,
		      struct kmap_model_source *ret)
{
	*ret = (struct kmap_model_source){ 0 };
	return cli_model_read(c, name, top, ret);
}

int kmap_model_since(const struct common *c, const char *name, uint64_t since,
		     struct kmap_model_source *ret)
{
	int status;

	*ret = (struct kmap_model_source){ .since = since };
	status = cli_model_read(c, name, 0, ret);
	if (status || !since || ret->kept)
		return status;
	print_incomplete("%s: no object was allocated at %" PRIu64 " or later", name, since);
	return EXIT_PARTIAL;
}

/* ---- the time of a task or a mark ---- */

struct kmap_cli_model_first {
	const char *name;
	uint64_t time;                   /* 0: none yet */
};

static int cli_model_on_task(void *arg, const struct kmap_record *rec,
			     struct atw_err *err)
{
	struct kmap_cli_model_first *f = arg;
	const struct kmap_object *o = &rec->u.object;

	if (rec->kind == KMAP_OBJECT && o->alloc_time && blob_is(o->task, f->name) &&
	    (!f->time || o->alloc_time < f->time))
		f->time = o->alloc_time;
	return ATW_OK;
}

/* "# atwalk-kmap mark TIME NAME" */
static int cli_model_on_mark(void *arg, const struct kmap_record *rec,
			     struct atw_err *err)
{
	struct kmap_cli_model_first *f = arg;
	const struct atw_blob *v = &rec->u.header.value;
	const char *text, *blank;
	uint64_t time;

	if (f->time || rec->kind != KMAP_HEADER || !blob_is(rec->u.header.key, "mark"))
		return ATW_OK;
	text = v->data;
	blank = v->len ? memchr(text, ' ', v->len) : NULL;
	if (!blank || !num_dec(text, (size_t)(blank - text), &time))
		return ATW_OK;
	blank++;
	if (blob_is((struct atw_blob){ blank, v->len - (size_t)(blank - text) }, f->name))
		f->time = time;
	return ATW_OK;
}

static void cli_model_damaged(void *arg, const struct atw_err *err)
{
}

static int cli_model_find_time(const char *name, const struct kmap_sink *sink,
			       struct kmap_cli_model_first *first, const char *missing,
			       uint64_t *ret)
{
	const struct kmap_read_opts ro = { .damaged = cli_model_damaged };
	struct kmap_summary summary;
	struct atw_err err = { 0 };

	if (kmap_read(name, &ro, sink, &summary, &err) < 0)
		return print_error(&err);
	*ret = first->time;
	if (first->time)
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_MISSING, "%s: no %s", name, missing);
	return print_error(&err);
}

int kmap_model_task_time(const char *name, const char *task, uint64_t *ret)
{
	struct kmap_cli_model_first first = { .name = task };
	const struct kmap_sink sink = { cli_model_on_task, &first };
	char missing[200];

	snprintf(missing, sizeof(missing),
		 _("task '%s' allocated an object at a time that is recorded"), task);
	return cli_model_find_time(name, &sink, &first, missing, ret);
}

int kmap_model_mark_time(const char *name, const char *mark, uint64_t *ret)
{
	struct kmap_cli_model_first first = { .name = mark };
	const struct kmap_sink sink = { cli_model_on_mark, &first };
	char missing[200];

	snprintf(missing, sizeof(missing), _("mark '%s' is in this recording"), mark);
	return cli_model_find_time(name, &sink, &first, missing, ret);
}

void kmap_warn_no_symbols(const struct common *c, const char *name)
{
	print_warning(c, "%s: no symbols; use --symbols FILE (System.map, /proc/kallsyms or vmlinux of its kernel) to name functions",
		      name);
}

void kmap_warn_names(const struct common *c, const char *name, const struct kmap_names *n)
{
	size_t found, all;

	kmap_names_found(n, &found, &all);
	if (!all)
		return;
	if (!kmap_names_symbols(n))
		kmap_warn_no_symbols(c, name);
	else if (found * 2 < all)
		print_warning(c, "%s: the symbols name %zu of its %zu instructions: they may be of another kernel",
			      name, found, all);
}
