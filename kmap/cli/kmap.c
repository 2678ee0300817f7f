/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap.h"

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

static int kmap_cli_model_on_record(void *arg, const struct kmap_record *rec,
				    struct atw_err *err)
{
	return kmap_model_record(arg, rec, err);
}

static void kmap_cli_model_describe(struct kmap_model_source *s)
{
	const struct kmap_model *m = s->m;
	size_t n = 0;

	if (kmap_sampled(m) && m->scale)
		n = (size_t)snprintf(s->about, sizeof(s->about), "%ssampled, scale %" PRIu64,
				     kmap_accesses_sampled(m) ? "accesses " : "", m->scale);
	else if (kmap_sampled(m))
		n = (size_t)snprintf(s->about, sizeof(s->about), "accesses sampled, scale unknown");
	if (s->summary.cut)
		snprintf(s->about + n, sizeof(s->about) - n, "%sthe recording is cut off", n ? "; " : "");
}

const struct opt_choice kmap_level_choices[] = {
	{ "instruction", 1 + KMAP_INSTRUCTION }, { "function", 1 + KMAP_FUNCTION },
	{ "file", 1 + KMAP_FILE }, { "directory", 1 + KMAP_DIRECTORY },
	{ "topdir", 1 + KMAP_TOPDIR }, { 0 }
};

int kmap_model_source(const struct common *c, const char *name, size_t top,
		      struct kmap_model_source *ret)
{
	const struct kmap_model_opts mo = { .top = top };
	struct atw_err err = { 0 };
	struct kmap_sink sink = {.record = kmap_cli_model_on_record};
	int status;

	*ret = (struct kmap_model_source){ 0 };
	if (kmap_model_open(&mo, &ret->m, &err) < 0)
		return print_error(&err);
	sink.arg = ret->m;
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
	kmap_cli_model_describe(ret);
	return status;
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
