/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pss - RSS and PSS of all processes, in kB: the report "use" by its columns.
 *
 * usage: pss SOURCE
 */
#include <inttypes.h>
#include <stdio.h>

#include <atwalk/atwalk.h>

/* A value that is not known is n/a, and never 0. */
static void put(const struct atw_report_row *row, int column)
{
	if (row->known >> column & 1)
		printf("%10" PRIu64 " ", row->cell[column].u / 1024);
	else
		printf("%10s ", "n/a");
}

static int list(struct atw_report *report, struct atw_err *err)
{
	int pid = atw_report_find_column(report, "pid");
	int rss = atw_report_find_column(report, "rss");
	int pss = atw_report_find_column(report, "pss");
	int name = atw_report_find_column(report, "name");
	const struct atw_report_row *row;
	int rc;

	if (pid < 0 || rss < 0 || pss < 0 || name < 0) {
		fprintf(stderr, "pss: this libatwalk has other columns\n");
		return ATW_E_NONE;
	}
	while ((rc = atw_report_next(report, &row, err)) == ATW_OK) {
		printf("%6" PRIu64 " ", row->cell[pid].u);
		put(row, rss);
		put(row, pss);
		printf("%s\n", row->known >> name & 1 ? row->cell[name].s : "?");
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct atw_target *target = NULL;
	struct atw_report *report = NULL;
	struct atw_err err = { 0 };
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: pss SOURCE\n");
		return 2;
	}
	rc = atw_target_open(argv[1], NULL, &target, &err);
	if (rc == ATW_OK)
		rc = atw_report_open("use", &target, 1, NULL, &report, &err);
	/* The report has all that it needs. */
	atw_target_close(target);
	if (rc == ATW_OK)
		rc = list(report, &err);
	atw_report_close(report);
	if (rc < 0)
		fprintf(stderr, "pss: %s\n", err.text);
	return rc == ATW_E_PARTIAL ? 4 : rc < 0 ? 3 : 0;
}
