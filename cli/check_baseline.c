/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_baseline.c - counts of an earlier run, which rules 'track' are compared with. */
#include "check_baseline.h"

#include <stdio.h>

#include "base/io.h"
#include "base/table.h"
#include "output/outfile.h"

/* No policy has this name: keys in front of any section are in it. */
static const char baseline_version[] = "1";

static int check_baseline_entry(const struct config_entry *e)
{
	uint64_t u;

	if (!*e->section && !strcmp(e->key, "version"))
		return strcmp(e->value, baseline_version)
			       ? config_wrong(
					 e,
					 "the baseline is of another version: --update "
					 "with a new file replaces it",
					 NULL)
			       : EXIT_COMPLETE;
	if (!*e->section || strcmp(e->key, "count"))
		return config_wrong(e, "unknown key", "count");
	return num_dec(e->value, strlen(e->value), &u)
		       ? EXIT_COMPLETE
		       : config_wrong(e, "expected a number", NULL);
}

/* Which of two counts would be meant? Two versions of the file, merged, have both. */
static int check_baseline_once(const struct config *f, struct table *seen, size_t i)
{
	const struct config_entry *e = &f->v[i];
	const uint64_t key = hash_bytes(0, e->section, strlen(e->section));
	const struct table_slot *s = NULL;

	while ((s = table_next(seen, key, s)))
		if (!strcmp(f->v[s->value - 1].section, e->section))
			return config_wrong(e, "the baseline has that twice", NULL);
	return table_add(seen, key, i + 1) ? EXIT_COMPLETE : print_nomem();
}

int check_baseline_read(struct config *ret, const char *path, bool update)
{
	struct config_entry none = {.file = path, .line = 1};
	struct table seen = {0};
	int status;

	if (update && access(path, F_OK) < 0 && errno == ENOENT)
		return EXIT_COMPLETE;
	status = config_load(ret, path);
	for (size_t i = 0; i < ret->n && !status; i++)
		status = check_baseline_entry(&ret->v[i]) ?:
			 check_baseline_once(ret, &seen, i);
	table_deinit(&seen);
	if (!status && !config_find(ret, "", "version"))
		status = config_wrong(&none, "that is no baseline: it has no version",
				      NULL);
	return status;
}

/* What it was, for a policy that is not known now or that this run is not about. */
static void check_baseline_keep(struct buf *b, const struct checking *k)
{
	for (size_t i = 0; k->baseline && i < k->baseline->n; i++) {
		const struct config_entry *e = &k->baseline->v[i];
		bool now = !*e->section;

		for (size_t p = 0; p < k->policies->n && !now; p++)
			now = !strcmp(k->result[p].policy->name, e->section) &&
			      k->result[p].policy->rule == POLICY_TRACK &&
			      k->result[p].known;
		if (!now)
			buf_printf(b, "\n[%s]\ncount = %s\n", e->section, e->value);
	}
}

int check_baseline_write(struct checking *k, const char *path)
{
	struct outfile f = {.fd = -1};
	struct atw_err err = {0};
	struct buf b = {0};
	int r;

	buf_printf(
		&b,
		"; counts of `atwalk check`: --update rewrites this file\nversion = %s\n",
		baseline_version);
	check_baseline_keep(&b, k);
	for (size_t i = 0; i < k->policies->n; i++) {
		struct check_result *c = &k->result[i];

		if (c->policy->rule != POLICY_TRACK || !c->known)
			continue;
		buf_printf(&b, "\n[%s]\ncount = %" PRIu64 "\n", c->policy->name,
			   c->count);
		c->verdict = CHECK_OK;
		c->limit = c->count;
		c->limited = true;
		c->what.len = 0;
	}
	r = b.failed ? atw_err_nomem(&err) : outfile_open(path, &f, &err);
	if (r == ATW_OK && io_write(f.fd, b.data, b.len) < b.len)
		r = atw_err_set(&err, ATW_E_IO, "%s: cannot write: %s", path,
				strerror(errno));
	if (r == ATW_OK)
		r = outfile_commit(&f, &err);
	outfile_close(&f);
	buf_deinit(&b);
	return r < 0 ? print_error(&err) : EXIT_COMPLETE;
}
