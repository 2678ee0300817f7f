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
