/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_check.c - check of options and sources against the selected reports. */

#include "report.h"
#include "base/message.h"

/* An option about rows that was given, or NULL. */
static const char *report_check_rows(const struct common *c)
{
	const struct { const char *given, *name; } table[] = {
		{ c->columns, "--columns" }, { c->filter, "--filter" },
		{ c->sort, "--sort" }, { c->group, "--group" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].given && *table[i].given)
			return table[i].name;
	return NULL;
}

static int check_paper(const struct report *r)
{
	const char *rows = report_check_rows(r->c);

	if (!r->o->paper)
		return EXIT_COMPLETE;
	if (!r->a.plain)
		return usage_error("report", "--paper cannot be used with "
				   "--format %s", format_word(r->c));
	if (rows)
		return usage_error("report", "--paper cannot be used with %s", rows);
	if (r->c->units)
		return usage_error("report", "--paper cannot be used with --units");
	if (r->o->limit.given)
		return usage_error("report", "--paper cannot be used with --limit");
	for (size_t i = 0; i < r->n; i++)
		if (!r->kind[i]->paper)
			return usage_error("report", "--paper: %s is not a report of the LPMA paper",
					   r->kind[i]->name);
	return EXIT_COMPLETE;
}

/* A layout of its own has neither columns nor other tables beside it. */
static int check_text(const struct report *r)
{
	const char *rows = report_check_rows(r->c);

	if (!rows && r->o->limit.given)
		rows = "--limit";
	for (size_t i = 0; i < r->n && r->a.plain && !r->o->paper; i++) {
		if (!r->kind[i]->text)
			continue;
		if (r->n > 1)
			return usage_error("report", "%s must be the only report in plain output",
					   r->kind[i]->name);
		if (rows)
			return usage_error("report", "%s: %s has rows with --format csv, json or parquet only",
					   rows, r->kind[i]->name);
	}
	return EXIT_COMPLETE;
}

/* Several sources are snapshots of one machine, in this order. */
static int check_sources(const struct report *r, int argc, char **argv)
{
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < r->n; i++) {
		bool again = r->o->watch && argc == 1 && r->kind[i]->again;

		if (!r->kind[i]->looks && !again && (argc > 1 || r->o->watch))
			return usage_error("report", "%s takes only one %s", r->kind[i]->name,
					   r->o->watch ? _("snapshot") : "SOURCE");
		if (again && (r->n > 1 || r->a.page || r->a.format))
			return usage_error("report", "%s must be the only report with --watch, and neither a page nor a picture",
					   r->kind[i]->name);
	}
	if (r->o->watch && (argc > 1 || !report_is_live(argv[0])))
		return usage_error("report", "--watch requires one live SOURCE");
	for (int i = 0; i < argc && !status; i++)
		status = check_output(r->c, argv[i]);
	return status;
}

/* List the reports that support an option. */
static const char *report_check_those(bool (*has)(const struct census_report *k),
				      struct buf *b)
{
	for (size_t i = 0; census_report_kind(i); i++)
		if (has(census_report_kind(i)))
			buf_printf(b, "%s%s", b->len ? ", " : "", census_report_kind(i)->name);
	return b->data ? b->data : "";
}

static bool report_check_has_virtual(const struct census_report *k)
{
	return k->virtual == VIRTUAL;
}

static int check_virtual(const struct report *r)
{
	struct buf b = { 0 };
	int status = EXIT_COMPLETE;

	for (size_t i = 0; r->o->virtual && i < r->n && !status; i++) {
		const struct census_report *k = r->kind[i];

		if (k->virtual == VIRTUAL || (k->virtual == VIRTUAL_PAPER && r->o->paper))
			continue;
		status = k->virtual == VIRTUAL_PAPER
				 ? usage_error(
					   "report",
					   "--virtual: %s has both sizes in its columns; "
					   "use it with --paper",
					   k->name)
				 : usage_error("report",
					       "--virtual: %s has no virtual "
					       "sizes; these have: %s",
					       k->name,
					       report_check_those(
							  report_check_has_virtual, &b));
	}
	buf_deinit(&b);
	return status;
}

static bool report_check_has_by(const struct census_report *k)
{
	return k->by;
}

static bool report_check_has_bare(const struct census_report *k)
{
	return k->bare;
}

/* Check an option that at least one of the selected reports must support. */
static int check_use(const struct report *r, const char *option, bool given,
		     bool (*has)(const struct census_report *k))
{
	struct buf b = { 0 };
	bool any = !given;
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < r->n; i++)
		any |= has(r->kind[i]);
	if (!any)
		status = usage_error("report", "%s can only be used with the report %s", option,
				     report_check_those(has, &b));
	buf_deinit(&b);
	return status;
}

int report_check(const struct report *r, int argc, char **argv)
{
	int status = check_paper(r) ?: check_text(r);

	if (!status)
		status = check_virtual(r);
	if (!status)
		status = check_use(r, "--by", r->o->by != REPORT_BY_USUAL,
				   report_check_has_by);
	if (!status)
		status = check_use(r, "--kernel-threads", r->o->bare,
				   report_check_has_bare);
	if (!status)
		status = answers_check(&r->a);
	return status ? status : check_sources(r, argc, argv);
}
