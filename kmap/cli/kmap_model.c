/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap_model.h"

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
