/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_list.c - list of the reports: apart, since reports use what report.c has. */
#include <string.h>

#include "base/cleanup.h"
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
