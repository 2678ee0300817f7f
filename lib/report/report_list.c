/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_list.c - list of the reports and of their pictures: apart, since both use what
 * report.c has.
 */
#include "report/picture.h"
#include "record/schema.h"
#include "report/report.h"

static const struct census_report *const all[] = {
#define REPORT(name) &report_##name,
#include "report/reports.def"
#undef REPORT
};

const struct census_report *census_report_kind(size_t i)
{
	return i < ARRAY_SIZE(all) ? all[i] : NULL;
}

const struct census_report *census_report_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strlen(all[i]->name) == len && !memcmp(all[i]->name, name, len))
			return all[i];
	return NULL;
}

int census_report_start(const struct census_report *report, const struct census_report_opts *o,
			void **ret, struct atw_err *err)
{
	*ret = calloc(1, report->state);
	if (!*ret)
		return atw_err_nomem(err);
	if (report->opts)
		memcpy(*ret, o, sizeof(*o));
	return report->init ? report->init(*ret, o, err) : ATW_OK;
}

void census_report_drop(const struct census_report *report, void *state)
{
	if (state && report->deinit)
		report->deinit(state);
	free(state);
}

/* ---- pictures ---- */

#define PICTURE(name) extern const struct census_picture picture_##name;
#include "report/pictures.def"
#undef PICTURE

static const struct census_picture *const pictures[] = {
#define PICTURE(name) &picture_##name,
#include "report/pictures.def"
#undef PICTURE
};

const struct census_picture *census_picture_find(const struct census_report *report)
{
	for (size_t i = 0; i < ARRAY_SIZE(pictures); i++)
		if (!strcmp(pictures[i]->of.name, report->name))
			return pictures[i];
	return NULL;
}

int census_picture_row(const struct census_picture *picture, const struct census_report *report,
		       void *state, const struct atw_row *row, struct atw_err *err)
{
	union atw_value v[PICTURE_COLUMNS];
	struct atw_row chosen = { .v = v };

	for (unsigned i = 0; picture->column[i]; i++) {
		int k = schema_find(report->schema, picture->column[i], strlen(picture->column[i]));

		if (k < 0)
			continue;
		v[i] = row->v[k];
		chosen.have |= (row->have >> k & 1) << i;
	}
	return picture->row(state, &chosen, err);
}
